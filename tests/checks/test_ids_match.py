"""Features and events of the same individuals must stand in the same order."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone

from boostr import BoostR
from boostr._checks.numbers import check_ids_match, first_few
from boostr.data import RecurrentEvents
from boostr.exceptions import InvalidFeaturesError, InvalidParameterError
from boostr.metrics import recurrent_concordance
from boostr.nonparametric import MeanCumulativeFunction

NAMES = ["W1", "W2", "W3"]


def events(ids, name="well"):
    table = pd.DataFrame({name: ids, "day": 1.0, "failed": 0})
    return RecurrentEvents.from_long(table, name, "day", "failed")


def features(index, name=None):
    return pd.DataFrame({"depth": np.arange(len(index))}, index=pd.Index(index, name=name))


@pytest.fixture
def y():
    return events(NAMES)


def accepts(X, y):
    return check_ids_match(X, y) is None


@pytest.mark.parametrize(
    "X",
    [
        np.zeros((3, 1)),
        [[0.0]] * 3,
        pl.DataFrame({"depth": [1, 2, 3]}),
        features(range(3)),
        features([7, 1, 3]),
        features(["a", "b", "c"]),
        features(NAMES),
        features(NAMES, "well"),
        features(NAMES, "other"),
    ],
    ids=lambda X: type(X).__name__,
)
def test_features_in_order_or_without_labels_pass(X, y):
    assert accepts(X, y)


def test_repeats_in_the_same_order_pass(y):
    rows = [2, 0, 0]
    assert accepts(features(NAMES).iloc[rows], y[rows])


def test_integers_in_order_pass():
    assert accepts(features([3, 5, 9]), events([9, 5, 3]))


def test_unrelated_integers_pass():
    assert accepts(features([3, 5, 8]), events([9, 5, 3]))


def test_positions_are_no_ids():
    y = RecurrentEvents.from_lists([[], [], []], end=1.0)
    assert accepts(features([2, 1, 0]), y)


def test_several_levels_are_no_ids(y):
    index = pd.MultiIndex.from_tuples([("W2", 1), ("W1", 1), ("W3", 1)])
    assert accepts(pd.DataFrame({"depth": [1, 2, 3]}, index=index), y)


@pytest.mark.parametrize(
    ("index", "name"),
    [
        (["W2", "W1", "W3"], None),
        (["W2", "W1", "W3"], "well"),
        (["W2", "W1", "x"], None),
    ],
)
def test_another_order_names_the_ids_and_the_way_out(y, index, name):
    message = r"rows differ \(ids of y there: W1, W2(.|\n)*Hint: X = X\.loc\[y\.ids\]"
    with pytest.raises(InvalidFeaturesError, match=message):
        check_ids_match(features(index, name), y)


def test_the_same_integers_in_another_order_are_refused():
    with pytest.raises(InvalidFeaturesError, match="2 of 3 rows differ"):
        check_ids_match(features([5, 3, 9]), events([3, 5, 9]))


def test_an_index_named_like_the_id_is_compared_even_if_it_is_a_range():
    with pytest.raises(InvalidFeaturesError, match="3 of 3 rows differ"):
        check_ids_match(
            pd.DataFrame(index=pd.RangeIndex(3, name="well")), events([3, 5, 9])
        )


def test_repeated_labels_are_refused(y):
    with pytest.raises(InvalidFeaturesError, match=r"1 ids are repeated \(W1\)(.|\n)*Hint"):
        check_ids_match(features(["W1", "W1", "W3"]), y)


def test_other_numbers_of_ids_are_refused(y):
    with pytest.raises(InvalidFeaturesError, match=r"2 ids and y has 3(.|\n)*Hint"):
        check_ids_match(features(["W1", "W3"]), y)


@pytest.mark.parametrize(
    ("frame", "way_out"),
    [(pd.DataFrame, r"set_index\('well'\)"), (pl.DataFrame, r"drop\(")],
)
def test_the_id_is_no_feature(y, frame, way_out):
    X = frame({"well": NAMES, "depth": [1, 2, 3]})
    with pytest.raises(
        InvalidFeaturesError, match=rf"id column 'well'(.|\n)*Hint: .*{way_out}"
    ):
        check_ids_match(X, y)


def test_five_values_are_named_and_the_rest_is_hinted_at():
    assert first_few("abcdef") == "a, b, c, d, e, …"


@pytest.fixture(scope="module")
def fleet():
    rng = np.random.default_rng(0)
    ids = [f"W{place:02d}" for place in range(30)]
    times = [np.sort(rng.uniform(0.0, 10.0, 3)) for _ in ids]
    y = RecurrentEvents.from_lists(times, end=10.0, ids=ids)
    X = pd.DataFrame({"depth": rng.random(30)}, index=ids)
    model = BoostR(n_estimators=3, validation=None, n_origins=0, random_state=0).fit(X, y)
    return model, X, y


ONE_EACH = {
    "sample_weight of fit": lambda model, X, y, own: clone(model).fit(
        X, y, sample_weight=own
    ),
    "sample_weight": lambda _model, _X, y, own: MeanCumulativeFunction().fit(
        y, sample_weight=own
    ),
    "horizon": lambda model, X, y, own: model.forecast(X, y, own),
    "now": lambda model, X, y, own: model.forecast(X, y, 1.0, now=own),
    "by": lambda model, X, y, own: model.forecast_fleet(X, y, 1.0, by=own),
    "predicted": lambda _model, _X, y, own: recurrent_concordance(y, own, horizon=9.0),
    "since": lambda _model, _X, y, own: y.in_calendar_time(since=own),
}


@pytest.mark.parametrize("name", ONE_EACH)
def test_series_with_the_ids_in_another_order_are_refused(fleet, name):
    model, X, y = fleet
    own = pd.Series(np.linspace(4.0, 8.0, 30), index=X.index)
    use = ONE_EACH[name]
    for given in (own, own.to_numpy(), own.reset_index(drop=True)):
        use(model, X, y, given)
    label = name.split()[0]
    message = rf"`{label}`(.|\n)*Hint: {label} = {label}\.loc\[y\.ids\]"
    with pytest.raises(InvalidParameterError, match=message):
        use(model, X, y, own[::-1])

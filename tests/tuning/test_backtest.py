"""Back-tests: what models knew at past dates, forecast then, and what came."""

import json

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import BaseEstimator

from boostr import BoostR, Panel, RecurrentEvents, Trajectories, backtest, simulate
from boostr.baselines import HomogeneousPoisson
from boostr.exceptions import InvalidParameterError
from boostr.metrics import capture_curve, event_concordance
from boostr.tuning import Backtest, as_of_split
from boostr.tuning._backtest_result import list_dates

SEEN = []
DAY = np.timedelta64(1, "D")


class Spy(BaseEstimator):
    """Forecasts the same number of events per time for all, and notes what it is given."""

    def __init__(self, rate=0.1):
        self.rate = rate

    def fit(self, X, y):
        SEEN.append(("fit", X, y))
        return self

    def predict_count(self, X, start, stop):
        SEEN.append(("predict", X, start, stop))
        return self.rate * (stop - start)


class Oracle(BaseEstimator):
    """Forecasts by id, with intervals, in the order of the table that `forecast` makes."""

    def __init__(self, expected=None):
        self.expected = expected

    def fit(self, X, y):
        return self

    def forecast(self, X, y, horizon, level):
        known = self.expected
        ids = sorted(y.ids.tolist(), key=lambda one: -known[one])
        expected = [known[one] for one in ids]
        return pd.DataFrame(
            {"id": ids, "expected": expected, "lower": 0.0, "upper": np.array(expected)}
        )


@pytest.fixture(autouse=True)
def _forget():
    SEEN.clear()


@pytest.fixture
def y():
    """Five histories: one ends early, one enters late, one ends soon, one has events."""
    return RecurrentEvents.from_lists(
        [[1.0, 9.0], [12.0], [3.0, 11.0, 14.0], [25.0], [2.0, 13.0]],
        start=[0.0, 0.0, 0.0, 20.0, 0.0],
        end=[9.5, 30.0, 13.0 + 1.5, 30.0, 30.0],
        ids=["out", "one", "soon", "late", "two"],
    )


X = np.arange(5.0)[:, None]


def dated(n=40, seed=0):
    """Return histories in age of individuals that enter on different days."""
    rng = np.random.default_rng(seed)
    entry = np.datetime64("2022-01-01") + rng.integers(0, 200, n).astype("timedelta64[D]")
    end = np.datetime64("2023-06-01")
    rows = []
    for one, since in enumerate(entry):
        length = (end - since).astype(int)
        days = np.sort(rng.integers(1, length, rng.poisson(0.02 * length)))
        rows += [(one, since, since + day, 1) for day in days] + [(one, since, end, 0)]
    table = pd.DataFrame(rows, columns=["id", "entry", "day", "event"])
    return RecurrentEvents.from_long(
        table,
        *("id", "day", "event"),
        start="entry",
        origin="individual",
        duplicates="keep",  # whole days, on which there may be several events
    )


def test_models_learn_from_what_was_known_and_from_nobody_else(y):
    backtest(Spy(), X, y, as_of=[10.0], horizon=5.0)
    _, features, known = SEEN[0]
    expected = as_of_split(y, 10.0).train
    assert known.equals(expected)
    assert_array_equal(features.ravel(), [0.0, 1.0, 2.0, 4.0])


def test_individuals_are_compared_on_what_was_observed_after_the_date(y):
    table = backtest(Spy(0.1), X, y, as_of=[10.0], horizon=5.0).table
    _, features, start, stop = SEEN[1]
    assert_array_equal(features.ravel(), [1.0, 2.0, 4.0])
    assert_array_equal(start, 10.0)
    assert_allclose(stop - start, [5.0, 4.5, 5.0])
    assert table["n_individuals"][0] == 3
    assert table["observed"][0] == 4  # at 12, 11, 14 and 13
    assert table["expected"][0] == pytest.approx(1.45)
    assert table["ratio"][0] == pytest.approx(1.45 / 4)


def test_a_gap_ends_the_time_that_counts():
    y = RecurrentEvents.from_start_stop(
        pd.DataFrame(
            {
                "id": [0, 0, 0, 1, 1],
                "start": [0.0, 5.0, 14.0, 0.0, 6.0],
                "stop": [5.0, 12.0, 20.0, 6.0, 20.0],
                "event": [1, 1, 1, 1, 1],
            }
        ),
        *("id", "start", "stop", "event"),
    )
    table = backtest(Spy(), X[:2], y, as_of=[10.0], horizon=20.0).table
    assert table["observed"][0] == 2
    assert table["expected"][0] == pytest.approx(0.1 * (2.0 + 10.0))


def test_figures_are_those_of_their_definitions(y):
    forecasts = {"out": 9.0, "one": 0.5, "soon": 3.0, "late": 9.0, "two": 0.0}
    table = backtest(Oracle(forecasts), X, y, as_of=[10.0], horizon=5.0).table
    counts, mean = np.array([1, 2, 1]), np.array([0.5, 3.0, 0.0])
    lengths = np.array([5.0, 4.5, 5.0])
    floor = 1e-3 * mean.sum() / lengths.sum() * lengths
    mu = np.maximum(mean, floor)
    deviance = 2 * np.mean(counts * np.log(counts / mu) - (counts - mu))
    after = RecurrentEvents.from_lists([[2.0], [1.0, 4.0], [3.0]], end=lengths)
    row = table.iloc[0]
    assert row["deviance"] == pytest.approx(deviance)
    assert row["mae"] == pytest.approx(np.abs(counts - mean).mean())
    assert row["coverage"] == pytest.approx(1 / 3)
    assert row["zeros"] == 1
    assert row["concordance"] == pytest.approx(event_concordance(after, mean / lengths))
    assert row["capture"] == pytest.approx(capture_curve(after, mean / lengths).at(0.1))
    assert np.isnan(row["held"])


def test_a_date_cuts_every_individual_at_its_own_age():
    y = dated()
    day = np.datetime64("2022-12-01", "us")
    table = backtest(Spy(), np.zeros((40, 1)), y, as_of=["2022-12-01"], horizon=60).table
    ages = (day - y.origins) / np.timedelta64(1, "D")
    assert_allclose(SEEN[1][2], ages)
    owner = y.event_owner
    came = (y.times > ages[owner]) & (y.times <= ages[owner] + 60)
    assert table["observed"][0] == came.sum()
    assert table["date"][0] == pd.Timestamp("2022-12-01")


def test_those_who_have_not_entered_by_the_date_are_left_out():
    y = dated()
    table = backtest(Spy(), np.zeros((40, 1)), y, as_of=["2022-04-01"], horizon=60).table
    n_there = int((y.origins < np.datetime64("2022-04-01")).sum())
    assert 0 < n_there < len(y)
    assert table["n_individuals"][0] == n_there
    assert len(SEEN[0][2]) == n_there


def test_time_scales_are_compared_on_the_same_individuals_and_events():
    y = dated()
    models = {"age": Spy(), "calendar": (Spy(), y.in_calendar_time())}
    result = backtest(models, np.zeros((40, 1)), y, as_of=["2022-12-01"], horizon=60)
    age, calendar = SEEN[0][2], SEEN[2][2]
    assert_array_equal(age.n_events, calendar.n_events)
    assert age.start.max() == 0.0
    assert calendar.start.max() > 0.0
    assert_allclose(calendar.end, (np.datetime64("2022-12-01") - calendar.origin) / DAY)
    assert result.table["expected"].nunique() == 1


def test_histories_of_others_are_refused():
    y = dated()
    wrong = y.in_calendar_time()[::-1]
    with pytest.raises(InvalidParameterError, match="Candidate 'x' must have the same"):
        backtest({"x": (Spy(), wrong)}, np.zeros((40, 1)), y, as_of=2, horizon=30)


def test_sensors_end_at_the_date(y):
    times, offsets = [0.0, 9.0, 12.0] * 5, np.arange(0, 16, 3)
    Z = Trajectories.from_flat(times, offsets, [np.arange(15.0)], ["load"], ids=y.ids)
    backtest(Spy(), X, y, Z, as_of=[10.0], horizon=5.0)
    panel = SEEN[0][1]
    assert isinstance(panel, Panel)
    assert panel.Z.times.max() == 9.0
    assert SEEN[1][1].Z.times.max() == 9.0


def test_a_tuple_without_sensors_is_fitted_without_them(y):
    Z = Trajectories.from_flat([0.0] * 5, np.arange(6), [np.arange(5.0)], ["load"])
    Z = Z._with(ids=y.ids)
    models = {"with": Spy(), "without": (Spy(), y), "own": (Spy(0.2), y, Z)}
    backtest(models, X, y, Z, as_of=[10.0], horizon=5.0)
    fits = [entry for entry in SEEN if entry[0] == "fit"]
    assert [isinstance(entry[1], Panel) for entry in fits] == [True, False, True]


@pytest.fixture(scope="module")
def boosted():
    """Return a back-test of a small model by hand, and by `backtest`."""
    rng = np.random.default_rng(1)
    features = rng.uniform(size=(80, 2))
    rates = 0.05 + 0.2 * (features[:, 0] > 0.5)
    lists = [np.sort(rng.uniform(0, 60, rng.poisson(60 * rate))) for rate in rates]
    y = RecurrentEvents.from_lists(lists, end=60.0)
    model = BoostR(n_estimators=10, validation=0.2, random_state=0)
    result = backtest(model, features, y, as_of=[30.0, 40.0], horizon=15, level=0.8)
    return features, y, model, result


def test_forecasts_are_those_of_the_model_with_own_history(boosted):
    features, y, model, result = boosted
    split = as_of_split(y, 40.0, 15.0)
    fitted = model.fit(features, split.train)
    table = fitted.forecast(features, split.train, 15.0, level=0.8).sort_values("id")
    total = fitted.forecast_fleet(features, split.train, 15.0, level=0.8)
    counts = split.test.n_events
    is_in = (table["lower"] <= counts) & (counts <= table["upper"])
    row = result.table.iloc[1]
    assert row["expected"] == pytest.approx(table["expected"].sum())
    assert row["coverage"] == pytest.approx(is_in.mean())
    assert (row["lower"], row["upper"]) == pytest.approx((total.lower, total.upper))
    assert row["held"] == float(total.lower <= counts.sum() <= total.upper)


def test_the_summary_has_sums_and_means_over_dates(boosted):
    result = boosted[3]
    summary, table = result.summary().iloc[0], result.table
    assert summary["candidate"] == "BoostR"
    assert summary["n_dates"] == 2
    assert summary["ratio"] == pytest.approx(
        table["expected"].sum() / table["observed"].sum()
    )
    for name in ("deviance", "mae", "held", "coverage"):
        assert summary[name] == pytest.approx(table[name].mean())


def test_a_table_from_a_file_makes_the_same_result(boosted, tmp_path):
    result = boosted[3]
    result.table.to_csv(tmp_path / "table.csv", index=False)
    again = Backtest(pl.read_csv(tmp_path / "table.csv"))
    assert again.summary()["deviance"].to_list() == pytest.approx(
        result.summary()["deviance"].tolist()
    )
    assert (again.horizon, again.level) == (15.0, 0.8)


def test_tables_are_of_the_library_of_the_features(y):
    frame = pl.DataFrame({"a": X.ravel()})
    result = backtest(Spy(), frame, y, as_of=[10.0], horizon=5.0)
    assert isinstance(result.table, pl.DataFrame)
    assert isinstance(result.summary(), pl.DataFrame)


def test_the_estimator_itself_is_not_fitted(y):
    model = HomogeneousPoisson()
    backtest(model, X, y, as_of=[10.0], horizon=5.0)
    assert not hasattr(model, "coef_")


def test_so_many_dates_are_evenly_spaced_up_to_one_horizon_before_the_end(y):
    table = backtest(Spy(), X, y, as_of=3, horizon=6.0).table
    assert_allclose(table["date"], [8.0, 16.0, 24.0])
    ages = dated()
    table = backtest(Spy(), np.zeros((40, 1)), ages, as_of=2, horizon=61).table
    assert table["date"].iloc[-1] == pd.Timestamp("2023-04-01")


def test_a_stopped_backtest_goes_on_and_takes_more_candidates_and_dates(y, tmp_path):
    path = tmp_path / "runs.jsonl"
    first = backtest({"a": Spy(0.1)}, X, y, as_of=[10.0], horizon=5.0, checkpoint=path)
    SEEN.clear()
    models = {"first": Spy(0.1), "b": Spy(0.2)}
    more = backtest(models, X, y, as_of=[10.0, 12.0], horizon=5.0, checkpoint=path)
    assert sum(entry[0] == "fit" for entry in SEEN) == 3
    assert more.table["expected"][0] == first.table["expected"][0]
    assert more.table["candidate"].tolist() == ["first", "first", "b", "b"]


def test_a_broken_line_of_a_checkpoint_is_run_again(y, tmp_path):
    path = tmp_path / "runs.jsonl"
    backtest(Spy(), X, y, as_of=[10.0, 12.0], horizon=5.0, checkpoint=path)
    path.write_bytes(path.read_bytes()[:-9])
    SEEN.clear()
    backtest(Spy(), X, y, as_of=[10.0, 12.0], horizon=5.0, checkpoint=path)
    assert sum(entry[0] == "fit" for entry in SEEN) == 1
    assert all(json.loads(line) for line in path.read_text().splitlines())


def test_a_checkpoint_of_other_data_is_refused(y, tmp_path):
    path = tmp_path / "runs.jsonl"
    frame = pd.DataFrame({"a": ["x"] * 4 + ["y"]})
    backtest(Spy(), frame, y, as_of=[10.0], horizon=5.0, checkpoint=path)
    frame = pd.DataFrame({"a": ["x"] * 5})
    with pytest.raises(InvalidParameterError, match=r"same backtest.*values of: data"):
        backtest(Spy(), frame, y, as_of=[10.0], horizon=5.0, checkpoint=path)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"as_of": [0.5]}, "there are none before 0.5"),
        ({"as_of": [31.0]}, "none is after 31"),
        ({"as_of": []}, "list of dates"),
        ({"as_of": "2024-01-01"}, "list of dates"),
        ({"as_of": [[1.0, 2.0]]}, "one time or time stamp per date"),
        ({"as_of": ["2024-01-01"]}, "known date"),
        ({"as_of": 0}, "at least one"),
        ({"as_of": 2, "horizon": 40.0}, "leave a past"),
        ({"as_of": [10.0], "horizon": -1.0}, "above zero"),
        ({"as_of": [10.0], "level": 1.5}, "level"),
    ],
)
def test_wrong_dates_and_lengths_are_refused(y, options, message):
    with pytest.raises(InvalidParameterError, match=message):
        backtest(Spy(), X, y, **({"horizon": 5.0} | options))


def test_some_individual_must_be_observed_at_the_date():
    y = RecurrentEvents.from_lists([[1.0], [25.0]], start=[0.0, 20.0], end=[9.0, 30.0])
    with pytest.raises(InvalidParameterError, match="observed as of 15"):
        backtest(Spy(), X[:2], y, as_of=[15.0], horizon=10.0)


@pytest.mark.parametrize("models", [{}, {"a": BoostR}, {"a": 3}, {"a": (Spy(),)}])
def test_candidates_must_be_estimators(y, models):
    with pytest.raises(InvalidParameterError, match="candidate"):
        backtest(models, X, y, as_of=[10.0], horizon=5.0)


def test_ids_must_be_distinct(y):
    with pytest.raises(InvalidParameterError, match="Ids must be distinct"):
        backtest(Spy(), X[:2], y[[0, 0]], as_of=[5.0], horizon=2.0)


def test_errors_name_the_candidate_and_the_date(y):
    class Broken(Spy):
        def fit(self, X, y):
            raise ValueError("no")

    with pytest.raises(ValueError, match="no") as caught:
        backtest({"bad": Broken()}, X, y, as_of=[10.0], horizon=5.0)
    assert caught.value.__notes__ == ["(candidate 'bad' as of 10)"]


def test_a_result_needs_all_columns():
    with pytest.raises(InvalidParameterError, match="lacks date"):
        Backtest(pd.DataFrame({"candidate": ["a"]}))
    with pytest.raises(InvalidParameterError, match="must be a DataFrame"):
        Backtest([1, 2])


def test_sensors_that_follow_from_events_come_as_a_function(y):
    seen = []

    class Drawn(BaseEstimator):
        def fit(self, X, y, Z):
            seen.append(Z)
            return self

        def forecast(self, X, y, horizon, Z, level):
            seen.append(Z)
            return pd.DataFrame({"id": y.ids, "expected": 0.1})

    def memory(y, until):
        raise AssertionError

    models = {"drawn": Drawn(), "constant": HomogeneousPoisson()}  # which ignores them
    table = backtest(models, X, y, memory, as_of=[10.0], horizon=5.0).table
    assert seen == [memory, memory]
    assert table["candidate"].tolist() == ["drawn", "constant"]


def test_expected_numbers_grow_with_the_exposures(y):
    many = y.with_exposure(np.array([1.0, 2.0, 1.0, 1.0, 3.0]))
    model = HomogeneousPoisson()
    table = backtest(model, np.empty((5, 0)), many, as_of=[10.0], horizon=5.0).table
    known = as_of_split(many, 10.0).train
    rate = known.n_events.sum() / (known.follow_up * known.exposure.values).sum()
    assert table["expected"][0] == pytest.approx(rate * (2 * 5.0 + 4.5 + 3 * 5.0))


def test_the_dead_are_judged_over_the_whole_horizon():
    clinic = simulate.patients(n=100, random_state=1, end=100.0)
    model = BoostR(n_estimators=5, validation=None, random_state=0)
    found = backtest(model, clinic.X, clinic.y, as_of=[40.0], horizon=40.0)
    alive = clinic.y.end > 40.0
    after = (clinic.y.times > 40.0) & (clinic.y.times <= 80.0)
    table = found.table
    assert table["n_individuals"][0] == alive.sum()
    assert table["observed"][0] == after.sum()
    dated = list_dates([40.0], clinic.y, 40.0)[0]
    assert np.all(dated.find_observed(clinic.y, 40.0)[1] == 40.0)

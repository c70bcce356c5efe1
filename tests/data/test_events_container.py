"""``RecurrentEvents`` looks like a 1-D array, to users and to scikit-learn."""

import pickle

import joblib
import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.model_selection import (
    GridSearchCV,
    KFold,
    RandomizedSearchCV,
    check_cv,
    cross_val_predict,
    cross_val_score,
    cross_validate,
    learning_curve,
    train_test_split,
)
from sklearn.utils import _safe_indexing, indexable, resample, shuffle
from sklearn.utils.validation import _num_samples

from boostr.data import RecurrentEvents
from boostr.exceptions import InvalidEventsError, TargetTypeError


class MeanCount(RegressorMixin, BaseEstimator):
    """Predict the mean number of events, shifted."""

    def __init__(self, shift=0.0):
        self.shift = shift

    def fit(self, X, y):
        self.mean_ = y.n_events.mean() + self.shift
        return self

    def predict(self, X):
        return np.full(len(X), self.mean_)

    def score(self, X, y):
        return -float(np.mean((y.n_events - self.predict(X)) ** 2))


@pytest.fixture
def y():
    lists = [[3.0, 8.5], [], [1.0, 1.0, 2.0], [4.0], [0.5], [], [6.0, 6.5], [2.0]]
    return RecurrentEvents.from_lists(lists, end=10.0, cost=lists, ids=list("abcdefgh"))


@pytest.fixture(name="X")
def features(y):
    return np.arange(len(y), dtype=float)[:, None]


def test_length_is_the_number_of_individuals(y):
    assert len(y) == 8


def test_shape_is_that_of_one_axis(y):
    assert (y.shape, y.ndim) == ((8,), 1)


def test_every_event_knows_its_individual(y):
    assert_array_equal(y.event_owner, [0, 0, 2, 2, 2, 3, 4, 6, 6, 7])


@pytest.mark.parametrize(
    "key",
    [
        [2, 0],
        np.array([2, 0]),
        np.array([-6, 0], dtype=np.int32),
        pd.Series([2, 0]),
        (np.array([2, 0]), ...),
    ],
)
def test_positions_take_individuals_in_their_order(y, key):
    assert_array_equal(y[key].times, [1.0, 1.0, 2.0, 3.0, 8.5])


def test_repeated_positions_repeat_individuals(y):
    assert_array_equal(y[[3, 3]].ids, ["d", "d"])


@pytest.mark.parametrize("convert", [list, np.asarray, pd.Series])
def test_masks_keep_individuals(y, convert):
    assert_array_equal(y[convert(y.n_events == 1)].ids, ["d", "e", "h"])


def test_slices_keep_a_range(y):
    assert_array_equal(y[1:6:2].n_events, [0, 1, 0])


def test_costs_go_with_their_events(y):
    assert_array_equal(y[[2]].costs, [1.0, 1.0, 2.0])


@pytest.mark.parametrize("key", [3, -5, np.int64(3)])
def test_one_position_gives_a_container_of_one(y, key):
    assert y[key].equals(y[3:4])


@pytest.mark.parametrize("key", [[], slice(0, 0), np.zeros(8, dtype=bool)])
def test_nobody_may_be_taken(y, key):
    assert y[key].follow_up.shape == (0,)


@pytest.mark.parametrize("key", [8, -9, [8], [True], np.zeros((2, 2), dtype=int), 1.5])
def test_positions_that_do_not_exist_are_refused(y, key):
    with pytest.raises(IndexError):
        y[key]


def test_iterating_yields_containers_of_one(y):
    assert RecurrentEvents.concatenate(list(y)).equals(y)


def test_as_an_array_it_holds_the_event_times(y):
    assert_array_equal(np.asarray(y)[0], [3.0, 8.5])


def test_as_an_array_it_has_one_axis():
    y = RecurrentEvents.from_lists([[1.0], [2.0]], end=3.0)
    assert np.asarray(y).shape == (2,)


def test_as_an_array_of_objects_it_can_be_asked_for(y):
    assert np.array(y, dtype=object, copy=True).shape == (8,)


def test_an_array_of_numbers_is_refused_with_the_way_out(y):
    with pytest.raises(TargetTypeError, match=r"array of float64(.|\n)*Hint: y\.n_events"):
        np.asarray(y, dtype=float)


def test_an_array_without_a_copy_is_refused(y):
    with pytest.raises(ValueError, match="without a copy"):
        y.__array__(copy=False)


def test_repr_counts_individuals_events_and_follow_up(y):
    assert repr(y) == "RecurrentEvents(8 individuals, 10 events, follow-up 80)"


def test_repr_rounds_long_follow_up():
    y = RecurrentEvents.from_lists([[1.0]], end=14961.7)
    assert repr(y) == "RecurrentEvents(1 individual, 1 event, follow-up 14962)"


def test_other_things_are_never_equal(y):
    assert not y.equals([1, 2])


@pytest.mark.parametrize(
    "other",
    [
        {"events": [[1.5]], "end": 2.0},
        {"events": [[1.0]], "end": 3.0},
        {"events": [[1.0]], "end": 2.0, "start": 0.5},
        {"events": [[1.0]], "end": 2.0, "cost": [[4.0]]},
        {"events": [[1.0]], "end": 2.0, "ids": ["a"]},
        {"events": [[1.0, 1.0]], "end": 2.0},
    ],
)
def test_any_difference_makes_unequal(other):
    y = RecurrentEvents.from_lists([[1.0]], end=2.0)
    assert not y.equals(RecurrentEvents.from_lists(**other))


def test_fields_cannot_be_set(y):
    with pytest.raises(AttributeError):
        y.times = np.zeros(3)


def test_pickles_come_back_equal(y):
    assert pickle.loads(pickle.dumps(y)).equals(y)


def test_equal_containers_have_equal_joblib_hashes(y):
    assert joblib.hash(y) == joblib.hash(pickle.loads(pickle.dumps(y)))


def test_concatenation_keeps_numbers_and_texts_apart():
    y = RecurrentEvents.from_lists([[]], end=1.0)
    z = RecurrentEvents.from_lists([[]], end=1.0, ids=["a"])
    assert RecurrentEvents.concatenate([y, z]).ids.tolist() == [0, "a"]


def test_concatenation_keeps_the_name_of_ids_only_if_all_share_it(y):
    well, pump = y._with(id_name="well"), y._with(id_name="pump")
    assert RecurrentEvents.concatenate([well, well]).id_name == "well"
    assert RecurrentEvents.concatenate([well, pump]).id_name is None


def test_concatenation_of_nothing_is_refused():
    with pytest.raises(InvalidEventsError, match="at least one part"):
        RecurrentEvents.concatenate([])


def test_concatenation_of_other_things_is_refused(y):
    with pytest.raises(TargetTypeError, match=r"1 of 2 are not \(for instance list\)"):
        RecurrentEvents.concatenate([y, [1.0]])


def test_concatenation_of_different_clocks_is_refused(y):
    table = y.to_long(backend="pandas")
    options = {"unit": "D", "duplicates": "keep"}
    in_days = RecurrentEvents.from_long(table, "id", "time", "event", **options)
    with pytest.raises(InvalidEventsError, match=r"2 different clocks(.|\n)*Hint"):
        RecurrentEvents.concatenate([y, in_days])


def test_sklearn_counts_individuals(y):
    assert _num_samples(y) == 8


def test_sklearn_takes_individuals(y):
    assert _safe_indexing(y, np.array([2, 0])).equals(y[[2, 0]])


def test_sklearn_takes_individuals_by_mask(y):
    assert _safe_indexing(y, y.n_events > 0).equals(y[y.n_events > 0])


def test_sklearn_leaves_it_as_it_is(X, y):
    assert indexable(X, y)[1] is y


def test_sklearn_makes_folds(X, y):
    assert sum(len(test) for _, test in KFold(4).split(X, y)) == 8


def test_sklearn_chooses_plain_folds(y):
    assert isinstance(check_cv(3, y, classifier=False), KFold)


def test_train_test_split_keeps_rows_together(X, y):
    _, X_test, _, y_test = train_test_split(X, y, random_state=0)
    assert y_test.equals(y[X_test[:, 0].astype(int)])


def test_shuffle_keeps_rows_together(X, y):
    X_new, y_new = shuffle(X, y, random_state=0)
    assert y_new.equals(y[X_new[:, 0].astype(int)])


def test_resample_draws_with_repeats(X, y):
    X_new, y_new = resample(X, y, random_state=0)
    assert y_new.equals(y[X_new[:, 0].astype(int)])


def test_cross_val_score_fits_every_fold(X, y):
    assert_array_equal(cross_val_score(MeanCount(), X, y, cv=2), [-1.5, -0.75])


def test_cross_val_predict_predicts_everybody(X, y):
    assert cross_val_predict(MeanCount(), X, y, cv=2).shape == (8,)


def test_cross_validate_runs_in_parallel(X, y):
    result = cross_validate(MeanCount(), X, y, cv=2, n_jobs=2, return_estimator=True)
    assert [e.mean_ for e in result["estimator"]] == [1.0, 1.5]


def test_learning_curve_takes_parts(X, y):
    sizes, *_ = learning_curve(MeanCount(), X, y, cv=2, train_sizes=[2, 4])
    assert_array_equal(sizes, [2, 4])


@pytest.mark.parametrize(
    "search",
    [
        lambda: GridSearchCV(MeanCount(), {"shift": [0.0, 9.0]}, cv=2),
        lambda: RandomizedSearchCV(MeanCount(), {"shift": [0.0, 9.0]}, cv=2, n_iter=2),
    ],
)
def test_searches_find_the_best_parameter(X, y, search):
    assert search().fit(X, y).best_params_ == {"shift": 0.0}

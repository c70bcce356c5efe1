import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.model_selection import ShuffleSplit
from tests.tuning.scenes import gappy

from boostr.exceptions import InvalidParameterError
from boostr.tuning import AsOfSplit, as_of_split, cut_at
from boostr.tuning._splits import list_rows


def test_folds_hold_out_everybody_once(rng):
    y = gappy(rng)
    rows = list_rows(4, np.zeros((30, 1)), y, seed=0)
    assert_array_equal(np.sort(np.concatenate([test for _, test in rows])), np.arange(30))
    assert all(np.intersect1d(*pair).size == 0 for pair in rows)


def test_splitters_of_scikit_learn_split_individuals(rng):
    splitter = ShuffleSplit(3, test_size=10, random_state=0)
    rows = list_rows(splitter, np.zeros((30, 1)), gappy(rng), seed=0)
    assert [(len(train), len(test)) for train, test in rows] == [(20, 10)] * 3


def test_masks_are_positions(rng):
    mask = np.arange(30) < 12
    ((train, test),) = list_rows([(mask, ~mask)], np.zeros((30, 1)), gappy(rng), seed=0)
    assert_array_equal(train, np.arange(12))
    assert_array_equal(test, np.arange(12, 30))


@pytest.mark.parametrize("wrong", [1, 31, [], "five", [([], [1])], [([0], [30])], 2.5])
def test_impossible_splits_are_refused(rng, wrong):
    with pytest.raises(InvalidParameterError, match="`splits` must"):
        list_rows(wrong, np.zeros((30, 1)), gappy(rng), seed=0)


def test_as_of_is_a_cut_and_another_at_the_horizon(rng):
    y = gappy(rng)
    split = as_of_split(y, 40.0, horizon=15.0)
    cut = cut_at(y, 40.0)
    assert split.train.equals(cut.before)
    assert split.test.equals(cut_at(cut.after, 55.0).before)
    assert_array_equal(split.test.ids, y.ids[split.test_rows])


def test_without_a_horizon_all_that_came_after_is_the_test(rng):
    y = gappy(rng)
    assert as_of_split(y, 40.0).test.equals(cut_at(y, 40.0).after)


def test_the_future_changes_nothing_in_the_training_part(rng):
    y = gappy(rng)
    late = y.times > 40.0
    other = y._with(costs=np.where(late, 9.0, y.costs))
    assert as_of_split(other, 40.0).train.equals(as_of_split(y, 40.0).train)
    assert not as_of_split(other, 40.0).test.equals(as_of_split(y, 40.0).test)


def test_every_date_makes_a_split(rng):
    y = gappy(rng)
    splits = AsOfSplit([30.0, 50.0], horizon=10.0).split(y)
    assert [float(split.train.end.max()) for split in splits] == [30.0, 50.0]


@pytest.mark.parametrize(("date", "when"), [(-1.0, "before"), (500.0, "after")])
def test_dates_outside_of_the_follow_up_are_refused(rng, date, when):
    with pytest.raises(InvalidParameterError, match=f"none is {when}"):
        as_of_split(gappy(rng), date)


@pytest.mark.parametrize("horizon", [0.0, -1.0, "long", np.nan])
def test_impossible_horizons_are_refused(rng, horizon):
    with pytest.raises(InvalidParameterError, match="`horizon` must"):
        as_of_split(gappy(rng), 40.0, horizon=horizon)


def test_dates_must_be_a_list(rng):
    with pytest.raises(InvalidParameterError, match="`dates` must be a list"):
        AsOfSplit("2024-01-01").split(gappy(rng))

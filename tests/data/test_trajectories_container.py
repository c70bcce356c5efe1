"""``Trajectories`` looks like a 1-D array, and its parts can be put together."""

import pickle

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from sklearn.model_selection import KFold, train_test_split
from sklearn.utils import _safe_indexing, resample

from boostr.data import RecurrentEvents, Trajectories
from boostr.exceptions import (
    InvalidParameterError,
    InvalidSensorsError,
    SensorTypeError,
)

NAN = np.nan


@pytest.fixture(name="Z")
def series():
    """Five individuals; the second has no sample."""
    return Trajectories.from_flat(
        [0, 1, 2, 5, 3, 3.5, 4],
        [0, 3, 3, 4, 6, 7],
        [[1, NAN, 3, 4, 5, 6, 7], [0, 1, NAN, 1, 1, 0, NAN]],
        ["load", "mode"],
        categories={"mode": ("idle", "run")},
        ids=list("abcde"),
    )


def test_it_counts_individuals(Z):
    assert (len(Z), Z.shape, Z.ndim) == (5, (5,), 1)


def test_it_says_what_it_holds(Z):
    assert repr(Z) == "Trajectories(5 individuals, 2 sensors, 7 samples)"


def test_one_of_each_is_said_in_the_singular():
    Z = Trajectories.from_flat([0], [0, 1], [[1]], ["load"])
    assert repr(Z) == "Trajectories(1 individual, 1 sensor, 1 sample)"


@pytest.mark.parametrize(
    "key",
    [
        [3, 1, 0],
        np.array([3, 1, 0]),
        np.array([-2, 1, -5], dtype=np.int32),
        (np.array([3, 1, 0]), ...),
    ],
)
def test_positions_take_individuals_in_their_order(Z, key):
    part = Z[key]
    assert part.ids.tolist() == ["d", "b", "a"]
    assert_array_equal(part.times, [3, 3.5, 0, 1, 2])
    assert_array_equal(part.offsets, [0, 2, 2, 5])
    assert_array_equal(part.values[0], [5, 6, 1, 1, 3])
    assert part.values.flags.c_contiguous


@pytest.mark.parametrize("convert", [list, np.asarray, pd.Series])
def test_masks_keep_individuals(Z, convert):
    assert Z[convert(np.diff(Z.offsets) == 1)].ids.tolist() == ["c", "e"]


def test_repeats_and_slices(Z):
    assert Z[[0, 0]].times.size == 6
    assert Z[1:5:2].ids.tolist() == ["b", "d"]
    assert Z[2].equals(Z[2:3])


@pytest.mark.parametrize("key", [5, -6, [5], [True], 1.5, "a", ["a"]])
def test_positions_that_do_not_exist_are_refused(Z, key):
    with pytest.raises(IndexError):
        Z[key]


def test_a_mask_with_labels_in_another_order_is_refused(Z):
    mask = pd.Series([True] * 5, index=list("edcba"))
    with pytest.raises(InvalidSensorsError, match="order of the individuals"):
        Z[mask]


def test_iterating_yields_containers_of_one(Z):
    assert Trajectories.concatenate(list(Z)).equals(Z)


def test_as_an_array_it_holds_the_values_of_each(Z):
    array = np.asarray(Z)
    assert (array.dtype, array.shape, array[0].shape) == (object, (5,), (2, 3))


def test_it_is_no_array_of_numbers(Z):
    with pytest.raises(SensorTypeError, match=r"(?s)own number of samples.*Hint"):
        np.asarray(Z, dtype=float)


def test_an_array_needs_a_copy(Z):
    with pytest.raises(ValueError, match="without a copy"):
        np.array(Z, copy=False)


def test_scikit_learn_splits_it(Z):
    train, test = train_test_split(Z, test_size=0.4, random_state=0)
    assert sorted([*train.ids, *test.ids]) == list("abcde")
    assert [len(Z[i]) for i, _ in KFold(5).split(Z)] == [4] * 5
    assert len(resample(Z, random_state=0)) == 5
    assert _safe_indexing(Z, [True, False, False, False, True]).ids.tolist() == ["a", "e"]


def test_it_can_be_pickled(Z):
    assert pickle.loads(pickle.dumps(Z)).equals(Z)


@pytest.mark.parametrize(
    "other",
    [
        None,
        lambda Z: Z[::-1],
        lambda Z: Z.assign(load=1.0),
        lambda Z: Z.select(["mode", "load"]),
        lambda Z: Z._with(before="first"),
        lambda Z: Z._with(time_unit="D"),
    ],
)
def test_other_series_are_not_equal(Z, other):
    assert not Z.equals(other and other(Z))


# --- Sensors


def test_sensors_are_chosen_by_name(Z):
    assert Z.select("load").names == ("load",)
    assert Z.select(["mode", "load"]).categories == (("idle", "run"), None)


def test_unknown_sensors_are_named(Z):
    with pytest.raises(InvalidParameterError, match=r"(?s)'torque'.*Hint: .*'load'"):
        Z.select(["torque"])


def test_values_act_strictly_after_their_samples(Z):
    assert_array_equal(Z.read([0.0, 0.5, 2.0, 9.0])[0, :, 0], [NAN, 1, 1, 3])


def test_times_may_differ_between_individuals(Z):
    times = np.array([[0.5], [0.5], [9.0], [3.2], [4.0]])
    assert_array_equal(Z.read(times)[:, 0, 0], [1, NAN, 4, 5, NAN])


def test_one_time_is_enough(Z):
    assert Z.read(1.0).shape == (5, 1, 2)


@pytest.mark.parametrize("times", [np.zeros((2, 2)), np.zeros((5, 1, 1))])
def test_times_of_another_shape_are_refused(Z, times):
    with pytest.raises(InvalidParameterError, match="for 5 individuals"):
        Z.read(times)


def test_first_values_act_before_the_first_sample():
    Z = Trajectories.from_flat([3], [0, 1, 1], [[7]], ["load"], before="first")
    assert_array_equal(Z.read([-1e9, 9.0])[:, :, 0], [[7, 7], [NAN, NAN]])


# --- Ids


def test_aligning_puts_individuals_into_the_order_of_ids(Z):
    ids = ["e", "b", "a", "d", "c"]
    assert Z.align(ids).equals(Z[[4, 1, 0, 3, 2]])


def test_aligning_may_repeat_individuals(Z):
    assert Z.align(list("abcdea")).ids.tolist() == list("abcdea")


def test_aligned_series_stay_as_they_are(Z):
    assert Z.align(Z.ids) is Z


def test_repeated_individuals_stay_in_their_order(Z):
    twice = Z[[0, 0, 2]]
    assert twice.align(["a", "a", "c"]) is twice


def test_repeated_ids_cannot_be_put_in_another_order(Z):
    with pytest.raises(InvalidSensorsError, match=r"(?s)1 ids are repeated \(a\).*Hint"):
        Z[[0, 0, 2]].align(["c", "a"])


def test_missing_ids_are_named(Z):
    message = r"(?s)2 of 7 individuals have no sensors \(ids x, y\).*Hint: .*ids=y\.ids"
    with pytest.raises(InvalidSensorsError, match=message):
        Z.align(list("axbcyde"))


def test_surplus_ids_are_named(Z):
    message = r"(?s)2 of 5 individuals with sensors.*\(ids d, e\).*Hint: .*isin"
    with pytest.raises(InvalidSensorsError, match=message):
        Z.align(list("cba"))


def test_without_ids_the_order_stays():
    Z = Trajectories.from_flat([0], [0, 1, 1], [[1]], ["load"])
    assert Z.align(["W1", "W2"]) is Z


def test_without_ids_there_must_be_as_many():
    Z = Trajectories.from_flat([0], [0, 1, 1], [[1]], ["load"])
    with pytest.raises(InvalidSensorsError, match=r"(?s)of 2 individ.*not of 3.*Hint"):
        Z.align([1, 2, 3])


# --- Parts


def test_concatenating_unites_categories(Z):
    other = Z.encode({"mode": ("run", "off", "idle")}).select(["mode", "load"])
    joined = Trajectories.concatenate([Z[:2], other[2:]])
    assert joined.categories == (None, ("idle", "off", "run"))
    assert joined.encode({"mode": ("idle", "run")}).equals(Z)


def test_concatenating_nothing_is_refused():
    with pytest.raises(InvalidSensorsError, match="at least one part"):
        Trajectories.concatenate([])


def test_concatenating_strangers_is_refused(Z):
    with pytest.raises(SensorTypeError, match=r"(?s)1 of 2 are not .*list\).*Hint"):
        Trajectories.concatenate([Z, []])


@pytest.mark.parametrize(
    "change", [lambda Z: Z.select("load"), lambda Z: Z._with(before="first")]
)
def test_parts_must_have_the_same_sensors(Z, change):
    with pytest.raises(InvalidSensorsError, match=r"(?s)same sensors.*Hint: Z\.select"):
        Trajectories.concatenate([Z, change(Z)])


def test_parts_must_have_the_same_clock(Z):
    with pytest.raises(InvalidSensorsError, match=r"(?s)`time_unit` is D here and h.*Hint"):
        Trajectories.concatenate([Z._with(time_unit="D"), Z._with(time_unit="h")])


def test_parts_must_agree_on_what_is_a_number(Z):
    numbers = Trajectories.from_flat([0], [0, 1], [[1], [0]], ["load", "mode"])
    with pytest.raises(InvalidSensorsError, match=r"(?s)'mode' must be of one kind.*Hint"):
        Trajectories.concatenate([Z, numbers])


# --- Categories


def test_codes_follow_the_list_and_unseen_ones_are_unknown(Z):
    coded = Z.encode({"mode": ("run", "stop")})
    assert_array_equal(coded.values[1], [NAN, 0, 0, 0, 0, NAN, NAN])
    assert coded.categories == (None, ("run", "stop"))


def test_unseen_categories_are_counted(Z):
    assert Z.count_unseen({"mode": ("run", "stop")}) == {"mode": 2}


def test_the_same_list_changes_nothing(Z):
    assert Z.encode({"mode": ("idle", "run")}).values is Z.values


@pytest.mark.parametrize(("name", "what"), [("load", "numbers"), ("torque", "not there")])
def test_only_categorical_sensors_have_categories(Z, name, what):
    for method in (Z.encode, Z.count_unseen):
        with pytest.raises(InvalidSensorsError, match=rf"(?s)'{name}'.*{what}.*Hint"):
            method({name: ("a",)})


# --- Tables


@pytest.mark.parametrize("backend", ["pandas", "polars"])
def test_the_long_form_comes_back(Z, backend):
    table = Z.to_long(backend=backend)
    again = Trajectories.from_long(table, "id", "time", ids=Z.ids)
    assert again.equals(Z)


def test_the_long_form_has_the_names_of_the_columns():
    table = pd.DataFrame({"well": [1], "day": [0.0], "load": [2.0]})
    Z = Trajectories.from_long(table, "well", "day")
    assert list(Z.to_long(backend="pandas")) == ["well", "time", "load"]


def test_names_that_clash_are_changed():
    table = pd.DataFrame({"well": [1], "day": [0.0], "time": [2.0], "id": [3.0]})
    Z = Trajectories.from_long(table, "well", "day")._with(id_name="time")
    assert list(Z.to_long(backend="pandas")) == [
        "id of series",
        "sample time",
        "time",
        "id",
    ]


def test_series_without_sensors_have_a_long_form():
    y = RecurrentEvents.from_lists([[1.0]], end=2.0)
    assert list(Trajectories.from_events(y).to_long(backend="pandas")) == ["id", "time"]

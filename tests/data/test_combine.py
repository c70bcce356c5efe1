"""Sensors from two sources, changed sensors, and a future after the past."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from boostr.data import Trajectories
from boostr.exceptions import (
    InvalidParameterError,
    InvalidSensorsError,
    SensorTypeError,
)

NAN = np.nan


def path(times, values, name="load", **options):
    return Trajectories.from_flat(times, [0, len(times)], [values], [name], **options)


@pytest.fixture(name="Z")
def series():
    return Trajectories.from_flat(
        [1, 3, 2],
        [0, 2, 2, 3],
        [[5, 6, 7], [NAN, 1, 0]],
        ["load", "mode"],
        categories={"mode": ("idle", "run")},
        ids=list("abc"),
    )


# --- merge


def test_merged_sensors_hold_on_common_pieces(Z):
    other = Trajectories.from_flat(
        [4, 2, 0], [0, 1, 2, 3], [[1, 2, 3]], ["x"], ids=[*"cba"]
    )
    both = Z.merge(other)
    assert both.names == ("load", "mode", "x")
    assert_array_equal(both.times, [0, 1, 3, 2, 2, 4])
    assert_array_equal(both.offsets, [0, 3, 4, 6])
    assert_array_equal(both.values[0], [NAN, 5, 6, NAN, 7, 7])
    assert_array_equal(both.values[2], [3, 3, 3, 2, NAN, 1])


def test_merging_without_ids_goes_by_position_and_takes_the_ids_there_are(Z):
    other = Trajectories.from_flat([0], [0, 1, 1, 1], [[1]], ["x"])
    assert other.merge(Z).ids.tolist() == ["a", "b", "c"]


def test_first_values_hold_before_the_union():
    one, other = path([3], [7], before="first"), path([1], [5], "x", before="first")
    both = one.merge(other)
    assert_array_equal(both.read([0.0, 2.0])[0], [[7, 5], [7, 5]])


@pytest.mark.parametrize(("begin", "end"), [(1, 3), (3, 1), (2, 2)])
@pytest.mark.parametrize("swapped", [False, True])
def test_unknown_stays_unknown_beside_first_values(begin, end, swapped):
    known, unknown = path([begin], [7], before="first"), path([end], [5], "x")
    both = unknown.merge(known) if swapped else known.merge(unknown)
    read = both.select(["load", "x"]).read([-9.0, end, end + 0.5])[0]
    assert_array_equal(read, [[7, NAN], [7, NAN], [7, 5]])


def test_a_sensor_may_stand_in_one_of_them_only(Z):
    with pytest.raises(InvalidSensorsError, match=r"(?s)both \(load\).*Hint: name="):
        Z.merge(Z.select("load"))


def test_only_series_can_be_merged(Z):
    with pytest.raises(SensorTypeError, match=r"(?s)come in a dict.*Hint"):
        Z.merge({})


def test_merging_needs_the_same_individuals(Z):
    with pytest.raises(InvalidSensorsError, match=r"1 of 3 individuals have no sensors"):
        Z.merge(Z[:2].assign(x=1.0).select("x"))


def test_merging_by_position_needs_as_many(Z):
    with pytest.raises(InvalidSensorsError, match="of 1 individuals and not of 3"):
        Z.merge(path([1], [2], "x"))


# --- assign


def test_a_function_changes_the_known_values(Z):
    seen = []
    new = Z.assign(load=lambda v: seen.append(v.copy()) or 2 * v)
    assert_array_equal(new.values[0], [10, 12, 14])
    assert_array_equal(seen, [[5, 6, 7]])


def test_unknown_stays_unknown():
    Z = path([0, 1], [NAN, 3])
    assert_array_equal(Z.assign(load=4.0).values, [[NAN, 4]])
    assert_array_equal(Z.assign(load=lambda v: v + 1).values, [[NAN, 4]])


def test_new_sensors_follow_from_the_others(Z):
    new = Z.assign(double=lambda all_: 2 * all_["load"], one=1, none=lambda _: NAN)
    assert new.names == ("load", "mode", "double", "one", "none")
    assert_array_equal(new.values[2:], [[10, 12, 14], [1, 1, 1], [NAN] * 3])


def test_an_array_gives_every_piece_its_value(Z):
    assert_array_equal(Z.assign(load=[1, NAN, 3]).values[0], [1, NAN, 3])


def test_a_category_is_given_by_name(Z):
    assert_array_equal(Z.assign(mode="idle").values[1], [NAN, 0, 0])


def test_a_category_may_be_new(Z):
    new = Z.assign(mode="off", place="north")
    assert new.categories == (None, ("idle", "run", "off"), ("north",))
    assert_array_equal(new.values[1:], [[NAN, 2, 2], [0, 0, 0]])


def test_the_original_is_left_alone(Z):
    before = Z.values.copy()

    def spoil(values):
        values[:] = 0.0
        return values

    Z.assign(load=spoil, new=lambda all_: spoil(all_["load"]))
    assert_array_equal(Z.values, before)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"load": "idle"}, "'load' must get numbers"),
        ({"mode": 1.0}, "'mode' must get one of its categories"),
        ({"mode": lambda v: v}, "'mode' must get one of its categories"),
        ({"load": np.inf}, "finite numbers"),
        ({"load": [None, 1, 2]}, "gets object"),
        ({"load": lambda v: v[:2]}, r"\(2,\)"),
        ({"load": [[1, 2, 3]]}, r"\(1, 3\)"),
    ],
)
def test_values_that_do_not_fit_are_refused(Z, change, message):
    with pytest.raises(InvalidSensorsError, match=rf"(?s){message}.*Hint"):
        Z.assign(**change)


# --- followed_by


def test_the_future_begins_after_the_last_sample(Z):
    future = Z.assign(load=lambda v: v + 100)._with(times=Z.times + 1)
    both = Z.followed_by(future)
    assert_array_equal(both.read([2.0, 3.0, 3.5, 4.5])[0, :, 0], [5, 5, 105, 106])
    assert_array_equal(both.read([2.0, 3.0, 3.5])[2, :, 0], [NAN, 7, 107])


def test_it_may_begin_at_another_time():
    both = path([1, 3], [5, 6]).followed_by(path([0, 4], [8, 9]), at=2.0)
    assert_array_equal(both.times, [1, 2, 4])
    assert_array_equal(both.values, [[5, 8, 9]])


def test_times_may_differ():
    Z = Trajectories.from_flat([0, 0], [0, 1, 2], [[1, 2]], ["load"])
    both = Z.followed_by(Z.assign(load=9.0), at=[1.0, 2.0])
    assert_array_equal(both.read([1.5])[:, 0, 0], [9, 2])


def test_the_last_own_value_goes_on_until_the_future_knows_better():
    both = path([1, 3], [5, 6]).followed_by(path([4], [9]), at=2.0)
    assert_array_equal(both.read([2.5, 4.0, 5.0])[0, :, 0], [5, 5, 9])


def test_what_the_future_knows_first_holds_at_once():
    both = path([1], [5]).followed_by(path([4], [9], before="first"))
    assert_array_equal(both.read([1.0, 1.5])[0, :, 0], [NAN, 9])


def test_what_becomes_unknown_in_the_future_is_unknown():
    both = path([1], [5]).followed_by(path([2], [9], max_gap=1.0))
    assert_array_equal(both.read([1.5, 2.5, 3.5])[0, :, 0], [5, 9, NAN])


def test_sensors_that_the_future_lacks_go_on(Z):
    both = Z.followed_by(Z.select("load").assign(load=0.0), at=2.5)
    assert_array_equal(both.read([9.0])[:, 0], [[0, NAN], [NAN, NAN], [0, 0]])


def test_those_without_samples_have_the_future_only():
    Z = Trajectories.from_flat([], [0, 0], np.empty((1, 0)), ["load"])
    assert_array_equal(Z.followed_by(path([1, 2], [5, 6])).values, [[5, 6]])


def test_first_values_still_hold_before_the_future():
    both = path([3], [5], before="first").followed_by(path([0], [9]), at=1.0)
    assert_array_equal(both.read([-9.0, 1.0, 1.5, 4.0])[0, :, 0], [5, 5, 9, 9])


def test_categories_of_both_are_united():
    Z = path([0], [0], "mode", categories=[("run",)])
    future = path([1], [0], "mode", categories=[("idle",)])
    both = Z.followed_by(future)
    assert both.categories == (("idle", "run"),)
    assert_array_equal(both.values, [[1, 0]])


def test_the_future_has_no_other_sensors(Z):
    with pytest.raises(InvalidSensorsError, match=r"(?s)\(x\).*Hint: future\.select"):
        Z.followed_by(Z.assign(x=1.0))


@pytest.mark.parametrize("at", [NAN, [1.0, 2.0], np.inf])
def test_the_time_of_the_future_must_be_known(Z, at):
    with pytest.raises(InvalidParameterError, match="`at` must be one finite time"):
        Z.followed_by(Z, at=at)

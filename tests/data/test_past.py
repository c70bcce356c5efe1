"""Sensors that remember the past, and nothing of the future."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from tests import oracles

from boostr.data import RecurrentEvents, Trajectories
from boostr.exceptions import (
    InvalidParameterError,
    InvalidSensorsError,
    SensorTypeError,
)

NAN = np.nan


def path(times, values, **options):
    return Trajectories.from_flat(times, [0, len(times)], [values], ["load"], **options)


@pytest.fixture(name="Z")
def series(rng):
    times = [np.sort(rng.choice(40, k, replace=False)) / 4 for k in (8, 0, 1, 12)]
    offsets = np.concatenate([[0], np.cumsum([own.size for own in times])])
    values = rng.integers(-4, 5, (2, offsets[-1])).astype(float)
    values[rng.random(values.shape) < 0.2] = NAN
    return Trajectories.from_flat(
        np.concatenate(times), offsets, values, ["load", "torque"], ids=list("abcd")
    )


@pytest.fixture
def y():
    return RecurrentEvents.from_lists(
        [[2.0, 2.0, 5.0], [], [9.0], [1.0]],
        start=[0.5, 0.0, 3.0, 0.0],
        end=10.0,
        ids=list("abcd"),
    )


TRANSFORMS = {
    "lag": lambda Z, y: Z.lag("load", 1.5),
    "running_mean": lambda Z, y: Z.running_mean("load", 2.0),
    "fading_sum": lambda Z, y: Z.fading_sum("load", 2.0),
    "running_max": lambda Z, y: Z.running_max("load"),
    "running_max in a window": lambda Z, y: Z.running_max("load", 2.0),
    "time_since_event": lambda Z, y: Z.time_since_event(y),
    "events_in_window": lambda Z, y: Z.events_in_window(y, 3.0),
}


@pytest.fixture(params=list(TRANSFORMS))
def transform(request):
    return TRANSFORMS[request.param]


def test_the_other_sensors_stay_what_they_are(Z, y, transform):
    times = np.arange(-1, 15, 0.125)
    assert_array_equal(transform(Z, y).read(times)[:, :, :2], Z.read(times))


def test_taking_individuals_first_or_last_is_the_same(Z, y, transform):
    some = np.array([3, 0, 0, 1])
    long, short = transform(Z, y)[some], transform(Z[some], y[some])
    assert long.equals(short)


def test_first_values_never_begin(Z, y, transform):
    new = transform(Z._with(before="first"), y)
    assert new.before == "first"
    assert np.isfinite(new.times).all()


@pytest.mark.parametrize(
    ("make", "name"),
    [
        (lambda Z: Z.lag("load", 5), "load lag 5"),
        (lambda Z: Z.running_mean("load", 7.0), "load mean 7"),
        (lambda Z: Z.fading_sum("load", 0.5), "load fading 0.5"),
        (lambda Z: Z.running_max("load"), "load max"),
        (lambda Z: Z.running_max("load", 30), "load max 30"),
        (lambda Z: Z.lag("load", 5, name="earlier"), "earlier"),
    ],
)
def test_new_sensors_have_names(make, name):
    assert make(path([0], [1])).names == ("load", name)


def test_several_sensors_at_once(Z):
    names = Z.running_mean(["torque", "load"], 2.0).names
    assert names == ("load", "torque", "torque mean 2", "load mean 2")


def test_one_name_is_not_enough_for_several(Z):
    with pytest.raises(InvalidParameterError, match=r"(?s)`name` must be None.*Hint"):
        Z.lag(["load", "torque"], 2.0, name="x")


def test_names_must_be_new(Z):
    with pytest.raises(InvalidSensorsError, match=r"(?s)load lag 1.*Hint: name="):
        Z.lag("load", 1.0).lag("load", 1.0)


@pytest.mark.parametrize("bad", [0, -1, NAN, np.inf, "a"])
@pytest.mark.parametrize(
    "make",
    [
        lambda Z, y, v: Z.lag("load", v),
        lambda Z, y, v: Z.running_mean("load", v),
        lambda Z, y, v: Z.running_mean("load", 1.0, step=v),
        lambda Z, y, v: Z.fading_sum("load", v),
        lambda Z, y, v: Z.running_max("load", v),
        lambda Z, y, v: Z.time_since_event(y, step=v),
        lambda Z, y, v: Z.events_in_window(y, v),
    ],
)
def test_lengths_of_time_must_be_above_zero(Z, y, make, bad):
    with pytest.raises(InvalidParameterError, match=r"(?s)finite number above zero.*Hint"):
        make(Z, y, bad)


@pytest.mark.parametrize(
    "make",
    [
        lambda Z: Z.running_mean("mode", 1.0),
        lambda Z: Z.fading_sum("mode", 1.0),
        lambda Z: Z.running_max("mode"),
    ],
)
def test_categories_have_no_mean(make):
    Z = Trajectories.from_flat([0], [0, 1], [[0]], ["mode"], categories=[("run",)])
    with pytest.raises(InvalidSensorsError, match=r"(?s)'mode' must hold numbers.*Hint"):
        make(Z)


def test_steps_that_fill_the_memory_are_refused(Z):
    with pytest.raises(InvalidParameterError, match=r"(?s)pieces.*Hint: .*`step`"):
        Z.running_mean("load", 1.0, step=1e-12)


# --- lag


def test_a_lag_shows_what_was(Z):
    times = np.arange(0, 16, 0.25)
    new = Z.lag(["load", "torque"], 1.5).read(times)
    assert_array_equal(new[:, :, 2:], Z.read(times - 1.5))


def test_categories_can_lag():
    Z = Trajectories.from_flat([0], [0, 1], [[0]], ["mode"], categories=[("run",)])
    assert Z.lag("mode", 1.0).categories == (("run",), ("run",))


# --- running_mean, fading_sum, running_max


def on_pieces(Z, function, span):
    """Apply an oracle just after the beginning of every piece of the new sensor."""
    expected = []
    for old, new in zip(*Z, strict=True):
        expected += [function(old.times, old.values[0], span, t) for t in new.times]
    return expected


@pytest.mark.parametrize(
    ("method", "oracle", "span"),
    [
        ("running_mean", oracles.mean_of_past, 2.0),
        ("fading_sum", oracles.faded_past, 1.5),
        ("running_max", oracles.max_of_past, 2.0),
    ],
)
def test_pieces_hold_the_value_at_their_beginning(Z, method, oracle, span):
    new = getattr(Z, method)("load", span)
    expected = on_pieces((Z, new), oracle, span)
    assert_allclose(new.values[2], expected, atol=1e-12)


def test_the_maximum_so_far_is_that_of_an_endless_window(Z):
    new = Z.running_max("load")
    assert_array_equal(new.values[2], on_pieces((Z, new), oracles.max_of_past, np.inf))


@pytest.mark.parametrize("before", ["unknown", "first"])
def test_a_constant_has_itself_as_mean(before):
    Z = path([0.0, 3.0, 7.0], [5.0, 5.0, 5.0], before=before).running_mean("load", 2.0)
    assert_allclose(Z.values[1], 5.0)


def test_the_mean_settles_when_the_window_has_passed():
    Z = path([0.0, 0.3], [5.0, 0.1]).running_mean("load", 0.7)
    assert Z.values[1, -1] == 0.1
    assert_allclose(Z.last_times, 1.0)


@pytest.mark.parametrize("method", ["running_mean", "fading_sum"])
def test_pieces_are_no_longer_than_the_step(method):
    Z = getattr(path([0.0, 1.0, 2.7], [1.0, 2.0, 3.0]), method)("load", 2.0, step=0.3)
    assert np.diff(Z.times).max() <= 0.3 + 1e-12


def test_a_fading_sum_settles_where_value_and_fading_balance():
    Z = path([0.0], [3.0]).fading_sum("load", 2.0)
    assert_allclose(Z.values[1, -1], 3.0 * 2.0 / np.log(2), rtol=1e-3)


def test_an_endless_past_has_settled():
    Z = path([0.0], [3.0], before="first").fading_sum("load", 2.0)
    assert_allclose(Z.values[1], 3.0 * 2.0 / np.log(2))


def test_unknown_adds_nothing_to_a_fading_sum():
    Z = path([0.0, 1.0], [NAN, NAN]).fading_sum("load", 2.0)
    assert_array_equal(Z.values[1], 0.0)


def test_a_maximum_leaves_the_window_exactly():
    Z = path([0.0, 0.1, 0.2], [1.0, 9.0, 2.0]).running_max("load", 0.7)
    end = 0.2 + 0.7
    assert_array_equal(Z.read([end, np.nextafter(end, 1)])[0, :, 1], [9.0, 2.0])


# --- What events leave behind


def test_time_since_the_last_event_or_entry(y):
    Z = Trajectories.from_events(y).time_since_event(y, step=0.5)
    read = Z.read([0.5, 0.75, 2.0, 2.25, 5.0, 5.25])[0, :, 0]
    assert_array_equal(read, [NAN, 0.0, 1.0, 0.0, 2.5, 0.0])
    assert_array_equal(Z.read([3.0, 3.25, 9.0, 9.75])[2, :, 0], [NAN, 0.0, 5.5, 0.5])


def test_the_default_step_is_a_200th_of_the_longest_follow_up(y):
    Z = Trajectories.from_events(y).time_since_event(y)
    assert_allclose(np.diff(Z[1].times), 10.0 / 200)


def test_time_stops_growing_at_the_end_or_later(y):
    Z = Trajectories.from_events(y)
    assert Z.time_since_event(y, step=1.0).read([99.0])[1, 0, 0] == 9.0
    assert Z.time_since_event(y, step=1.0, until=20.0).read([99.0])[1, 0, 0] == 19.0


@pytest.mark.parametrize(
    ("until", "message"),
    [
        (NAN, r"but it is not finite for \d of \d individuals \(ids"),
        ([1.0, 2.0], r"but it has the shape \(2,\) for \d individuals"),
    ],
)
def test_the_end_of_growing_must_be_known(y, until, message):
    with pytest.raises(InvalidParameterError, match="`until` must be one finite time"):
        Trajectories.from_events(y).time_since_event(y, until=until)
    with pytest.raises(InvalidParameterError, match=message):
        Trajectories.from_events(y).time_since_event(y, until=until)


def test_events_count_for_the_window(y):
    Z = Trajectories.from_events(y).events_in_window(y, 3.0)
    read = Z.read([0.5, 2.0, 2.5, 5.0, 5.5, 8.0, 8.5])[0, :, 0]
    assert_array_equal(read, [NAN, 0, 2, 2, 1, 1, 0])


def test_what_events_leave_behind_can_be_named(y):
    Z = Trajectories.from_events(y).time_since_event(y).events_in_window(y, 3.0)
    assert Z.names == ("time since event", "events in last 3")
    Z = Trajectories.from_events(y).time_since_event(y, name="age")
    assert Z.events_in_window(y, 3.0, name="recent").names == ("age", "recent")


def test_events_are_matched_by_id(Z, y):
    order = np.array([2, 0, 3, 1])
    shuffled = y[order]
    assert Z.events_in_window(shuffled, 3.0).equals(Z.events_in_window(y, 3.0))
    assert Z.time_since_event(shuffled).equals(Z.time_since_event(y))


def test_events_of_others_are_refused(Z, y):
    with pytest.raises(InvalidSensorsError, match=r"\(ids d\)"):
        Z.time_since_event(y[:3])
    with pytest.raises(InvalidSensorsError, match=r"\(ids d\)"):
        Z[:3].events_in_window(y, 1.0)


def test_without_ids_events_go_by_position():
    y = RecurrentEvents.from_lists([[1.0]], end=3.0)
    Z = path([0.0], [1.0])
    assert_array_equal(Z.events_in_window(y, 1.0).read([1.5])[0, 0], [1.0, 1.0])
    with pytest.raises(InvalidSensorsError, match="of 1 individuals and not of 2"):
        Z.events_in_window(y[[0, 0]], 1.0)


def test_only_events_can_be_remembered(Z):
    with pytest.raises(SensorTypeError, match=r"(?s)it is a list.*Hint"):
        Z.time_since_event([[1.0]])


def test_nobody_has_no_time_since_an_event(Z, y):
    assert len(Z[:0].time_since_event(y[:0])) == 0


def test_tables_and_events_meet_by_id():
    sensors = pd.DataFrame({"well": ["W2"], "day": [1.0], "load": [3.0]})
    y = RecurrentEvents.from_lists([[4.0], []], end=9.0, ids=["W1", "W2"])
    Z = Trajectories.from_long(sensors, "well", "day", ids=y.ids).events_in_window(y, 2.0)
    assert_array_equal(Z.read([5.0])[:, 0], [[NAN, 1.0], [3.0, 0.0]])

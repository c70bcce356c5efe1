"""Sensors that all individuals share, and seasons."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal

from boostr import RecurrentEvents, Trajectories
from boostr.data.clip import clip_sensors
from boostr.exceptions import InvalidParameterError, InvalidSensorsError, SeasonWarning

DAY = np.timedelta64(1, "D")
START = np.datetime64("2021-01-01", "us")
LENGTHS = np.array([400, 900, 30])
ENTRIES = START + np.array([0, 17, 300]) * DAY


def weather(n_days=1_000):
    rng = np.random.default_rng(0)
    values = rng.normal(size=n_days)
    modes = rng.choice(["dry", "wet"], n_days)
    dates = START + np.arange(n_days) * DAY
    return pd.DataFrame({"date": dates, "temperature": values, "sky": modes})


def repeat(table, ids):
    """Return the same rows for each id."""
    return pd.concat([table.assign(id=one) for one in ids], ignore_index=True)


def histories(origin=None, hours=0):
    """Return three individuals with one event each, dated by day or by hour."""
    entry = ENTRIES + np.timedelta64(hours, "h")
    rows = {"id": ["a", "b", "c"], "entry": entry}
    events = pd.DataFrame(rows | {"time": entry + 20 * DAY, "event": 1})
    ends = pd.DataFrame(rows | {"time": entry + LENGTHS * DAY, "event": 0})
    table = pd.concat([events, ends])
    return RecurrentEvents.from_long(
        table, "id", "time", "event", start="entry", origin=origin
    )


def read(sensors, y, step=0.5):
    """Return what individuals see until their ends, and nothing later."""
    times = np.arange(0.0, y.end.max(), step)
    values = sensors.read(times)
    values[times > y.end[:, None]] = np.nan
    return values


def test_shared_is_the_table_repeated_for_each():
    y = histories()
    Z = Trajectories.from_long(repeat(weather(), y.ids), "id", "date", origin=y.origin)
    shared = Trajectories.shared(weather(), time="date").for_individuals(y)
    assert_array_equal(read(shared, y), read(Z.select(shared.names), y))


def test_individuals_read_shared_sensors_at_their_own_dates():
    y = histories("individual")
    table = weather()
    shared = Trajectories.shared(table, "date", ["temperature"]).for_individuals(y)
    later = np.array([5, 10, 20])
    places = ((ENTRIES - START) / DAY).astype(int)[:, None] + later
    seen = shared.read(later + 0.5)[:, :, 0]
    assert_array_equal(seen, table["temperature"].to_numpy()[places])


def test_shared_sensors_are_clipped_to_what_is_needed():
    y = histories("individual")
    shared = Trajectories.shared(weather(), "date").for_individuals(y, until=y.end + 10)
    counts = np.diff(shared.offsets)
    assert np.all(counts <= LENGTHS + 12)


def test_numbers_are_on_the_axis_of_histories():
    y = RecurrentEvents.from_lists([[3.0], []], end=[10.0, 7.0])
    table = pd.DataFrame({"day": [0.0, 4.0], "price": [5.0, 6.0]})
    Z = Trajectories.shared(table, time="day").for_individuals(y)
    assert_array_equal(Z.read([4.0, 5.0])[:, :, 0], [[5.0, 6.0], [5.0, 6.0]])


def test_own_sensors_and_shared_ones_merge_in_the_order_of_histories():
    y = histories()
    own = Trajectories.from_flat(
        [0, 0, 0], [0, 1, 2, 3], [[1, 2, 3]], ["load"], ids=["c", "a", "b"]
    )
    merged = own.merge(Trajectories.shared(weather(), "date", ["temperature"]))
    Z = merged.for_individuals(y)
    assert merged.names == Z.names == ("load", "temperature")
    assert_array_equal(Z.ids, y.ids)
    assert_array_equal(Z.read([1.0])[:, 0, 0], [2.0, 3.0, 1.0])


def test_parts_of_individuals_keep_what_is_shared():
    y = histories()
    own = Trajectories.from_flat([0, 0, 0], [0, 1, 2, 3], [[1, 2, 3]], ["load"], ids=y.ids)
    merged = own.merge(Trajectories.shared(weather(), "date", ["temperature"]))
    whole, part = merged.for_individuals(y), merged[1:].for_individuals(y[1:])
    assert part.equals(whole[1:])


@pytest.mark.parametrize("origin", [None, "individual"])
@pytest.mark.parametrize("hours", [0, 7])
def test_seasons_are_those_of_the_dates(origin, hours):
    y = histories(origin, hours)
    Z = Trajectories.seasonal(y, ["month", "quarter", "weekday"]).for_individuals(y)
    since = y.origins if origin else np.full(len(y), y.origin)
    days = np.arange(1, 30)
    dates = pd.to_datetime((since[:, None] + days * DAY).ravel())
    codes = Z.read(days.astype(float)).reshape(-1, 3)
    months, quarters, weekdays = (
        np.asarray(names)[codes[:, place].astype(int)]
        for place, names in enumerate(Z.categories)
    )
    assert_array_equal(months, dates.month_name())
    assert_array_equal(quarters, [f"Q{quarter}" for quarter in dates.quarter])
    assert_array_equal(weekdays, dates.day_name())


def test_events_dated_by_day_belong_to_the_whole_day():
    # The time from the day before to a dated event counts as the event's day.
    y = histories()
    Z = Trajectories.seasonal(y, "weekday").for_individuals(y)
    first, second, third = Z[:1].read([0.5, 1.0, 1.5])[0, :, 0]
    assert first == second  # up to and including the second of January
    assert third == (second + 1) % 7


def test_hours_are_read_from_stamps():
    y = histories(hours=7)
    Z = Trajectories.seasonal(y, "hour").for_individuals(y)
    assert Z.categories[0][int(Z[:1].read([0.99 / 24])[0, 0, 0])] == "08"


@pytest.mark.parametrize(
    ("years", "kept"), [(1.5, ("weekday",)), (2.1, ("month", "weekday"))]
)
def test_seasons_need_two_cycles(years, kept):
    start = pd.Timestamp("2021-01-01")
    table = pd.DataFrame(
        {"id": 1, "time": [start + pd.Timedelta(days=round(365 * years))], "event": 0}
    )
    y = RecurrentEvents.from_long(table, "id", "time", "event", start=start)
    if "month" in kept:
        season = Trajectories.seasonal(y)
    else:
        with pytest.warns(SeasonWarning, match=r"'month' is left out.* 2 years"):
            season = Trajectories.seasonal(y)
    assert season.names == kept
    assert Trajectories.seasonal(y, min_cycles=0).names == ("month", "weekday")


def test_seasons_go_on_after_a_cut_and_other_sensors_do_not():
    y = histories()
    Z = (
        Trajectories.shared(weather(), "date", ["temperature"])
        .merge(Trajectories.seasonal(y, "month"))
        .for_individuals(y)
    )
    cut = clip_sensors(Z, np.full(3, 15.0))
    times = np.array([10.0, 100.0, 200.0])
    assert_array_equal(cut.read(times)[1, :, 1], Z.read(times)[1, :, 1])
    held = Z.read([15.5])[1, 0, 0]
    assert_array_equal(cut.read(times[1:])[1, :, 0], [held, held])


def test_a_plan_of_some_sensors_leaves_the_season_its_future():
    y = histories()
    shared = Trajectories.shared(weather(), "date", ["temperature"])
    Z = shared.merge(Trajectories.seasonal(y, "month")).for_individuals(y)
    now, plan = np.full(3, 15.0), shared.for_individuals(y)
    times = np.array([10.0, 20.0, 250.0])
    cut = clip_sensors(Z, now, plan)
    assert_array_equal(cut.read(times)[1], Z.read(times)[1])


def test_known_ahead_is_for_holidays():
    y = histories()
    table = weather()
    shared = Trajectories.shared(table, "date", ["temperature"], known_ahead=True)
    Z = shared.for_individuals(y)
    cut = clip_sensors(Z, np.full(3, 15.0))
    assert_array_equal(cut.read([20.5])[0], Z.read([20.5])[0])


def test_dates_and_numbers_do_not_mix():
    numbers = RecurrentEvents.from_lists([[3.0]], end=[10.0])
    dated = Trajectories.shared(weather(), "date", ["temperature"])
    counted = Trajectories.shared(pd.DataFrame({"day": [0.0], "price": 1.0}), "day")
    with pytest.raises(InvalidSensorsError, match=r"count time from a date[\s\S]*Hint:"):
        dated.for_individuals(numbers)
    with pytest.raises(InvalidSensorsError, match=r"price are numbers[\s\S]*Hint:"):
        counted.for_individuals(histories())
    with pytest.raises(InvalidSensorsError, match="all have dates, or all numbers"):
        dated.merge(counted)
    with pytest.raises(InvalidParameterError, match=r"from a date[\s\S]*Hint:"):
        Trajectories.seasonal(numbers, "month")


def test_names_must_differ_and_seasons_be_known():
    shared = Trajectories.shared(weather(), "date", ["temperature"])
    with pytest.raises(InvalidSensorsError, match=r"1 stand in both \(temperature\)"):
        shared.merge(shared)
    with pytest.raises(InvalidParameterError, match="month, quarter, weekday, hour"):
        Trajectories.seasonal(histories(), "decade")

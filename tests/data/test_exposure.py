"""Exposures stay with the histories they belong to."""

import pickle

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from boostr.data import RecurrentEvents, RiskTable, Trajectories
from boostr.data.clip import clip
from boostr.data.events.exposure import Exposure
from boostr.exceptions import (
    DataWarning,
    InvalidEventsError,
    InvalidParameterError,
    SensorTypeError,
)

IDS = ["P1", "P2", "P3"]
pytestmark = pytest.mark.filterwarnings("ignore:.* events came while the exposure")


@pytest.fixture
def y():
    return RecurrentEvents.from_lists([[1.0, 4.0], [], [2.0]], end=[5.0, 6.0, 8.0], ids=IDS)


@pytest.fixture
def series():
    return Trajectories.from_flat(
        [1.0, 3.0, 0.0, 0.0, 2.0, 7.0],
        [0, 2, 3, 6],
        [[2.0, 0.0, 1.5, 4.0, 4.0, 9.0]],
        ["flights"],
        ids=IDS,
    )


def value_at(series, row, time):
    """Return the value that holds at a time: the first one before the first sample."""
    first, last = series.offsets[row], series.offsets[row + 1]
    before = np.flatnonzero(series.times[first:last] < time)
    return series.values[0, first + (before[-1] if before.size else 0)]


@pytest.mark.parametrize(
    "given",
    [
        [4.0, 1.0, 2.0],
        np.array([4, 1, 2]),
        {"P2": 1.0, "P3": 2.0, "P1": 4.0},
        pd.Series([1.0, 2.0, 4.0], index=["P2", "P3", "P1"]),
        pd.Series([4.0, 1.0, 2.0]),
    ],
)
def test_numbers_are_taken_in_order_or_by_id(y, given):
    assert_array_equal(y.with_exposure(given).exposure.values, [4.0, 1.0, 2.0])


def test_one_number_is_that_of_all(y):
    assert_array_equal(y.with_exposure(2.5).exposure.values, [2.5, 2.5, 2.5])


def test_exposures_of_other_histories_are_taken_as_they_are(y, series):
    exposed = y.with_exposure(series)
    assert y.with_exposure(exposed.exposure).equals(exposed)
    with pytest.raises(InvalidParameterError, match="of the 3 individuals"):
        y.with_exposure(exposed[:2].exposure)


def test_none_takes_exposures_away(y):
    assert y.with_exposure(2.5).with_exposure(None).equals(y)


def test_a_series_holds_up_to_the_next_sample_and_beyond_both_ends(y, series):
    exposure = y.with_exposure(series[[2, 0, 1]]).exposure
    times = np.array([0.5, 1.0, 1.5, 3.0, 3.5, 7.0, 7.5, 99.0])
    for row in range(3):
        piece = exposure.find(np.full(len(times), row), times)
        expected = [value_at(series, row, time) for time in times]
        assert_array_equal(exposure.values[piece], expected)


@given(
    st.lists(st.integers(0, 6), min_size=1, max_size=5, unique=True),
    st.lists(st.integers(0, 3), min_size=5, max_size=5),
    st.integers(0, 5),
    st.integers(1, 4),
)
def test_windows_are_cut_where_exposures_change(times, values, start, length):
    times, stop = np.sort(np.array(times, dtype=float)), float(start + length)
    values = np.array(values[: len(times)], dtype=float)
    exposure = Exposure.of_samples(times, values, np.array([0, len(times)]))
    cut = exposure.cut(np.zeros(1, dtype=int), np.array([float(start)]), np.array([stop]))
    assert (cut.start[0], cut.stop[-1]) == (start, stop)
    assert_array_equal(cut.start[1:], cut.stop[:-1])
    assert np.all(np.diff(cut.factor) != 0.0)
    middles = np.arange(start, stop) + 0.5
    held = values[np.maximum(np.searchsorted(times, middles) - 1, 0)]
    assert_allclose(np.sum(cut.factor * (cut.stop - cut.start)), held.sum())


def test_samples_that_change_nothing_change_nothing(y, series):
    more = Trajectories.from_flat(
        [1.0, 2.0, 2.5, 3.0, 0.0, 5.0, 0.0, 7.0, 8.0],
        [0, 4, 6, 9],
        [[2.0, 2.0, 2.0, 0.0, 1.5, 1.5, 4.0, 9.0, 9.0]],
        ["flights"],
        ids=IDS,
    )
    assert y.with_exposure(more).equals(y.with_exposure(series))


@pytest.mark.parametrize("key", [[2, 0], slice(1, None), [True, False, True], [1, 1]])
def test_exposures_are_sliced_with_histories(y, series, key):
    part = y.with_exposure(series)[key]
    assert part.equals(y[key].with_exposure(series[key]))


def test_exposures_are_joined_with_histories(y, series):
    exposed = y.with_exposure(series)
    assert RecurrentEvents.concatenate([exposed[:1], exposed[1:]]).equals(exposed)


def test_parts_with_and_without_exposures_are_not_joined(y):
    with pytest.raises(InvalidEventsError, match="1 of 2 have some"):
        RecurrentEvents.concatenate([y, y.with_exposure(1.0)])


def test_histories_up_to_a_time_keep_what_is_known_ahead(y, series):
    exposed = y.with_exposure(series)
    part, rows = clip(exposed, np.array([2.0, 5.9, 9.0]), np.full(3, 6.0))
    assert_array_equal(rows, [0, 1])
    assert part.exposure.equals(exposed.exposure[:2])


def test_exposures_survive_pickling(y, series):
    exposed = y.with_exposure(series)
    assert pickle.loads(pickle.dumps(exposed)).equals(exposed)


def test_histories_with_other_exposures_are_not_equal(y):
    exposed = y.with_exposure(2.0)
    assert not exposed.equals(y)
    assert not y.equals(exposed)
    assert not exposed.equals(y.with_exposure(3.0))


def test_a_column_of_a_long_table_is_an_exposure(y):
    table = y.to_long(backend="pandas")
    table["km"] = table["id"].map({"P1": 4.0, "P2": 1.0, "P3": 2.0})
    read = RecurrentEvents.from_long(
        table, "id", "time", "event", start="start", exposure="km"
    )
    assert read.equals(y.with_exposure([4.0, 1.0, 2.0]))
    table.loc[0, "km"] = 5.0
    with pytest.raises(InvalidEventsError, match=r"same in all rows .* \(ids P1\)"):
        RecurrentEvents.from_long(table, "id", "time", "event", exposure="km")


def test_windows_of_a_table_may_have_different_exposures(y, series):
    table = y.to_start_stop(backend="pandas")
    table["flights"] = np.arange(len(table)) + 1.0
    names = ("id", "start", "stop", "event")
    read = RecurrentEvents.from_start_stop(
        table.sample(frac=1.0, random_state=0), *names, exposure="flights"
    )
    exposure = read.exposure
    owner = np.searchsorted(IDS, table["id"])
    piece = exposure.find(owner, table["stop"].to_numpy())
    assert_array_equal(exposure.values[piece], table["flights"])


def test_constructors_from_lists_and_arrays_take_exposures(y):
    amounts = [4.0, 1.0, 2.0]
    wide = [[1.0, 4.0, 5.0], [6.0, -1.0, -1.0], [2.0, 8.0, -1.0]]
    made = [
        RecurrentEvents.from_lists(
            [[1.0, 4.0], [], [2.0]], end=y.end, ids=IDS, exposure=amounts
        ),
        RecurrentEvents.from_wide(wide, ids=IDS, exposure=amounts),
        RecurrentEvents.from_flat(
            y.times, y.event_offsets, end=y.end, ids=IDS, exposure=amounts
        ),
    ]
    assert all(one.equals(y.with_exposure(amounts)) for one in made)


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        ([1.0, 2.0], InvalidParameterError, "each of the 3 individuals"),
        ([1.0, 0.0, 2.0], InvalidEventsError, r"positive.*1 of 3 .*\(ids P2\)"),
        ([1.0, np.nan, 2.0], InvalidEventsError, r"1 of 3 .*\(ids P2\)"),
        ({"P1": 1.0}, InvalidEventsError, r"2 of 3 have none \(ids P2, P3\)"),
        ("length", InvalidParameterError, "Trajectories of one sensor"),
    ],
)
def test_other_exposures_are_refused(y, given, error, message):
    with pytest.raises(error, match=message) as caught:
        y.with_exposure(given)
    assert "Hint:" in str(caught.value)


def test_a_series_must_be_one_sensor_that_is_never_negative_nor_always_zero(y, series):
    with pytest.raises(SensorTypeError, match="one sensor"):
        y.with_exposure(series.merge(series._with(names=("other",))))
    with pytest.raises(InvalidEventsError, match=r"not negative.*\(ids P3\)"):
        y.with_exposure(series._with(values=series.values * [[1, 1, 1, 1, -1, 1]]))
    with pytest.raises(InvalidEventsError, match=r"above 0 at some time.*\(ids P2\)"):
        y.with_exposure(series._with(values=series.values * [[1, 1, 0, 1, 1, 1]]))
    with pytest.raises(InvalidEventsError, match=r"known exposure.*\(ids P2\)"):
        y.with_exposure(series._with(values=series.values * [[1, 1, np.nan, 1, 1, 1]]))


def test_a_series_must_count_time_as_the_events_do(y, series):
    with pytest.raises(InvalidEventsError, match="same unit"):
        y.with_exposure(series._with(time_unit="h"))


def test_numbers_at_risk_are_sums_of_exposures(y, series):
    table = RiskTable.from_events(y.with_exposure(series), np.array([1.0, 2.0, 1.0]))
    at_risk = [
        sum(
            weight * value_at(series, row, time) * (time <= end)
            for row, (weight, end) in enumerate(zip([1.0, 2.0, 1.0], y.end, strict=True))
        )
        for time in table.times
    ]
    assert_allclose(table.at_risk(), at_risk)


def test_expectations_of_individuals_come_with_their_exposures(y, series):
    table = RiskTable.from_events(y.with_exposure(series), np.ones(3))
    rises = np.array([1.0, 10.0, 100.0])  # at the event times 1, 2 and 4
    expected = [
        sum(
            rise * value_at(series, row, time) * (time <= y.end[row])
            for time, rise in zip(table.times, rises, strict=True)
        )
        for row in range(3)
    ]
    assert_allclose(table.expect(np.cumsum(rises)), expected)


def test_nobody_exposed_at_an_event_gives_finite_rates(y):
    never = Trajectories.from_flat(
        [0.0, 3.0] * 3, [0, 2, 4, 6], [[1.0, 0.0] * 3], ["flights"], ids=IDS
    )
    table = RiskTable.from_events(y.with_exposure(never), np.ones(3))
    assert_array_equal(table.at_risk(), [3.0, 3.0, 1.0])


@pytest.mark.filterwarnings("error")
def test_events_at_exposure_zero_are_named(y):
    pause = Trajectories.from_flat(
        [0.0, 3.0, 5.0] * 3, [0, 3, 6, 9], [[1.0, 0.0, 1.0] * 3], ["in use"], ids=IDS
    )
    with pytest.warns(DataWarning, match=r"1 of 3 events came .* was 0 \(ids P1\)"):
        y.with_exposure(pause)
    at_border = RecurrentEvents.from_lists([[3.0], [5.5], []], end=6.0, ids=IDS)
    at_border.with_exposure(pause)

"""Kinds of events: read, kept, selected and written."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from tests.data.scan_scenes import write

from boostr.data import RecurrentEvents
from boostr.data.clip import clip
from boostr.exceptions import InvalidEventsError, InvalidParameterError

KIND = [["seal", "motor", "seal"], [], ["motor"]]
TIMES = [[5.0, 2.0, 8.0], [], [1.0]]


@pytest.fixture
def y():
    return RecurrentEvents.from_lists(TIMES, end=10.0, kind=KIND, ids=["a", "b", "c"])


def labels(y):
    """Return the kinds of all events, in order."""
    return [y.kinds[code] for code in y.event_kind]


def test_kinds_are_sorted_with_their_events(y):
    assert y.kinds == ["motor", "seal"]
    assert labels(y) == ["motor", "seal", "seal", "motor"]


def test_events_of_one_kind_keep_individuals_and_follow_up(y):
    seals = y.of_kind("seal")
    assert_array_equal(seals.times, [5.0, 8.0])
    assert_array_equal(seals.n_events, [2, 0, 0])
    assert_array_equal(seals.end, y.end)


def test_without_kinds_there_are_none():
    y = RecurrentEvents.from_lists(TIMES, end=10.0)
    assert y.kinds is None
    with pytest.raises(InvalidParameterError, match="events have no kinds"):
        y.of_kind("seal")


def test_an_unknown_kind_is_refused_with_the_known_ones(y):
    with pytest.raises(InvalidParameterError, match=r"'rotor'.*\n\n.*'motor', 'seal'"):
        y.of_kind("rotor")


@pytest.mark.parametrize("missing", [None, float("nan")])
def test_a_missing_kind_names_the_individual(missing):
    with pytest.raises(InvalidEventsError, match=r"1 of 2 individuals \(ids P2\)"):
        RecurrentEvents.from_lists(
            [[1.0], [2.0]], end=3.0, ids=["P1", "P2"], kind=[["seal"], [missing]]
        )


def test_lists_of_kinds_must_be_as_long_as_those_of_times():
    with pytest.raises(InvalidEventsError, match="one kind"):
        RecurrentEvents.from_lists([[1.0, 2.0]], end=3.0, kind=[["seal"]])


def test_texts_and_numbers_are_not_mixed():
    with pytest.raises(InvalidEventsError, match="int, str"):
        RecurrentEvents.from_lists([[1.0, 2.0]], end=3.0, kind=[["seal", 3]])


@pytest.mark.parametrize("backend", ["pandas", "polars"])
def test_tables_keep_kinds(y, backend):
    again = RecurrentEvents.from_long(
        y.to_long(backend=backend), "id", "time", "event", start="start", kind="kind"
    )
    assert again.equals(y)
    again = RecurrentEvents.from_start_stop(
        y.to_start_stop(backend=backend), "id", "start", "stop", "event", kind="kind"
    )
    assert again.equals(y)


def test_whole_numbers_are_kinds(y):
    y = RecurrentEvents.from_lists([[1.0, 2.0]], end=3.0, kind=[np.array([7, 3])])
    assert y.kinds == [3, 7]
    assert_array_equal(y.of_kind(7).times, [1.0])


def test_kinds_follow_slices_clips_and_time_scales(y):
    assert labels(y[[2, 0]]) == ["motor", "motor", "seal", "seal"]
    part, _ = clip(y, np.full(3, 1.5), np.full(3, 6.0))
    assert labels(part) == ["motor", "seal"]
    assert labels(y.in_calendar_time(since=[0.0, 1.0, 2.0])) == labels(y)


def test_joined_parts_have_the_kinds_of_all(y):
    other = RecurrentEvents.from_lists([[1.0]], end=2.0, kind=[["bearing"]], ids=["d"])
    both = RecurrentEvents.concatenate([other, y])
    assert both.kinds == ["bearing", "motor", "seal"]
    assert labels(both) == ["bearing", *labels(y)]
    with pytest.raises(InvalidEventsError, match="1 of 2"):
        RecurrentEvents.concatenate([y, RecurrentEvents.from_lists([[1.0]], end=2.0)])


def test_equal_histories_have_equal_kinds(y):
    other = RecurrentEvents.from_lists(
        TIMES, end=10.0, kind=[["seal"] * 3, [], ["motor"]], ids=["a", "b", "c"]
    )
    assert not y.equals(other)
    assert y.equals(y[:])


def test_figures_count_each_kind(y):
    assert "motor 2, seal 2" in str(y.describe())


@settings(max_examples=30, deadline=None)
@given(
    st.lists(
        st.lists(st.tuples(st.floats(0.1, 9.9), st.sampled_from("abc")), max_size=6),
        min_size=1,
        max_size=5,
    )
)
def test_kinds_share_out_all_events(pairs):
    times = [[time for time, _ in each] for each in pairs]
    kind = [[label for _, label in each] for each in pairs]
    y = RecurrentEvents.from_lists(times, end=10.0, kind=kind)
    parts = [y.of_kind(label) for label in y.kinds]
    total = sum((part.n_events for part in parts), np.zeros(len(y), dtype=int))
    assert_array_equal(total, y.n_events)
    for label, part in zip(y.kinds, parts, strict=True):
        for who, own in enumerate(part):
            assert sorted(own.times) == sorted(t for t, k in pairs[who] if k == label)


def test_scans_know_kinds(tmp_path, y):
    pytest.importorskip("pyarrow")
    file = tmp_path / "events.parquet"
    write(y.to_long(backend="pandas"), file)
    columns = {"id": "id", "time": "time", "event": "event", "start": "start"}
    scan = RecurrentEvents.scan_parquet(file, **columns, kind="kind")
    assert scan.kinds == y.kinds
    assert scan.kind_counts == {"motor": 2, "seal": 2}
    assert scan.collect().equals(y)
    assert_array_equal(scan.of_kind("seal").n_events, y.of_kind("seal").n_events)

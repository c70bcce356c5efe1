"""Terminal events of histories: how they are given, kept, cut and refused."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from boostr.data import RecurrentEvents
from boostr.data.clip import clip
from boostr.data.events.terminal import as_terminal_events
from boostr.exceptions import InvalidEventsError, InvalidParameterError

ROWS = {
    "patient": ["A", "A", "B", "C", "C"],
    "day": [3.0, 9.0, 7.0, 2.0, 5.0],
    "relapse": [1, 0, 0, 1, 0],
    "died": [0, 1, 0, 0, 1],
}


def read(rows=ROWS, terminal="died", **options):
    frame = pd.DataFrame(rows)
    return RecurrentEvents.from_long(
        frame, "patient", "day", "relapse", terminal=terminal, **options
    )


@pytest.fixture
def y():
    return read()


def test_histories_say_nothing_of_terminal_events_unless_told():
    assert read(terminal=None).is_terminal is None


def test_a_column_marks_the_rows_of_terminal_events(y):
    assert y.is_terminal.tolist() == [True, False, True]


@pytest.mark.parametrize(
    "flags",
    [
        [True, False, True],
        [1, 0, 1],
        {"C": 1, "A": True, "B": 0},
        pd.Series([0, 1, 1], index=["B", "C", "A"]),
    ],
)
def test_flags_of_individuals_are_the_same_as_a_column(y, flags):
    assert read(terminal=flags).equals(y)


def test_every_constructor_takes_flags():
    flags = [False, True]
    lists = RecurrentEvents.from_lists([[1.0], []], end=2.0, terminal=flags)
    wide = RecurrentEvents.from_wide([[1.0, 2.0], [2.0, np.nan]], terminal=flags)
    flat = RecurrentEvents.from_flat([1.0], [0, 1, 1], end=2.0, terminal=flags)
    assert lists.is_terminal.tolist() == flags
    assert lists.equals(wide)
    assert lists.equals(flat)


def test_a_fatal_event_is_the_end():
    rows = {"patient": ["A", "A", "B"], "day": [3.0, 9.0, 4.0], "died": [0, 1, 0]}
    y = RecurrentEvents.from_long(
        pd.DataFrame(rows), "patient", "day", end=20.0, terminal="died"
    )
    assert y.end.tolist() == [9.0, 20.0]
    assert y.n_events.tolist() == [2, 1]
    assert y.is_terminal.tolist() == [True, False]


def test_start_stop_marks_the_last_window(y):
    back = RecurrentEvents.from_start_stop(
        y.to_start_stop(), "patient", "start", "stop", "event", terminal="terminal"
    )
    assert back.equals(y)


@pytest.mark.parametrize("backend", ["pandas", "polars"])
def test_tables_keep_terminal_events(y, backend):
    back = RecurrentEvents.from_long(
        y.to_long(backend=backend),
        "patient",
        "time",
        "event",
        start="start",
        terminal="terminal",
    )
    assert back.equals(y)


def test_time_stamps_and_time_scales_keep_terminal_events():
    rows = ROWS | {"day": pd.Timestamp("2024-01-01") + pd.to_timedelta(ROWS["day"], "D")}
    y = read(rows, start=pd.Timestamp("2024-01-01"), origin="individual")
    assert y.is_terminal.tolist() == [True, False, True]
    assert y.in_calendar_time().is_terminal.tolist() == [True, False, True]


def test_slices_and_parts_keep_terminal_events(y):
    order = [2, 0, 0]
    assert y[order].is_terminal.tolist() == [True, True, True]
    joined = RecurrentEvents.concatenate([y[:1], y[1:]])
    assert joined.equals(y)


def test_histories_with_other_terminal_events_differ(y):
    assert not y.equals(y.with_terminal(False))
    assert not y.equals(y.with_terminal(None))


def test_parts_must_agree_on_saying_it(y):
    with pytest.raises(InvalidEventsError, match=r"1 of 2 do.\s+Hint: part.with_terminal"):
        RecurrentEvents.concatenate([y, y.with_terminal(None)])


@given(
    st.lists(st.tuples(st.floats(1.0, 9.0), st.booleans()), min_size=1, max_size=8),
    st.floats(0.5, 10.0),
)
def test_a_cut_before_the_end_is_no_terminal_event(lives, stop):
    end, died = (np.array(each) for each in zip(*lives, strict=True))
    y = RecurrentEvents.from_lists([[]] * len(end), end=end, terminal=died)
    part, rows = clip(y, np.zeros(len(end)), np.full(len(end), stop))
    assert part.is_terminal.tolist() == [bool(died[i] and end[i] <= stop) for i in rows]


def test_terminal_events_as_the_only_events(y):
    deaths = as_terminal_events(y)
    assert deaths.times.tolist() == [9.0, 5.0]
    assert deaths.n_events.tolist() == [1, 0, 1]
    assert deaths.end.tolist() == y.end.tolist()


def test_files_keep_terminal_events(y, tmp_path):
    y.to_long(backend="pandas").to_parquet(tmp_path / "events.parquet")
    scan = RecurrentEvents.scan_parquet(
        tmp_path, id="patient", time="time", event="event", terminal="terminal"
    )
    assert scan.collect().equals(y)


def test_figures_count_terminal_events(y):
    assert y.describe().n_terminal == 2
    assert "terminal events" in str(y.describe())
    assert "terminal" not in str(read(terminal=None).describe())


@pytest.mark.parametrize(
    ("died", "message"),
    [
        ([1, 0, 0, 0, 0], r"after a terminal event.*1 of 3 individuals \(ids A\)"),
        ([1, 1, 0, 1, 1], r"one terminal event at most.*2 of 3 individuals \(ids A, C\)"),
        ([0, 2, 0, 0, 1], r"True or False, or 1 or 0.*1 of 3 individuals \(ids A\)"),
    ],
)
def test_wrong_rows_name_the_individuals(died, message):
    with pytest.raises(InvalidEventsError, match=message) as caught:
        read(ROWS | {"died": died})
    assert "Hint:" in str(caught.value)


def test_windows_after_a_terminal_event_are_refused():
    rows = {"p": ["A", "A"], "a": [0.0, 2.0], "b": [1.0, 3.0], "e": [1, 0], "d": [1, 0]}
    with pytest.raises(InvalidEventsError, match=r"after a terminal event.*ids A"):
        RecurrentEvents.from_start_stop(
            pd.DataFrame(rows), "p", "a", "b", "e", terminal="d"
        )


@pytest.mark.parametrize("value", [2, 0.5, np.nan, None])
def test_flags_must_be_true_or_false(y, value):
    with pytest.raises(InvalidEventsError, match=r"1 of 3 individuals \(ids B\)"):
        y.with_terminal([True, value, False])


def test_flags_must_be_of_all_individuals(y):
    with pytest.raises(InvalidEventsError, match="2 for 3 individuals"):
        y.with_terminal([True, False])
    with pytest.raises(InvalidEventsError, match=r"1 of 3 individuals \(ids B\)"):
        y.with_terminal({"A": True, "C": False})
    with pytest.raises(InvalidParameterError, match="`terminal` must be True or False"):
        y.with_terminal("died")

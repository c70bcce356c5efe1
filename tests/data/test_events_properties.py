"""Identities of ``RecurrentEvents`` that hold for any histories."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from boostr.data import RecurrentEvents
from boostr.data.flat import inside_windows

instants = st.integers(0, 40).map(lambda k: k / 4)
backends = st.sampled_from(["pandas", "polars"])


@st.composite
def histories(draw, *, max_size=6):
    """Histories with late entry, ties, costs and ids, one window each."""
    n = draw(st.integers(1, max_size))
    start = draw(st.lists(instants, min_size=n, max_size=n))
    length = draw(st.lists(instants.map(lambda t: t + 1), min_size=n, max_size=n))
    end = np.add(start, length)
    events = [
        [t for t in draw(st.lists(instants, max_size=5)) if a < t <= b]
        for a, b in zip(start, end, strict=True)
    ]
    with_costs = draw(st.booleans())
    cost = [[2 * t for t in times] for times in events] if with_costs else None
    ids = draw(
        st.sampled_from([None, [f"W{i}" for i in range(n)], [5 * i for i in range(n)]])
    )
    return RecurrentEvents.from_lists(events, end=end, start=start, cost=cost, ids=ids)


@st.composite
def gappy_tables(draw):
    """Tables of windows with gaps, touching rows and events at the stops."""
    rows = []
    for well in range(draw(st.integers(1, 4))):
        cuts = sorted(draw(st.sets(instants, min_size=2, max_size=8)))
        kept = draw(st.lists(st.booleans(), min_size=len(cuts), max_size=len(cuts)))
        kept[0] = True
        for a, b, keep in zip(cuts, cuts[1:], kept, strict=False):
            if keep:
                rows.append((well, a, b, draw(st.booleans())))
    return pd.DataFrame(rows, columns=["id", "start", "stop", "event"])


def read_windows(table):
    cost = "cost" if "cost" in table.columns else None
    return RecurrentEvents.from_start_stop(table, "id", "start", "stop", "event", cost)


def read_long(table):
    cost = "cost" if "cost" in table.columns else None
    return RecurrentEvents.from_long(
        table, "id", "time", "event", cost, start="start", duplicates="keep"
    )


@given(histories(), backends)
def test_the_long_form_comes_back(y, backend):
    assert read_long(y.to_long(backend=backend)).equals(y)


@given(histories(), st.randoms(use_true_random=False))
def test_the_order_of_rows_does_not_matter(y, random):
    table = y.to_long(backend="pandas")
    rows = list(range(len(table)))
    random.shuffle(rows)
    assert read_long(table.iloc[rows]).equals(y)


@pytest.mark.slow
@given(gappy_tables(), st.randoms(use_true_random=False))
def test_the_order_of_windows_does_not_matter(table, random):
    rows = list(range(len(table)))
    random.shuffle(rows)
    assert read_windows(table.iloc[rows]).equals(read_windows(table))


@pytest.mark.slow
@given(gappy_tables(), backends)
def test_the_start_stop_form_comes_back(table, backend):
    y = read_windows(table)
    assert read_windows(y.to_start_stop(backend=backend)).equals(y)


@given(histories())
def test_pandas_and_polars_give_the_same(y):
    table = y.to_long(backend="pandas")
    assert table.to_dict("list") == y.to_long(backend="polars").to_dict(as_series=False)


@pytest.mark.slow
@given(gappy_tables())
def test_cutting_every_row_in_two_changes_nothing(table):
    middle = (table["start"] + table["stop"]) / 2
    first = table.assign(stop=middle, event=False)
    second = table.assign(start=middle)
    assert read_windows(pd.concat([first, second])).equals(read_windows(table))


@given(gappy_tables())
def test_follow_up_is_the_sum_of_the_rows(table):
    length = (table["stop"] - table["start"]).groupby(table["id"]).sum()
    assert_allclose(read_windows(table).follow_up, length)


@given(histories(), st.data())
def test_taking_twice_is_taking_once(y, data):
    positions = st.integers(-len(y), len(y) - 1)
    first = np.array(data.draw(st.lists(positions, min_size=1, max_size=8)))
    second = np.array(
        data.draw(st.lists(st.integers(0, first.size - 1), max_size=8)), dtype=int
    )
    assert y[first][second].equals(y[first[second]])


@given(histories(), st.data())
def test_a_mask_is_its_positions(y, data):
    mask = np.array(data.draw(st.lists(st.booleans(), min_size=len(y), max_size=len(y))))
    assert y[mask].equals(y[np.flatnonzero(mask)])


@given(histories(), st.integers(-9, 9))
def test_parts_make_the_whole(y, cut):
    assert RecurrentEvents.concatenate([y[:cut], y[cut:]]).equals(y)


@given(histories())
def test_taking_keeps_the_events_of_each(y):
    order = np.arange(len(y))[::-1]
    taken = np.asarray(y[order])
    assert all(
        np.array_equal(a, b) for a, b in zip(taken, np.asarray(y)[::-1], strict=True)
    )


@given(histories())
def test_a_container_equals_itself_made_from_flat_arrays(y):
    flat = RecurrentEvents.from_flat(
        y.times, y.event_offsets, start=y.start, end=y.end, costs=y.costs, ids=y.ids
    )
    assert flat.equals(y)


@given(histories())
def test_a_container_equals_itself_made_from_wide_rows(y):
    width = y.n_events.max() + 1
    rows = np.full((len(y), width), np.nan)
    for row, times, end in zip(rows, np.asarray(y), y.end, strict=True):
        row[: times.size + 1] = [*times, end]
    wide = RecurrentEvents.from_wide(rows, start=y.start, ids=y.ids)
    assert_array_equal(wide.times, y.times)


@given(gappy_tables(), st.lists(instants, min_size=1, max_size=10))
def test_times_in_windows_are_those_of_a_plain_search(table, times):
    y = read_windows(table)
    owner = np.arange(len(times)) % len(y)
    window_owner = np.repeat(np.arange(len(y)), np.diff(y.window_offsets))
    found = inside_windows(
        np.array(times), owner, y.window_start, y.window_stop, window_owner
    )
    expected = [
        any(
            a < t <= b
            for a, b, who in zip(y.window_start, y.window_stop, window_owner, strict=True)
            if who == i
        )
        for t, i in zip(times, owner, strict=True)
    ]
    assert_array_equal(found, expected)


def test_no_windows_hold_no_times():
    nothing = np.empty(0)
    found = inside_windows(np.ones(2), np.zeros(2, int), nothing, nothing, np.empty(0, int))
    assert not found.any()


def test_without_pandas_tables_are_made_with_polars(monkeypatch):
    monkeypatch.setattr("boostr.data.events.frames.find_spec", lambda name: None)
    y = RecurrentEvents.from_lists([[]], end=1.0)
    assert isinstance(y.to_long(), pl.DataFrame)


@pytest.mark.parametrize("name", ["time", "event", "start"])
def test_an_id_that_is_named_like_another_column_is_written_as_id(name):
    table = pd.DataFrame({name: [4], "when": [1.0], "flag": [0]})
    y = RecurrentEvents.from_long(table, name, "when", "flag")
    assert y.to_long(backend="pandas").columns[0] == "id"

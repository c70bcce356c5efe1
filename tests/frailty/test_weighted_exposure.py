import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings
from numpy.testing import assert_allclose, assert_array_equal
from tests.engine.histories import clocked, histories

from boostr._frailty.law import FrailtyLaw, Histories, Pieces, cut_windows
from boostr._frailty.weighted_exposure import cut_at_events, measure_exposure

LAWS = [FrailtyLaw(0.8, half_life=3.0, drifts=drifts) for drifts in (False, True)]


def owners(offsets):
    return np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))


def cut(events, cell=0.7):
    """Cut windows at multiples of a cell, and then at events."""
    owner = owners(events.window_offsets)
    pieces = cut_windows(owner, events.window_start, events.window_stop, cell)
    return pieces, cut_at_events(pieces, owners(events.event_offsets), events.times)


@settings(max_examples=50)
@given(individuals=st.lists(histories(), min_size=1, max_size=3))
def test_pieces_are_cut_at_events_and_nothing_is_lost(individuals):
    events = clocked(individuals)
    before, after = cut(events)
    assert (after.start < after.stop).all()
    length = np.bincount(before.owner, before.stop - before.start, len(individuals))
    assert_allclose(np.bincount(after.owner, after.stop - after.start), length)
    order = np.lexsort((after.start, after.owner))
    assert_array_equal(order, np.arange(len(order)))
    for row, (_, times, _) in enumerate(individuals):
        own = after.owner == row
        for time in times:
            inside = (after.start[own] < time) & (time < after.stop[own])
            assert not inside.any()
            assert time in after.start[own] or time in after.stop[own]


def test_pieces_without_events_stay_as_they_are():
    pieces = Pieces(np.array([0, 2]), np.array([0.0, 1.0]), np.array([1.0, 4.0]))
    same = cut_at_events(pieces, np.empty(0, dtype=int), np.empty(0))
    for name in ("owner", "start", "stop"):
        assert_array_equal(getattr(same, name), getattr(pieces, name))


@pytest.mark.parametrize("law", LAWS)
@settings(max_examples=25)
@given(individuals=st.lists(histories(), min_size=1, max_size=3))
def test_time_counts_by_what_was_known_of_frailties(law, individuals):
    events = clocked(individuals)
    _, pieces = cut(events)
    entry = np.array([windows[0][0] for windows, _, _ in individuals])
    history = Histories(
        entry,
        pieces,
        0.5 * (pieces.stop - pieces.start),
        owners(events.event_offsets),
        events.times,
        events.costs,
    )
    exposure = measure_exposure(history, law)
    assert_array_equal(exposure.start, pieces.start)
    assert_array_equal(np.diff(exposure.offsets), np.bincount(pieces.owner))
    for piece, mean in enumerate(exposure.factors):
        assert_allclose(mean, known_at(history, piece, law), rtol=1e-12)


def known_at(history, piece, law):
    """Return the mean of a frailty by the posterior of what was before a piece's middle."""
    pieces = history.pieces
    row, start = pieces.owner[piece], pieces.start[piece]
    is_before = (pieces.owner == row) & (pieces.start <= start)
    expected = history.expected[is_before].copy()
    expected[-1] *= 0.5
    seen = (history.event_owner == row) & (history.event_times <= start)
    one = Histories(
        history.entry[[row]],
        Pieces(
            np.zeros(is_before.sum(), dtype=int),
            pieces.start[is_before],
            pieces.stop[is_before],
        ),
        expected,
        np.zeros(seen.sum(), dtype=int),
        history.event_times[seen],
        history.event_weights[seen],
    )
    now = np.array([0.5 * (start + pieces.stop[piece])])
    return law.posterior(one, now, np.zeros(1)).mean[0]

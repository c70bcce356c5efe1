"""Exposure to events: time, times what was known of an individual's frailty at it.

Given its past, the rate of an individual is the mean of its frailty as known so far, times
what the model predicts. A model that is learned on time that counts by that mean does not
explain what frailties explain already.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from boostr._frailty.law import FrailtyLaw, Histories, Pieces
from boostr._kernels.counts import follow_frailties
from boostr._typing import AnyArray, FloatArray, OffsetArray
from boostr.data import RecurrentEvents
from boostr.data.flat import offsets_of, owners_of

__all__ = ["ExposedWindows", "cut_at_events", "measure_exposure", "multiply_exposure"]


@dataclass(frozen=True, slots=True, eq=False)
class ExposedWindows:
    """Windows of individuals in pieces, and a factor of the time in each."""

    start: FloatArray  # (k,)
    stop: FloatArray  # (k,)
    offsets: OffsetArray  # (n + 1,) where the pieces of every individual begin
    factors: FloatArray  # (k,)


def multiply_exposure(windows: ExposedWindows, events: RecurrentEvents) -> ExposedWindows:
    """Return the windows with factors that are multiplied by exposures.

    Those that do not change in time are factors of whole individuals, and left to them.
    """
    own = events.exposure
    if own is None or own.is_constant:
        return windows
    parts = own.cut(owners_of(windows.offsets), windows.start, windows.stop)
    factors = windows.factors[parts.window] * parts.factor
    return ExposedWindows(
        parts.start, parts.stop, _offsets(parts.owner, len(events)), factors
    )


def cut_at_events(pieces: Pieces, owner: AnyArray, times: FloatArray) -> Pieces:
    """Cut pieces where their owners have events, or at other times.

    Pieces are in the order of time, individual after individual, and nobody has a time
    before the first piece of its own.
    """
    n_pieces = len(pieces.owner)
    owners = np.concatenate([pieces.owner, owner])
    starts = np.concatenate([pieces.start, times])
    is_event = np.arange(len(owners)) >= n_pieces
    order = np.lexsort((is_event, starts, owners))
    starts, is_event = starts[order], is_event[order]
    piece = np.cumsum(~is_event) - 1  # in which every start lies
    stops = pieces.stop[piece]
    is_cut = piece[:-1] == piece[1:]
    stops[:-1][is_cut] = np.minimum(stops[:-1], starts[1:])[is_cut]
    some = starts < stops
    return Pieces(pieces.owner[piece[some]], starts[some], stops[some])


def measure_exposure(histories: Histories, law: FrailtyLaw) -> ExposedWindows:
    """Return the exposure of individuals whose pieces are cut at their events."""
    pieces, n = histories.pieces, len(histories)
    offsets = _offsets(pieces.owner, n)
    means = np.empty(len(pieces.owner))
    follow_frailties(
        pieces.start,
        pieces.stop,
        offsets,
        histories.expected,
        histories.event_times,
        histories.event_weights,
        _offsets(histories.event_owner, n),
        histories.entry,
        law.variance,
        law.fading,
        law.least_prior,
        means,
    )
    return ExposedWindows(pieces.start, pieces.stop, offsets, means)


def _offsets(owner: AnyArray, n: int) -> OffsetArray:
    return offsets_of(np.bincount(owner, minlength=n))

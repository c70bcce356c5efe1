"""Factors of rates that change at times of each individual's own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from boostr._typing import FloatArray, PositionArray
from boostr.data import RecurrentEvents
from boostr.data.times import EPOCH, find_origins, to_numbers

__all__ = ["OwnPace", "ReadCurves", "SecondScale", "find_offsets"]

# Values of curves of individuals, each at a time.
ReadCurves: TypeAlias = Callable[[PositionArray, FloatArray], FloatArray]


@dataclass(frozen=True, slots=True, eq=False)
class OwnPace:
    """Curves of individuals where their factors change, and by how much these change.

    Factors are 1 at first.
    """

    values: FloatArray  # (k, n)
    changes: FloatArray  # (k, n)

    def change(self, values: FloatArray, rows: PositionArray) -> FloatArray:
        """Return values of paced curves from those of plain curves, which do not fall."""
        paced = values.copy()
        for begin, change in zip(self.values, self.changes, strict=True):
            paced += change.take(rows) * np.maximum(values - begin.take(rows), 0.0)
        return paced


@dataclass(frozen=True, slots=True, eq=False)
class SecondScale:
    """Factors of rates along a second time scale: ages, or dates where time is age.

    The factor of place ``k`` holds from ``begins[k]`` to the next begin.
    """

    begins: FloatArray  # (k,) ascending; the first one also holds before it
    factors: FloatArray  # (k,)
    counts_dates: bool

    def on(self, read: ReadCurves, offsets: FloatArray) -> OwnPace:
        """Return the factors of individuals, whose curves begin at time 0.

        ``offsets`` are what is added to their times to give those of this scale.
        """
        rows = np.arange(len(offsets))
        values = np.zeros((len(self.begins), len(offsets)))
        for value, begin in zip(values[1:], self.begins[1:], strict=True):
            value[:] = read(rows, np.maximum(begin - offsets, 0.0))
        np.maximum.accumulate(values, axis=0, out=values)  # rounding may say otherwise
        changes = np.diff(self.factors, prepend=1.0)
        return OwnPace(values, np.broadcast_to(changes[:, None], values.shape))

    def place(
        self, events: RecurrentEvents | None, entry: FloatArray, now: FloatArray
    ) -> FloatArray:
        """Return the offsets of individuals.

        The present of histories without dates counts as the last of the known dates.
        """
        if not self.counts_dates:
            return -entry
        if events is None or not np.ndim(find_origins(events)):
            return np.asarray(self.begins[-1] - now)
        return find_offsets(events)


def find_offsets(events: RecurrentEvents) -> FloatArray:
    """Return what is added to times to give dates, or ages where time has one origin."""
    origins = find_origins(events)
    if not np.ndim(origins):
        return -events.start
    return to_numbers(origins, EPOCH, events.time_unit)

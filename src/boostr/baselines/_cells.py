"""Time cut into cells, and individuals expanded to one row per cell."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from boostr._typing import AnyArray, FloatArray
from boostr.data import RecurrentEvents
from boostr.data.events.exposure import exposed_windows
from boostr.exceptions import InvalidEventsError

__all__ = ["ExpandedRows", "TimeCells"]


@dataclass(frozen=True, slots=True, eq=False)
class ExpandedRows:
    """One row per individual and cell in which it was observed."""

    features: FloatArray  # (n_rows, p + 1), time last
    counts: FloatArray  # (n_rows,) events, or their costs
    exposure: FloatArray  # (n_rows,) time observed in the cell
    weights: FloatArray  # (n_rows,)


@dataclass(frozen=True, slots=True, eq=False)
class TimeCells:
    """Cells of time, ``(edges[k], edges[k + 1]]``."""

    edges: FloatArray  # (n_cells + 1,)

    @classmethod
    def from_events(
        cls, events: RecurrentEvents, weights: FloatArray, n_cells: int
    ) -> TimeCells:
        """Return cells with about as many events in each, from 0 to the last end."""
        order = np.argsort(events.times, kind="stable")
        times, share = events.times[order], weights[events.event_owner[order]]
        gone = np.cumsum(share)
        if not gone.size:
            raise InvalidEventsError(
                "Counts cannot be learned without any event, but there is none.\n\n"
                "Hint: check the column that says which rows are events."
            )
        wanted = gone[-1] * np.arange(1, n_cells) / n_cells
        inner = times[np.searchsorted(gone, wanted)]
        last = float(events.window_stop.max())
        inside = inner[(inner > 0.0) & (inner < last)]
        return cls(np.unique(np.concatenate([[0.0], inside, [last]])))

    @property
    def middles(self) -> FloatArray:
        """Middles of the cells."""
        return np.asarray(0.5 * (self.edges[1:] + self.edges[:-1]))

    @property
    def lengths(self) -> FloatArray:
        """Lengths of the cells."""
        return np.diff(self.edges)

    def count(self, events: RecurrentEvents) -> FloatArray:
        """Return the events, or their costs, of each individual in each cell."""
        n_cells = len(self.lengths)
        cell = np.searchsorted(self.edges, events.times, side="left") - 1
        place = events.event_owner * n_cells + cell
        flat = np.bincount(place, events.costs, len(events) * n_cells)
        return np.asarray(flat, dtype=np.float64).reshape(len(events), n_cells)

    def observe(self, events: RecurrentEvents) -> FloatArray:
        """Return the exposure-weighted time under observation in each cell."""
        windows = exposed_windows(events)
        begins = np.maximum(windows.start[:, None], self.edges[:-1])
        ends = np.minimum(windows.stop[:, None], self.edges[1:])
        spells = windows.factor[:, None] * np.maximum(ends - begins, 0.0)
        first = np.searchsorted(windows.owner, np.arange(len(events)))
        return np.asarray(np.add.reduceat(spells, first, axis=0))

    def expand(
        self, features: FloatArray, events: RecurrentEvents, weights: FloatArray
    ) -> ExpandedRows:
        """Return the rows of all individuals while observed."""
        exposure = self.observe(events).ravel()
        is_seen = exposure > 0.0
        return ExpandedRows(
            features=cross(features, self.middles)[is_seen],
            counts=self.count(events).ravel()[is_seen],
            exposure=exposure[is_seen],
            weights=np.repeat(weights, len(self.lengths))[is_seen],
        )


def cross(features: FloatArray, times: AnyArray) -> FloatArray:
    """Return each row of features with each time; times vary fastest."""
    repeated = np.repeat(features, len(times), axis=0)
    return np.column_stack([repeated, np.tile(times, len(features))])

"""Time cut into cells, and individuals expanded to one row per cell."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from benchmarks.libraries._tuning import FloatArray
from boostr import RecurrentEvents

N_CELLS = 10


@dataclass(frozen=True, slots=True, eq=False)
class ExpandedRows:
    """One row per individual and cell in which it was observed."""

    features: FloatArray  # (n_rows, p + 1), the middle of the cell last
    counts: FloatArray  # (n_rows,) events
    exposure: FloatArray  # (n_rows,) time observed in the cell
    owner: NDArray[np.intp]  # (n_rows,) individual


@dataclass(frozen=True, slots=True, eq=False)
class TimeCells:
    """Cells ``(edges[k], edges[k + 1]]`` with about as many events in each."""

    edges: FloatArray  # (n_cells + 1,)

    @classmethod
    def from_events(cls, y: RecurrentEvents, n_cells: int = N_CELLS) -> TimeCells:
        inner = np.quantile(y.times, np.arange(1, n_cells) / n_cells)
        return cls(np.unique(np.concatenate([[0.0], inner, [y.end.max()]])))

    @property
    def middles(self) -> FloatArray:
        return 0.5 * (self.edges[1:] + self.edges[:-1])

    @property
    def lengths(self) -> FloatArray:
        return np.diff(self.edges)

    def count(self, y: RecurrentEvents) -> FloatArray:
        """Return the events of every individual in every cell."""
        n_cells = len(self.lengths)
        cell = np.searchsorted(self.edges, y.times, side="left") - 1
        flat = np.bincount(y.event_owner * n_cells + cell, minlength=len(y) * n_cells)
        return flat.reshape(len(y), n_cells).astype(np.float64)

    def cross(self, X: FloatArray, times: FloatArray) -> FloatArray:
        """Return every row of features with every time, time running faster."""
        columns = np.tile(times, len(X))
        return np.column_stack([np.repeat(X, len(times), axis=0), columns])

    def expand(self, X: FloatArray, y: RecurrentEvents) -> ExpandedRows:
        observed = np.minimum(y.end[:, None], self.edges[1:])
        observed -= np.maximum(y.start[:, None], self.edges[:-1])
        is_seen = observed.ravel() > 0.0
        return ExpandedRows(
            features=self.cross(X, self.middles)[is_seen],
            counts=self.count(y).ravel()[is_seen],
            exposure=observed.ravel()[is_seen],
            owner=np.repeat(np.arange(len(y)), len(self.lengths))[is_seen],
        )

    def interpolate(self, at_edges: FloatArray, times: FloatArray) -> FloatArray:
        """Draw straight lines between values at the edges after the first, which has 0."""
        values = np.column_stack([np.zeros(len(at_edges)), at_edges])
        cell = np.clip(np.searchsorted(self.edges, times) - 1, 0, len(self.lengths) - 1)
        share = (times - self.edges[cell]) / self.lengths[cell]
        return values[:, cell] + share * (values[:, cell + 1] - values[:, cell])

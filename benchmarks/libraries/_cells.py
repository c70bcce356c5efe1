"""Time cut into cells, and individuals expanded to one row per cell."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from benchmarks.libraries._sensor_columns import CELL_LENGTH, attach, mean_between
from benchmarks.libraries._tuning import FloatArray
from boostr import RecurrentEvents, Trajectories

N_CELLS = 10


@dataclass(frozen=True, slots=True, eq=False)
class ExpandedRows:
    """One row per individual and cell in which it was observed."""

    features: FloatArray  # (n_rows, p + 1): the middle of the cell last; or sensors
    counts: FloatArray  # (n_rows,) events
    exposure: FloatArray  # (n_rows,) time observed in the cell
    owner: NDArray[np.intp]  # (n_rows,) individual


@dataclass(frozen=True, slots=True, eq=False)
class TimeCells:
    """Cells of time, ``(edges[k], edges[k + 1]]``."""

    edges: FloatArray  # (n_cells + 1,)

    @classmethod
    def from_events(cls, y: RecurrentEvents, n_cells: int = N_CELLS) -> TimeCells:
        """Make cells with about as many events in each."""
        inner = np.quantile(y.times, np.arange(1, n_cells) / n_cells)
        return cls(np.unique(np.concatenate([[0.0], inner, [y.end.max()]])))

    @classmethod
    def even(cls, y: RecurrentEvents, length: float = CELL_LENGTH) -> TimeCells:
        """Make cells of equal lengths up to the last end of follow-up, or just beyond."""
        return cls(length * np.arange(np.ceil(y.end.max() / length) + 1.0))

    @classmethod
    def choose(cls, y: RecurrentEvents, Z: Trajectories | None) -> TimeCells:
        """Make few cells where only time passes, and short ones where sensors change."""
        return cls.from_events(y) if Z is None else cls.even(y)

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

    def describe(self, X: FloatArray, Z: Trajectories | None = None) -> FloatArray:
        """Return features and middle of every cell; with sensors their means instead."""
        if Z is None:
            return self.cross(X, self.middles)
        shape = (len(X), len(self.lengths))
        begins = np.broadcast_to(self.edges[:-1], shape)
        return attach(X, mean_between(Z, begins, np.broadcast_to(self.edges[1:], shape)))

    def expand(
        self, X: FloatArray, y: RecurrentEvents, Z: Trajectories | None = None
    ) -> ExpandedRows:
        begins = np.maximum(y.start[:, None], self.edges[:-1])
        ends = np.minimum(y.end[:, None], self.edges[1:])
        observed = ends - begins
        is_seen = observed.ravel() > 0.0
        if Z is None:
            features = self.cross(X, self.middles)
        else:  # what sensors have shown while observed
            features = attach(X, mean_between(Z, begins, np.maximum(begins, ends)))
        return ExpandedRows(
            features=features[is_seen],
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

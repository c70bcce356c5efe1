"""Cox's model of recurrent events (Andersen and Gill), with sensors, by lifelines."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from boostr import RecurrentEvents, Trajectories
from boostr.baselines._curves import BrokenLines
from boostr.baselines._rows import TimeCells

FloatArray = NDArray[np.float64]

N_CELLS = 50  # of two days


class AndersenGill:
    """A common baseline times ``exp(beta' x(t))``, features and sensors in ``x(t)``.

    Rows end where cells do and at the events; sensors have their mean in the cell. The
    baseline is Breslow's. There is nothing to tune.
    """

    def fit(self, X: FloatArray, y: RecurrentEvents, Z: Trajectories) -> Self:
        from lifelines import CoxTimeVaryingFitter

        self._cells = TimeCells.even(float(y.end.max()), N_CELLS)
        self._model = CoxTimeVaryingFitter()
        self._model.fit(self._expand(X, y, Z), event_col="event")
        return self

    def predict_cumulative(
        self, X: FloatArray, times: FloatArray, Z: Trajectories
    ) -> FloatArray:
        rows = _name(self._cells.describe(X, Z), X.shape[1])
        factors = self._model.predict_partial_hazard(rows).to_numpy().reshape(len(X), -1)
        # Within a cell x(t) is constant: its share is the baseline's growth times exp(...).
        growth = np.diff(self._read_baseline(self._cells.edges))
        heights = np.zeros((len(X), len(self._cells.edges)))
        np.cumsum(factors * growth, axis=1, out=heights[:, 1:])
        return BrokenLines(self._cells.edges, heights).values(times)

    def _expand(self, X: FloatArray, y: RecurrentEvents, Z: Trajectories) -> Any:
        """Return rows ``(start, stop]`` that end where a cell does or at an event."""
        owner, stops, is_event = _cut(y, self._cells.edges)
        is_first = np.diff(owner, prepend=-1) > 0
        starts = np.where(is_first, y.start[owner], np.roll(stops, 1))
        cell = np.searchsorted(self._cells.edges, stops, side="left") - 1
        rows = self._cells.describe(X, Z, y)[owner * len(self._cells.lengths) + cell]
        frame = _name(rows, X.shape[1])
        return frame.assign(start=starts, stop=stops, event=is_event)

    def _read_baseline(self, times: FloatArray) -> FloatArray:
        baseline = self._model.baseline_cumulative_hazard_.iloc[:, 0]
        place = np.searchsorted(baseline.index.to_numpy(), times, side="right")
        return np.concatenate([[0.0], baseline.to_numpy()])[place]


def _cut(y: RecurrentEvents, edges: FloatArray) -> tuple[Any, FloatArray, Any]:
    """Return owners, ends and whether there is an event, of all rows in order."""
    n, inner = len(y), edges[1:-1]
    is_inside = (inner > y.start[:, None]) & (inner < y.end[:, None])
    owner = np.concatenate([y.event_owner, np.nonzero(is_inside)[0], np.arange(n)])
    stops = np.concatenate([y.times, inner[np.nonzero(is_inside)[1]], y.end])
    is_event = np.arange(len(stops)) < len(y.times)
    order = np.lexsort((~is_event, stops, owner))  # events first where something else ends
    owner, stops, is_event = owner[order], stops[order], is_event[order]
    is_repeated = (np.diff(owner, prepend=-1) == 0) & (np.diff(stops, prepend=-1.0) == 0.0)
    return owner[~is_repeated], stops[~is_repeated], is_event[~is_repeated]


def _name(rows: FloatArray, n_features: int) -> pd.DataFrame:
    """Return features and sensors by name; the baseline hazard stands for the time."""
    table = pd.DataFrame(rows, columns=[f"x{k}" for k in range(rows.shape[1])])
    return table.drop(columns=f"x{n_features}")

"""Cox's model of recurrent events (Andersen and Gill), fitted by lifelines."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import pandas as pd

from benchmarks.libraries._cells import TimeCells
from benchmarks.libraries._sensor_columns import attach, mean_between
from benchmarks.libraries._tuning import FloatArray
from boostr import RecurrentEvents, Trajectories


class AndersenGill:
    """A common baseline times ``exp(beta' x(t))``, features and sensors in ``x(t)``.

    Rows end where cells do and at the events; sensors have their mean in the cell. The
    baseline is Breslow's. There is nothing to tune.
    """

    def fit(self, X: FloatArray, y: RecurrentEvents, Z: Trajectories) -> Self:
        from lifelines import CoxTimeVaryingFitter

        self._cells = TimeCells.even(y)
        self._model = CoxTimeVaryingFitter()
        self._model.fit(self._expand(X, y, Z), event_col="event")
        return self

    def predict_cumulative(
        self, X: FloatArray, times: FloatArray, Z: Trajectories
    ) -> FloatArray:
        hazards = self._model.predict_partial_hazard(_name(self._cells.describe(X, Z)))
        factors = hazards.to_numpy().reshape(len(X), -1)
        # Within a cell x(t) is constant: its share is the baseline's growth times exp(...).
        growth = np.diff(self._read_baseline(self._cells.edges))
        return self._cells.interpolate(np.cumsum(factors * growth, axis=1), times)

    def _expand(self, X: FloatArray, y: RecurrentEvents, Z: Trajectories) -> Any:
        """Return rows ``(start, stop]`` that end where a cell does or at an event."""
        owner, stops, is_event = _cut(y, self._cells.edges)
        is_first = np.diff(owner, prepend=-1) > 0
        starts = np.where(is_first, y.start[owner], np.roll(stops, 1))
        edges = np.minimum(self._cells.edges, y.end[:, None])
        sensors = mean_between(Z, edges[:, :-1], edges[:, 1:])
        cell = np.searchsorted(self._cells.edges, stops, side="left") - 1
        frame = _name(attach(X, sensors)[owner * len(self._cells.lengths) + cell])
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


def _name(columns: FloatArray) -> pd.DataFrame:
    return pd.DataFrame(columns, columns=[f"x{k}" for k in range(columns.shape[1])])

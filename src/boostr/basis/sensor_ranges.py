"""What sensors have shown while their individuals were observed."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from boostr._kernels.segments import measure_pieces
from boostr._typing import FloatArray, PositionArray
from boostr.basis.base import ClockedEvents, require_paths

__all__ = ["Exposure", "draw_exposure"]

_SAMPLE_SIZE = 500_000  # pieces that quantiles and means are read from


@dataclass(frozen=True, slots=True, eq=False)
class Exposure:
    """A sample of pieces with the time observed in them, and the ranges of all pieces."""

    values: FloatArray  # (n_sensors, n_drawn)
    weights: FloatArray  # (n_drawn,) time on the clock, times the individual's weight
    lows: FloatArray  # (n_sensors,) NaN for a sensor that was never known
    highs: FloatArray  # (n_sensors,)

    def quantiles(self, sensor: int, shares: FloatArray) -> FloatArray:
        """Return the values of a sensor below which it was for given shares of the time."""
        known = ~np.isnan(self.values[sensor])
        values, weights = self.values[sensor][known], self.weights[known]
        order = np.argsort(values, kind="stable")
        until = np.cumsum(weights[order])
        places = np.searchsorted(until, shares * until[-1])
        return np.asarray(values[order][np.minimum(places, len(values) - 1)])


def draw_exposure(events: ClockedEvents, weights: FloatArray | None = None) -> Exposure:
    """Measure how long every piece was observed, and draw a sample of such pieces."""
    paths = require_paths(events)
    exposure = np.empty(len(paths.begins))
    measure_pieces(
        paths.begins,
        paths.offsets,
        events.window_start,
        events.window_stop,
        events.window_offsets,
        exposure,
    )
    observed = np.flatnonzero(exposure > 0.0)
    lows, highs = _find_ranges(paths.values, observed)
    drawn = observed[:: max(1, len(observed) // _SAMPLE_SIZE)]
    measured = exposure[drawn]
    if weights is not None:
        owner = np.searchsorted(paths.offsets, drawn, side="right") - 1
        measured = measured * weights[owner]
    return Exposure(paths.values[:, drawn], measured, lows, highs)


def _find_ranges(
    values: FloatArray, observed: PositionArray
) -> tuple[FloatArray, FloatArray]:
    """Return the least and the largest known value of every sensor, sensor by sensor."""
    lows, highs = np.full(len(values), np.nan), np.full(len(values), np.nan)
    for sensor, row in enumerate(values):
        seen = row[observed]
        if not np.isnan(seen).all():
            lows[sensor], highs[sensor] = np.nanmin(seen), np.nanmax(seen)
    return lows, highs

"""Figures of several panels, and maps over two features."""

from __future__ import annotations

from typing import Any

import numpy as np

from boostr._optional import require
from boostr._typing import FloatArray
from boostr.plotting import plot_feature_map
from boostr.reproduction._page import Picture, draw
from boostr.simulate import Simulation

__all__ = ["draw_map", "map_error", "map_ranges", "open_figure"]

_N_GRID = 60  # values of each feature on a map


def open_figure(
    n_rows: int, n_columns: int, size: tuple[float, float], **options: Any
) -> tuple[Any, list[Any]]:
    """Return a figure and its panels, row by row."""
    pyplot = require("matplotlib.pyplot", extra="plot", feature="boostr reproduce")
    figure, panels = pyplot.subplots(
        n_rows, n_columns, figsize=size, layout="constrained", squeeze=False, **options
    )
    return figure, list(panels.ravel())


def draw_map(
    simulation: Simulation, model: Any, horizon: float, caption: str, *, per_time: bool
) -> Picture:
    """Draw the true and the estimated map of the cumulative intensity at a time.

    With `per_time` it is divided by the time: the average intensity.
    """
    grid, true, estimated = _evaluate(simulation, model, horizon, per_time=per_time)
    first, second, *_ = simulation.feature_names
    quantity = (
        f"Average intensity up to time {horizon:g}"
        if per_time
        else f"Cumulative intensity at time {horizon:g}"
    )
    axes = plot_feature_map(grid, grid, true, estimated, labels=(first, second, quantity))
    figure: Any = axes.figure
    return draw(figure, caption, f"{quantity} over {first} and {second}: true, estimated")


def map_error(
    simulation: Simulation, model: Any, horizon: float, *, per_time: bool
) -> float:
    """Return the mean absolute error over the map."""
    _, true, estimated = _evaluate(simulation, model, horizon, per_time=per_time)
    return float(np.abs(estimated - true).mean())


def map_ranges(
    simulation: Simulation, model: Any, horizon: float
) -> tuple[tuple[float, float], tuple[float, float]]:
    """Return the lowest and highest values of the true and the estimated map."""
    _, true, estimated = _evaluate(simulation, model, horizon, per_time=False)
    return (float(true.min()), float(true.max())), (
        float(estimated.min()),
        float(estimated.max()),
    )


def _evaluate(
    simulation: Simulation, model: Any, horizon: float, *, per_time: bool
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the values of the features, and the two maps."""
    grid = (np.arange(_N_GRID) + 0.5) / _N_GRID
    across, along = np.meshgrid(grid, grid)
    points = np.column_stack([across.ravel(), along.ravel()])
    unit = horizon if per_time else 1.0
    shape = (_N_GRID, _N_GRID)
    true = simulation.truth([horizon], X=points).reshape(shape) / unit
    estimated = model.predict_cumulative(points, [horizon]).reshape(shape) / unit
    return grid, true, estimated

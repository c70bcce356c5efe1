"""Drawing of maps over two static features."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from boostr._typing import AnyArray, FloatArray
from boostr.data._times import name_unit
from boostr.inspection import CoefficientMap
from boostr.plotting._style import (
    find_edges,
    name_categories,
    name_rate,
    open_axes,
    shorten,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["plot_coefficient_map"]


def plot_coefficient_map(
    result: CoefficientMap,
    *,
    ax: Axes | None = None,
    show_colorbar: bool = True,
    mesh_kwargs: Mapping[str, Any] | None = None,
) -> Axes:
    """Draw a map over two static features.

    What cannot be negative is drawn from dark to bright; what a sensor adds at a value is
    red above zero and blue below.

    Parameters
    ----------
    result : CoefficientMap
        Result of `boostr.inspection.coefficient_map`.
    ax : matplotlib Axes, default=None
        Where to draw; a new figure by default.
    show_colorbar : bool, default=True
        Whether a bar beside the map tells what the colours mean.
    mesh_kwargs : mapping, default=None
        Options of the map, see `matplotlib.axes.Axes.pcolormesh`.

    Returns
    -------
    matplotlib Axes
        Where the map was drawn.

    See Also
    --------
    boostr.inspection.coefficient_map : Computes what is drawn.

    Examples
    --------
    >>> from boostr import BoostR
    >>> from boostr.inspection import coefficient_map
    >>> from boostr.plotting import plot_coefficient_map
    >>> from boostr.simulate import dataset_a
    >>> train = dataset_a(n=100, random_state=1)
    >>> model = BoostR(n_estimators=5, validation=None, random_state=0)
    >>> result = coefficient_map(model.fit(train.X, train.y), "x0", "x1")
    >>> ax = plot_coefficient_map(result)
    >>> ax.get_xlabel(), ax.get_ylabel()
    ('x0', 'x1')
    """
    axes: Axes = open_axes(ax, "plot_coefficient_map")
    options: dict[str, Any] = {"cmap": "viridis", "rasterized": True}
    if result.kind == "effect":
        largest = float(np.abs(result.values).max()) or 1.0
        options = {"cmap": "RdBu_r", "vmin": -largest, "vmax": largest, "rasterized": True}
    edges = [find_edges(_places(grid)) for grid in (result.x_grid, result.y_grid)]
    mesh = axes.pcolormesh(*edges, result.values, **(options | dict(mesh_kwargs or {})))
    for axis, name, grid in (
        (axes.xaxis, result.feature_x, result.x_grid),
        (axes.yaxis, result.feature_y, result.y_grid),
    ):
        axis.set_label_text(name)
        if grid.dtype == object:
            name_categories(axis, grid)
    if show_colorbar:
        axes.figure.colorbar(mesh, ax=axes, label=_describe(result))
    return axes


def _places(grid: AnyArray) -> FloatArray:
    """Return where values stand on an axis; categories stand at whole numbers."""
    return np.arange(len(grid), dtype=np.float64) if grid.dtype == object else grid


def _describe(result: CoefficientMap) -> str:
    rate = name_rate(result.time_unit)
    if result.kind == "norm":
        return f"Spread of the rate added by {result.sensor}\n({rate})"
    if result.kind == "effect":
        return f"Rate added by {result.sensor} at {shorten(result.at)}\n({rate})"
    if result.kind == "baseline":
        return f"Baseline rate ({rate})"
    unit = name_unit(result.time_unit)
    when = f"{result.horizon:g} {unit}" if unit else f"time {result.horizon:g}"
    return f"Expected number of events by {when}"

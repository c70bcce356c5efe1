"""Drawing of what two static features do together, at several times."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from boostr._typing import AnyArray, FloatArray
from boostr.data._times import name_unit
from boostr.inspection import FeatureInteraction
from boostr.plotting._panels import place_beside
from boostr.plotting._style import find_edges, name_categories, open_axes, shorten

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["plot_interaction"]


def plot_interaction(
    result: FeatureInteraction,
    *,
    same_scale: bool = False,
    ax: Axes | None = None,
    mesh_kwargs: Mapping[str, Any] | None = None,
) -> Axes:
    """Draw the cumulative intensity over two static features, one map per time.

    Parameters
    ----------
    result : FeatureInteraction
        Result of `boostr.inspection.feature_interaction`.
    same_scale : bool, default=False
        Whether a colour means the same number at all times; each map has a scale of its
        own by default, as numbers grow with time.
    ax : matplotlib Axes, default=None
        Where to draw; a new figure by default.
    mesh_kwargs : mapping, default=None
        Options of the maps, see `matplotlib.axes.Axes.pcolormesh`.

    Returns
    -------
    matplotlib Axes
        Where the maps were drawn; those of several times are its ``child_axes``.

    See Also
    --------
    boostr.inspection.feature_interaction : Computes what is drawn.
    plot_coefficient_map : One map, also for the effects of sensors.

    Examples
    --------
    >>> from boostr import BoostR
    >>> from boostr.inspection import feature_interaction
    >>> from boostr.plotting import plot_interaction
    >>> from boostr.simulate import dataset_a
    >>> train = dataset_a(n=150, random_state=1)
    >>> model = BoostR(n_estimators=5, validation=None).fit(train.X, train.y)
    >>> ax = plot_interaction(feature_interaction(model, "x0", "x1", times=[50, 100]))
    >>> [panel.get_title() for panel in ax.child_axes]
    ['By time 50', 'By time 100']
    """
    n_maps = len(result.times)
    axes: Axes = open_axes(ax, "plot_interaction", (1.4 + 3.4 * n_maps, 3.6))
    panels = place_beside(axes, n_maps, 0.45 if same_scale else 1.15)
    edges = [find_edges(_places(grid)) for grid in (result.x_grid, result.y_grid)]
    options: dict[str, Any] = {"cmap": "viridis", "rasterized": True}
    if same_scale:
        options |= {"vmin": float(result.values.min()), "vmax": float(result.values.max())}
    options |= dict(mesh_kwargs or {})
    unit = name_unit(result.time_unit)
    figure: Any = axes.figure
    for place, panel in enumerate(panels):
        mesh = panel.pcolormesh(*edges, result.values[place], **options)
        _label(panel.xaxis, result.feature_x, result.x_grid)
        _label(panel.yaxis, result.feature_y, result.y_grid)
        moment = result.times[place]
        panel.set_title(f"By {moment:g} {unit}" if unit else f"By time {moment:g}")
        if place and same_scale:
            panel.set_ylabel("")
        is_last = place == n_maps - 1
        if not same_scale or is_last:
            bar = panel.inset_axes((1.04, 0.0, 0.05, 1.0))
            label = "Expected number of events" if is_last else ""
            figure.colorbar(mesh, cax=bar, label=label)
    return axes


def _places(grid: AnyArray) -> FloatArray:
    """Return where values stand on an axis; categories stand at whole numbers."""
    return np.arange(len(grid), dtype=np.float64) if grid.dtype == object else grid


def _label(axis: Any, name: str, grid: AnyArray) -> None:
    axis.set_label_text(shorten(name))
    if grid.dtype == object:
        name_categories(axis, grid)

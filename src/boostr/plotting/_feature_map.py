"""Drawing of a true map of two features beside an estimated one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from boostr._typing import FloatArray
from boostr.exceptions import InvalidParameterError
from boostr.plotting._panels import place_beside
from boostr.plotting._style import find_edges, open_axes, shorten

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["plot_feature_map"]

_TITLES = ("True", "Estimated")


def plot_feature_map(
    x: ArrayLike,
    y: ArrayLike,
    true: ArrayLike,
    estimated: ArrayLike,
    *,
    labels: tuple[str, str, str] = ("x0", "x1", "Expected number of events"),
    ax: Axes | None = None,
    map_kwargs: Mapping[str, Any] | None = None,
) -> Axes:
    """Draw a quantity over two features, the truth beside its estimate.

    Both maps have the same colours for the same numbers.

    Parameters
    ----------
    x, y : array-like of shape (n,), or (n_x,) and (n_y,)
        Values of the two features: of individuals, or of the columns and rows of a grid,
        ascending.
    true, estimated : array-like of shape (n,) or (n_y, n_x)
        The quantity of these individuals, or on this grid.
    labels : tuple of str, default=("x0", "x1", "Expected number of events")
        Names of the features and of the quantity, with its unit.
    ax : matplotlib Axes, default=None
        Where to draw; a new figure by default.
    map_kwargs : mapping, default=None
        Options of both maps, see `matplotlib.axes.Axes.pcolormesh`, or
        `matplotlib.axes.Axes.scatter` for individuals.

    Returns
    -------
    matplotlib Axes
        Where the maps were drawn; the two are its ``child_axes``.

    See Also
    --------
    plot_coefficient_map : The map of a model alone.
    boostr.simulate.dataset_a : Data of which the truth is known.

    Examples
    --------
    >>> from boostr import BoostR
    >>> from boostr.plotting import plot_feature_map
    >>> from boostr.simulate import dataset_a
    >>> train = dataset_a(n=150, random_state=1)
    >>> model = BoostR(n_estimators=5, validation=None).fit(train.X, train.y)
    >>> true, estimated = train.truth([100.0])[:, 0], model.predict(train.X, horizon=100)
    >>> ax = plot_feature_map(train.X[:, 0], train.X[:, 1], true, estimated)
    >>> [panel.get_title() for panel in ax.child_axes]
    ['True', 'Estimated']
    """
    across, along, values = _check(x, y, true, estimated)
    axes: Axes = open_axes(ax, "plot_feature_map", (8.2, 3.6))
    panels = place_beside(axes, 2, 0.3)
    known = values[np.isfinite(values)]
    options: dict[str, Any] = {
        "cmap": "viridis",
        "vmin": float(known.min(initial=np.inf)) if known.size else 0.0,
        "vmax": float(known.max(initial=-np.inf)) if known.size else 1.0,
        "rasterized": True,
    }
    is_grid = values[0].ndim == 2
    if not is_grid:
        options |= {"s": float(np.clip(12_000.0 / max(len(across), 1), 3.0, 30.0))}
    options |= dict(map_kwargs or {})
    for panel, title, each in zip(panels, _TITLES, values, strict=True):
        if is_grid:
            drawn = panel.pcolormesh(find_edges(across), find_edges(along), each, **options)
        else:
            drawn = panel.scatter(across, along, c=each, **options)
        panel.set_title(title)
        panel.set_xlabel(shorten(labels[0]))
    panels[0].set_ylabel(shorten(labels[1]))
    panels[1].sharey(panels[0])
    panels[1].tick_params(labelleft=False)
    figure: Any = axes.figure
    figure.colorbar(
        drawn, cax=panels[1].inset_axes((1.04, 0.0, 0.05, 1.0)), label=labels[2]
    )
    return axes


def _check(
    x: ArrayLike, y: ArrayLike, true: ArrayLike, estimated: ArrayLike
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return features, and the two maps in one array."""
    across, along = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    maps = [np.asarray(each, dtype=np.float64) for each in (true, estimated)]
    n_points = (len(across),) if across.ndim == 1 and across.shape == along.shape else None
    n_cells = (len(along), len(across)) if across.ndim == along.ndim == 1 else None
    if maps[0].shape == maps[1].shape and maps[0].shape in {n_points, n_cells}:
        return across, along, np.stack(maps)
    raise InvalidParameterError(
        "`true` and `estimated` must have one value per individual, or one row per value "
        f"of `y` and one column per value of `x`, but their shapes are {maps[0].shape} and "
        f"{maps[1].shape} for shapes of {across.shape} and {along.shape}."
    )

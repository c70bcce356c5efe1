"""Drawing of the effects of static features: maps, and curves by value."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from boostr._checks.parameters import check_choice
from boostr._optional import require
from boostr._typing import FloatArray
from boostr.exceptions import InvalidParameterError
from boostr.inspection import CoefficientMap, FeatureInteraction, PartialDependence
from boostr.plotting._draw import draw_cells
from boostr.plotting.style import (
    CYCLE,
    GREY,
    find_edges,
    find_places,
    format_number,
    name_axis,
    name_moment,
    name_rate,
    name_time,
    open_axes,
    place_beside,
    shorten,
    take_colours,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = [
    "plot_coefficient_map",
    "plot_feature_map",
    "plot_interaction",
    "plot_partial_dependence",
]


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
    options: dict[str, Any] = {}
    if result.kind == "effect":
        largest = float(np.abs(result.values).max()) or 1.0
        options = {"cmap": "RdBu_r", "vmin": -largest, "vmax": largest}
    mesh = draw_cells(
        axes,
        (result.feature_x, result.feature_y),
        (result.x_grid, result.y_grid),
        result.values,
        options | dict(mesh_kwargs or {}),
    )
    if show_colorbar:
        axes.figure.colorbar(mesh, ax=axes, label=_describe(result))
    return axes


def _describe(result: CoefficientMap) -> str:
    rate = name_rate(result.time_unit)
    if result.kind == "norm":
        return f"Spread of the rate added by {result.sensor}\n({rate})"
    if result.kind == "effect":
        return f"Rate added by {result.sensor} at {shorten(result.at)}\n({rate})"
    if result.kind == "baseline":
        return f"Baseline rate ({rate})"
    return f"Expected number of events by {name_moment(result.horizon, result.time_unit)}"


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
    options: dict[str, Any] = {}
    if same_scale:
        options = {"vmin": float(result.values.min()), "vmax": float(result.values.max())}
    figure: Any = axes.figure
    for place, panel in enumerate(panels):
        mesh = draw_cells(
            panel,
            (result.feature_x, result.feature_y),
            (result.x_grid, result.y_grid),
            result.values[place],
            options | dict(mesh_kwargs or {}),
        )
        panel.set_title(f"By {name_moment(result.times[place], result.time_unit)}")
        if place and same_scale:
            panel.set_ylabel("")
        is_last = place == n_maps - 1
        if not same_scale or is_last:
            bar = panel.inset_axes((1.04, 0.0, 0.05, 1.0))
            label = "Expected number of events" if is_last else ""
            figure.colorbar(mesh, cax=bar, label=label)
    return axes


_MOST_LINES = 200  # thin lines of individuals; more of them are a blot
_N_VALUES = 5  # of a number, whose curves in time are drawn


def plot_partial_dependence(
    result: PartialDependence,
    *,
    over: Literal["feature", "time"] = "feature",
    ax: Axes | None = None,
    line_kwargs: Mapping[str, Any] | None = None,
) -> Axes:
    """Draw the expected numbers of events if all individuals had one value of a feature.

    Parameters
    ----------
    result : PartialDependence
        Result of `boostr.inspection.partial_dependence`.
    over : {"feature", "time"}, default="feature"
        What runs along the axis: the feature, with one line per time, or time, with one
        line per category or for five values of the feature.
    ax : matplotlib Axes, default=None
        Where to draw; a new figure by default.
    line_kwargs : mapping, default=None
        Options of the lines of averages, see `matplotlib.axes.Axes.plot`.

    Returns
    -------
    matplotlib Axes
        Where the lines were drawn. Individuals, where the result has them and the feature
        runs along the axis, are thin lines for the last time, at most 200 of them; marks at
        the bottom are the deciles of the values that individuals have.

    See Also
    --------
    boostr.inspection.partial_dependence : Computes what is drawn.
    plot_interaction : Maps over two features.

    Examples
    --------
    >>> from boostr import BoostR
    >>> from boostr.inspection import partial_dependence
    >>> from boostr.plotting import plot_partial_dependence
    >>> from boostr.simulate import dataset_a
    >>> train = dataset_a(n=150, random_state=1)
    >>> model = BoostR(n_estimators=5, validation=None).fit(train.X, train.y)
    >>> result = partial_dependence(model, train.X, "x0", times=[50, 100])
    >>> ax = plot_partial_dependence(result)
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['by time 50', 'by time 100']
    """
    check_choice(over, ("feature", "time"), "over")
    axes: Axes = open_axes(ax, "plot_partial_dependence", (6.0, 4.2))
    draw = _draw_over_feature if over == "feature" else _draw_over_time
    draw(axes, result, {"linewidth": 2.0, **(line_kwargs or {})})
    return axes


def _draw_over_feature(
    axes: Axes, result: PartialDependence, options: dict[str, Any]
) -> None:
    is_categorical = result.grid.dtype == object
    places = find_places(result.grid)
    if result.individual is not None:
        _draw_individuals(axes, places, result.individual[:, :, -1])
    if is_categorical:
        options = {"marker": "o", "linestyle": ":", **options}
    for place, moment in enumerate(result.times):
        label = f"by {name_moment(moment, result.time_unit)}"
        style = {"color": CYCLE[place % len(CYCLE)], "label": label, **options}
        axes.plot(places, result.average[:, place], **style)
    if not is_categorical:
        _mark_deciles(axes, result.observed)
    name_axis(axes.xaxis, result.feature, result.grid)
    _finish(axes, title=None)


def _draw_individuals(axes: Axes, places: FloatArray, values: FloatArray) -> None:
    """Draw individuals as thin lines; of many, an evenly spaced subsample by their mean."""
    order = np.argsort(values.mean(axis=1), kind="stable")
    n_lines = min(len(order), _MOST_LINES)
    chosen = order[np.linspace(0, len(order) - 1, n_lines).astype(np.int64)]
    collections = require("matplotlib.collections", extra="plot", feature="plotting")
    segments = [np.column_stack([places, row]) for row in values[chosen]]
    style: dict[str, Any] = {"colors": GREY, "linewidths": 0.5, "alpha": 0.35}
    axes.add_collection(collections.LineCollection(segments, zorder=1.0, **style))


def _mark_deciles(axes: Axes, observed: FloatArray) -> None:
    known = observed[~np.isnan(observed)]
    deciles = np.quantile(known, np.arange(1, 10) / 10)
    transform = axes.get_xaxis_transform()
    axes.vlines(deciles, 0.0, 0.025, color="black", linewidth=1.0, transform=transform)


def _draw_over_time(axes: Axes, result: PartialDependence, options: dict[str, Any]) -> None:
    n = len(result.grid)
    if result.grid.dtype == object:
        chosen = np.arange(n)
        colours = [CYCLE[place % len(CYCLE)] for place in chosen]
    else:
        chosen = np.unique(np.linspace(0, n - 1, min(n, _N_VALUES)).astype(np.int64))
        # Without the palest end, which is hard to see on white.
        colours = list(take_colours("viridis", 0.0, 0.9, len(chosen)))
    for place, colour in zip(chosen, colours, strict=True):
        value = result.grid[place]
        is_category = result.grid.dtype == object
        label = shorten(value) if is_category else format_number(value, 3)
        style = {"color": colour, "label": label, **options}
        axes.plot(result.times, result.average[place], **style)
    axes.set_xlabel(name_time(result.time_unit))
    _finish(axes, title=shorten(result.feature))


def _finish(axes: Axes, title: str | None) -> None:
    axes.set_ylabel("Expected number of events")
    bottom, top = axes.get_ylim()
    # Head room, so that the legend lies on no line.
    axes.set_ylim(min(0.0, bottom), top + 0.15 * (top - bottom))
    axes.margins(x=0.02)
    n_columns = 1 if title else 3
    axes.legend(
        title=title, loc="upper left", ncols=n_columns, fontsize="small", frameon=False
    )

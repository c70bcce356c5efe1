"""Drawing of what is expected if a feature had other values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from boostr._checks.parameters import check_choice
from boostr._optional import require
from boostr._typing import FloatArray
from boostr.inspection import PartialDependence
from boostr.plotting.style import (
    CYCLE,
    GREY,
    find_places,
    format_number,
    name_axis,
    name_moment,
    name_time,
    open_axes,
    shorten,
    take_colours,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["plot_partial_dependence"]

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

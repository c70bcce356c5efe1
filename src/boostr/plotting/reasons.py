"""Drawing of the reasons of predictions, of one individual or of many."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from boostr._typing import FloatArray
from boostr.data.times import name_unit
from boostr.inspection import Explanation
from boostr.plotting._draw import draw_bars
from boostr.plotting.style import (
    BLUE,
    GREY,
    VERMILION,
    format_number,
    name_moment,
    open_axes,
    shorten,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = [
    "name_count",
    "name_reason",
    "plot_beeswarm",
    "plot_reason_bars",
    "plot_waterfall",
    "stack_points",
]


def name_count(explanation: Explanation) -> str:
    """Say which events are expected: by a time, or in a window."""
    if explanation.times is not None:
        return f"events by {name_moment(explanation.times[0], explanation.time_unit)}"
    assert explanation.start is not None  # noqa: S101 - there are times or windows
    assert explanation.stop is not None  # noqa: S101
    start, stop = explanation.start, explanation.stop
    unit = name_unit(explanation.time_unit)
    if np.ptp(start) == 0.0 and np.ptp(stop) == 0.0:
        window = f"({format_number(start[0])}, {format_number(stop[0])}]"
        return f"events in {window} {unit or ''}".rstrip()
    lengths = stop - start
    if np.allclose(lengths, lengths[0]):
        return f"events in the next {format_number(lengths[0])} {unit or 'units of time'}"
    return "events in the window"


def name_reason(explanation: Explanation, place: int, i: int) -> str:
    """Return the name of a reason, with the value that an individual has."""
    name = shorten(explanation.reasons[place])
    if place >= len(explanation.features):
        return name
    value = explanation.data[i, place]
    known = explanation.categories[place]
    unlearned = explanation.unlearned.get((i, place))
    if unlearned is not None:
        return f"{name} = {shorten(unlearned)}"
    if np.isnan(value):
        return f"{name} unknown"
    if known is not None:
        return f"{name} = {shorten(known[int(value)])}"
    return f"{name} = {format_number(value, 3)}"


def plot_reason_bars(
    explanation: Explanation,
    *,
    n_most: int = 20,
    ax: Axes | None = None,
    bar_kwargs: Mapping[str, Any] | None = None,
) -> Axes:
    """Draw by how much reasons change what is expected, on average over individuals.

    Parameters
    ----------
    explanation : Explanation
        Result of `boostr.inspection.explain`, for one time or window.
    n_most : int, default=20
        How many reasons are drawn at most, the largest on top.
    ax : matplotlib Axes, default=None
        Where to draw; a new figure by default.
    bar_kwargs : mapping, default=None
        Options of the bars, see `matplotlib.axes.Axes.barh`.

    Returns
    -------
    matplotlib Axes
        Where the bars were drawn.

    See Also
    --------
    boostr.inspection.explain : Computes what is drawn.
    plot_beeswarm : Every individual as a point, instead of averages.

    Examples
    --------
    >>> from boostr import BoostR
    >>> from boostr.inspection import explain
    >>> from boostr.plotting import plot_reason_bars
    >>> from boostr.simulate import dataset_a
    >>> train = dataset_a(n=150, random_state=1)
    >>> model = BoostR(n_estimators=10, validation=None).fit(train.X, train.y)
    >>> ax = plot_reason_bars(explain(model, train.X, horizon=100))
    >>> len(ax.patches)
    2
    """
    explanation.require_one_time("plot_reason_bars")
    return draw_bars(
        ax,
        "plot_reason_bars",
        explanation.reasons,
        explanation.mean_sizes(),
        label=f"Mean change of expected {name_count(explanation)}",
        n_most=n_most,
        bar_kwargs=bar_kwargs,
    )


_N_CELLS = 100  # across the width, in which points are stacked
_HEIGHT = 0.4  # of the highest stack, up and down
_FULL = 8  # points in a stack of full height, at least


def plot_beeswarm(
    explanation: Explanation,
    *,
    n_most: int = 10,
    ax: Axes | None = None,
    point_kwargs: Mapping[str, Any] | None = None,
) -> Axes:
    """Draw what each reason adds to the number expected of each individual.

    Parameters
    ----------
    explanation : Explanation
        Result of `boostr.inspection.explain`, for one time or window.
    n_most : int, default=10
        How many reasons are drawn at most, those that change most on top.
    ax : matplotlib Axes, default=None
        Where to draw; a new figure by default.
    point_kwargs : mapping, default=None
        Options of the points, see `matplotlib.axes.Axes.scatter`.

    Returns
    -------
    matplotlib Axes
        Where the points were drawn: one per individual and reason, stacked where they are
        many, coloured from the lowest to the highest value of the feature. Points are grey
        where there is no order: categories, missing values, sensors and other reasons.

    See Also
    --------
    boostr.inspection.explain : Computes what is drawn.
    plot_reason_bars : Averages of the same.

    Examples
    --------
    >>> from boostr import BoostR
    >>> from boostr.inspection import explain
    >>> from boostr.plotting import plot_beeswarm
    >>> from boostr.simulate import dataset_a
    >>> train = dataset_a(n=150, random_state=1)
    >>> model = BoostR(n_estimators=10, validation=None).fit(train.X, train.y)
    >>> ax = plot_beeswarm(explain(model, train.X, horizon=100))
    >>> ax.get_xlabel()
    'Added to the expected events by time 100'
    """
    explanation.require_one_time("plot_beeswarm")
    amounts = explanation.amounts
    order = np.argsort(-explanation.mean_sizes(), kind="stable")[:n_most]
    axes: Axes = open_axes(ax, "plot_beeswarm", (7.2, 1.4 + 0.5 * len(order)))
    axes.axvline(0.0, color=GREY, linewidth=0.8, zorder=0.5)
    options = {"s": 10.0, "linewidths": 0.0, "rasterized": True, **(point_kwargs or {})}
    coloured: dict[str, Any] = {"cmap": "viridis", "vmin": 0.0, "vmax": 1.0, **options}
    plain = {k: v for k, v in options.items() if k not in {"cmap", "vmin", "vmax"}}
    # One scale for all rows, so that equal distances are equal amounts.
    width = float(np.ptp(amounts[:, order])) / _N_CELLS if len(order) else 1.0
    points = None
    for row, place in enumerate(order):
        heights = row + _HEIGHT * stack_points(amounts[:, place], width)
        ranks = _rank_values(explanation, int(place))
        known, unknown = ~np.isnan(ranks), np.isnan(ranks)
        if unknown.any():
            x, y = amounts[unknown, place], heights[unknown]
            axes.scatter(x, y, **{"color": GREY, **plain})
        if known.any():
            x, y = amounts[known, place], heights[known]
            points = axes.scatter(x, y, c=ranks[known], **coloured)
    if points is not None:
        figure: Any = axes.figure
        bar = figure.colorbar(points, ax=axes, ticks=[0.0, 1.0], aspect=30, pad=0.02)
        bar.set_ticklabels(["low", "high"])
        bar.set_label("Value of the feature", labelpad=-10)
    axes.set_yticks(range(len(order)), [shorten(explanation.reasons[k]) for k in order])
    axes.set_ylim(len(order) - 0.4, -0.6)
    axes.set_xlabel(f"Added to the expected {name_count(explanation)}")
    return axes


def stack_points(values: FloatArray, width: float) -> FloatArray:
    """Return heights in [-1, 1]: points of one cell lie above and below each other."""
    if width <= 0.0:
        width = 1.0
    cells = np.floor(values / width).astype(np.int64)
    order = np.argsort(cells, kind="stable")
    _, first, counts = np.unique(cells[order], return_index=True, return_counts=True)
    place = np.arange(len(values)) - np.repeat(first, counts)
    # 0, 1, -1, 2, -2, ...: from the middle outwards.
    step = (place + 1) // 2 * np.where(place % 2 == 1, 1, -1)
    heights = np.empty(len(values))
    heights[order] = 2.0 * step / max(int(counts.max()), _FULL)
    return heights


def _rank_values(explanation: Explanation, place: int) -> FloatArray:
    """Return ranks in [0, 1] of a feature's values, NaN where it has no order."""
    ranks = np.full(len(explanation), np.nan)
    is_number = place < len(explanation.features) and explanation.categories[place] is None
    if not is_number:
        return ranks
    values = explanation.data[:, place]
    known = ~np.isnan(values)
    if known.any():
        _, inverse = np.unique(values[known], return_inverse=True)
        ranks[known] = inverse / max(int(inverse.max()), 1)
    return ranks


_LEAST_SHARE = 0.01  # of all amounts together, from which a reason has a bar of its own


def plot_waterfall(
    explanation: Explanation,
    id: Any = 0,
    *,
    n_most: int = 8,
    ax: Axes | None = None,
    bar_kwargs: Mapping[str, Any] | None = None,
) -> Axes:
    """Draw how the reasons of one individual lead from the average to its own number.

    Parameters
    ----------
    explanation : Explanation
        Result of `boostr.inspection.explain`, for one time or window.
    id : id or int, default=0
        Id of the individual; or its position, where no id is the same.
    n_most : int, default=8
        How many reasons have a bar of their own, the largest on top; the others, and those
        that hardly matter, have one together.
    ax : matplotlib Axes, default=None
        Where to draw; a new figure by default.
    bar_kwargs : mapping, default=None
        Options of the bars, see `matplotlib.axes.Axes.barh`.

    Returns
    -------
    matplotlib Axes
        Where the bars were drawn: more events to the right, fewer to the left.

    See Also
    --------
    boostr.inspection.explain : Computes what is drawn.
    plot_beeswarm : The reasons of many individuals.

    Examples
    --------
    >>> from boostr import BoostR
    >>> from boostr.inspection import explain
    >>> from boostr.plotting import plot_waterfall
    >>> from boostr.simulate import dataset_a
    >>> train = dataset_a(n=150, random_state=1)
    >>> model = BoostR(n_estimators=10, validation=None).fit(train.X, train.y)
    >>> ax = plot_waterfall(explain(model, train.X, horizon=100), 3)
    >>> len(ax.patches), ax.get_xlabel()
    (2, 'Expected events by time 100')
    """
    explanation.require_one_time("plot_waterfall")
    i = explanation.position(id)
    labels, amounts = _list_bars(explanation, i, n_most)
    places = np.arange(len(amounts))
    # From the bottom, where the average stands, up to the largest reason.
    ends = explanation.base[i] + np.cumsum(amounts[::-1])[::-1]
    axes: Axes = open_axes(ax, "plot_waterfall", (6.8, 1.6 + 0.36 * len(amounts)))
    colours = [VERMILION if amount > 0.0 else BLUE for amount in amounts]
    options = {"color": colours, "height": 0.7, **(bar_kwargs or {})}
    axes.barh(places, amounts, left=ends - amounts, **options)
    for place in places[:-1]:
        line = [place, place + 1]
        axes.plot([ends[place + 1]] * 2, line, color=GREY, linewidth=0.8, zorder=0.5)
    _write_amounts(axes, amounts, ends)
    axes.set_yticks(places, labels)
    axes.set_ylim(len(amounts) - 0.3, -0.7)
    _mark_ends(axes, float(explanation.base[i]), float(explanation.prediction[i]))
    axes.set_xlabel(f"Expected {name_count(explanation)}")
    return axes


def _list_bars(
    explanation: Explanation, i: int, n_most: int
) -> tuple[list[str], FloatArray]:
    """Return labels and amounts, the largest first and the sum of the rest last."""
    amounts = explanation.amounts[i]
    order = np.argsort(-np.abs(amounts), kind="stable")
    order = order[amounts[order] != 0.0]
    least = _LEAST_SHARE * np.abs(amounts).sum()
    n_own = min(n_most, int(np.sum(np.abs(amounts) >= least)), len(order))
    labels = [name_reason(explanation, int(place), i) for place in order[:n_own]]
    chosen = amounts[order[:n_own]]
    rest = order[n_own:]
    if not order.size:
        return ["nothing"], np.zeros(1)
    if rest.size:
        noun = "other reason" if rest.size == 1 else "other reasons"
        labels.append(f"{rest.size} {noun}")
        chosen = np.append(chosen, amounts[rest].sum())
    return labels, chosen


def _write_amounts(axes: Axes, amounts: FloatArray, ends: FloatArray) -> None:
    """Write what every bar adds beyond its end, and make room for it."""
    borders = np.concatenate([ends, ends - amounts])
    low, high = float(borders.min()), float(borders.max())
    room = 0.18 * max(high - low, 1e-12)
    axes.set_xlim(low - room, high + room)
    for place, (amount, end) in enumerate(zip(amounts, ends, strict=True)):
        axes.annotate(
            f"{amount:+.2g}",
            (end, place),
            xytext=(4 if amount > 0.0 else -4, 0),
            textcoords="offset points",
            ha="left" if amount > 0.0 else "right",
            va="center",
            fontsize="small",
        )


def _mark_ends(axes: Axes, base: float, prediction: float) -> None:
    """Say where the average is, at the bottom, and the prediction, on top."""
    transform = axes.get_xaxis_transform()
    left_first = base <= prediction
    for value, text, is_left in (
        (base, f"average {base:.3g}", left_first),
        (prediction, f"expected {prediction:.3g}", not left_first),
    ):
        axes.axvline(value, color=GREY, linewidth=0.8, linestyle=":", zorder=0.4)
        axes.text(
            value,
            1.01,
            text,
            transform=transform,
            ha="right" if is_left else "left",
            va="bottom",
            fontsize="small",
        )

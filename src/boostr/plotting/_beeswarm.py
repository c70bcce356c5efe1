"""Drawing of the reasons of many individuals, a point each."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from boostr._typing import FloatArray
from boostr.inspection import Explanation
from boostr.plotting._reason_labels import name_count
from boostr.plotting._style import GREY, open_axes, shorten

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["plot_beeswarm", "stack_points"]

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
    options: dict[str, Any] = {"s": 10.0, "linewidths": 0.0, "rasterized": True}
    options |= {"cmap": "viridis", "vmin": 0.0, "vmax": 1.0} | dict(point_kwargs or {})
    # One scale for all rows: as far apart as points look, as far apart they are.
    width = float(np.ptp(amounts[:, order])) / _N_CELLS if len(order) else 1.0
    has_colours = False
    for row, place in enumerate(order):
        heights = row + _HEIGHT * stack_points(amounts[:, place], width)
        ranks = _rank_values(explanation, int(place))
        is_ranked = ~np.isnan(ranks)
        plain = {k: v for k, v in options.items() if k not in {"cmap", "vmin", "vmax"}}
        own = ~is_ranked
        if own.any():
            axes.scatter(amounts[own, place], heights[own], **{"color": GREY, **plain})
        if is_ranked.any():
            x, y = amounts[is_ranked, place], heights[is_ranked]
            points = axes.scatter(x, y, c=ranks[is_ranked], **options)
            has_colours = True
    if has_colours:
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

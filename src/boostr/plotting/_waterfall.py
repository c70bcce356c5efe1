"""Drawing of the reasons of one individual, from the average to its own number."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from boostr._typing import FloatArray
from boostr.inspection import Explanation
from boostr.plotting._reason_labels import name_count, name_reason
from boostr.plotting._style import BLUE, GREY, VERMILION, open_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["plot_waterfall"]

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
    low, high = float(np.min(ends - amounts)), float(np.max(ends - amounts))
    low, high = min(low, float(ends.min())), max(high, float(ends.max()))
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

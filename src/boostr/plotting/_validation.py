"""Drawing of losses on individuals that were held out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from boostr.exceptions import InvalidParameterError
from boostr.plotting._style import CYCLE, GREY, open_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["plot_validation"]

_DASHES = ("-", "--", "-.", ":")
_INCHES_PER_LINE = 0.185  # of the legend
_LEFT = 0.2  # share of the axis that the legend leaves free
_LEAST_WEIGHT = 0.005  # below which a weight reads as zero


def plot_validation(
    results: Sequence[Mapping[str, Any]],
    *,
    ax: Axes | None = None,
    line_kwargs: Mapping[str, Any] | None = None,
) -> Axes:
    """Draw the held-out loss after each tree, for each shape of trees that was tried.

    A dot marks the number of trees that is kept. Shapes that have a weight in the ensemble
    are coloured, heaviest first, the others are thin and grey.

    Parameters
    ----------
    results : list of dict
        ``model.validation_results_`` of a fitted `boostr.BoostR`.
    ax : matplotlib Axes, default=None
        Where to draw; a new figure by default.
    line_kwargs : mapping, default=None
        Options of the coloured lines, see `matplotlib.axes.Axes.plot`.

    Returns
    -------
    matplotlib Axes
        Where the losses were drawn.

    See Also
    --------
    plot_comparison : Scores of different learners.

    Examples
    --------
    >>> from boostr import BoostR
    >>> from boostr.plotting import plot_validation
    >>> from boostr.simulate import dataset_a
    >>> train = dataset_a(n=150, random_state=1)
    >>> model = BoostR(n_estimators=10, max_leaf_nodes=4, validation=0.2, random_state=0)
    >>> ax = plot_validation(model.fit(train.X, train.y).validation_results_)
    >>> ax.get_ylabel()
    'Held-out loss per individual'
    """
    if not results:
        raise InvalidParameterError(
            "There must be validation results to draw, but there are none.\n\n"
            "Hint: BoostR(validation='cv') validates, validation=None does not."
        )
    axes: Axes = open_axes(ax, "plot_validation", (6.4, 4.4))
    order = sorted(results, key=lambda run: -run["weight"])
    used = [run for run in order if run["weight"] >= _LEAST_WEIGHT]
    unused = [run for run in order if run["weight"] < _LEAST_WEIGHT]
    for place, run in enumerate(unused):
        label = f"weight 0 ({len(unused)} more)" if place == 0 else None
        _draw(axes, run, {"color": GREY, "linewidth": 0.8, "label": label}, 1.8)
    for place, run in enumerate(used):
        style = {
            "color": CYCLE[place % len(CYCLE)],
            "linestyle": _DASHES[place % len(_DASHES)],
            "linewidth": 1.8,
            "label": f"{run['label']}: weight {run['weight']:.2f}",
            "zorder": 3.0,
            **(line_kwargs or {}),
        }
        _draw(axes, run, style, 3.5)
    handles, labels = axes.get_legend_handles_labels()
    first = 1 if unused else 0  # those without a weight come last
    axes.legend(
        handles[first:] + handles[:first],
        labels[first:] + labels[:first],
        loc="upper right",
        fontsize="small",
    )
    _make_room(axes, results, len(labels))
    longest = max(len(run["curve"]) for run in results)
    axes.set_xlim(0.5, longest + 0.5)
    axes.locator_params(axis="x", integer=True)
    axes.set_xlabel("Number of trees (dot: kept)")
    axes.set_ylabel("Held-out loss per individual")
    return axes


def _make_room(axes: Axes, results: Sequence[Mapping[str, Any]], n_lines: int) -> None:
    """Raise the upper end of the axis until the legend does not lie on curves."""
    figure: Any = axes.figure
    inches = axes.get_position().height * figure.get_figheight()
    covered = min(_INCHES_PER_LINE * (n_lines + 1) / inches, 0.7)
    low, high = axes.get_ylim()
    longest = max(len(run["curve"]) for run in results)
    below = [run["curve"][int(_LEFT * longest) :].max(initial=low) for run in results]
    axes.set_ylim(low, max(high, low + (max(below) - low) / (1.0 - covered)))


def _draw(
    axes: Axes, run: Mapping[str, Any], style: Mapping[str, Any], zorder: float
) -> None:
    curve = np.asarray(run["curve"], dtype=np.float64)
    (line,) = axes.plot(np.arange(1, len(curve) + 1), curve, **style)
    kept = int(run["n_trees"])
    if 1 <= kept <= len(curve):
        options: dict[str, Any] = {"color": line.get_color(), "marker": "o"}
        size = 7.0 if style["linewidth"] > 1.0 else 4.0
        axes.plot(
            [kept], [curve[kept - 1]], markersize=size, zorder=zorder, ls="", **options
        )

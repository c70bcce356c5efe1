"""Drawing of the sizes of trees."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np

from boostr._typing import FloatArray
from boostr.exceptions import InvalidParameterError
from boostr.inspection import LeafCounts
from boostr.plotting._style import BLUE, open_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["plot_leaf_counts"]


def plot_leaf_counts(
    result: LeafCounts,
    *,
    member: int | None = None,
    ax: Axes | None = None,
    bar_kwargs: Mapping[str, Any] | None = None,
) -> Axes:
    """Draw the number of leaves of every tree.

    One model has a bar per tree. Of several averaged models, the line is their weighted
    mean, and the band reaches from the smallest to the largest tree of a round.

    Parameters
    ----------
    result : LeafCounts
        Result of `boostr.inspection.leaf_counts`.
    member : int, default=None
        Which of several models is drawn alone; all of them by default.
    ax : matplotlib Axes, default=None
        Where to draw; a new figure by default.
    bar_kwargs : mapping, default=None
        Options of the bars, see `matplotlib.axes.Axes.bar`.

    Returns
    -------
    matplotlib Axes
        Where the numbers were drawn.

    See Also
    --------
    boostr.inspection.leaf_counts : Computes what is drawn.
    plot_partition : One of the trees.

    Examples
    --------
    >>> from boostr import BoostR
    >>> from boostr.inspection import leaf_counts
    >>> from boostr.plotting import plot_leaf_counts
    >>> from boostr.simulate import dataset_a
    >>> train = dataset_a(n=150, random_state=1)
    >>> model = BoostR(n_estimators=4, max_leaf_nodes=3, validation=None)
    >>> ax = plot_leaf_counts(leaf_counts(model.fit(train.X, train.y)))
    >>> [int(bar.get_height()) for bar in ax.patches]
    [1, 3, 3, 3]
    """
    chosen = _choose(result, member)
    axes: Axes = open_axes(ax, "plot_leaf_counts", (6.4, 3.2))
    n_trees = max((len(counts) for counts in chosen.counts), default=0)
    number = np.arange(1, n_trees + 1)
    if len(chosen.counts) == 1:
        options = {"color": BLUE, "width": 0.8, **(bar_kwargs or {})}
        axes.bar(number, chosen.counts[0], **options)
        largest = int(chosen.counts[0].max(initial=1))
    elif n_trees:
        low, mean, high = _summarise(chosen, n_trees)
        name = f"of {len(chosen.counts)} models"
        options = {"color": BLUE, "alpha": 0.25, "linewidth": 0.0, "step": "mid"}
        label = f"smallest to largest {name}"
        axes.fill_between(number, low, high, label=label, **options)
        axes.step(number, mean, where="mid", color=BLUE, label=f"weighted mean {name}")
        above: dict[str, Any] = {
            "loc": "lower left",
            "bbox_to_anchor": (0.0, 1.0),
            "ncols": 2,
        }
        axes.legend(frameon=False, fontsize="small", borderpad=0.2, **above)
        largest = int(high.max())
    else:
        largest = 1
    axes.set_ylim(0.0, 1.08 * largest)
    axes.set_xlim(0.4, max(n_trees, 1) + 0.6)
    axes.locator_params(axis="both", integer=True)
    axes.set_xlabel("Tree")
    axes.set_ylabel("Number of leaves")
    return axes


def _choose(result: LeafCounts, member: Any) -> LeafCounts:
    if member is None:
        return result
    n = len(result.counts)
    is_whole = isinstance(member, Integral) and not isinstance(member, bool)
    if not is_whole or not 0 <= int(member) < n:
        raise InvalidParameterError(
            f"`member` must be a position among {n} models, but it is {member!r}."
        )
    return LeafCounts((result.counts[int(member)],), result.weights[[int(member)]])


def _summarise(result: LeafCounts, n_trees: int) -> tuple[FloatArray, ...]:
    """Return smallest, mean and largest numbers of the models that have such a tree."""
    table = np.full((len(result.counts), n_trees), np.nan)
    for row, counts in zip(table, result.counts, strict=True):
        row[: len(counts)] = counts
    weights = np.where(np.isnan(table), 0.0, result.weights[:, None])
    mean = np.nansum(table * weights, axis=0) / weights.sum(axis=0)
    return np.nanmin(table, axis=0), mean, np.nanmax(table, axis=0)

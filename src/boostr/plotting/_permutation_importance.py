"""Drawing of how much worse a model gets without what features tell."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from boostr.inspection import PermutationImportance
from boostr.plotting._style import BLUE, GREY, open_axes, shorten

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["plot_permutation_importance"]


def plot_permutation_importance(
    result: PermutationImportance,
    *,
    n_most: int = 20,
    ax: Axes | None = None,
    bar_kwargs: Mapping[str, Any] | None = None,
) -> Axes:
    """Draw how much the loss rises when features are shuffled, the largest on top.

    Parameters
    ----------
    result : PermutationImportance
        Result of `boostr.inspection.permutation_importance`.
    n_most : int, default=20
        How many bars are drawn at most.
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
    boostr.inspection.permutation_importance : Computes what is drawn.
    plot_importance : Gain of the splits in training.

    Examples
    --------
    >>> from boostr import BoostR
    >>> from boostr.inspection import permutation_importance
    >>> from boostr.plotting import plot_permutation_importance
    >>> from boostr.simulate import dataset_a
    >>> train, test = dataset_a(n=150, random_state=1), dataset_a(n=90, random_state=2)
    >>> model = BoostR(n_estimators=10, validation=None).fit(train.X, train.y)
    >>> ax = plot_permutation_importance(permutation_importance(model, test.X, test.y))
    >>> len(ax.patches)
    2
    """
    order = np.argsort(-result.importances, kind="stable")[:n_most]
    size = (6.4, 1.2 + 0.3 * len(order))
    axes: Axes = open_axes(ax, "plot_permutation_importance", size)
    options = {
        "color": BLUE,
        "xerr": result.errors[order],
        "error_kw": {"ecolor": "black", "elinewidth": 1.0, "capsize": 3.0},
        **(bar_kwargs or {}),
    }
    places = np.arange(len(order))
    axes.barh(places, result.importances[order], **options)
    axes.set_yticks(places, [shorten(result.features[place]) for place in order])
    axes.invert_yaxis()
    axes.locator_params(axis="x", nbins=6)
    if np.any(result.importances[order] - result.errors[order] < 0.0):
        axes.axvline(0.0, color=GREY, linewidth=0.8)
    axes.set_xlabel("Rise of the loss if shuffled ± standard error")
    return axes

"""Drawing of how much each reason matters over many individuals."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from boostr.inspection import Explanation
from boostr.plotting._reason_labels import name_count
from boostr.plotting._style import BLUE, open_axes, shorten

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["plot_reason_bars"]


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
    sizes = explanation.mean_sizes()
    order = np.argsort(-sizes, kind="stable")[:n_most]
    axes: Axes = open_axes(ax, "plot_reason_bars", (6.4, 1.2 + 0.3 * len(order)))
    places = np.arange(len(order))
    axes.barh(places, sizes[order], **{"color": BLUE, **(bar_kwargs or {})})
    axes.set_yticks(places, [shorten(explanation.reasons[place]) for place in order])
    axes.invert_yaxis()
    axes.locator_params(axis="x", nbins=6)
    axes.set_xlabel(f"Mean change of expected {name_count(explanation)}")
    return axes

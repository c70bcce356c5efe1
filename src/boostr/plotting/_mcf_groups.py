"""Drawing of mean cumulative functions, group by group."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from boostr.baselines import MeanCumulativeFunction
from boostr.baselines._groups import read_groups
from boostr.data import RecurrentEvents, check_target
from boostr.plotting._mcf import plot_mcf
from boostr.plotting._style import CYCLE, open_axes, shorten

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["plot_mcf_groups"]

_DASHES = ("-", "--", "-.", ":")


def plot_mcf_groups(
    y: RecurrentEvents,
    group: Any,
    *,
    confidence: float = 0.95,
    show_band: bool = True,
    ax: Axes | None = None,
) -> Axes:
    """Draw the mean cumulative function of every group with its confidence band.

    Parameters
    ----------
    y : RecurrentEvents
        Event histories.
    group : array-like of shape (n,)
        The group of each individual; at least two groups of at least two individuals.
    confidence : float, default=0.95
        Pointwise confidence of the bands, in (0, 1).
    show_band : bool, default=True
        Whether the confidence bands are drawn.
    ax : matplotlib Axes, default=None
        Where to draw; a new figure by default.

    Returns
    -------
    matplotlib Axes
        Where the curves were drawn, in the order of the sorted groups.

    See Also
    --------
    boostr.baselines.MeanCumulativeFunction : The estimate that is drawn.
    boostr.baselines.compare_mcf : Tests whether groups differ.
    plot_mcf_difference : The difference of two groups.

    Examples
    --------
    >>> from boostr.datasets import load_cgd
    >>> from boostr.plotting import plot_mcf_groups
    >>> data = load_cgd()
    >>> ax = plot_mcf_groups(data.y, data.X["treatment"])
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['placebo (n = 65)', 'rIFN-g (n = 63)']
    """
    names, owner = read_groups(check_target(y), group)
    axes: Axes = open_axes(ax, "plot_mcf_groups", (6.4, 4.4))
    for place, name in enumerate(names.tolist()):
        members = np.flatnonzero(owner == place)
        estimate = MeanCumulativeFunction(confidence=confidence).fit(y[members])
        colour = CYCLE[place % len(CYCLE)]
        style = {
            "color": colour,
            # Grey prints and more groups than colours need a second mark.
            "linestyle": _DASHES[(place + place // len(CYCLE)) % len(_DASHES)],
            "linewidth": 1.8,
        }
        plot_mcf(
            estimate,
            ax=axes,
            label=f"{shorten(name)} (n = {len(members):,})",
            show_band=show_band,
            line_kwargs=style,
            band_kwargs={"alpha": 0.15},
        )
    if show_band:
        legend: Any = axes.get_legend()
        legend.set_title(f"bands: {confidence:.0%} confidence")
    axes.set_ylim(bottom=0.0)
    axes.margins(x=0.0)
    return axes

"""Drawing of the difference of two mean cumulative functions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from boostr._typing import FloatArray
from boostr.baselines import McfDifference
from boostr.plotting._style import BLUE, name_time, open_axes, shorten

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["plot_mcf_difference"]


def plot_mcf_difference(
    result: McfDifference,
    *,
    ax: Axes | None = None,
    show_band: bool = True,
    line_kwargs: Mapping[str, Any] | None = None,
    band_kwargs: Mapping[str, Any] | None = None,
) -> Axes:
    """Draw a difference of mean cumulative functions as steps with its confidence band.

    Where the band does not hold the line at zero, the groups differ by then.

    Parameters
    ----------
    result : McfDifference
        Result of `boostr.baselines.mcf_difference`.
    ax : matplotlib Axes, default=None
        Where to draw; a new figure by default.
    show_band : bool, default=True
        Whether the confidence band is drawn.
    line_kwargs : mapping, default=None
        Options of the line, see `matplotlib.axes.Axes.step`.
    band_kwargs : mapping, default=None
        Options of the band, see `matplotlib.axes.Axes.fill_between`.

    Returns
    -------
    matplotlib Axes
        Where the difference was drawn.

    See Also
    --------
    boostr.baselines.mcf_difference : Computes what is drawn.
    plot_mcf : Draws the two functions themselves.

    Examples
    --------
    >>> from boostr.baselines import mcf_difference
    >>> from boostr.datasets import load_cgd
    >>> from boostr.plotting import plot_mcf_difference
    >>> data = load_cgd()
    >>> ax = plot_mcf_difference(mcf_difference(data.y, data.X["treatment"]))
    >>> print(ax.get_ylabel())
    Mean cumulative number of events,
    rIFN-g minus placebo
    """
    axes: Axes = open_axes(ax, "plot_mcf_difference")
    times = np.concatenate([[result.span[0]], result.times, [result.span[1]]])
    axes.axhline(0.0, color="0.35", linewidth=0.9, linestyle="--", zorder=1.5)
    line_options = {"color": BLUE, "label": "difference", **(line_kwargs or {})}
    steps = _extend(result.difference)
    (line,) = axes.step(times, steps, where="post", **line_options)
    if show_band:
        band_options = {
            "color": line.get_color(),
            "alpha": 0.2,
            "linewidth": 0.0,
            "label": f"{result.confidence:.0%} confidence",
            **(band_kwargs or {}),
        }
        lower, upper = _extend(result.lower), _extend(result.upper)
        axes.fill_between(times, lower, upper, step="post", **band_options)
    counted = "cost of events" if result.has_costs else "number of events"
    names = f"{shorten(result.group)} minus {shorten(result.reference)}"
    axes.set_xlabel(name_time(result.time_unit))
    axes.set_ylabel(f"Mean cumulative {counted},\n{names}")
    axes.legend(loc="best", frameon=False)
    return axes


def _extend(values: FloatArray) -> FloatArray:
    """Start at zero and hold the last value to the end."""
    started = np.append(0.0, values)
    return np.append(started, started[-1])

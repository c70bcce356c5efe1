"""Drawing of residuals and rescaled times."""

from __future__ import annotations

from collections.abc import Mapping
from statistics import NormalDist
from typing import TYPE_CHECKING, Any

import numpy as np

from boostr.exceptions import InvalidParameterError
from boostr.inspection import CumulativeResiduals, RescaledTimes
from boostr.plotting._draw import draw_grid
from boostr.plotting.style import BLUE, GREY, name_time, open_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["plot_cumulative_residuals", "plot_rescaled_times"]

_MOST_LINES = 200  # individuals that are drawn, evenly spaced
_BORDER = 2.2414  # which Brownian motion leaves by time 1 with a chance of 5 %


def plot_cumulative_residuals(
    result: CumulativeResiduals,
    *,
    confidence: float = 0.95,
    show_individuals: bool = True,
    ax: Axes | None = None,
    line_kwargs: Mapping[str, Any] | None = None,
) -> Axes:
    """Draw observed minus expected numbers of events by time, and their mean.

    Where the mean leaves zero, the model expects too few events (it rises) or too many.

    Parameters
    ----------
    result : CumulativeResiduals
        Result of `boostr.inspection.residuals` of kind "cumulative".
    confidence : float, default=0.95
        Pointwise confidence of the band around the mean, in (0, 1).
    show_individuals : bool, default=True
        Whether individuals are drawn as well, at most 200 of them.
    ax : matplotlib Axes, default=None
        Where to draw; a new figure by default.
    line_kwargs : mapping, default=None
        Options of the line of the mean, see `matplotlib.axes.Axes.plot`.

    Returns
    -------
    matplotlib Axes
        Where the lines were drawn.

    See Also
    --------
    boostr.inspection.residuals : Computes what is drawn.

    Examples
    --------
    >>> import numpy as np
    >>> from boostr.inspection import CumulativeResiduals
    >>> from boostr.plotting import plot_cumulative_residuals
    >>> values = np.array([[0.0, 1.0], [0.0, -1.0]])
    >>> found = CumulativeResiduals(np.array([0.0, 1.0]), values)
    >>> plot_cumulative_residuals(found).get_xlabel()
    'Time'
    """
    if not 0.0 < confidence < 1.0:
        raise InvalidParameterError(
            f"`confidence` must lie in (0, 1), but it is {confidence!r}."
        )
    axes: Axes = open_axes(ax, "plot_cumulative_residuals")
    if show_individuals:
        known = result.values[~np.isnan(result.values).any(axis=1)]
        step = -(-max(len(known), 1) // _MOST_LINES)
        options: dict[str, Any] = {
            "color": GREY,
            "linewidth": 0.5,
            "alpha": 0.4,
            "zorder": 1.0,
        }
        axes.plot(result.times, known[::step].T, **options)
    mean, margin = result.mean, NormalDist().inv_cdf(0.5 + 0.5 * confidence) * result.error
    label = f"mean ± {confidence:.0%} confidence"
    style: dict[str, Any] = {"color": BLUE, "linewidth": 2.0, "label": label}
    (line,) = axes.plot(result.times, mean, **(style | dict(line_kwargs or {})))
    band: dict[str, Any] = {"color": line.get_color(), "alpha": 0.25, "linewidth": 0.0}
    axes.fill_between(result.times, mean - margin, mean + margin, **band)
    axes.axhline(0.0, color="black", linewidth=0.8)
    axes.set(xlabel=name_time(result.time_unit), ylabel="Observed minus expected events")
    axes.legend(loc="upper left", fontsize="small")
    return axes


def plot_rescaled_times(
    result: RescaledTimes,
    *,
    ax: Axes | None = None,
    line_kwargs: Mapping[str, Any] | None = None,
) -> Axes:
    """Draw numbers of gaps between events up to any length, observed against expected.

    On the diagonal gaps are as long as the model says. The line leaves the band somewhere
    in 5 % of all cases if the model is right. A line above the diagonal on the left has
    more short gaps than expected.

    Parameters
    ----------
    result : RescaledTimes
        Result of `boostr.inspection.rescaled_times`.
    ax : matplotlib Axes, default=None
        Where to draw; a new figure by default.
    line_kwargs : mapping, default=None
        Options of the line, see `matplotlib.axes.Axes.step`.

    Returns
    -------
    matplotlib Axes
        Where the line was drawn.

    See Also
    --------
    boostr.inspection.rescaled_times : Computes what is drawn.

    Examples
    --------
    >>> import numpy as np
    >>> from boostr.inspection import RescaledTimes
    >>> from boostr.plotting import plot_rescaled_times
    >>> gaps, is_censored = np.array([0.5, 1.5]), np.array([False, True])
    >>> found = RescaledTimes(gaps, is_censored, np.zeros(2), 0.71, 0.83)
    >>> plot_rescaled_times(found).get_title()
    'p = 0.83'
    """
    axes: Axes = open_axes(ax, "plot_rescaled_times", (4.8, 4.6))
    _, expected, observed = result.counts()
    total, width = expected[-1], _BORDER * float(np.sqrt(expected[-1]))
    ends = np.array([0.0, total])
    band: dict[str, Any] = {"color": GREY, "alpha": 0.25, "linewidth": 0.0}
    axes.fill_between(ends, ends - width, ends + width, label="95% band", **band)
    axes.plot(ends, ends, color=GREY, linewidth=1.0, linestyle="--")
    style: dict[str, Any] = {"color": BLUE, "linewidth": 1.6, "where": "post"}
    axes.step(expected, observed, **(style | dict(line_kwargs or {})))
    draw_grid(axes)
    axes.set(xlim=(0.0, total), ylim=(0.0, None))
    axes.set_xlabel("Expected number of gaps up to a length")
    axes.set_ylabel("Observed number")
    axes.set_title(f"p = {result.p_value:.2g}", fontsize="medium")
    axes.legend(loc="upper left", fontsize="small")
    return axes

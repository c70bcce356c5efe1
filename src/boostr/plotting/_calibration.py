"""Drawing of observed against expected numbers of events."""

from __future__ import annotations

from collections.abc import Mapping
from statistics import NormalDist
from typing import TYPE_CHECKING, Any

import numpy as np

from boostr.exceptions import InvalidParameterError
from boostr.metrics import CalibrationTable
from boostr.plotting._style import CYCLE, GREY, name_rate, open_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["plot_calibration"]


def plot_calibration(
    result: CalibrationTable,
    *,
    confidence: float = 0.95,
    label: str | None = None,
    ax: Axes | None = None,
    point_kwargs: Mapping[str, Any] | None = None,
) -> Axes:
    """Draw observed against expected rates of events, one point per group.

    Points on the dashed diagonal have as many events as predicted. Rates are numbers of
    events over the time observed, so that groups of different sizes can be compared.

    Parameters
    ----------
    result : CalibrationTable
        Result of `boostr.metrics.calibration_table`.
    confidence : float, default=0.95
        Pointwise confidence of the error bars, in (0, 1).
    label : str, default=None
        Name of the predictions for the legend.
    ax : matplotlib Axes, default=None
        Where to draw; a new figure by default.
    point_kwargs : mapping, default=None
        Options of the points, see `matplotlib.axes.Axes.errorbar`.

    Returns
    -------
    matplotlib Axes
        Where the points were drawn.

    See Also
    --------
    boostr.metrics.calibration_table : Computes what is drawn.
    plot_capture : Whether high predictions have the events.

    Examples
    --------
    >>> from boostr.data import RecurrentEvents
    >>> from boostr.metrics import calibration_table
    >>> from boostr.plotting import plot_calibration
    >>> y = RecurrentEvents.from_lists([[], [1.0], [2.0, 3.0], [1.0, 2.0]], end=4.0)
    >>> ax = plot_calibration(calibration_table(y, [0.4, 0.6, 1.5, 2.5], n_groups=2))
    >>> print(ax.get_ylabel())
    Observed rate ± 95% confidence
    (events per unit of time)
    """
    if not 0.0 < confidence < 1.0:
        raise InvalidParameterError(
            f"`confidence` must lie in (0, 1), but it is {confidence!r}."
        )
    axes: Axes = open_axes(ax, "plot_calibration", (4.8, 4.6))
    is_known = result.follow_up > 0.0
    time = result.follow_up[is_known]
    expected, observed = result.expected[is_known] / time, result.observed[is_known] / time
    width = NormalDist().inv_cdf(0.5 + 0.5 * confidence)
    error = np.nan_to_num(result.error[is_known], nan=0.0) * expected * width
    # Rates below zero cannot be.
    bars = np.stack([np.minimum(error, observed), error])
    colour = CYCLE[len(axes.containers) % len(CYCLE)]
    options: dict[str, Any] = {
        "color": colour,
        "fmt": "o",
        "markersize": 5.0,
        "elinewidth": 1.2,
    }
    options |= {"capsize": 3.0, "label": label, "zorder": 2.5, **(point_kwargs or {})}
    axes.errorbar(expected, observed, yerr=bars, **options)
    style: dict[str, Any] = {"color": GREY, "linewidth": 1.0, "linestyle": "--"}
    axes.axline((0.0, 0.0), slope=1.0, zorder=1.5, **style)
    # Of all tables that share the Axes.
    highest = max(float(axes.dataLim.xmax), float(axes.dataLim.ymax))
    reach = 1.06 * highest if highest > 0.0 else 1.0
    axes.set(xlim=(0.0, reach), ylim=(0.0, reach), aspect="equal")
    rate = name_rate(result.time_unit)
    axes.set_xlabel(f"Expected rate\n({rate})")
    axes.set_ylabel(f"Observed rate ± {confidence:.0%} confidence\n({rate})")
    if label is not None:
        axes.legend(loc="upper left", fontsize="small")
    return axes

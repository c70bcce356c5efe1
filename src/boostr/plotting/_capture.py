"""Drawing of the share of the events that the highest predictions have."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from boostr._optional import require
from boostr.metrics import CaptureCurve
from boostr.plotting._style import CYCLE, GREY, open_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["plot_capture"]


def plot_capture(
    result: CaptureCurve,
    *,
    label: str | None = None,
    show_ideal: bool = True,
    ax: Axes | None = None,
    line_kwargs: Mapping[str, Any] | None = None,
) -> Axes:
    """Draw which share of the events those with the highest predictions have.

    Parameters
    ----------
    result : CaptureCurve
        Result of `boostr.metrics.capture_curve`.
    label : str, default=None
        Name of the predictions for the legend, "model" by default.
    show_ideal : bool, default=True
        Whether the best possible curve and that of chance are drawn; leave them out to draw
        a second curve into the same Axes.
    ax : matplotlib Axes, default=None
        Where to draw; a new figure by default.
    line_kwargs : mapping, default=None
        Options of the line, see `matplotlib.axes.Axes.plot`.

    Returns
    -------
    matplotlib Axes
        Where the curve was drawn.

    See Also
    --------
    boostr.metrics.capture_curve : Computes what is drawn.
    plot_calibration : Whether there are as many events as predicted.

    Examples
    --------
    >>> from boostr.data import RecurrentEvents
    >>> from boostr.metrics import capture_curve
    >>> from boostr.plotting import plot_capture
    >>> y = RecurrentEvents.from_lists([[], [1.0, 2.0], [3.0], []], end=4.0)
    >>> ax = plot_capture(capture_curve(y, [0.5, 2.0, 1.0, 0.5]))
    >>> ax.get_xlabel()
    'Share of individuals, highest predictions first'
    """
    axes: Axes = open_axes(ax, "plot_capture", (4.8, 4.6))
    name = f"{label or 'model'} (area {result.area:.2f})"
    n_before = sum(line.get_linestyle() == "-" for line in axes.lines)
    colour = CYCLE[n_before % len(CYCLE)]
    options = {
        "color": colour,
        "linewidth": 2.0,
        "label": name,
        "zorder": 3.0,
        **(line_kwargs or {}),
    }
    axes.plot(result.share, result.captured, **options)
    if show_ideal:
        name = f"best possible (area {result.ideal_area:.2f})"
        axes.plot(
            result.ideal_share,
            result.ideal_captured,
            color="black",
            linewidth=1.0,
            linestyle=":",
            label=name,
        )
        style: dict[str, Any] = {"color": GREY, "linewidth": 1.0, "linestyle": "--"}
        axes.plot([0.0, 1.0], [0.0, 1.0], label="chance (area 0.50)", **style)
    ticker = require("matplotlib.ticker", extra="plot", feature="plot_capture")
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_formatter(ticker.PercentFormatter(xmax=1.0))
    axes.set(xlim=(0.0, 1.0), ylim=(0.0, 1.02), aspect="equal")
    counted = "individuals" if result.per == "individual" else "follow-up"
    axes.set_xlabel(f"Share of {counted}, highest predictions first")
    axes.set_ylabel("Share of events")
    axes.legend(loc="lower right", fontsize="small")
    return axes

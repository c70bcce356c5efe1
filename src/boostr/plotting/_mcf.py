"""Drawing of mean cumulative functions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from boostr._typing import FloatArray
from boostr.baselines import MeanCumulativeFunction
from boostr.plotting._style import name_time, open_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["plot_mcf"]


def plot_mcf(
    result: MeanCumulativeFunction,
    *,
    ax: Axes | None = None,
    label: str | None = None,
    show_band: bool = True,
    line_kwargs: Mapping[str, Any] | None = None,
    band_kwargs: Mapping[str, Any] | None = None,
) -> Axes:
    """Draw a mean cumulative function as steps with its confidence band.

    Parameters
    ----------
    result : MeanCumulativeFunction
        A fitted estimate.
    ax : matplotlib Axes, default=None
        Where to draw; a new figure by default.
    label : str, default=None
        Name of the curve for the legend; without it there is no legend.
    show_band : bool, default=True
        Whether the confidence band is drawn.
    line_kwargs : mapping, default=None
        Options of the line, see `matplotlib.axes.Axes.step`.
    band_kwargs : mapping, default=None
        Options of the band, see `matplotlib.axes.Axes.fill_between`.

    Returns
    -------
    matplotlib Axes
        Where the curve was drawn.

    See Also
    --------
    boostr.baselines.MeanCumulativeFunction : The estimate that is drawn.

    Examples
    --------
    >>> from boostr.baselines import MeanCumulativeFunction
    >>> from boostr.data import RecurrentEvents
    >>> from boostr.plotting import plot_mcf
    >>> y = RecurrentEvents.from_lists([[1.0], [3.0, 8.0]], end=[4.0, 10.0])
    >>> ax = plot_mcf(MeanCumulativeFunction().fit(y), label="machines")
    >>> ax.get_ylabel()
    'Mean cumulative number of events'
    """
    axes: Axes = open_axes(ax, "plot_mcf")
    times = np.concatenate([[result.span_[0]], result.times_, [result.span_[1]]])
    line_options = {"label": label, **(line_kwargs or {})}
    (line,) = axes.step(times, _extend(result.mcf_), where="post", **line_options)
    if show_band:
        band_options = {
            "color": line.get_color(),
            "alpha": 0.2,
            "linewidth": 0.0,
            "label": f"{result.confidence:.0%} confidence" if label is None else None,
            **(band_kwargs or {}),
        }
        lower, upper = _extend(result.lower_), _extend(result.upper_)
        axes.fill_between(times, lower, upper, step="post", **band_options)
    _label_axes(axes, result)
    if label is not None:
        axes.legend(loc="upper left")
    return axes


def _extend(values: FloatArray) -> FloatArray:
    """Start at zero and hold the last value to the end of observation."""
    started = np.concatenate([[0.0], values])
    return np.append(started, started[-1])


def _label_axes(axes: Axes, result: MeanCumulativeFunction) -> None:
    counted = "cost of events" if result.has_costs_ else "number of events"
    axes.set_xlabel(name_time(result.time_unit_))
    axes.set_ylabel(f"Mean cumulative {counted}")

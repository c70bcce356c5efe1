"""Drawing of mean cumulative functions and of their differences."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from boostr._typing import FloatArray
from boostr.exceptions import InvalidParameterError
from boostr.plotting._draw import draw_steps_with_band
from boostr.plotting.style import BLUE, CYCLE, DASHES, name_time, open_axes, shorten

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["plot_mcf", "plot_mcf_difference", "plot_mcf_groups"]


class _Estimate(Protocol):
    """A fitted `boostr.nonparametric.MeanCumulativeFunction`."""

    times_: FloatArray  # (m,)
    mcf_: FloatArray  # (m,)
    lower_: FloatArray  # (m,)
    upper_: FloatArray  # (m,)
    span_: tuple[float, float]
    n_individuals_: int
    confidence: float
    has_costs_: bool
    time_unit_: str | None
    terminal_times_: FloatArray | None  # (k,)
    survival_: FloatArray | None  # (k,)


def plot_mcf(
    result: _Estimate,
    *,
    ax: Axes | None = None,
    label: str | None = None,
    show_band: bool = True,
    show_survival: bool = True,
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
    show_survival : bool, default=True
        Whether the share of individuals without a terminal event is drawn, too, with an
        axis at the right; only if the estimate accounts for terminal events.
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
    boostr.nonparametric.MeanCumulativeFunction : The estimate that is drawn.

    Examples
    --------
    >>> from boostr.nonparametric import MeanCumulativeFunction
    >>> from boostr.data import RecurrentEvents
    >>> from boostr.plotting import plot_mcf
    >>> y = RecurrentEvents.from_lists([[1.0], [3.0, 8.0]], end=[4.0, 10.0])
    >>> ax = plot_mcf(MeanCumulativeFunction().fit(y), label="machines")
    >>> ax.get_ylabel()
    'Mean cumulative number of events'
    """
    axes: Axes = open_axes(ax, "plot_mcf")
    times = np.concatenate([[result.span_[0]], result.times_, [result.span_[1]]])
    band_label = f"{result.confidence:.0%} confidence" if label is None else None
    draw_steps_with_band(
        axes,
        times,
        (_extend(result.mcf_), _extend(result.lower_), _extend(result.upper_)),
        {"label": label, **(line_kwargs or {})},
        {"label": band_label, **(band_kwargs or {})} if show_band else None,
    )
    _label_axes(axes, result)
    if label is not None:
        axes.legend(loc="upper left")
    if show_survival and result.survival_ is not None:
        _draw_survival(axes, result)
    return axes


def _draw_survival(axes: Axes, result: _Estimate) -> None:
    """Draw the share without a terminal event on an axis of its own, at the right."""
    assert result.terminal_times_ is not None  # noqa: S101 - it comes with the survival
    assert result.survival_ is not None  # noqa: S101
    times = np.concatenate([[result.span_[0]], result.terminal_times_, [result.span_[1]]])
    share = np.concatenate([[1.0], result.survival_])
    right: Any = axes.twinx()
    right.step(
        times, np.append(share, share[-1]), where="post", color="0.35", linestyle="--"
    )
    right.set_ylim(0.0, 1.05)
    right.set_ylabel("Share without terminal event (dashed)")


def _extend(values: FloatArray) -> FloatArray:
    """Start at zero and hold the last value to the end of observation."""
    started = np.concatenate([[0.0], values])
    return np.append(started, started[-1])


def _label_axes(axes: Axes, result: _Estimate) -> None:
    counted = "cost of events" if result.has_costs_ else "number of events"
    axes.set_xlabel(name_time(result.time_unit_))
    axes.set_ylabel(f"Mean cumulative {counted}")


def plot_mcf_difference(
    result: Any,
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
        Result of `boostr.nonparametric.mcf_difference`.
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
    boostr.nonparametric.mcf_difference : Computes what is drawn.
    plot_mcf : Draws the two functions themselves.

    Examples
    --------
    >>> from boostr.nonparametric import mcf_difference
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
    band_label = f"{result.confidence:.0%} confidence"
    draw_steps_with_band(
        axes,
        times,
        (_extend(result.difference), _extend(result.lower), _extend(result.upper)),
        {"color": BLUE, "label": "difference", **(line_kwargs or {})},
        {"label": band_label, **(band_kwargs or {})} if show_band else None,
    )
    counted = "cost of events" if result.has_costs else "number of events"
    names = f"{shorten(result.group)} minus {shorten(result.reference)}"
    axes.set_xlabel(name_time(result.time_unit))
    axes.set_ylabel(f"Mean cumulative {counted},\n{names}")
    axes.legend(loc="best", frameon=False)
    return axes


def plot_mcf_groups(
    estimates: Mapping[Any, _Estimate],
    *,
    show_band: bool = True,
    ax: Axes | None = None,
) -> Axes:
    """Draw the mean cumulative functions of several groups with confidence bands.

    Parameters
    ----------
    estimates : mapping
        Fitted estimates by name of the group, as from `boostr.nonparametric.mcf_by_group`.
    show_band : bool, default=True
        Whether the confidence bands are drawn.
    ax : matplotlib Axes, default=None
        Where to draw; a new figure by default.

    Returns
    -------
    matplotlib Axes
        Where the curves were drawn, in the order of the groups.

    See Also
    --------
    boostr.nonparametric.mcf_by_group : Computes the estimates.
    boostr.nonparametric.compare_mcf : Tests whether groups differ.
    plot_mcf_difference : The difference of two groups.

    Examples
    --------
    >>> from boostr.datasets import load_cgd
    >>> from boostr.nonparametric import mcf_by_group
    >>> from boostr.plotting import plot_mcf_groups
    >>> data = load_cgd()
    >>> ax = plot_mcf_groups(mcf_by_group(data.y, data.X["treatment"]))
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['placebo (n = 65)', 'rIFN-g (n = 63)']
    """
    if not estimates:
        raise InvalidParameterError(
            "`estimates` must hold at least one group, but it is empty.\n\n"
            "Hint: boostr.nonparametric.mcf_by_group(y, group) makes them."
        )
    axes: Axes = open_axes(ax, "plot_mcf_groups", (6.4, 4.4))
    for place, (name, estimate) in enumerate(estimates.items()):
        colour = CYCLE[place % len(CYCLE)]
        style = {
            "color": colour,
            # Grey prints and more groups than colours need a second mark.
            "linestyle": DASHES[(place + place // len(CYCLE)) % len(DASHES)],
            "linewidth": 1.8,
        }
        plot_mcf(
            estimate,
            ax=axes,
            label=f"{shorten(name)} (n = {estimate.n_individuals_:,})",
            show_band=show_band,
            show_survival=False,
            line_kwargs=style,
            band_kwargs={"alpha": 0.15},
        )
    if show_band:
        legend: Any = axes.get_legend()
        legend.set_title(f"bands: {estimate.confidence:.0%} confidence")
    axes.set_ylim(bottom=0.0)
    axes.margins(x=0.0)
    return axes

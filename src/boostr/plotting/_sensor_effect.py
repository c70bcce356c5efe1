"""Drawing of what a sensor adds to the rate of events."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from boostr._typing import FloatArray
from boostr.inspection import SensorEffect
from boostr.plotting._style import (
    CYCLE,
    GREY,
    find_edges,
    name_categories,
    name_rate,
    open_axes,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["plot_sensor_effect"]

_STRIP = 0.16  # height of the strip of shares below the curve, as a share of the picture
_SHARES = "share of time"


def plot_sensor_effect(
    effect: SensorEffect,
    *,
    ax: Axes | None = None,
    label: str | None = None,
    show_band: bool = True,
    show_shares: bool = True,
    line_kwargs: Mapping[str, Any] | None = None,
    band_kwargs: Mapping[str, Any] | None = None,
) -> Axes:
    """Draw what a sensor adds to the rate of events, value by value.

    The line is the average individual, the band holds the effects on four individuals of
    five, and the strip below shows at which values the sensor spends its time. Categories
    are drawn as points with bars.

    Parameters
    ----------
    effect : SensorEffect
        Result of `boostr.inspection.sensor_effect`.
    ax : matplotlib Axes, default=None
        Where to draw; a new figure by default.
    label : str, default=None
        Name of the curve for the legend, to compare several in one picture.
    show_band : bool, default=True
        Whether the band is drawn.
    show_shares : bool, default=True
        Whether the strip is drawn.
    line_kwargs : mapping, default=None
        Options of the line, see `matplotlib.axes.Axes.plot`.
    band_kwargs : mapping, default=None
        Options of the band, see `matplotlib.axes.Axes.fill_between`; of the bars for
        categories, see `matplotlib.axes.Axes.vlines`.

    Returns
    -------
    matplotlib Axes
        Where the effect was drawn.

    See Also
    --------
    boostr.inspection.sensor_effect : Computes what is drawn.

    Examples
    --------
    >>> from boostr import BoostR
    >>> from boostr.inspection import sensor_effect
    >>> from boostr.plotting import plot_sensor_effect
    >>> from boostr.simulate import wells
    >>> train = wells(n=100, random_state=1)
    >>> model = BoostR(n_estimators=5, validation=None, random_state=0)
    >>> effect = sensor_effect(model.fit(train.X, train.y, train.Z), train.X, "sensor1")
    >>> plot_sensor_effect(effect).get_xlabel()
    'sensor1'
    """
    axes: Axes = open_axes(ax, "plot_sensor_effect")
    is_first = not axes.lines
    if is_first:
        axes.axhline(0.0, color=GREY, linewidth=0.8, zorder=1)
    places = _places(effect)
    color = CYCLE[(len(axes.lines) - 1) % len(CYCLE)]
    options: dict[str, Any] = {"label": label or "mean", "color": color, "zorder": 3}
    if effect.is_categorical:
        options |= {"linestyle": "none", "marker": "o"}
    (line,) = axes.plot(places, effect.mean, **(options | dict(line_kwargs or {})))
    if show_band:
        named = None if label else "80 % of individuals"
        band = {"label": named, "zorder": 2, **(band_kwargs or {})}
        _draw_band(axes, effect, line.get_color(), band)
    if show_shares and is_first and effect.shares is not None:
        _draw_shares(axes, effect, effect.shares)
    _leave_room(axes)
    _label_axes(axes, effect)
    return axes


def _places(effect: SensorEffect) -> FloatArray:
    """Return where values stand on the axis; categories stand at whole numbers."""
    count = np.arange(len(effect.grid), dtype=np.float64)
    return count if effect.is_categorical else effect.grid


def _draw_band(
    axes: Axes, effect: SensorEffect, color: Any, options: Mapping[str, Any]
) -> None:
    places = _places(effect)
    if effect.is_categorical:
        options = {"colors": color, "alpha": 0.4, "linewidth": 5.0, **options}
        axes.vlines(places, effect.lower, effect.upper, **options)
    else:
        options = {"color": color, "alpha": 0.2, "linewidth": 0.0, **options}
        axes.fill_between(places, effect.lower, effect.upper, **options)


def _draw_shares(axes: Axes, effect: SensorEffect, shares: FloatArray) -> None:
    """Fill a strip at the bottom with cells as high as their density."""
    places = _places(effect)
    edges = find_edges(places)
    if effect.is_categorical:
        begins, widths = places - 0.3, np.full(len(places), 0.6)
    else:
        if len(places) > 1:
            edges[0], edges[-1] = places[0], places[-1]
        begins, widths = edges[:-1], np.diff(edges)
    density = shares / widths
    axes.bar(
        begins,
        _STRIP * density / max(density.max(), np.finfo(np.float64).tiny),
        widths,
        align="edge",
        color=GREY,
        alpha=0.45,
        linewidth=0.0,
        transform=axes.get_xaxis_transform(),
        label=_SHARES,
        zorder=0.5,
    )


def _leave_room(axes: Axes) -> None:
    """Put all curves above the strip, where there is one."""
    if any(each.get_label() == _SHARES for each in axes.containers):
        axes.autoscale(axis="y")
        low, high = axes.get_ylim()
        axes.set_ylim(low - _STRIP / (1.0 - _STRIP) * (high - low), high)


def _label_axes(axes: Axes, effect: SensorEffect) -> None:
    axes.set_xlabel(effect.sensor)
    axes.set_ylabel(f"Rate added ({name_rate(effect.time_unit)})")
    if effect.is_categorical:
        name_categories(axes.xaxis, effect.grid)
    # Above the picture, where it cannot cover a curve.
    axes.legend(
        frameon=False,
        loc="lower left",
        bbox_to_anchor=(0.0, 1.0),
        borderaxespad=0.2,
        ncols=3,
        columnspacing=1.2,
        handlelength=1.5,
        fontsize="small",
    )

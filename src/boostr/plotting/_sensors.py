"""Drawing of sensors: their values over time, and their effects."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from boostr._typing import FloatArray
from boostr.data import RecurrentEvents, Trajectories
from boostr.exceptions import InvalidParameterError, InvalidSensorsError
from boostr.inspection import SensorEffect
from boostr.plotting._draw import draw_sensor, shade_gaps
from boostr.plotting.style import (
    CYCLE,
    GREY,
    ORANGE,
    VERMILION,
    find_edges,
    find_places,
    name_axis,
    name_rate,
    name_time,
    open_axes,
    shorten,
    stack_panels,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["plot_sensor_effect", "plot_sensor_path"]

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
    places = find_places(effect.grid)
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


def _draw_band(
    axes: Axes, effect: SensorEffect, color: Any, options: Mapping[str, Any]
) -> None:
    places = find_places(effect.grid)
    if effect.is_categorical:
        options = {"colors": color, "alpha": 0.4, "linewidth": 5.0, **options}
        axes.vlines(places, effect.lower, effect.upper, **options)
    else:
        options = {"color": color, "alpha": 0.2, "linewidth": 0.0, **options}
        axes.fill_between(places, effect.lower, effect.upper, **options)


def _draw_shares(axes: Axes, effect: SensorEffect, shares: FloatArray) -> None:
    """Fill a strip at the bottom with cells as high as their density."""
    places = find_places(effect.grid)
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
    name_axis(axes.xaxis, effect.sensor, effect.grid)
    axes.set_ylabel(f"Rate added ({name_rate(effect.time_unit)})")
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


_GAP = 0.45  # between panels, as a share of their height


def plot_sensor_path(
    Z: Trajectories,
    i: int = 0,
    *,
    y: RecurrentEvents | None = None,
    sensors: str | Sequence[str] | None = None,
    times: ArrayLike | None = None,
    intensity: ArrayLike | None = None,
    ax: Axes | None = None,
    line_kwargs: Mapping[str, Any] | None = None,
) -> Axes:
    """Draw what the sensors of one individual have shown, and its events.

    Every sensor has a panel of its own, with steps where its value changes and gaps where
    it is unknown. Events are vertical lines through all panels; times at which the
    individual is not observed are shaded.

    Parameters
    ----------
    Z : Trajectories
        Sensors of any individuals.
    i : int, default=0
        Position of the individual in `Z`.
    y : RecurrentEvents, default=None
        Event histories of the same individuals, matched by id, by position where there are
        no ids.
    sensors : str or sequence of str, default=None
        Which sensors to draw, all of them by default.
    times : array-like of shape (m,), default=None
        Times of a predicted intensity.
    intensity : array-like of shape (m,), default=None
        The intensity of this individual at these times, drawn in a panel below, for
        instance ``model.predict_intensity(X, times, Z)[i]``.
    ax : matplotlib Axes, default=None
        Where to draw; a new figure by default. Several panels are drawn inside of it.
    line_kwargs : mapping, default=None
        Options of the sensors' lines, see `matplotlib.axes.Axes.step`.

    Returns
    -------
    matplotlib Axes
        Where the path was drawn; where there are several panels, they are its
        ``child_axes``, from top to bottom.

    See Also
    --------
    boostr.data.Trajectories : The sensors.

    Examples
    --------
    >>> from boostr.plotting import plot_sensor_path
    >>> from boostr.simulate import wells
    >>> simulation = wells(n=10, random_state=1)
    >>> ax = plot_sensor_path(simulation.Z, 3, y=simulation.y)
    >>> [panel.get_title(loc="left") for panel in ax.child_axes]
    ['sensor1', 'sensor2', 'sensor3']
    """
    path = Z[i] if sensors is None else Z.select(sensors)[i]
    rates = _check_intensity(times, intensity)
    history = None if y is None else _find_history(y, Z, i)
    n_panels = len(path.names) + (rates is not None)
    if n_panels == 0:
        raise InvalidSensorsError("There must be a sensor to draw, but there is none.")
    axes: Axes = open_axes(ax, "plot_sensor_path", (6.4, 1.0 + 1.25 * n_panels))
    panels = stack_panels(axes, [1.0] * n_panels, _GAP)
    span = _find_span(path, history, rates)
    for place, panel in enumerate(panels[: len(path.names)]):
        draw_sensor(panel, path, place, span, line_kwargs)
    if rates is not None:
        _draw_intensity(panels[-1], rates, path.time_unit)
    is_shaded = False
    for panel in panels:
        panel.set_xlim(*span)
        if history is not None:
            _draw_events(panel, history)
            is_shaded = shade_gaps(panel, history, span)
    panels[-1].set_xlabel(name_time(path.time_unit))
    _name_individual(panels[0], path, history, is_shaded=is_shaded)
    return axes


def _check_intensity(
    times: ArrayLike | None, intensity: ArrayLike | None
) -> tuple[FloatArray, FloatArray] | None:
    if times is None and intensity is None:
        return None
    shapes = [() if each is None else np.shape(each) for each in (times, intensity)]
    if times is None or intensity is None or len(shapes[0]) != 1 or len(set(shapes)) > 1:
        raise InvalidParameterError(
            "An intensity needs `times` and `intensity` of one individual and of the same "
            f"length, but one is missing or their shapes are {shapes[0]} and {shapes[1]}."
            "\n\nHint: times=times, intensity=model.predict_intensity(X, times, Z)[i]."
        )
    return np.asarray(times, dtype=np.float64), np.asarray(intensity, dtype=np.float64)


def _find_history(y: RecurrentEvents, Z: Trajectories, i: int) -> RecurrentEvents:
    """Return the history of the individual."""
    if y.has_ids and Z.has_ids:
        place = np.flatnonzero(y.ids == Z[i].ids[0])
        if place.size == 0:
            raise InvalidSensorsError(
                f"`y` must hold the history of the individual {Z[i].ids[0]!r}, but it does "
                "not.\n\nHint: y=None draws the sensors alone."
            )
        return y[place[:1]]
    if len(y) != len(Z):
        raise InvalidSensorsError(
            "Without ids, histories are matched by position and must be as many, but they "
            f"are of {len(y)} individuals and the sensors of {len(Z)}."
        )
    return y[i]


def _find_span(
    path: Trajectories,
    history: RecurrentEvents | None,
    rates: tuple[FloatArray, FloatArray] | None,
) -> tuple[float, float]:
    """Return from when to when to draw."""
    moments = [path.times, np.empty(0) if rates is None else rates[0]]
    if history is not None:
        moments += [history.window_start, history.window_stop]
    known = np.concatenate(moments)
    low, high = min(known.min(initial=0.0), 0.0), known.max(initial=0.0)
    return float(low), float(high) if high > low else float(low) + 1.0


def _draw_intensity(
    panel: Any, rates: tuple[FloatArray, FloatArray], unit: str | None
) -> None:
    order = np.argsort(rates[0], kind="stable")
    panel.plot(rates[0][order], rates[1][order], color=ORANGE, linewidth=1.5)
    panel.set_ylim(bottom=min(0.0, float(np.min(rates[1], initial=0.0))))
    title = f"predicted intensity ({name_rate(unit)})"
    panel.set_title(title, loc="left", fontsize="small")


def _draw_events(panel: Any, history: RecurrentEvents) -> None:
    panel.vlines(
        history.times,
        0.0,
        1.0,
        transform=panel.get_xaxis_transform(),
        colors=VERMILION,
        linewidth=1.0,
        linestyles="dashed",
        zorder=1.5,
    )


def _name_individual(
    panel: Any, path: Trajectories, history: RecurrentEvents | None, *, is_shaded: bool
) -> None:
    title = f"{path.id_name or 'individual'} {shorten(path.ids[0])}"
    if history is not None:
        n_events = len(history.times)
        title += f": {n_events} event{'' if n_events == 1 else 's'} (dashed)"
    if is_shaded:
        title += ", grey: not observed"
    # A line above the sensor's name, which both may need in full.
    panel.annotate(
        title,
        (0.0, 1.0),
        xycoords="axes fraction",
        xytext=(0.0, 18.0),
        textcoords="offset points",
        fontsize="medium",
    )

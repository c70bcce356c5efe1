"""Drawing of event histories, and of how one individual's curve comes about."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from boostr._checks.parameters import check_count
from boostr._typing import FloatArray, PositionArray
from boostr.data import RecurrentEvents, Trajectories, check_target
from boostr.inspection import IndividualConvergence
from boostr.plotting._draw import draw_sensor, shade_gaps
from boostr.plotting.style import (
    VERMILION,
    capitalise,
    name_time,
    open_axes,
    shorten,
    stack_panels,
    take_colours,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["plot_individual", "plot_timeline"]

_MOST_NAMED = 45  # individuals up to which every line bears its id
_INCHES_PER_LINE = 0.16


def plot_timeline(
    y: RecurrentEvents,
    *,
    ax: Axes | None = None,
    max_individuals: int = 200,
    line_kwargs: Mapping[str, Any] | None = None,
    event_kwargs: Mapping[str, Any] | None = None,
) -> Axes:
    """Draw when individuals were observed, as lines, and their events, as dots.

    Individuals are sorted by the end of their follow-up, the longest on top. Gaps in
    observation are gaps in the line, and the area of a dot is proportional to the number
    of events at that time. A black cross marks a terminal event. Events that were counted
    over intervals are spread evenly over them.

    Parameters
    ----------
    y : RecurrentEvents
        Event histories.
    ax : matplotlib Axes, default=None
        Where to draw; a new figure by default, higher for more individuals.
    max_individuals : int, default=200
        How many individuals are drawn at most. Of more, evenly spaced ones in the order
        of their ends are drawn, and the axis says so.
    line_kwargs : mapping, default=None
        Options of the lines, see `matplotlib.axes.Axes.hlines`.
    event_kwargs : mapping, default=None
        Options of the dots, see `matplotlib.axes.Axes.scatter`.

    Returns
    -------
    matplotlib Axes
        Where the histories were drawn.

    See Also
    --------
    plot_mcf : The average of the histories.

    Examples
    --------
    >>> from boostr.datasets import load_valve_seats
    >>> from boostr.plotting import plot_timeline
    >>> ax = plot_timeline(load_valve_seats().y)
    >>> ax.get_xlabel(), ax.get_ylabel()
    ('Time (days)', 'Engine')
    """
    check_target(y)
    chosen = _choose(y, max_individuals)
    shown = y[chosen]
    n = len(shown)
    height = float(np.clip(1.1 + _INCHES_PER_LINE * n, 2.4, 9.0))
    axes: Axes = open_axes(ax, "plot_timeline", (7.0, height))
    pitch = _find_pitch(axes, n)
    window_row = np.repeat(np.arange(n), np.diff(shown.window_offsets))
    line_options = {
        "color": "0.72",
        "linewidth": float(np.clip(0.3 * pitch, 0.5, 2.0)),
        "label": "observed",
        "zorder": 1.0,
        **(line_kwargs or {}),
    }
    axes.hlines(window_row, shown.window_start, shown.window_stop, **line_options)
    times, rows, counts = _merge_ties(shown)
    event_options = {
        "color": VERMILION,
        "s": counts * float(np.clip(0.9 * pitch, 2.8, 5.5)) ** 2,
        "linewidths": 0.0,
        "label": _name_events(shown) if times.size else None,
        "zorder": 2.0,
        **(event_kwargs or {}),
    }
    axes.scatter(times, rows, **event_options)
    _mark_terminal(axes, shown, pitch)
    _label_axes(axes, shown, len(y))
    return axes


def _name_events(shown: RecurrentEvents) -> str:
    return "event" if shown.intervals is None else "event (spread over its interval)"


def _mark_terminal(axes: Axes, shown: RecurrentEvents, pitch: float) -> None:
    """Draw a cross at the end of follow-up of individuals with a terminal event."""
    if shown.is_terminal is None or not shown.is_terminal.any():
        return
    rows = np.flatnonzero(shown.is_terminal)
    axes.scatter(
        shown.end[rows],
        rows,
        marker="x",
        color="black",
        s=float(np.clip(0.9 * pitch, 3.0, 5.5)) ** 2,
        linewidths=float(np.clip(0.2 * pitch, 0.7, 1.4)),
        label="terminal event",
        zorder=3.0,
    )


def _choose(y: RecurrentEvents, max_individuals: int) -> PositionArray:
    """Return the individuals to draw, sorted by the end of follow-up and evenly thinned."""
    check_count(max_individuals, "max_individuals")
    order = np.lexsort((y.start, y.end))
    if len(y) <= max_individuals:
        return order
    places = np.linspace(0, len(y) - 1, int(max_individuals)).round().astype(np.intp)
    return order[places]


def _find_pitch(axes: Axes, n: int) -> float:
    """Return the height of one line in points."""
    figure: Any = axes.figure
    return float(72.0 * axes.get_position().height * figure.get_figheight() / (n + 1))


def _merge_ties(y: RecurrentEvents) -> tuple[FloatArray, PositionArray, FloatArray]:
    """Return time, row and number of the events, those at the same time as one."""
    pairs = np.column_stack([y.event_owner, y.times])
    merged, counts = np.unique(pairs, axis=0, return_counts=True)
    return merged[:, 1], merged[:, 0].astype(np.intp), counts.astype(np.float64)


def _label_axes(axes: Axes, shown: RecurrentEvents, n_all: int) -> None:
    n = len(shown)
    axes.set_xlabel(name_time(shown.time_unit))
    axes.set_ylim(-1.0, n)
    axes.margins(x=0.02)
    name = "Individual" if shown.id_name is None else capitalise(shown.id_name)
    if n <= _MOST_NAMED:
        names = [shorten(label) for label in shown.ids.tolist()]
        axes.set_yticks(np.arange(n), names, fontsize="x-small")
        axes.tick_params(axis="y", length=0.0)
    else:
        axes.set_yticks([])
        name = "Individuals by end of follow-up"
    axes.set_ylabel(name if n == n_all else f"{name} ({n:,} of {n_all:,} shown)")
    for side in ("top", "right", "left"):
        axes.spines[side].set_visible(False)
    axes.legend(
        loc="lower right", bbox_to_anchor=(1.0, 1.0), ncols=3, frameon=False, borderpad=0.2
    )


def plot_individual(
    result: IndividualConvergence,
    *,
    sensors: str | Sequence[str] | None = None,
    ax: Axes | None = None,
    line_kwargs: Mapping[str, Any] | None = None,
) -> Axes:
    """Draw how one individual's curve converges as trees are added, and its events.

    Curves get darker with the number of trees, the last one is red and thick, and what was
    observed is a black line of steps. Times without observation are grey. Sensors are drawn
    below, with steps where their values change.

    Parameters
    ----------
    result : IndividualConvergence
        Result of `boostr.inspection.individual_convergence`.
    sensors : str or sequence of str, default=None
        Which sensors to draw, all of them by default; none for an empty list.
    ax : matplotlib Axes, default=None
        Where to draw; a new figure by default.
    line_kwargs : mapping, default=None
        Options of the curves, see `matplotlib.axes.Axes.plot`.

    Returns
    -------
    matplotlib Axes
        Where the curves were drawn; with sensors, the panels are its ``child_axes``, from
        top to bottom.

    See Also
    --------
    boostr.inspection.individual_convergence : Computes what is drawn.
    plot_sensor_path : Sensors and events without curves.

    Examples
    --------
    >>> from boostr import BoostR
    >>> from boostr.inspection import individual_convergence
    >>> from boostr.plotting import plot_individual
    >>> from boostr.simulate import dataset_a
    >>> train = dataset_a(n=150, random_state=1)
    >>> model = BoostR(n_estimators=10, validation=None).fit(train.X, train.y)
    >>> ax = plot_individual(individual_convergence(model, train.X, train.y, 3))
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['observed', '1 tree', '2 trees', '5 trees', '10 trees']
    """
    shown = _choose_sensors(result.sensors, sensors)
    n_sensors = 0 if shown is None else len(shown.names)
    size = (6.4, 4.0 + 1.3 * n_sensors)
    axes: Axes = open_axes(ax, "plot_individual", size)
    panels = stack_panels(axes, [2.6] + [1.0] * n_sensors, 0.4)
    times, counts = _count(result.history)
    options = {"color": "black", "linewidth": 1.2, "label": "observed", "zorder": 3.0}
    panels[0].step(times, counts, where="post", **options)
    _draw_stages(panels[0], result, line_kwargs or {})
    panels[0].set_ylabel("Cumulative number of events")
    panels[0].legend(loc="best", fontsize="small")
    panels[0].set_title(_name(result), loc="left", fontsize="medium")
    high = max(float(result.times[-1]), float(times[-1]))
    for place, panel in enumerate(panels[1:]):
        assert shown is not None  # noqa: S101 - there is a panel for it
        draw_sensor(panel, shown, place, (0.0, high))
    for panel in panels:
        panel.set_xlim(0.0, high)
        shade_gaps(panel, result.history, (0.0, high))
    panels[-1].set_xlabel(name_time(result.time_unit))
    return axes


def _choose_sensors(
    shown: Trajectories | None, wanted: str | Sequence[str] | None
) -> Trajectories | None:
    if shown is None or wanted is None:
        return shown
    if not isinstance(wanted, str) and len(wanted) == 0:
        return None
    return shown.select(wanted)


def _count(history: RecurrentEvents) -> tuple[FloatArray, FloatArray]:
    """Return the times and heights of the steps, from the start to the end."""
    times = np.concatenate([history.start, history.times, history.end])
    counts = np.concatenate([[0.0], np.cumsum(history.costs)])
    return times, np.append(counts, counts[-1])


def _draw_stages(
    panel: Any, result: IndividualConvergence, options: Mapping[str, Any]
) -> None:
    shades = take_colours("Blues", 0.35, 1.0, max(len(result.n_trees) - 1, 1))
    for place, (n_trees, curve) in enumerate(
        zip(result.n_trees, result.curves, strict=True)
    ):
        is_last = place == len(result.n_trees) - 1
        style = {
            "color": VERMILION if is_last else shades[place],
            "linewidth": 2.4 if is_last else 1.3,
            "label": f"{n_trees:,} tree{'' if n_trees == 1 else 's'}",
            **options,
        }
        panel.plot(result.times, curve, **style)


def _name(result: IndividualConvergence) -> str:
    name = result.history.id_name or "individual"
    own = result.history.ids[0] if result.has_id else result.position
    return f"{capitalise(name)} {shorten(own)}"

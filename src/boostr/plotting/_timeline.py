"""Drawing of event histories, one line per individual."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from boostr._checks.parameters import check_count
from boostr._typing import FloatArray, PositionArray
from boostr.data import RecurrentEvents, check_target
from boostr.plotting.style import VERMILION, capitalise, name_time, open_axes, shorten

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["plot_timeline"]

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
    of events at that time.

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
        "label": "event" if times.size else None,
        "zorder": 2.0,
        **(event_kwargs or {}),
    }
    axes.scatter(times, rows, **event_options)
    _label_axes(axes, shown, len(y))
    return axes


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
        loc="lower right", bbox_to_anchor=(1.0, 1.0), ncols=2, frameon=False, borderpad=0.2
    )

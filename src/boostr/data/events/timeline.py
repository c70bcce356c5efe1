"""The histories of a few individuals as a small inline drawing."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from boostr._html import RED, format_cell, format_id, make_line, make_svg, make_text, thin
from boostr.data.times import as_moments, name_unit

if TYPE_CHECKING:
    from boostr.data.events.recurrent_events import RecurrentEvents

__all__ = ["draw_timeline"]

_LEFT, _RIGHT, _PITCH = 110.0, 560.0, 15.0
_MOST_EVENTS = 150  # of an individual
_LONGEST = 16  # characters of an id


def draw_timeline(y: RecurrentEvents, n_most: int) -> str:
    """Return a drawing of the first individuals: lines while observed, dots for events.

    Crosses mark terminal events.
    """
    shown = y[:n_most]
    low, high = float(shown.start.min()), float(shown.end.max())
    scale = (_RIGHT - _LEFT) / (high - low)
    parts = [
        _draw_history(one, 12.0 + _PITCH * place, low, scale)
        for place, one in enumerate(shown)
    ]
    bottom = 12.0 + _PITCH * len(shown)
    parts += [make_line(_LEFT, bottom, _RIGHT, bottom), _name_ends(shown, bottom + 13.0)]
    label = f"Timeline of {len(shown)} individuals; dots are events"
    if shown.is_terminal is not None and shown.is_terminal.any():
        label += ", crosses terminal events"
    return make_svg(_RIGHT + 10.0, bottom + 20.0, "".join(parts), label)


def _draw_history(one: RecurrentEvents, height: float, low: float, scale: float) -> str:
    name = format_id(one.ids[0], _LONGEST)
    parts = [make_text(_LEFT - 8.0, height + 4.0, name, "end")]
    windows = zip(one.window_start.tolist(), one.window_stop.tolist(), strict=True)
    for start, stop in windows:
        ends = _LEFT + scale * (start - low), _LEFT + scale * (stop - low)
        parts.append(make_line(ends[0], height, ends[1], height))
    for time in one.times[thin(len(one.times), _MOST_EVENTS)].tolist():
        x = _LEFT + scale * (time - low)
        parts.append(f'<circle cx="{x:.1f}" cy="{height:.1f}" r="3" fill="{RED}"/>')
    if one.is_terminal is not None and one.is_terminal[0]:
        x = _LEFT + scale * (float(one.end[0]) - low)
        parts += [
            make_line(x - 4.0, height - 4.0 * way, x + 4.0, height + 4.0 * way, 0.9)
            for way in (1.0, -1.0)
        ]
    return "".join(parts)


def _name_ends(shown: RecurrentEvents, height: float) -> str:
    """Return first and last time below the axis, as dates if all have the same origin."""
    ends = np.array([shown.start.min(), shown.end.max()])
    unit = name_unit(shown.time_unit)
    middle = "time" if unit is None else f"time ({unit})"
    if shown.origin is not None:
        ends, middle = as_moments(shown, slice(None), ends), "date"
    texts = [format_cell(end) for end in ends]
    return (
        make_text(_LEFT, height, texts[0])
        + make_text(0.5 * (_LEFT + _RIGHT), height, middle, "middle")
        + make_text(_RIGHT, height, texts[1], "end")
    )

"""Small HTML tables and inline SVG for notebooks: plain text, no scripts, no files.

Text takes the colour of the page and everything else is translucent or of medium lightness,
so that the same HTML reads well on light and on dark pages.
"""

from __future__ import annotations

import html
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from numbers import Integral, Real
from typing import Any

import numpy as np

from boostr._typing import AnyArray, FloatArray

__all__ = [
    "BLUE",
    "RED",
    "Curve",
    "draw_curves",
    "format_cell",
    "format_id",
    "make_card",
    "make_facts",
    "make_grid",
    "make_line",
    "make_list",
    "make_note",
    "make_svg",
    "make_text",
    "thin",
]

BLUE, RED = "#2b8cc4", "#d55e00"
_CYCLE = (BLUE, RED, "#009e73")
_LONGEST = 200  # characters of a cell
_MOST_POINTS = 300  # of a curve
_CELL = "padding:2px 10px 2px 0;border:none;background:transparent;vertical-align:top"
_LINE = "border-bottom:1px solid rgba(128,128,128,.35)"
_NOTE = "opacity:.75;font-size:90%;margin:.3em 0"


def escape(text: object) -> str:
    """Return text that HTML shows as it is."""
    # Halves of characters cannot be encoded, and notebooks are.
    whole = str(text).encode("utf-8", errors="replace").decode("utf-8")
    return html.escape(whole, quote=True)


def format_cell(value: object, longest: int = 40) -> str:
    """Return a value as short text: numbers with few digits, a dash for missing ones."""
    if value is None or (isinstance(value, np.datetime64) and np.isnat(value)):
        return "-"
    if isinstance(value, np.datetime64):
        text = str(value.astype("datetime64[s]")).replace("T", " ")
        return text.removesuffix(" 00:00:00")
    if isinstance(value, Integral) and not isinstance(value, bool | np.bool_):
        return f"{int(value):,}"
    if isinstance(value, Real) and not isinstance(value, bool | np.bool_):
        return _format_number(float(value))
    text = str(value)
    return text if len(text) <= longest else f"{text[: longest - 1]}…"


def format_id(id: Any, longest: int = 40) -> str:
    """Return the id of an individual as text; whole numbers without commas."""
    text = f"{id:g}" if isinstance(id, float | np.floating) else str(id)
    return format_cell(text, longest)


def _format_number(value: float) -> str:
    if math.isnan(value):
        return "-"
    return f"{value:,.0f}" if 1000.0 <= abs(value) < 1e15 else f"{value:.4g}"


def make_card(title: str, *parts: str) -> str:
    """Return a title and parts, which are HTML, below each other."""
    head = f'<div style="font-weight:600;margin-bottom:.3em">{escape(title)}</div>'
    return f'<div style="max-width:60em;line-height:1.4">{head}{"".join(parts)}</div>'


def make_facts(facts: Iterable[tuple[str, object]]) -> str:
    """Return a table of names and values."""
    rows = "".join(
        f'<tr style="background:transparent"><th style="{_CELL};text-align:left;'
        f'font-weight:normal;opacity:.75">{escape(name)}</th>'
        f'<td style="{_CELL};text-align:left">{escape(_as_text(value))}</td></tr>'
        for name, value in facts
    )
    return f'<table style="{_table_style()}"><tbody>{rows}</tbody></table>'


def make_grid(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return a table with a header; columns of numbers are aligned to the right."""
    body = [list(row) for row in rows]
    sides = [_find_side([row[place] for row in body]) for place in range(len(header))]
    head = "".join(
        f'<th style="{_CELL};{_LINE};text-align:{side};font-weight:600">{escape(name)}</th>'
        for name, side in zip(header, sides, strict=True)
    )
    lines = "".join(
        '<tr style="background:transparent">'
        + "".join(
            f'<td style="{_CELL};text-align:{side}">{_write_cell(value)}</td>'
            for value, side in zip(row, sides, strict=True)
        )
        + "</tr>"
        for row in body
    )
    return (
        f'<table style="{_table_style()}"><thead><tr style="background:transparent">{head}'
        f"</tr></thead><tbody>{lines}</tbody></table>"
    )


def _write_cell(value: object) -> str:
    return escape(format_cell(value, _LONGEST))


def make_list(sentences: Iterable[str]) -> str:
    """Return sentences as a list."""
    items = "".join(f"<li>{escape(one)}</li>" for one in sentences)
    return f'<ul style="margin:.2em 0 .6em 1.2em;padding:0">{items}</ul>'


def make_note(text: str) -> str:
    """Return a remark in small print."""
    return f'<div style="{_NOTE}">{escape(text)}</div>'


def _table_style() -> str:
    return "border-collapse:collapse;border:none;margin:.2em 0 .5em 0;font-size:inherit"


def _as_text(value: object) -> str:
    """Return a fact, in full if it is text."""
    return value if isinstance(value, str) else format_cell(value)


def _find_side(values: Iterable[object]) -> str:
    return "right" if all(map(_is_numeric, values)) else "left"


def _is_numeric(value: object) -> bool:
    is_share = isinstance(value, str) and value.endswith("%")
    return value is None or is_share or isinstance(value, Real)


def thin(n: int, most: int) -> AnyArray:
    """Return evenly spaced positions among ``n``, the first and the last one included."""
    if n <= most:
        return np.arange(n)
    return np.unique(np.linspace(0, n - 1, most).round().astype(np.intp))


def make_svg(width: float, height: float, body: str, label: str) -> str:
    """Return a drawing; the label says what it shows to those who cannot see it."""
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" '
        f'width="{width:g}" height="{height:g}" role="img" aria-label="{escape(label)}" '
        'style="max-width:100%;height:auto;font:11px sans-serif" fill="currentColor">'
        f"{body}</svg>"
    )


def make_text(x: float, y: float, text: object, anchor: str = "start") -> str:
    """Return text in a drawing."""
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" opacity=".8">'
        f"{escape(text)}</text>"
    )


def make_line(x1: float, y1: float, x2: float, y2: float, opacity: float = 0.4) -> str:
    """Return a thin line in a drawing, in the colour of the text."""
    return (
        f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" '
        f'stroke="currentColor" stroke-opacity="{opacity:g}"/>'
    )


@dataclass(frozen=True, slots=True, eq=False)
class Curve:
    """A curve with its name and, where it has one, the band around it."""

    times: FloatArray  # (m,)
    values: FloatArray  # (m,)
    lower: FloatArray | None = None
    upper: FloatArray | None = None
    name: str = ""
    is_step: bool = False  # continuous from the right


@dataclass(frozen=True, slots=True)
class _Frame:
    """Where numbers stand in a drawing."""

    low: float
    high: float
    top: float
    left: float = 46.0
    right: float = 400.0
    upper: float = 10.0
    lower: float = 150.0

    def x(self, time: Any) -> Any:
        """Return the place of a time from the left."""
        return self.left + (time - self.low) / (self.high - self.low) * (
            self.right - self.left
        )

    def y(self, value: Any) -> Any:
        """Return the place of a value from above."""
        return self.lower - np.minimum(value / self.top, 1.0) * (self.lower - self.upper)


def draw_curves(curves: Sequence[Curve], x_label: str, label: str) -> str:
    """Return a drawing of curves from zero on, in bands where they have some."""
    shown = [_thin_curve(curve) for curve in curves]
    every = np.concatenate([curve.times for curve in shown])
    low, high = float(every.min()), float(every.max())
    tops = [curve.values if curve.upper is None else curve.upper for curve in shown]
    top = max(float(np.concatenate(tops).max()), 0.0)
    middle = max(float(curve.values.max()) for curve in shown)
    # A band that is far wider than the curve at its end leaves the picture.
    top = min(top, 3.0 * middle) if middle > 0.0 else top
    frame = _Frame(low, high if high > low else low + 1.0, top if top > 0.0 else 1.0)
    parts = [_draw_axes(frame, x_label)]
    for place, curve in enumerate(shown):
        parts.append(_draw_curve(frame, curve, _CYCLE[place % len(_CYCLE)]))
    parts.extend(
        f'<text x="{frame.left + 8:.1f}" y="{frame.upper + 10 + 14 * place:.1f}" '
        f'fill="{_CYCLE[place % len(_CYCLE)]}">{escape(format_cell(curve.name))}</text>'
        for place, curve in enumerate(shown)
        if curve.name
    )
    return make_svg(410, 186, "".join(parts), label)


def _thin_curve(curve: Curve) -> Curve:
    kept = thin(len(curve.times), _MOST_POINTS)
    lower, upper = (
        None if bound is None else bound[kept] for bound in (curve.lower, curve.upper)
    )
    return Curve(
        curve.times[kept], curve.values[kept], lower, upper, curve.name, curve.is_step
    )


def _draw_axes(frame: _Frame, x_label: str) -> str:
    parts = [
        make_line(frame.left, frame.lower, frame.right, frame.lower),
        make_line(frame.left, frame.lower, frame.left, frame.upper),
        make_text(frame.left, frame.lower + 14, format_cell(frame.low)),
        make_text(frame.right, frame.lower + 14, format_cell(frame.high), "end"),
        make_text(0.5 * (frame.left + frame.right), frame.lower + 28, x_label, "middle"),
    ]
    for tick in _find_ticks(frame.top):
        height = float(frame.y(tick))
        parts.append(make_text(frame.left - 5, height + 4, format_cell(tick), "end"))
        if tick > 0.0:
            parts.append(make_line(frame.left, height, frame.right, height, 0.12))
    return "".join(parts)


def _find_ticks(top: float) -> list[float]:
    """Return two to five round numbers from zero to the top."""
    power = 10.0 ** math.floor(math.log10(top))
    steps = (factor * power for factor in (0.2, 0.5, 1.0, 2.0))
    step = next(step for step in steps if top / step <= 5.0)
    return [place * step for place in range(int(top / step + 1e-9) + 1)]


def _draw_curve(frame: _Frame, curve: Curve, colour: str) -> str:
    parts = []
    if curve.lower is not None and curve.upper is not None:
        there = _trace(frame, curve.times, curve.upper, curve.is_step)
        back = _trace(frame, curve.times, np.maximum(curve.lower, 0.0), curve.is_step)
        points = " ".join([*there, *back[::-1]])
        parts.append(f'<polygon points="{points}" fill="{colour}" fill-opacity=".2"/>')
    points = " ".join(_trace(frame, curve.times, curve.values, curve.is_step))
    parts.append(
        f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="1.6"/>'
    )
    return "".join(parts)


def _trace(
    frame: _Frame, times: FloatArray, values: FloatArray, is_step: bool
) -> list[str]:
    places = list(zip(frame.x(times).tolist(), frame.y(values).tolist(), strict=True))
    if is_step:
        corners = [(after[0], before[1]) for before, after in pairwise(places)]
        places = [
            place
            for pair in zip(places, [*corners, None], strict=True)
            for place in pair
            if place is not None
        ]
    return [f"{x:.1f},{y:.1f}" for x, y in places]

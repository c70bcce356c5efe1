"""Parts of plotly's figures, and compact JSON that a page can hold."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable
from typing import Any

import numpy as np

from boostr._typing import AnyArray, FloatArray
from boostr.plotting.style import shorten

__all__ = [
    "DASHES",
    "Figure",
    "as_integers",
    "as_list",
    "as_steps",
    "as_text",
    "escape",
    "make_figure",
    "pack",
    "plain",
    "to_json",
]

_DIGITS = 5  # that a plot can show


def pack(values: AnyArray) -> dict[str, Any]:
    """Return numbers with seven digits each, in four bytes; NaN and infinity as such."""
    return {"t": "f4", "d": _to_base64(np.asarray(values, dtype="<f4"))}


def as_integers(values: AnyArray) -> dict[str, Any]:
    """Return whole numbers from 0 on, in two bytes each if that is enough."""
    kind = "u2" if np.max(values, initial=0) < 2**16 else "u4"
    return {"t": kind, "d": _to_base64(np.asarray(values, dtype=f"<{kind}"))}


def as_steps(values: FloatArray, kind: str = "u4") -> dict[str, Any]:
    """Return finite numbers as steps between the lowest and the highest; NaN stays NaN.

    Four bytes ("u4") tell moments of twenty years a second apart, two ("u2") are enough to
    draw. The highest step stands for NaN.
    """
    top = np.iinfo(kind).max - 1
    is_known = np.isfinite(values)
    known = values[is_known]
    low = float(known.min()) if known.size else 0.0
    width = (float(known.max()) - low) / top if known.size else 0.0
    steps = np.full(values.shape, top + 1, dtype=f"<{kind}")
    steps[is_known] = np.rint((known - low) / width) if width > 0.0 else 0
    return {"t": kind, "d": _to_base64(steps), "low": low, "width": width}


def as_list(values: Iterable[Any], digits: int = _DIGITS) -> list[float | None]:
    """Return numbers with some digits, None where there is none."""
    numbers = np.asarray(values, dtype=np.float64)
    return [float(f"{v:.{digits}g}") if np.isfinite(v) else None for v in numbers]


def as_text(values: Iterable[Any]) -> list[str]:
    """Return ids or names as texts, numbers without needless digits."""
    return [f"{value:.15g}" if isinstance(value, float) else str(value) for value in values]


def to_json(value: Any) -> str:
    """Return JSON that can stand inside a script of a page, whatever the texts in it."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    # Only texts can hold these: in there, they may be written as numbers.
    for mark in ("<", ">", "&", "\u2028", "\u2029"):
        text = text.replace(mark, f"\\u{ord(mark):04x}")
    return text


def _to_base64(values: AnyArray) -> str:
    return base64.b64encode(np.ascontiguousarray(values).tobytes()).decode("ascii")


Figure = dict[str, Any]  # with "data", "layout" and a "height" in pixels

DASHES = ("solid", "dash", "dashdot", "dot")


def plain(name: object) -> str:
    """Return a name that plotly shows as it is, shortened if it is long."""
    return escape(shorten(name))


def escape(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def make_figure(data: list[Figure], height: int, **layout: Any) -> Figure:
    return {"data": data, "layout": layout, "height": height}

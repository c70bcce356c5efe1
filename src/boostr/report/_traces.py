"""Parts that all figures of plotly are made of."""

from __future__ import annotations

from typing import Any

from boostr.plotting._style import shorten

__all__ = ["DASHES", "Figure", "escape", "make_figure", "plain"]

Figure = dict[str, Any]  # with "data", "layout" and a "height" in pixels

DASHES = ("solid", "dash", "dashdot", "dot")


def plain(name: object) -> str:
    """Return a name that plotly shows as it is, shortened if it is long."""
    return escape(shorten(name))


def escape(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def make_figure(data: list[Figure], height: int, **layout: Any) -> Figure:
    return {"data": data, "layout": layout, "height": height}

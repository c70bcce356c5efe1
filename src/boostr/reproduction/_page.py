"""The parts of a page of results, and its rendering."""

from __future__ import annotations

import base64
import io
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import resources
from typing import TYPE_CHECKING

from boostr._optional import require

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["Block", "Chapter", "Picture", "Table", "draw", "render"]

_DOTS_PER_INCH = 110


@dataclass(frozen=True, slots=True)
class Picture:
    """A figure as PNG; ``alt`` describes it in words."""

    caption: str
    alt: str
    png: bytes

    @property
    def source(self) -> str:
        """The picture as a data URL."""
        return "data:image/png;base64," + base64.b64encode(self.png).decode("ascii")


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of text and numbers; a row in ``marked`` is shown as the best."""

    caption: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    marked: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True)
class Block:
    """One figure or comparison of the paper beside ours.

    ``caution`` says where a claim of the paper does not hold, with the figure that shows
    it.
    """

    title: str
    paper: str  # what the paper reports
    paper_settings: str  # what its settings give here
    default: str  # what the defaults and the rivals give
    caution: str = ""
    pictures: tuple[Picture, ...] = ()
    tables: tuple[Table, ...] = ()


@dataclass(frozen=True, slots=True)
class Chapter:
    """The blocks about one data set."""

    key: str
    title: str
    introduction: str
    blocks: tuple[Block, ...]


def draw(figure: Figure, caption: str, alt: str) -> Picture:
    """Return a figure as a picture, and close it."""
    pyplot = require("matplotlib.pyplot", extra="plot", feature="boostr reproduce")
    file = io.BytesIO()
    figure.savefig(file, format="png", dpi=_DOTS_PER_INCH, bbox_inches="tight")
    pyplot.close(figure)
    return Picture(caption, alt, file.getvalue())


def render(chapters: Sequence[Chapter], facts: Sequence[tuple[str, str]]) -> str:
    """Return the page; ``facts`` are pairs (name, value) on how and when it was made."""
    jinja2 = require("jinja2", extra="report", feature="boostr reproduce")
    source = resources.files("boostr.reproduction").joinpath("page.html.j2")
    environment = jinja2.Environment(autoescape=True, undefined=jinja2.StrictUndefined)
    template = environment.from_string(source.read_text(encoding="utf-8"))
    return str(template.render(chapters=chapters, facts=facts))

"""The parts of the page, numbers and figures on it, and its rendering."""

from __future__ import annotations

import base64
import io
import math
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import resources
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from boostr._optional import require

__all__ = [
    "Block",
    "Chapter",
    "Picture",
    "ResultTable",
    "digits",
    "draw",
    "join_names",
    "open_figure",
    "render_page",
    "say_mean",
    "standard_error",
]

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
class ResultTable:
    """Rows of text and numbers; row ``best`` is highlighted."""

    caption: str
    columns: Sequence[str]
    rows: Sequence[tuple[str, ...]]
    best: int | None = None


@dataclass(frozen=True, slots=True)
class Block:
    """One figure or comparison of the paper beside ours.

    ``caution`` says where a claim of the paper does not hold, with the figure that shows
    it.
    """

    title: str
    paper: str  # what the paper reports
    paper_settings: str  # what its settings give here
    default: str  # what the defaults and the baselines give
    caution: str = ""
    pictures: Sequence[Picture] = ()
    tables: Sequence[ResultTable] = ()


@dataclass(frozen=True, slots=True)
class Chapter:
    """The blocks about one data set."""

    key: str
    title: str
    introduction: str
    blocks: Sequence[Block]


def open_figure(
    n_rows: int, n_columns: int, size: tuple[float, float], **options: Any
) -> tuple[Any, list[Any]]:
    """Return a figure and its panels, row by row."""
    pyplot = require("matplotlib.pyplot", extra="plot", feature="boostr reproduce")
    figure, panels = pyplot.subplots(
        n_rows, n_columns, figsize=size, layout="constrained", squeeze=False, **options
    )
    return figure, list(panels.ravel())


def draw(figure: Any, caption: str, alt: str) -> Picture:
    """Return a figure as a picture, and close it."""
    pyplot = require("matplotlib.pyplot", extra="plot", feature="boostr reproduce")
    file = io.BytesIO()
    figure.savefig(file, format="png", dpi=_DOTS_PER_INCH, bbox_inches="tight")
    pyplot.close(figure)
    return Picture(caption, alt, file.getvalue())


def digits(value: float) -> str:
    """Return a number with three digits, or all digits of its whole part."""
    if not math.isfinite(value):
        return "-"
    return f"{value:.0f}" if abs(value) >= 100.0 else f"{value:.3g}"


def standard_error(values: ArrayLike) -> float:
    """Return the standard error of a mean, NaN for a single value."""
    sample = np.asarray(values, dtype=np.float64)
    if sample.size < 2:
        return math.nan
    return float(sample.std(ddof=1) / math.sqrt(sample.size))


def say_mean(values: ArrayLike) -> str:
    """Return a mean with two digits of its standard error, if there is one."""
    mean = float(np.asarray(values, dtype=np.float64).mean())
    error = standard_error(values)
    if not math.isfinite(error):
        return digits(mean)
    if error == 0.0:
        return f"{digits(mean)} ± 0"
    decimals = max(0, 1 - math.floor(math.log10(error)))
    return f"{mean:.{decimals}f} ± {error:.{decimals}f}"


def join_names(names: Sequence[str]) -> str:
    """Return names as part of a sentence."""
    *first, last = names or [""]
    return f"{', '.join(first)} and {last}" if first else last


def render_page(chapters: Sequence[Chapter], facts: Sequence[tuple[str, str]]) -> str:
    """Return the page; ``facts`` are pairs (name, value) on how and when it was made."""
    jinja2 = require("jinja2", extra="report", feature="boostr reproduce")
    source = resources.files("boostr.reproduction").joinpath("page.html.j2")
    environment = jinja2.Environment(autoescape=True, undefined=jinja2.StrictUndefined)
    template = environment.from_string(source.read_text(encoding="utf-8"))
    return str(template.render(chapters=chapters, facts=facts))

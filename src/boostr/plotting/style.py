"""Colours for colour-blind readers too, labels with units, and panels in one Axes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from boostr._optional import require
from boostr._typing import AnyArray, FloatArray
from boostr.data.times import name_rate, name_unit

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = [
    "BLUE",
    "CYCLE",
    "DASHES",
    "GREY",
    "LONGEST",
    "ORANGE",
    "VERMILION",
    "capitalise",
    "find_edges",
    "find_places",
    "format_number",
    "name_axis",
    "name_categories",
    "name_moment",
    "name_rate",
    "name_time",
    "open_axes",
    "place_beside",
    "shorten",
    "spread_apart",
    "stack_panels",
    "take_colours",
]

_WIDEST_GAPS = 0.6  # share of the width that gaps may take together


def stack_panels(axes: Axes, heights: Sequence[float], gap: float) -> list[Any]:
    """Return panels below each other with one axis of time; the Axes itself if it is one.

    Heights and the gap between panels are relative to each other.
    """
    if len(heights) == 1:
        return [axes]
    axes.set_axis_off()
    unit = 1.0 / (sum(heights) + gap * (len(heights) - 1))
    panels: list[Any] = []
    top = 1.0
    for height in heights:
        shared = panels[0] if panels else None
        box = (0.0, max(top - height * unit, 0.0), 1.0, height * unit)
        panels.append(axes.inset_axes(box, sharex=shared))
        top -= (height + gap) * unit
    for panel in panels[:-1]:
        panel.tick_params(labelbottom=False)
    return panels


def place_beside(axes: Axes, n_panels: int, gap: float) -> list[Any]:
    """Return panels beside each other with a gap in inches; the Axes itself if it is one.

    Labels stand in the gap and do not shrink with the Axes, so the gap does not, either.
    """
    if n_panels == 1:
        return [axes]
    figure: Any = axes.figure
    inches = axes.get_position().width * figure.get_figwidth()
    share = min(gap / inches, _WIDEST_GAPS / (n_panels - 1))
    axes.set_axis_off()
    width = (1.0 - share * (n_panels - 1)) / n_panels
    return [
        axes.inset_axes((place * (width + share), 0.0, width, 1.0))
        for place in range(n_panels)
    ]


def spread_apart(places: FloatArray, least: float) -> FloatArray:
    """Return places that are at least so far apart, as near to the given ones as can be."""
    order = np.argsort(places, kind="stable")
    # Around slots of equal distance, neighbours may meet but not pass each other: blocks
    # that would are put around their mean.
    shifted = places[order] - least * np.arange(len(places))
    blocks: list[tuple[float, int]] = []
    for value in shifted:
        mean, size = float(value), 1
        while blocks and blocks[-1][0] >= mean:
            before, n_before = blocks.pop()
            mean = (before * n_before + mean * size) / (n_before + size)
            size += n_before
        blocks.append((mean, size))
    result = np.empty(len(places))
    means = [mean for mean, size in blocks for _ in range(size)]
    result[order] = np.array(means) + least * np.arange(len(places))
    return result


# Okabe and Ito's palette: colours that differ in lightness too, and so survive printing.
BLUE = "#0072B2"
VERMILION = "#D55E00"
ORANGE = "#E69F00"
GREY = "#7F7F7F"
CYCLE = (BLUE, VERMILION, "#009E73", ORANGE, "#56B4E9", "#CC79A7", "black")
DASHES = ("-", "--", "-.", ":")

LONGEST = 28  # characters of a name on an axis
_CROWDED = 60  # characters of all names beside each other


def open_axes(
    ax: Axes | None, feature: str, size: tuple[float, float] | None = None
) -> Any:
    """Return where to draw, in a new figure by default."""
    pyplot = require("matplotlib.pyplot", extra="plot", feature=feature)
    if ax is not None:
        return ax
    return pyplot.subplots(figsize=size, layout="constrained")[1]


def take_colours(name: str, low: float, high: float, n: int) -> AnyArray:
    """Return evenly spaced colours of a part of a colour map."""
    colour_maps = require("matplotlib", extra="plot", feature="plotting").colormaps
    return np.asarray(colour_maps[name](np.linspace(low, high, n)))


def name_time(unit: str | None) -> str:
    """Return the label of an axis of time."""
    name = name_unit(unit)
    return "Time" if name is None else f"Time ({name})"


def name_moment(time: float, unit: str | None) -> str:
    """Return a time with its unit."""
    name = name_unit(unit)
    text = format_number(time)
    return f"time {text}" if name is None else f"{text} {name}"


def format_number(value: float, n_digits: int = 4) -> str:
    """Return a number with a few digits; large numbers in full."""
    return f"{value:.0f}" if abs(value) >= 1000.0 else f"{value:.{n_digits}g}"


def shorten(name: object, longest: int = LONGEST) -> str:
    """Return a name, or its beginning if it is long; numbers as they are read best."""
    if isinstance(name, float | np.floating):
        return f"{name:g}"
    text = str(name)
    return text if len(text) <= longest else f"{text[: longest - 1]}…"


def capitalise(name: str) -> str:
    """Return a name that begins with a capital letter; others stay as they are."""
    return shorten(name[:1].upper() + name[1:])


def name_axis(axis: Any, name: str, grid: AnyArray) -> None:
    """Write the name of a feature at an axis, and its categories where it has some."""
    axis.set_label_text(shorten(name))
    if grid.dtype == object:
        name_categories(axis, grid)


def find_places(grid: AnyArray) -> FloatArray:
    """Return the places of values on an axis; categories are at whole numbers."""
    return np.arange(len(grid), dtype=np.float64) if grid.dtype == object else grid


def name_categories(axis: Any, names: Iterable[object], longest: int = LONGEST) -> None:
    """Write categories at whole numbers of an axis, slanted where they are crowded."""
    labels = [shorten(name, longest) for name in names]
    axis.set_ticks(np.arange(len(labels)), labels)
    if axis.axis_name == "x" and sum(map(len, labels)) > _CROWDED:
        for label in axis.get_ticklabels():
            label.set(rotation=40, rotation_mode="anchor", ha="right")


def find_edges(places: FloatArray) -> FloatArray:
    """Return the borders of cells around places: halfway, and as far beyond the ends."""
    if len(places) == 1:
        return np.array([places[0] - 0.5, places[0] + 0.5])
    middles = 0.5 * places[:-1] + 0.5 * places[1:]
    first = 2.0 * places[0] - middles[0]
    return np.concatenate([[first], middles, [2.0 * places[-1] - middles[-1]]])

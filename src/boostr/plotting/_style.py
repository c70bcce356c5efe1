"""Colours that everybody can tell apart, and labels with units."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from boostr._optional import require
from boostr._typing import FloatArray
from boostr.data._times import name_unit

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = [
    "BLUE",
    "CYCLE",
    "GREY",
    "LONGEST",
    "ORANGE",
    "VERMILION",
    "find_edges",
    "name_categories",
    "name_rate",
    "name_time",
    "open_axes",
    "shorten",
]

# Okabe and Ito's palette: colours that differ in lightness, too, and so survive printing.
BLUE = "#0072B2"
VERMILION = "#D55E00"
ORANGE = "#E69F00"
GREY = "#7F7F7F"
CYCLE = (BLUE, VERMILION, "#009E73", ORANGE, "#56B4E9", "#CC79A7", "black")

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


def name_time(unit: str | None) -> str:
    """Return the label of an axis of time."""
    name = name_unit(unit)
    return "Time" if name is None else f"Time ({name})"


def name_rate(unit: str | None) -> str:
    """Return the unit of a rate of events."""
    name = name_unit(unit)
    if name is None:
        return "events per unit of time"
    is_plural = len(name) > 3 and name.endswith("s") and not name.endswith("ss")
    return f"events per {name[:-1] if is_plural else name}"


def shorten(name: object, longest: int = LONGEST) -> str:
    """Return a name, or its beginning if it is long; numbers as they are read best."""
    if isinstance(name, float | np.floating):
        return f"{name:g}"
    text = str(name)
    return text if len(text) <= longest else f"{text[: longest - 1]}…"


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

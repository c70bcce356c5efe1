"""Panels inside one Axes, and labels that do not lie on each other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from boostr._typing import FloatArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["place_beside", "spread", "stack_panels"]

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
    """Return panels beside each other, so many inches apart; the Axes itself if it is one.

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


def spread(places: FloatArray, least: float) -> FloatArray:
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

"""Drawing of a tree as boxes with lines between them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from boostr._typing import FloatArray
from boostr.data._times import name_unit
from boostr.inspection import TreePartition
from boostr.plotting._style import BLUE, GREY, open_axes, shorten

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["draw_nodes"]

_LARGEST = 9.0  # size of letters in points
_SMALLEST = 3.5
_LETTER = 0.62  # width of a letter, as a share of its size
_ROOM = 1.5  # width that questions have, who stand further apart, over that of leaves
_FILLED = 0.86  # share of the width between two leaves that a box may take


def draw_nodes(result: TreePartition, ax: Axes | None) -> Axes:
    """Draw the questions of a tree, a yes to the left, and what its leaves add."""
    texts = [_describe(result, node) for node in range(len(result.feature))]
    widest = _find_widest(result, texts)
    depth = _find_depths(result)
    n_levels = int(depth.max()) + 1
    slot = _LETTER * _LARGEST * (widest + 2.0) / _FILLED / 72.0
    width = float(np.clip(slot * (result.n_leaves + 0.2), 4.5, 16.0))
    axes: Axes = open_axes(ax, "plot_partition", (width, 0.6 + 0.95 * n_levels))
    across = _find_places(result)
    letters = _choose_size(axes, result.n_leaves, widest)
    for node in np.flatnonzero(result.feature >= 0):
        for child, answer in ((result.left[node], "yes"), (result.right[node], "no")):
            _draw_line(axes, across[[node, child]], depth[[node, child]], answer, letters)
    for text, x, level, feature in zip(texts, across, depth, result.feature, strict=True):
        _draw_box(axes, x, -level, text, letters, is_leaf=feature < 0)
    axes.set_xlim(-0.6, result.n_leaves - 0.4)
    axes.set_ylim(0.5 - n_levels, 0.5)
    axes.set_axis_off()
    unit = name_unit(result.time_unit)
    by = f"{result.horizon:.4g} {unit}" if unit else f"time {result.horizon:.4g}"
    axes.set_title(
        f"Events added by {by}, and individuals, in every leaf", fontsize="medium"
    )
    return axes


def _describe(result: TreePartition, node: int) -> str:
    """Return the question of a node, or what a leaf adds."""
    feature = int(result.feature[node])
    if feature < 0:
        return f"{result.expected[node]:+.3g}\nn = {result.count[node]:g}"
    name = shorten(result.features[feature])
    names = result.categories[node]
    if names is not None:
        question = f"{name} in\n{shorten(', '.join(map(str, names)))}"
        return f"{question}\nor missing?" if result.missing_left[node] else f"{question}?"
    threshold = result.threshold[node]
    if np.isinf(threshold):
        return f"{name}\nknown?"
    question = f"{name}\n≤ {threshold:.3g}"
    return f"{question}\nor missing?" if result.missing_left[node] else f"{question}?"


def _find_widest(result: TreePartition, texts: list[str]) -> float:
    """Return for how many letters leaves need room, or questions theirs."""
    lengths = np.array([max(map(len, text.split("\n"))) for text in texts], dtype=float)
    lengths[result.feature >= 0] /= _ROOM
    return float(lengths.max())


def _find_depths(result: TreePartition) -> FloatArray:
    depth = np.zeros(len(result.feature))
    for node in np.flatnonzero(result.feature >= 0):  # parents before their children
        depth[[result.left[node], result.right[node]]] = depth[node] + 1.0
    return depth


def _find_places(result: TreePartition) -> FloatArray:
    """Return where nodes stand: leaves side by side, others above the middle of theirs."""
    across = np.empty(len(result.feature))
    across[result.leaves] = np.arange(result.n_leaves)
    for node in np.flatnonzero(result.feature >= 0)[::-1]:  # children before parents
        across[node] = 0.5 * (across[result.left[node]] + across[result.right[node]])
    return across


def _choose_size(axes: Axes, n_leaves: int, widest: float) -> float:
    """Return the size of letters with which boxes beside each other do not touch."""
    figure: Any = axes.figure
    # A layout engine will give the Axes nearly all of a figure of its own.
    is_alone = len(figure.axes) == 1 and figure.get_layout_engine() is not None
    share = 0.97 if is_alone else axes.get_position().width
    points = 72.0 * share * figure.get_figwidth() / (n_leaves + 0.2)
    fitting = _FILLED * points / (_LETTER * (widest + 2.0))
    return float(np.clip(fitting, _SMALLEST, _LARGEST))


def _draw_line(
    axes: Axes, across: FloatArray, depth: FloatArray, answer: str, letters: float
) -> None:
    axes.plot(across, -depth, color=GREY, linewidth=1.0, zorder=1.0)
    axes.text(
        float(across.mean()),
        float(-depth.mean()),
        answer,
        ha="center",
        va="center",
        fontsize=0.9 * letters,
        color="0.25",
        bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.8},
        zorder=1.5,
    )


def _draw_box(
    axes: Axes, across: float, height: float, text: str, letters: float, *, is_leaf: bool
) -> None:
    axes.text(
        across,
        height,
        text,
        ha="center",
        va="center",
        fontsize=letters,
        bbox={
            "boxstyle": "round,pad=0.35" if is_leaf else "square,pad=0.35",
            "facecolor": "#DCEBF5" if is_leaf else "white",
            "edgecolor": BLUE if is_leaf else "0.35",
            "linewidth": 0.9,
        },
        zorder=2.0,
    )

"""Drawing of trees: their partitions, nodes and sizes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from boostr._checks.parameters import check_choice
from boostr._optional import require
from boostr._typing import AnyArray, FloatArray
from boostr.exceptions import InvalidParameterError
from boostr.inspection import LeafCounts, TreePartition
from boostr.inspection.model import check_position
from boostr.plotting._draw import draw_steps_with_band
from boostr.plotting.style import (
    BLUE,
    GREY,
    name_moment,
    name_time,
    open_axes,
    place_beside,
    shorten,
    spread_apart,
    take_colours,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["plot_leaf_counts", "plot_partition"]

_LARGEST = 9.0  # size of letters in points
_SMALLEST = 3.5
_LETTER = 0.62  # width of a letter, as a share of its size
_ROOM = 1.5  # width that questions have, who stand further apart, over that of leaves
_FILLED = 0.86  # share of the width between two leaves that a box may take


def _draw_nodes(result: TreePartition, ax: Axes | None) -> Axes:
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
    by = name_moment(result.horizon, result.time_unit)
    title = f"Events added by {by}, and individuals, in every leaf"
    axes.set_title(title, fontsize="medium")
    return axes


def _describe(result: TreePartition, node: int) -> str:
    """Return the question of a node, or what a leaf adds."""
    feature = int(result.feature[node])
    if feature < 0:
        return f"{result.expected[node]:+.3g}\nn = {result.count[node]:g}"
    name = shorten(result.features[feature])
    names, threshold = result.categories[node], result.threshold[node]
    if names is not None:
        question = f"{name} in\n{shorten(', '.join(map(str, names)))}"
    elif np.isinf(threshold):
        return f"{name}\nknown?"
    else:
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
    middle = float(across.mean()), float(-depth.mean())
    options: dict[str, Any] = {"fontsize": 0.9 * letters, "color": "0.25", "zorder": 1.5}
    box = {"facecolor": "white", "edgecolor": "none", "pad": 0.8}
    axes.text(*middle, answer, ha="center", va="center", bbox=box, **options)


def _draw_box(
    axes: Axes, across: float, height: float, text: str, letters: float, *, is_leaf: bool
) -> None:
    box = {
        "boxstyle": "round,pad=0.35" if is_leaf else "square,pad=0.35",
        "facecolor": "#DCEBF5" if is_leaf else "white",
        "edgecolor": BLUE if is_leaf else "0.35",
        "linewidth": 0.9,
    }
    options: dict[str, Any] = {"ha": "center", "va": "center", "fontsize": letters}
    axes.text(across, height, text, bbox=box, zorder=2.0, **options)


_MOST_NUMBERED = 25  # leaves up to which they bear their numbers
_COLOURS = (0.0, 0.88)  # part of the colour map that can be seen on white
_MARGIN = 0.04  # of the range, beyond the outermost borders of bins
_SIZE = (8.6, 3.9)
_GAP = 1.0  # inches between rectangles and curves


def plot_partition(
    result: TreePartition,
    *,
    kind: Literal["auto", "map", "tree"] = "auto",
    show_curves: bool = True,
    ax: Axes | None = None,
) -> Axes:
    """Draw one tree: how it cuts the features up, and what its leaves add.

    Over two features, leaves are rectangles, with the functions that they add beside them
    in the same colours and with the same numbers, from low to high. Otherwise the tree is
    drawn as boxes: the questions at its splits, with a yes to the left, and the numbers of
    events that its leaves add by the horizon.

    Parameters
    ----------
    result : TreePartition
        Result of `boostr.inspection.tree_partition`.
    kind : {"auto", "map", "tree"}, default="auto"
        Rectangles, which need a tree with splits on at most two features, both of them
        numbers; or boxes. By default rectangles for a model of two such features.
    show_curves : bool, default=True
        Whether the leaf functions are drawn beside rectangles.
    ax : matplotlib Axes, default=None
        Where to draw; a new figure by default.

    Returns
    -------
    matplotlib Axes
        Where the tree was drawn; rectangles and curves are its ``child_axes``, where both
        are drawn.

    See Also
    --------
    boostr.inspection.tree_partition : Computes what is drawn.
    plot_leaf_counts : The size of all trees.

    Examples
    --------
    >>> from boostr import BoostR
    >>> from boostr.inspection import tree_partition
    >>> from boostr.plotting import plot_partition
    >>> from boostr.simulate import dataset_a
    >>> train = dataset_a(n=150, random_state=1)
    >>> model = BoostR(n_estimators=2, max_leaf_nodes=3, validation=None)
    >>> ax = plot_partition(tree_partition(model.fit(train.X, train.y), tree=1))
    >>> len(ax.child_axes[0].patches), len(ax.child_axes[1].lines)
    (3, 4)
    """
    if _choose_kind(result, kind) == "tree":
        return _draw_nodes(result, ax)
    columns = _find_columns(result)
    size = _SIZE if show_curves else None
    axes: Axes = open_axes(ax, "plot_partition", size)
    panels = place_beside(axes, 2 if show_curves else 1, _GAP)
    order = np.argsort(result.expected[result.leaves], kind="stable")
    rank = np.empty(result.n_leaves, dtype=np.int64)
    rank[order] = np.arange(result.n_leaves)
    colours = take_colours("viridis", *_COLOURS, max(result.n_leaves, 2))[rank]
    _draw_rectangles(panels[0], result, columns, colours, rank)
    if show_curves:
        _draw_curves(panels[1], result, colours, rank)
    return axes


def _choose_kind(result: TreePartition, kind: str) -> str:
    check_choice(kind, ("auto", "map", "tree"), "kind")
    if kind == "auto":
        is_plane = len(result.features) == 2 and not np.isnan(result.ranges).any()
        return "map" if is_plane else "tree"
    if kind == "map":
        used = np.unique(result.feature[result.feature >= 0])
        if len(used) > 2 or np.isnan(result.ranges[used]).any():
            raise InvalidParameterError(
                "Rectangles need a tree with splits on at most two features, both of them "
                f"numbers, but it splits on {', '.join(result.features[f] for f in used)}."
                "\n\nHint: kind='tree' draws any tree."
            )
        if (~np.isnan(result.ranges[:, 0])).sum() < 2:
            raise InvalidParameterError(
                "Rectangles need two features that are numbers, but the model has not.\n\n"
                "Hint: kind='tree' draws any tree."
            )
    return kind


def _find_columns(result: TreePartition) -> tuple[int, int]:
    """Return the two features of the map: those of the splits, in their order."""
    used = np.unique(result.feature[result.feature >= 0]).tolist()
    known = np.flatnonzero(~np.isnan(result.ranges[:, 0])).tolist()
    chosen = sorted((used + [column for column in known if column not in used])[:2])
    return chosen[0], chosen[1]


def _draw_rectangles(
    panel: Any,
    result: TreePartition,
    columns: tuple[int, int],
    colours: AnyArray,
    rank: AnyArray,
) -> None:
    patches = require("matplotlib.patches", extra="plot", feature="plot_partition")
    low, high = result.ranges[list(columns)].T
    margin = np.where(high > low, _MARGIN * (high - low), 0.5)
    low, high = low - margin, high + margin
    boxes = np.clip(result.boxes[:, list(columns)], low[:, None], high[:, None])
    panel.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]))
    expected = result.expected[result.leaves]
    for box, colour, place, value in zip(boxes, colours, rank, expected, strict=True):
        corner, sides = box[:, 0], box[:, 1] - box[:, 0]
        options = {"facecolor": colour, "edgecolor": "white", "linewidth": 1.2}
        panel.add_patch(patches.Rectangle(corner, *sides, **options))
        if result.n_leaves <= _MOST_NUMBERED:
            shares = sides / (high - low)
            _write(panel, box.mean(axis=1), shares, f"{place + 1}", f"{value:+.2g}", colour)
    panel.set_xlabel(shorten(result.features[columns[0]]))
    panel.set_ylabel(shorten(result.features[columns[1]]))
    by = name_moment(result.horizon, result.time_unit)
    panel.set_title(f"Events added\nby {by}", fontsize="medium")


def _write(
    panel: Any,
    centre: FloatArray,
    shares: FloatArray,
    number: str,
    value: str,
    colour: AnyArray,
) -> None:
    """Write into a rectangle what there is room for: number and value, number, nothing."""
    if shares[0] > 0.17 and shares[1] > 0.13:
        text, size = f"{number}\n{value}", "small"
    elif shares[0] > 0.045 and shares[1] > 0.06:
        text, size = number, "x-small"
    else:
        return
    brightness = float(np.dot(colour[:3], [0.299, 0.587, 0.114]))
    panel.text(
        *centre,
        text,
        ha="center",
        va="center",
        fontsize=size,
        color="black" if brightness > 0.5 else "white",
    )


def _draw_curves(
    panel: Any, result: TreePartition, colours: AnyArray, rank: AnyArray
) -> None:
    panel.axhline(0.0, color=GREY, linewidth=0.8, linestyle="--", zorder=1.5)
    for curve, colour in zip(result.curves, colours, strict=True):
        panel.plot(result.times, curve, color=colour, linewidth=1.8)
    panel.set_xlim(result.times[0], result.times[-1])
    panel.set_xlabel(name_time(result.time_unit))
    panel.set_ylabel("Events added")
    if result.n_leaves > _MOST_NUMBERED:
        return
    low, high = panel.get_ylim()
    ends = result.curves[:, -1]
    places = spread_apart(ends, 0.055 * (high - low))
    for place, end, height in zip(rank, ends, places, strict=True):
        panel.annotate(
            f"{place + 1}",
            (result.times[-1], end),
            xytext=(1.045, (height - low) / (high - low)),
            textcoords="axes fraction",
            va="center",
            fontsize="x-small",
            arrowprops={"arrowstyle": "-", "color": GREY, "linewidth": 0.6, "shrinkA": 1.0},
        )


def plot_leaf_counts(
    result: LeafCounts,
    *,
    member: int | None = None,
    ax: Axes | None = None,
    bar_kwargs: Mapping[str, Any] | None = None,
) -> Axes:
    """Draw the number of leaves of every tree.

    One model has a bar per tree. Of several averaged models, the line is their weighted
    mean, and the band reaches from the smallest to the largest tree of a round.

    Parameters
    ----------
    result : LeafCounts
        Result of `boostr.inspection.leaf_counts`.
    member : int, default=None
        Which of several models is drawn alone; all of them by default.
    ax : matplotlib Axes, default=None
        Where to draw; a new figure by default.
    bar_kwargs : mapping, default=None
        Options of the bars, see `matplotlib.axes.Axes.bar`.

    Returns
    -------
    matplotlib Axes
        Where the numbers were drawn.

    See Also
    --------
    boostr.inspection.leaf_counts : Computes what is drawn.
    plot_partition : One of the trees.

    Examples
    --------
    >>> from boostr import BoostR
    >>> from boostr.inspection import leaf_counts
    >>> from boostr.plotting import plot_leaf_counts
    >>> from boostr.simulate import dataset_a
    >>> train = dataset_a(n=150, random_state=1)
    >>> model = BoostR(n_estimators=4, max_leaf_nodes=3, validation=None)
    >>> ax = plot_leaf_counts(leaf_counts(model.fit(train.X, train.y)))
    >>> [int(bar.get_height()) for bar in ax.patches]
    [1, 3, 3, 3]
    """
    chosen = _choose(result, member)
    axes: Axes = open_axes(ax, "plot_leaf_counts", (6.4, 3.2))
    n_trees = max((len(counts) for counts in chosen.counts), default=0)
    number = np.arange(1, n_trees + 1)
    if len(chosen.counts) == 1:
        options = {"color": BLUE, "width": 0.8, **(bar_kwargs or {})}
        axes.bar(number, chosen.counts[0], **options)
        largest = int(chosen.counts[0].max(initial=1))
    elif n_trees:
        mean, low, high = _summarise(chosen, n_trees)
        name = f"of {len(chosen.counts)} models"
        draw_steps_with_band(
            axes,
            number,
            (mean, low, high),
            {"color": BLUE, "label": f"weighted mean {name}"},
            {"alpha": 0.25, "label": f"smallest to largest {name}"},
            where="mid",
        )
        above: dict[str, Any] = {"loc": "lower left", "bbox_to_anchor": (0.0, 1.0)}
        axes.legend(frameon=False, fontsize="small", borderpad=0.2, ncols=2, **above)
        largest = int(high.max())
    else:
        largest = 1
    axes.set_ylim(0.0, 1.08 * largest)
    axes.set_xlim(0.4, max(n_trees, 1) + 0.6)
    axes.locator_params(axis="both", integer=True)
    axes.set_xlabel("Tree")
    axes.set_ylabel("Number of leaves")
    return axes


def _choose(result: LeafCounts, member: Any) -> LeafCounts:
    if member is None:
        return result
    place = check_position(member, len(result.counts), "member", "models")
    return LeafCounts((result.counts[place],), result.weights[[place]])


def _summarise(
    result: LeafCounts, n_trees: int
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return mean, smallest and largest numbers of the models that have such a tree."""
    table = np.full((len(result.counts), n_trees), np.nan)
    for row, counts in zip(table, result.counts, strict=True):
        row[: len(counts)] = counts
    weights = np.where(np.isnan(table), 0.0, result.weights[:, None])
    mean = np.nansum(table * weights, axis=0) / weights.sum(axis=0)
    return mean, np.nanmin(table, axis=0), np.nanmax(table, axis=0)

"""Drawing of one tree: its rectangles over two features, or its nodes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from boostr._optional import require
from boostr._typing import AnyArray, FloatArray
from boostr.data._times import name_unit
from boostr.exceptions import InvalidParameterError
from boostr.inspection import TreePartition
from boostr.plotting._nodes import draw_nodes
from boostr.plotting._panels import place_beside, spread
from boostr.plotting._style import GREY, name_time, open_axes, shorten

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["plot_partition"]

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
    drawn as boxes: the questions that it asks, with a yes to the left, and the numbers of
    events that its leaves add by the horizon.

    Parameters
    ----------
    result : TreePartition
        Result of `boostr.inspection.tree_partition`.
    kind : {"auto", "map", "tree"}, default="auto"
        Rectangles, which need a tree that asks for at most two features, both of them
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
        return draw_nodes(result, ax)
    columns = _find_columns(result)
    size = _SIZE if show_curves else None
    axes: Axes = open_axes(ax, "plot_partition", size)
    panels = place_beside(axes, 2 if show_curves else 1, _GAP)
    order = np.argsort(result.expected[result.leaves], kind="stable")
    rank = np.empty(result.n_leaves, dtype=np.int64)
    rank[order] = np.arange(result.n_leaves)
    colours = _find_colours(result.n_leaves)[rank]
    _draw_rectangles(panels[0], result, columns, colours, rank)
    if show_curves:
        _draw_curves(panels[1], result, colours, rank)
    return axes


def _choose_kind(result: TreePartition, kind: str) -> str:
    if kind not in {"auto", "map", "tree"}:
        raise InvalidParameterError(
            f"`kind` must be 'auto', 'map' or 'tree', but it is {kind!r}."
        )
    if kind == "auto":
        is_plane = len(result.features) == 2 and not np.isnan(result.ranges).any()
        return "map" if is_plane else "tree"
    if kind == "map":
        used = np.unique(result.feature[result.feature >= 0])
        if len(used) > 2 or np.isnan(result.ranges[used]).any():
            raise InvalidParameterError(
                "Rectangles need a tree that asks for at most two features, both of them "
                f"numbers, but it asks for {', '.join(result.features[f] for f in used)}."
                "\n\nHint: kind='tree' draws any tree."
            )
        if (~np.isnan(result.ranges[:, 0])).sum() < 2:
            raise InvalidParameterError(
                "Rectangles need two features that are numbers, but the model has not.\n\n"
                "Hint: kind='tree' draws any tree."
            )
    return kind


def _find_columns(result: TreePartition) -> tuple[int, int]:
    """Return the two features of the map: those that are asked for, in their order."""
    used = np.unique(result.feature[result.feature >= 0]).tolist()
    known = np.flatnonzero(~np.isnan(result.ranges[:, 0])).tolist()
    chosen = sorted((used + [column for column in known if column not in used])[:2])
    return chosen[0], chosen[1]


def _find_colours(n_leaves: int) -> AnyArray:
    """Return colours from dark to bright, as many as there are leaves."""
    colour_map = require("matplotlib", extra="plot", feature="plot_partition").colormaps
    return np.asarray(colour_map["viridis"](np.linspace(*_COLOURS, max(n_leaves, 2))))


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
    panel.set_title(f"Events added\nby {_name_horizon(result)}", fontsize="medium")


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
    places = spread(ends, 0.055 * (high - low))
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


def _name_horizon(result: TreePartition) -> str:
    unit = name_unit(result.time_unit)
    if unit is None:
        return f"time {result.horizon:.4g}"
    return f"{result.horizon:.4g} {unit}"

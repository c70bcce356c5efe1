"""Trees of a model: their sizes, the partition by one of them, and all as a table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from boostr._engine.tree import Tree
from boostr._typing import AnyArray, BoolArray, FloatArray, IndexArray, OffsetArray
from boostr.basis import FittedSensorBasis
from boostr.data.events.frames import make_table
from boostr.inspection.model import FittedModel, check_position, read_model, sort_times

__all__ = ["LeafCounts", "TreePartition", "leaf_counts", "tree_partition", "trees_frame"]


@dataclass(frozen=True, slots=True, eq=False)
class LeafCounts:
    """Number of leaves of every tree.

    Made by `leaf_counts`.

    Parameters
    ----------
    counts : tuple of (k,) int64 array
        Leaves of the first, second, ... tree of each averaged model.
    weights : (n_members,) float64 array
        Shares of these models in the ensemble.

    See Also
    --------
    leaf_counts : Computes it.
    boostr.plotting.plot_leaf_counts : Draws it.

    Examples
    --------
    >>> from boostr import BoostR
    >>> from boostr.inspection import leaf_counts
    >>> from boostr.simulate import dataset_a
    >>> train = dataset_a(n=150, random_state=1)
    >>> model = BoostR(n_estimators=4, max_leaf_nodes=3, validation=None)
    >>> leaf_counts(model.fit(train.X, train.y)).counts
    (array([1, 3, 3, 3]),)
    """

    counts: tuple[OffsetArray, ...]
    weights: FloatArray


def leaf_counts(model: Any) -> LeafCounts:
    """Count the leaves of every tree of a model.

    Trees get smaller, down to a root alone, where there is nothing left to learn.

    Parameters
    ----------
    model : BoostR
        A fitted model.

    Returns
    -------
    LeafCounts
        Numbers of leaves by model and tree.

    See Also
    --------
    tree_partition : The leaves of one tree.
    boostr.plotting.plot_leaf_counts : Draws the result.

    Examples
    --------
    >>> from boostr import BoostR
    >>> from boostr.inspection import leaf_counts
    >>> from boostr.simulate import dataset_a
    >>> train = dataset_a(n=150, random_state=1)
    >>> model = BoostR(n_estimators=4, max_leaf_nodes=3, validation=None)
    >>> leaf_counts(model.fit(train.X, train.y)).weights
    array([1.])
    """
    members = read_model(model).ensemble.members
    return LeafCounts(
        counts=tuple(
            np.array([tree.n_leaves for tree in member.trees], dtype=np.int64)
            for member in members
        ),
        weights=np.array([member.weight for member in members], dtype=np.float64),
    )


_N_TIMES = 101  # of the grid on which leaf functions are given


@dataclass(frozen=True, slots=True, eq=False)
class TreePartition:
    """One tree: its splits in the units of the features, and the functions of its leaves.

    Made by `tree_partition`. Nodes are numbered from the root, 0. What is said of curves
    and expected numbers is what this tree alone adds to the sum; it can be negative.

    Parameters
    ----------
    features : tuple of str
        Names of the static features.
    feature : (n_nodes,) int32 array
        Feature of a node's split, -1 in leaves.
    threshold : (n_nodes,) float64 array
        Values up to this one go to the left; NaN in leaves and where categories are split.
    categories : tuple of (tuple or None)
        Categories that go to the left, None where there are none.
    missing_left : (n_nodes,) bool array
        Whether missing values go to the left.
    left, right : (n_nodes,) int32 array
        Children of a node, -1 in leaves.
    count : (n_nodes,) float64 array
        Training individuals in a node.
    gain : (n_nodes,) float64 array
        What a node's split gains, 0 in leaves.
    expected : (n_nodes,) float64 array
        Number of events by the horizon that the tree adds to individuals in a node.
    leaves : (n_leaves,) int32 array
        Nodes that are leaves, from left to right.
    boxes : (n_leaves, p, 2) float64 array
        Above what and up to what each leaf reaches on every feature, infinite where it has
        no end; for categorical features this says nothing.
    ranges : (p, 2) float64 array
        First and last border of the bins of every feature, NaN for categorical features and
        those without bins.
    times : (m,) float64 array
        Times of the curves.
    curves : (n_leaves, m) float64 array
        Number of events that each leaf adds by these times. With sensors, where these are
        as they were in training on average.
    member, tree : int
        Position of the model in the ensemble, and of the tree in it.
    weight : float
        Share of the model in the ensemble, which is not yet in `curves` and `expected`.
    horizon : float
        Last end of follow-up in training.
    time_unit : str or None
        Unit of time, where it is known.

    See Also
    --------
    tree_partition : Computes it.
    boostr.plotting.plot_partition : Draws it.

    Examples
    --------
    >>> from boostr import BoostR
    >>> from boostr.inspection import tree_partition
    >>> from boostr.simulate import dataset_a
    >>> train = dataset_a(n=150, random_state=1)
    >>> model = BoostR(n_estimators=2, max_leaf_nodes=3, validation=None)
    >>> partition = tree_partition(model.fit(train.X, train.y), tree=1)
    >>> partition.feature
    array([ 1, -1,  0, -1, -1], dtype=int32)
    """

    features: tuple[str, ...]
    feature: IndexArray
    threshold: FloatArray
    categories: tuple[tuple[Any, ...] | None, ...]
    missing_left: BoolArray
    left: IndexArray
    right: IndexArray
    count: FloatArray
    gain: FloatArray
    expected: FloatArray
    leaves: IndexArray
    boxes: FloatArray
    ranges: FloatArray
    times: FloatArray
    curves: FloatArray
    member: int
    tree: int
    weight: float
    horizon: float
    time_unit: str | None = None

    @property
    def n_leaves(self) -> int:
        """Number of leaves."""
        return len(self.leaves)


def tree_partition(
    model: Any, member: int = 0, tree: int = 0, *, times: ArrayLike | None = None
) -> TreePartition:
    """Read how one tree of a model cuts the features up, and what its leaves add.

    Parameters
    ----------
    model : BoostR
        A fitted model.
    member : int, default=0
        Which of the averaged models; they are in ``model.ensemble_.members``.
    tree : int, default=0
        Which of its trees. The first one is a root alone, unless ``init="zero"``.
    times : array-like of shape (m,), default=None
        Times of the leaf functions; from 0 to the horizon of training by default.

    Returns
    -------
    TreePartition
        Splits, leaves and their functions.

    See Also
    --------
    leaf_counts : Number of leaves of all trees.
    boostr.plotting.plot_partition : Draws the result.

    Examples
    --------
    Machines fail once, five or ten times in a hundred days, depending on whether two
    features are above one half. The first tree of the paper's algorithm sees it.

    >>> from boostr import BoostR
    >>> from boostr.inspection import tree_partition
    >>> from boostr.simulate import dataset_a
    >>> train = dataset_a(n=400, random_state=1)
    >>> model = BoostR.paper(n_estimators=1, gamma1=10.0, gamma2=1.0)
    >>> partition = tree_partition(model.fit(train.X, train.y))
    >>> partition.threshold[partition.feature >= 0].round(1)
    array([0.5, 0.5, 0.6])
    >>> partition.expected[partition.leaves].round(0)
    array([ 1.,  5.,  5., 10.])
    """
    fitted = read_model(model)
    members = fitted.ensemble.members
    member = check_position(member, len(members), "member", "averaged models")
    own = members[member]
    tree = check_position(tree, len(own.trees), "tree", "trees")
    found = own.trees[tree]
    grid = sort_times(times, np.linspace(0.0, fitted.horizon, _N_TIMES))
    nodes = found.nodes
    is_split = nodes.feature >= 0
    left, right = _find_children(found)
    threshold = _read_thresholds(fitted, found)
    leaves = _order_leaves(left, right)
    return TreePartition(
        features=fitted.names,
        feature=nodes.feature.copy(),
        threshold=threshold,
        categories=_read_categories(fitted, found),
        missing_left=nodes.missing_left & is_split,
        left=left,
        right=right,
        count=found.count.copy(),
        gain=found.gain.copy(),
        expected=_evaluate(fitted, nodes.value, np.array([fitted.horizon]))[:, 0],
        leaves=leaves,
        boxes=_find_boxes(nodes.feature, threshold, left, right, len(fitted.names)),
        ranges=_find_ranges(fitted),
        times=grid,
        curves=_evaluate(fitted, nodes.value[leaves], grid),
        member=member,
        tree=tree,
        weight=float(own.weight),
        horizon=fitted.horizon,
        time_unit=fitted.time_unit,
    )


def _find_children(tree: Tree) -> tuple[IndexArray, IndexArray]:
    """Return the left and right children of every node, -1 in leaves."""
    left = np.where(tree.nodes.feature >= 0, tree.nodes.left_child, -1).astype(np.int32)
    return left, np.where(left >= 0, left + 1, -1).astype(np.int32)


def _read_thresholds(model: FittedModel, tree: Tree) -> FloatArray:
    """Return thresholds in the units of the features."""
    mapper, nodes = model.ensemble.mapper, tree.nodes
    threshold = np.full(len(nodes.feature), np.nan)
    for node in np.flatnonzero((nodes.feature >= 0) & (nodes.category_set < 0)):
        begin, end = mapper.offsets[nodes.feature[node] : nodes.feature[node] + 2]
        borders = mapper.thresholds[begin:end]
        place = int(nodes.bin_threshold[node])
        # Above the last border is nothing but what is missing.
        threshold[node] = borders[place] if place < len(borders) else np.inf
    return threshold


def _read_categories(model: FittedModel, tree: Tree) -> tuple[tuple[Any, ...] | None, ...]:
    """Return the categories that go to the left, by node."""
    nodes = tree.nodes
    found: list[tuple[Any, ...] | None] = []
    for feature, row in zip(nodes.feature, nodes.category_set, strict=True):
        names = model.categories[feature] if feature >= 0 and row >= 0 else None
        if names is None:
            found.append(None)
            continue
        words = nodes.categories[row]
        found.append(
            tuple(
                name
                for code, name in enumerate(names)
                if int(words[code >> 5]) >> (code & 31) & 1
            )
        )
    return tuple(found)


def _order_leaves(left: IndexArray, right: IndexArray) -> IndexArray:
    """Return the leaves from left to right."""
    waiting, leaves = [0], []
    while waiting:
        node = waiting.pop()
        if left[node] < 0:
            leaves.append(node)
        else:
            waiting += [int(right[node]), int(left[node])]
    return np.array(leaves, dtype=np.int32)


def _find_boxes(
    feature: IndexArray,
    threshold: FloatArray,
    left: IndexArray,
    right: IndexArray,
    n_features: int,
) -> FloatArray:
    """Return the limits of the leaves on every feature."""
    boxes = np.empty((len(feature), n_features, 2))
    boxes[0] = (-np.inf, np.inf)
    for node in np.flatnonzero(feature >= 0):  # parents stand before their children
        boxes[left[node]] = boxes[right[node]] = boxes[node]
        if not np.isnan(threshold[node]):
            boxes[left[node], feature[node], 1] = threshold[node]
            boxes[right[node], feature[node], 0] = threshold[node]
    return boxes[_order_leaves(left, right)]


def _find_ranges(model: FittedModel) -> FloatArray:
    """Return the first and last thresholds of the bins."""
    mapper = model.ensemble.mapper
    ranges = np.full((len(model.names), 2), np.nan)
    for column in np.flatnonzero(~mapper.is_categorical):
        borders = mapper.thresholds[mapper.offsets[column] : mapper.offsets[column + 1]]
        if borders.size:
            ranges[column] = borders[0], borders[-1]
    return ranges


def _evaluate(model: FittedModel, value: FloatArray, times: FloatArray) -> FloatArray:
    """Return the curves of coefficients, (n, m), as they add up over trees."""
    basis = model.basis
    clock = model.clock.read(times)
    if not isinstance(basis, FittedSensorBasis):
        return np.asarray(value @ basis.evaluate(clock).T)
    if basis.baseline is not None:  # to which the sensors add nothing on average
        return np.asarray(value[:, : basis.n_baseline] @ basis.evaluate_baseline(clock).T)
    rates = np.concatenate([sensor.mean @ sensor.transform for sensor in basis.sensors])
    return np.multiply.outer(value @ rates, clock)


def trees_frame(model: Any, *, backend: str | None = None) -> Any:
    """List the nodes of all trees of a model in a table.

    The coefficients of an individual are the sum over all trees of its leaf's, times the
    weight of the tree's model.

    Parameters
    ----------
    model : BoostR
        A fitted model.
    backend : {"pandas", "polars"}, optional
        Which table to make; by default pandas if it is installed, else polars.

    Returns
    -------
    DataFrame
        One row per node with the columns ``member`` (which of the averaged models, one per
        fold and shape of trees), its ``weight``, ``tree`` and ``node`` (both from 0),
        ``parent``, ``left`` and ``right`` (-1 where there is none), ``feature`` (null in
        leaves), ``threshold`` (values up to it go left; NaN in leaves and for categories),
        ``categories`` (those that go left, as text, else null), ``missing_left``, ``gain``
        of the split, ``count`` of training individuals, and the node's coefficients of all
        leaf functions, ``coefficient_0`` and so on.

    See Also
    --------
    tree_partition : One tree, with the functions of its leaves.

    Examples
    --------
    >>> from boostr import BoostR
    >>> from boostr.inspection import trees_frame
    >>> from boostr.simulate import dataset_a
    >>> data = dataset_a(n=150, random_state=1)
    >>> model = BoostR(n_estimators=2, max_leaf_nodes=3, validation=None)
    >>> frame = trees_frame(model.fit(data.X, data.y))
    >>> frame[["tree", "node", "parent", "left", "right", "count"]].tail(5)
       tree  node  parent  left  right  count
    1     1     0      -1     1      2  150.0
    2     1     1       0    -1     -1   77.0
    3     1     2       0     3      4   73.0
    4     1     3       2    -1     -1   36.0
    5     1     4       2    -1     -1   37.0
    """
    fitted = read_model(model)
    parts = [
        _list_nodes(fitted, place, member.weight, number, tree)
        for place, member in enumerate(fitted.ensemble.members)
        for number, tree in enumerate(member.trees)
    ]
    columns = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
    for name in ("feature", "categories"):  # lists let the table choose a type of its own
        columns[name] = columns[name].tolist()
    return make_table(columns, backend)


def _list_nodes(
    model: FittedModel, member: int, weight: float, place: int, tree: Tree
) -> dict[str, Any]:
    """Return the columns of one tree."""
    nodes, n_nodes = tree.nodes, len(tree.gain)
    left, right = _find_children(tree)
    names = np.array([*model.names, None], dtype=object)
    categories = np.empty(n_nodes, dtype=object)
    for node, found in enumerate(_read_categories(model, tree)):
        categories[node] = None if found is None else [str(name) for name in found]
    columns: dict[str, AnyArray] = {
        "member": np.full(n_nodes, member, dtype=np.int32),
        "weight": np.full(n_nodes, weight),
        "tree": np.full(n_nodes, place, dtype=np.int32),
        "node": np.arange(n_nodes, dtype=np.int32),
        "parent": _find_parents(left),
        "left": left,
        "right": right,
        "feature": names[nodes.feature],
        "threshold": _read_thresholds(model, tree),
        "categories": categories,
        "missing_left": nodes.missing_left & (left >= 0),
        "gain": tree.gain,
        "count": tree.count,
    }
    for term in range(nodes.value.shape[1]):
        columns[f"coefficient_{term}"] = nodes.value[:, term]
    return columns


def _find_parents(left: IndexArray) -> IndexArray:
    parents = np.full(len(left), -1, dtype=np.int32)
    splits = np.flatnonzero(left >= 0)
    parents[left[splits]] = splits
    parents[left[splits] + 1] = splits
    return parents

"""Partition of the features by one tree, and the values of its leaves."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from boostr._engine.ensemble import Member
from boostr._engine.tree import Tree
from boostr._typing import BoolArray, FloatArray, IndexArray
from boostr.basis import FittedSensorBasis
from boostr.exceptions import InvalidParameterError
from boostr.inspection._model import FittedModel, check_model, time_unit
from boostr.inspection._times import check_grid

__all__ = ["TreePartition", "read_categories", "read_thresholds", "tree_partition"]

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
    fitted = check_model(model)
    own = _find_member(fitted, member)
    found = own.trees[_check_place(tree, len(own.trees), "tree", "trees")]
    grid = check_grid(times, np.linspace(0.0, fitted.horizon_, _N_TIMES))
    nodes = found.nodes
    is_split = nodes.feature >= 0
    left = np.where(is_split, nodes.left_child, -1).astype(np.int32)
    right = np.where(is_split, nodes.left_child + 1, -1).astype(np.int32)
    threshold = read_thresholds(fitted, found)
    leaves = _order_leaves(left, right)
    return TreePartition(
        features=tuple(fitted.encoder_.names),
        feature=nodes.feature.copy(),
        threshold=threshold,
        categories=read_categories(fitted, found),
        missing_left=nodes.missing_left & is_split,
        left=left,
        right=right,
        count=found.count.copy(),
        gain=found.gain.copy(),
        expected=_evaluate(fitted, nodes.value, np.array([fitted.horizon_]))[:, 0],
        leaves=leaves,
        boxes=_find_boxes(nodes.feature, threshold, left, right, _n_features(fitted)),
        ranges=_find_ranges(fitted),
        times=grid,
        curves=_evaluate(fitted, nodes.value[leaves], grid),
        member=int(member),
        tree=int(tree),
        weight=float(own.weight),
        horizon=float(fitted.horizon_),
        time_unit=time_unit(fitted),
    )


def _n_features(model: FittedModel) -> int:
    return len(model.encoder_.names)


def _find_member(model: FittedModel, member: Any) -> Member:
    members = model.ensemble_.members
    return members[_check_place(member, len(members), "member", "averaged models")]


def _check_place(place: Any, n: int, name: str, plural: str) -> int:
    is_whole = isinstance(place, Integral) and not isinstance(place, bool)
    if is_whole and 0 <= int(place) < n:
        return int(place)
    raise InvalidParameterError(
        f"`{name}` must be a position among {n} {plural}, but it is {place!r}.\n\n"
        "Hint: positions begin with 0."
    )


def read_thresholds(model: FittedModel, tree: Tree) -> FloatArray:
    """Return thresholds in the units of the features."""
    mapper, nodes = model.ensemble_.mapper, tree.nodes
    threshold = np.full(len(nodes.feature), np.nan)
    for node in np.flatnonzero((nodes.feature >= 0) & (nodes.category_set < 0)):
        begin, end = mapper.offsets[nodes.feature[node] : nodes.feature[node] + 2]
        borders = mapper.thresholds[begin:end]
        place = int(nodes.bin_threshold[node])
        # Above the last border is nothing but what is missing.
        threshold[node] = borders[place] if place < len(borders) else np.inf
    return threshold


def read_categories(model: FittedModel, tree: Tree) -> tuple[tuple[Any, ...] | None, ...]:
    """Return the categories that go to the left, by node."""
    nodes = tree.nodes
    found: list[tuple[Any, ...] | None] = []
    for feature, row in zip(nodes.feature, nodes.category_set, strict=True):
        names = model.encoder_.categories[feature] if feature >= 0 and row >= 0 else None
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
    mapper = model.ensemble_.mapper
    ranges = np.full((_n_features(model), 2), np.nan)
    for column in np.flatnonzero(~mapper.is_categorical):
        borders = mapper.thresholds[mapper.offsets[column] : mapper.offsets[column + 1]]
        if borders.size:
            ranges[column] = borders[0], borders[-1]
    return ranges


def _evaluate(model: FittedModel, value: FloatArray, times: FloatArray) -> FloatArray:
    """Return the curves of coefficients, (n, m), as they add up over trees."""
    basis = model.ensemble_.basis
    clock = model.clock_.read(times)
    if not isinstance(basis, FittedSensorBasis):
        return np.asarray(value @ basis.evaluate(clock).T)
    if basis.baseline is not None:  # to which the sensors add nothing on average
        return np.asarray(value[:, : basis.n_baseline] @ basis.evaluate_baseline(clock).T)
    rates = np.concatenate([sensor.mean @ sensor.transform for sensor in basis.sensors])
    return np.multiply.outer(value @ rates, clock)

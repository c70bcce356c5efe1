"""All trees of a fitted ensemble as a table with one row per node."""

from __future__ import annotations

from typing import Any

import numpy as np

from boostr._engine.tree import Tree
from boostr._typing import AnyArray, IndexArray
from boostr.data._frames import make_table
from boostr.inspection._model import FittedModel, check_model
from boostr.inspection._tree_partition import read_categories, read_thresholds

__all__ = ["trees_frame"]


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
    fitted = check_model(model)
    parts = [
        _list_nodes(fitted, member, weight, place, tree)
        for member, (trees, weight) in enumerate(
            (member.trees, member.weight) for member in fitted.ensemble_.members
        )
        for place, tree in enumerate(trees)
    ]
    columns = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
    for name in ("feature", "categories"):  # lists let the table choose a type of its own
        columns[name] = columns[name].tolist()
    return make_table(columns, backend)


def _list_nodes(
    model: FittedModel, member: int, weight: float, place: int, tree: Tree
) -> dict[str, Any]:
    """Return the columns of one tree."""
    nodes = tree.nodes
    n_nodes = len(nodes.feature)
    is_split = nodes.feature >= 0
    left = np.where(is_split, nodes.left_child, -1).astype(np.int32)
    columns: dict[str, AnyArray] = {
        "member": np.full(n_nodes, member, dtype=np.int32),
        "weight": np.full(n_nodes, weight),
        "tree": np.full(n_nodes, place, dtype=np.int32),
        "node": np.arange(n_nodes, dtype=np.int32),
        "parent": _find_parents(left),
        "left": left,
        "right": np.where(is_split, left + 1, -1).astype(np.int32),
        "feature": _name_features(model, nodes.feature),
        "threshold": read_thresholds(model, tree),
        "categories": _name_categories(model, tree),
        "missing_left": nodes.missing_left & is_split,
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


def _name_features(model: FittedModel, feature: IndexArray) -> AnyArray:
    names = np.array([*model.encoder_.names, None], dtype=object)
    return np.asarray(names[feature])


def _name_categories(model: FittedModel, tree: Tree) -> AnyArray:
    found = np.empty(len(tree.gain), dtype=object)
    for node, names in enumerate(read_categories(model, tree)):
        found[node] = None if names is None else [str(name) for name in names]
    return found

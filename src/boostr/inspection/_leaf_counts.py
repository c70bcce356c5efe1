"""How large the trees of a model are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from boostr._typing import FloatArray, OffsetArray
from boostr.inspection._model import check_model

__all__ = ["LeafCounts", "leaf_counts"]


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
    members = check_model(model).ensemble_.members
    return LeafCounts(
        counts=tuple(
            np.array([tree.n_leaves for tree in member.trees], dtype=np.int64)
            for member in members
        ),
        weights=np.array([member.weight for member in members], dtype=np.float64),
    )

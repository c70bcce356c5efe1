"""The nodes of trees as a named tuple of arrays, which kernels take as one argument."""

from __future__ import annotations

from typing import NamedTuple

from boostr._typing import AnyArray, BinArray, BoolArray, FloatArray, IndexArray

__all__ = ["Nodes"]


class Nodes(NamedTuple):
    """Nodes of one tree, or of many trees one after the other.

    Children are counted from the root of their own tree; the right child follows the left.
    The missing bin is higher than all others, and its bit in a set of categories says the
    same as ``missing_left``.
    """

    feature: IndexArray  # (n_nodes,) -1 in leaves
    bin_threshold: BinArray  # (n_nodes,) bins up to this one go left
    missing_left: BoolArray  # (n_nodes,)
    left_child: IndexArray  # (n_nodes,)
    category_set: IndexArray  # (n_nodes,) row of ``categories``, -1 for numeric splits
    categories: AnyArray  # (n_sets, 8) uint32, bit sets of the categories that go left
    value: FloatArray  # (n_nodes, n_terms) coefficients; inner nodes keep theirs too

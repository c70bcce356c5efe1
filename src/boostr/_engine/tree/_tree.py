"""One tree, and many trees packed for prediction."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np

from boostr._kernels.apply import Nodes
from boostr._typing import AnyArray, BoolArray, FloatArray, IndexArray

__all__ = ["Tree", "pack_sides", "pack_trees"]


@dataclass(frozen=True, slots=True, eq=False)
class Tree:
    """A binary tree whose leaves hold coefficients.

    Nodes are numbered from the root, 0; a split's children are neighbours.
    """

    nodes: Nodes
    gain: FloatArray  # (n_nodes,) of the split, 0 in leaves
    count: FloatArray  # (n_nodes,) individuals
    _make: Callable[[], Tree] | None = field(default=None, init=False, repr=False)

    @classmethod
    def later(cls, make: Callable[[], Tree]) -> Self:
        """Return a tree that is made once it is looked at, which most never are."""
        tree = cls.__new__(cls)
        object.__setattr__(tree, "_make", make)
        return tree

    def __getattr__(self, name: str) -> Any:
        """Make the tree if it is not yet, and return one of its arrays."""
        make = object.__getattribute__(self, "_make")
        if make is not None and name in {"nodes", "gain", "count"}:
            made = make()
            for each in ("nodes", "gain", "count"):
                object.__setattr__(self, each, getattr(made, each))
            object.__setattr__(self, "_make", None)
        return object.__getattribute__(self, name)  # another thread may have made it

    @property
    def n_leaves(self) -> int:
        """Number of leaves."""
        return int((self.nodes.feature < 0).sum())

    def scaled(self, factor: float) -> Tree:
        """Return the tree with all coefficients multiplied."""
        return self._with_values(self.nodes.value * factor)

    def widened(self, term: int, n_terms: int) -> Tree:
        """Return the tree of one term as a tree of all terms."""
        value = np.zeros((len(self.gain), n_terms))
        value[:, term] = self.nodes.value[:, 0]
        return self._with_values(value)

    def _with_values(self, value: FloatArray) -> Tree:
        return Tree(Nodes(*self.nodes[:-1], value), self.gain, self.count)


def pack_sides(goes_left: BoolArray) -> AnyArray:
    """Return the side of 256 bins as eight 32-bit words."""
    sides = np.zeros(256, dtype=np.bool_)
    sides[: len(goes_left)] = goes_left
    return np.packbits(sides, bitorder="little").view(np.uint32)


def pack_trees(trees: Sequence[Tree], n_terms: int) -> tuple[Nodes, IndexArray]:
    """Put the nodes of many trees one after the other; return them and the roots."""
    if not trees:
        return _no_nodes(n_terms), np.empty(0, dtype=np.int32)
    parts = [tree.nodes for tree in trees]
    sizes = [len(part.feature) for part in parts]
    n_sets = np.cumsum([0] + [len(part.categories) for part in parts[:-1]])
    own = np.concatenate([part.category_set for part in parts])
    category_set = np.where(own >= 0, own + np.repeat(n_sets, sizes), -1)
    nodes = Nodes(
        feature=np.concatenate([part.feature for part in parts]),
        bin_threshold=np.concatenate([part.bin_threshold for part in parts]),
        missing_left=np.concatenate([part.missing_left for part in parts]),
        left_child=np.concatenate([part.left_child for part in parts]),
        category_set=category_set.astype(np.int32),
        categories=np.concatenate([part.categories for part in parts]),
        value=np.concatenate([part.value for part in parts]),
    )
    roots = np.cumsum([0, *sizes[:-1]])
    return nodes, roots.astype(np.int32)


def _no_nodes(n_terms: int) -> Nodes:
    index = np.empty(0, dtype=np.int32)
    return Nodes(
        feature=index,
        bin_threshold=np.empty(0, dtype=np.uint8),
        missing_left=np.empty(0, dtype=np.bool_),
        left_child=index,
        category_set=index,
        categories=np.empty((0, 8), dtype=np.uint32),
        value=np.empty((0, n_terms)),
    )

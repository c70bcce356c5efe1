"""One tree, and many trees packed for prediction."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np

from boostr._kernels.apply import Nodes
from boostr._typing import AnyArray, BoolArray, FloatArray, IndexArray, OffsetArray

__all__ = ["Tree", "TreePack", "pack_sides", "pack_trees"]


class TreePack(NamedTuple):
    """Trees one after the other, as they were grown."""

    nodes: Nodes
    gain: FloatArray  # (n_nodes,)
    n_members: FloatArray  # (n_nodes,)
    ends: OffsetArray  # (n_trees, 2) of nodes and of sets of categories

    def cut(self, place: int) -> tuple[Nodes, FloatArray, FloatArray]:
        """Return nodes, gains and counts of one of the trees."""
        first, first_set = self.ends[place - 1] if place > 0 else (0, 0)
        last, last_set = self.ends[place]
        own, nodes = slice(first, last), self.nodes
        cut = Nodes(
            nodes.feature[own],
            nodes.bin_threshold[own],
            nodes.missing_left[own],
            nodes.left_child[own],
            nodes.category_set[own],
            nodes.categories[first_set:last_set],
            nodes.value[own],
        )
        return cut, self.gain[own], self.n_members[own]


@dataclass(frozen=True, slots=True, eq=False)
class Tree:
    """A binary tree whose leaves hold coefficients.

    Nodes are numbered from the root, 0; a split's children are neighbours.
    """

    nodes: Nodes
    gain: FloatArray  # (n_nodes,) of the split, 0 in leaves
    count: FloatArray  # (n_nodes,) individuals
    _place: int = field(default=0, init=False, repr=False)
    _pack: TreePack | None = field(default=None, init=False, repr=False)

    @classmethod
    def later(cls, place: int, pack: TreePack) -> Self:
        """Return a tree that is cut out once it is looked at, which most never are."""
        tree = cls.__new__(cls)
        object.__setattr__(tree, "_place", place)
        object.__setattr__(tree, "_pack", pack)
        return tree

    if not TYPE_CHECKING:  # which knows all attributes

        def __getattr__(self, name: str) -> Any:
            """Cut the tree out if it is not yet, and return one of its arrays."""
            place = object.__getattribute__(self, "_place")
            pack = object.__getattribute__(self, "_pack")
            if pack is not None and name in {"nodes", "gain", "count"}:
                nodes, gain, count = pack.cut(place)
                object.__setattr__(self, "nodes", nodes)
                object.__setattr__(self, "gain", gain)
                object.__setattr__(self, "count", count)
                # In this order: a thread that reads another place must not find the pack.
                object.__setattr__(self, "_pack", None)
                object.__setattr__(self, "_place", 0)
            return object.__getattribute__(self, name)

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

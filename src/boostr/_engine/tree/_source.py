"""Where a grower's histograms come from: local arrays here, other machines elsewhere."""

from __future__ import annotations

from math import prod
from typing import Protocol

import numpy as np

from boostr._engine.binning import BinnedFeatures
from boostr._engine.tree._coarse import CoarseBins
from boostr._engine.tree._tree import Tree
from boostr._engine.tree._whole import FineBins, TreeSpace, WholeRoot
from boostr._kernels.binning import partition_members, partition_members_parallel
from boostr._kernels.growth import Individuals
from boostr._kernels.histogram import (
    accumulate_histograms_parallel,
    accumulate_some_bins,
    count_spare,
)
from boostr._typing import BoolArray, FloatArray, IndexArray, PositionArray

__all__ = ["PARALLEL_FROM", "HistogramSource", "LocalSource"]

PARALLEL_FROM = 10_000  # members from which waking up threads pays
_MOST_SUMS = 2**21  # of all leaves of a tree that is grown by one kernel
_FEW_CHANNELS = 32  # more of them take as long as more members
_FEW_MEMBERS = 2_000  # of a tree whose nodes may be summed anew, and keep no histograms
_MANY_SUMS = 2**15  # of a node, from which they are
_N_TOGETHER = 8  # features that are summed at a time then


class HistogramSource(Protocol):
    """All that a grower knows of individuals."""

    def read_root(self, features: IndexArray, max_leaves: int) -> WholeRoot | None:
        """Return the root, or None where a tree has to be grown node by node."""
        ...

    def root(self, features: IndexArray) -> FloatArray:
        """Return the root's sums, (n_used, n_bins, n_channels), for the given features."""
        ...

    def read_bins(self, node: int, feature: int, first: int, stop: int) -> FloatArray:
        """Return a node's sums in some fine bins of a feature, and in the missing one."""
        ...

    def split(
        self, node: int, feature: int, goes_left: BoolArray, children: tuple[int, int]
    ) -> tuple[FloatArray, FloatArray]:
        """Send the members of a node to its children and return the children's sums."""
        ...


class LocalSource:
    """Histograms of individuals whose bins and statistics lie in local arrays.

    Parameters
    ----------
    features : BinnedFeatures
        Bins of all individuals.
    gradients : (n, n_gradients) float64
        Statistics of all individuals that may change between trees.
    curvatures : (n, n_curvatures) float64
        Those that may not.
    n_threads : int
        Threads to use where the node is large; the sums do not depend on it.
    is_coarse : bool, default=False
        Whether histograms have coarse bins.
    is_shared : bool, default=True
        Whether threads can grow a whole tree together; else they share the sums of large
        nodes.
    """

    def __init__(
        self,
        features: BinnedFeatures,
        gradients: FloatArray,
        curvatures: FloatArray,
        n_threads: int,
        *,
        is_coarse: bool = False,
        is_shared: bool = True,
    ) -> None:
        self._bins = features.bins
        self._n_bins = features.n_bins
        steps = np.ones_like(features.n_values)
        if is_coarse:
            coarse = CoarseBins(features.n_values, features.is_categorical)
            self._bins = coarse.join(features.bins, features.missing_bin)
            self._n_bins = coarse.missing_bin + 1
            steps = coarse.steps
        self._fine = FineBins(features.bins, features.n_values, steps, features.missing_bin)
        self._gradients = gradients
        self._curvatures = curvatures
        self._n_threads = n_threads
        self._is_shared = is_shared
        self._members = np.empty(0, dtype=np.int32)
        self._used = np.empty(0, dtype=np.int32)
        self._root: FloatArray = np.empty((0, 0, 0))
        self._order = self._members
        self.scratch = np.empty(len(features.bins), np.int32)  # free between trees
        self._space: TreeSpace | None = None
        self._span: dict[int, tuple[int, int]] = {}
        self._histograms: dict[int, FloatArray] = {}
        self._is_grown = False  # whether a tree has sorted the members since the start

    def start(self, members: IndexArray) -> None:
        """Begin a tree on the given individuals."""
        if members is not self._members:
            self._members = members
            self._order = np.empty_like(members)
            self._root = np.empty((0, 0, 0))
        self._order[:] = members
        self._is_grown = False

    def read_root(self, features: IndexArray, max_leaves: int) -> WholeRoot | None:
        """Return the root unless it has too many members or sums for one kernel."""
        shape = self._root_shape(features)
        n_threads = self._n_threads if len(self._order) >= PARALLEL_FROM else 1
        is_large = n_threads > 1 and not self._is_shared
        sums_anew = max_leaves > 1 and self._sums_anew(shape)
        if not sums_anew and (is_large or max_leaves * prod(shape) > _MOST_SUMS):
            return None
        is_summed = not sums_anew and (max_leaves == 1 or not self._knows(features, shape))
        if is_summed:
            self._sum_root(features)
        space = self._space
        n_spare = count_spare(len(self._order)) if n_threads > 1 else 1
        own_shape = (_N_TOGETHER, *shape[1:]) if sums_anew else shape
        if space is None or space.histograms.shape != (max_leaves + n_spare, *own_shape):
            sizes = self._n_gradients, self._fine.missing_bin, n_spare, self._n_threads
            space = TreeSpace(max_leaves, own_shape, *sizes)
            self._space = space
        self._span, self._is_grown = {}, True
        data = Individuals(
            self._bins,
            self._fine.bins,
            self._gradients,
            self._curvatures,
            self._order,
            self.scratch,
        )
        root = space.histograms[0] if sums_anew else self._root
        kind = {"is_summed": is_summed, "sums_anew": sums_anew}
        return WholeRoot(data, root, space, self._fine, n_threads, **kind)

    def take_spans(self, tree: Tree) -> tuple[IndexArray, PositionArray, IndexArray] | None:
        """Return members by leaf, where those of leaves stand, and members of no leaf yet.

        They are those of the tree that was grown since the last call, None without one.
        Node by node, the last split is not carried out: its members are of no leaf yet.
        """
        if not self._is_grown:
            return None
        self._is_grown = False
        if not self._span:
            assert self._space is not None  # noqa: S101 - a kernel has grown the tree
            return self._order, self._space.nodes.span, self._order[:0]
        span = np.zeros((len(tree.nodes.feature), 2), dtype=np.int64)
        span[list(self._span)] = list(self._span.values())
        is_open = (tree.nodes.feature >= 0) & (span[:, 1] > 0)
        rest = [self._order[slice(*own)] for own in span[is_open]]
        return self._order, span, np.concatenate([self._order[:0], *rest])

    def root(self, features: IndexArray) -> FloatArray:
        """Return the root's sums, see `HistogramSource`."""
        self._sum_root(features)
        self._span, self._is_grown = {0: (0, len(self._order))}, True
        self._histograms = {0: self._root.copy()}
        return self._histograms[0]

    def _sums_anew(self, shape: tuple[int, int, int]) -> bool:
        """Return whether all nodes are summed anew, and not the smaller of siblings alone.

        To read and write the sums of many features takes longer than to sum over few
        members.
        """
        is_few = self._is_shared and len(self._order) <= _FEW_MEMBERS
        return is_few and prod(shape) >= _MANY_SUMS

    def _sum_root(self, features: IndexArray) -> None:
        """Sum over the root's members; what does not change between trees once."""
        shape = self._root_shape(features)
        is_known = self._knows(features, shape)
        self._used = features
        n_members = len(self._order)
        if is_known:
            gradients = np.empty((*shape[:2], self._n_gradients))
            self._accumulate(0, n_members, gradients)
            self._root[:, :, : self._n_gradients] = gradients
        else:
            self._root = np.empty(shape)
            self._accumulate(0, n_members, self._root)

    @property
    def _n_gradients(self) -> int:
        return self._gradients.shape[1]

    def _root_shape(self, features: IndexArray) -> tuple[int, int, int]:
        """Return the numbers of features, bins, and sums with the number of members."""
        n_channels = self._n_gradients + self._curvatures.shape[1] + 1
        return len(features), self._n_bins, n_channels

    def _knows(self, features: IndexArray, shape: tuple[int, ...]) -> bool:
        """Return whether the root's sums are known but for the gradients."""
        # The same features may come as another array, from another process.
        is_same = features is self._used or np.array_equal(features, self._used)
        return self._root.shape == shape and is_same

    def _uses_threads(self, n_members: int, n_channels: int) -> bool:
        """Return whether to sum so much on several threads."""
        n_sums = n_members * max(n_channels, _FEW_CHANNELS)
        return self._n_threads > 1 and n_sums >= PARALLEL_FROM * _FEW_CHANNELS

    def read_bins(self, node: int, feature: int, first: int, stop: int) -> FloatArray:
        """Return a node's sums in some fine bins of a feature, see `HistogramSource`."""
        members = self._order[slice(*self._span[node])]
        out = np.empty((stop - first + 1, self._root.shape[2]))
        accumulate_some_bins(
            self._fine.bins,
            self._gradients,
            self._curvatures,
            members,
            feature,
            first,
            self._fine.missing_bin,
            out,
        )
        return out

    def split(
        self, node: int, feature: int, goes_left: BoolArray, children: tuple[int, int]
    ) -> tuple[FloatArray, FloatArray]:
        """Partition the node; sum over its smaller child, or over both.

        Where the larger child is not summed, it has the difference.
        """
        begin, end = self._span.pop(node)
        middle = begin + self._partition(begin, end, feature, goes_left)
        self._span[children[0]] = (begin, middle)
        self._span[children[1]] = (middle, end)
        larger = self._histograms.pop(node)
        smaller = np.empty_like(larger)
        spans = sorted([(begin, middle), (middle, end)], key=lambda own: own[1] - own[0])
        self._accumulate(*spans[0], smaller)
        if self._sums_anew(larger.shape):
            self._accumulate(*spans[1], larger)
        else:
            np.subtract(larger, smaller, out=larger)
        pair = (smaller, larger) if spans[0][0] == begin else (larger, smaller)
        self._histograms[children[0]], self._histograms[children[1]] = pair
        return pair

    def _accumulate(self, begin: int, end: int, out: FloatArray) -> None:
        """Sum over members, see `accumulate_histograms`."""
        data = (self._bins, self._gradients, self._curvatures)
        uses_threads = self._uses_threads(end - begin, out.shape[2])
        n_parts = self._n_threads if uses_threads else 1
        members = self._order[begin:end]
        accumulate_histograms_parallel(*data, members, self._used, out, n_parts)

    def _partition(self, begin: int, end: int, feature: int, goes_left: BoolArray) -> int:
        arguments = (
            self._fine.bins,
            feature,
            goes_left,
            self._order[begin:end],
            self.scratch[begin:end],
        )
        if self._n_threads > 1 and end - begin >= PARALLEL_FROM:
            return partition_members_parallel(*arguments, self._n_threads)
        return partition_members(*arguments)

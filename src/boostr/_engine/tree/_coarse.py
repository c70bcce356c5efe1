"""Coarse bins for splits that take long to judge, and the fine ones where it matters.

With groups of terms a histogram has about a hundred sums in every bin, which take longer to
write and to read than anything else does. So neighbouring bins are joined in histograms. A
split that is made looks at the fine bins on both sides of its threshold, for which only the
individuals in them are summed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from boostr._engine.tree._search import (
    FoundSplit,
    LeafNode,
    SearchParams,
    search_features,
)
from boostr._kernels.solve import GROUPED
from boostr._typing import BinArray, BoolArray, FloatArray, IndexArray

if TYPE_CHECKING:
    from boostr._engine.tree._source import HistogramSource

__all__ = ["CoarseBins", "joins_bins", "refine_split"]

_MOST = 48  # coarse bins of a numeric feature
_FEW_TERMS = 4  # of a leaf, up to which there is little to sum in a bin


def joins_bins(solver: int, n_terms: int) -> bool:
    """Tell whether histograms have coarse bins."""
    return solver == GROUPED and n_terms > _FEW_TERMS


class CoarseBins:
    """Neighbouring bins of numeric features that are joined; categories never are."""

    def __init__(self, n_values: IndexArray, is_categorical: BoolArray | None) -> None:
        self.fine = n_values
        is_kept = False if is_categorical is None else is_categorical
        steps = np.where(is_kept, 1, -(-n_values // _MOST))
        self.steps: IndexArray = np.maximum(steps, 1).astype(np.int32)
        self.n_values: IndexArray = (-(-n_values // self.steps)).astype(np.int32)
        self.missing_bin = int(self.n_values.max(initial=1))

    def join(self, bins: BinArray, missing_bin: int) -> BinArray:
        """Return the coarse bins of fine ones."""
        joined = bins // self.steps.astype(np.uint8)
        joined[bins == missing_bin] = self.missing_bin
        return np.ascontiguousarray(joined)


def refine_split(
    source: HistogramSource,
    coarse: CoarseBins,
    search: SearchParams,
    node: int,
    split: FoundSplit,
    seed: int,
) -> None:
    """Replace the coarse bins of a split by fine ones, and its threshold by the best."""
    feature, is_missing_left = split.feature, split.goes_left[-1]
    n_fine, step = int(coarse.fine[feature]), int(coarse.steps[feature])
    goes_left = np.full(int(coarse.fine.max(initial=1)) + 1, is_missing_left)
    if step == 1:
        goes_left[:n_fine] = split.goes_left[:n_fine]
        split.goes_left = goes_left
        return
    middle = min((split.bin_index + 1) * step, n_fine)
    if search.n_candidates > 0:
        middle = _draw_threshold(source, search, node, split, middle, step, seed)
    else:
        middle = _find_threshold(source, search, node, split, middle, step, n_fine)
    split.bin_index = middle - 1
    goes_left[:middle], goes_left[middle:n_fine] = True, False
    goes_left[-1] = split.missing_left
    split.goes_left = goes_left


def _draw_threshold(
    source: HistogramSource,
    search: SearchParams,
    node: int,
    split: FoundSplit,
    middle: int,
    step: int,
    seed: int,
) -> int:
    """Draw a fine threshold in the place of the last one of a coarse bin."""
    n_moved = (seed >> 32) % step
    cells = source.read_bins(node, split.feature, middle - n_moved, middle)
    left = split.sums[1] - cells[:-1].sum(axis=0)
    if n_moved == 0 or left[-1] < search.min_count:
        return middle
    split.sums[1] = left
    return middle - n_moved


def _find_threshold(
    source: HistogramSource,
    search: SearchParams,
    node: int,
    split: FoundSplit,
    middle: int,
    step: int,
    n_fine: int,
) -> int:
    """Find the best fine threshold in the coarse bins on both sides of one."""
    first, stop = middle - step, min(middle + step, n_fine)
    cells = source.read_bins(node, split.feature, first, stop)
    histogram = _surround(cells, middle - first, split)
    n_used = len(histogram) - 1
    no_categories = None if search.is_categorical is None else np.zeros(1, np.bool_)
    n_values = np.array([n_used], dtype=np.int32)
    alone = SearchParams(search.problem, n_values, no_categories, search.min_count, 0)
    leaf = LeafNode(split.sums[0], split.value, split.reduction)
    found = search_features(histogram[None], np.zeros(1, dtype=np.int32), alone, 0, leaf)
    if found.feature < 0 or not 0 < found.bin_index < n_used - 1:
        return middle
    split.gain, split.sums, split.missing_left = found.gain, found.sums, found.missing_left
    return first + found.bin_index


def _surround(cells: FloatArray, n_left: int, split: FoundSplit) -> FloatArray:
    """Return a histogram of all on the left, some fine bins, all on the right, missing."""
    both, left = split.sums
    missing, n_cells = cells[-1], len(cells) - 1
    out = np.empty((n_cells + 3, len(both)))
    before, after = out[0], out[-2]
    np.subtract(left, cells[:n_left].sum(axis=0), out=before)
    if split.missing_left:
        before -= missing
    out[1:-2], out[-1] = cells[:-1], missing
    np.subtract(both, before, out=after)
    after -= cells[:-1].sum(axis=0)
    after -= missing
    return out

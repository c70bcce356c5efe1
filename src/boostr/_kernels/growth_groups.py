"""Steps of a tree's growth where leaves have groups of terms.

Histograms have coarse bins then. A split that is made looks at the fine bins on both sides
of its threshold, for which only the individuals in them are summed.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from boostr._kernels._jit import call_by_address, inner_kernel, types
from boostr._kernels.group_lasso import Groups, solve_in_space
from boostr._kernels.histogram import accumulate_some_bins
from boostr._kernels.scan_groups import Buffers, Node
from boostr._kernels.split import sum_bins
from boostr._kernels.split_groups import find_best_grouped_split
from boostr._typing import Address, BinArray, BoolArray, FloatArray, IndexArray

__all__ = [
    "GroupRules",
    "draw_threshold",
    "find_grouped_search",
    "find_threshold",
    "search_groups",
    "solve_group_leaf",
]


class GroupRules(NamedTuple):
    """What a node with groups of terms needs besides histograms, and working space."""

    groups: Groups
    n_fine: IndexArray  # (n_features,) fine bins in use
    steps: IndexArray  # (n_features,) fine bins that are joined
    missing_bin: int  # the fine one
    search: Address  # of `find_best_grouped_split`
    descend: Address  # of `descend_blocks`
    buffers: Buffers
    sides: BoolArray  # (n_nodes, n_bins) sides of coarse bins
    drops: FloatArray  # (n_nodes,) of the objective by nodes as leaves
    cells: FloatArray  # room for some bins, each of n_channels
    one: IndexArray  # (1,) the number of a feature that is alone
    n_used: IndexArray  # (1,) its bins
    is_category: BoolArray | None  # (1,) whether its bins are categories: they are not


def _sign(categories: Any) -> Any:
    """Return the types of `find_best_grouped_split` and its result."""
    numbers, flags = types.int32[::1], types.boolean[::1]
    vector, table = types.float64[::1], types.float64[:, ::1]
    result = types.Tuple((types.float64, types.int64, types.int64, types.boolean))
    groups = types.NamedTuple((numbers, vector, types.boolean), Groups)
    return result(
        types.float64[:, :, ::1],
        numbers,
        numbers,
        categories,
        types.NamedTuple((vector, table, groups, vector), Node),
        types.float64,
        types.int64,
        types.uint64,
        types.float64,
        numbers,
        flags,
        types.NamedTuple(
            (table, table, table, vector, table, table, numbers, vector), Buffers
        ),
        types.int64,
        flags,
        vector,
    )


_call_search, _find = call_by_address(
    find_best_grouped_split, _sign(types.none), _sign(types.boolean[::1])
)


def find_grouped_search(is_categorical: BoolArray | None) -> Address:
    """Return the address of `find_best_grouped_split` for such features."""
    return _find(int(is_categorical is not None))


@inner_kernel
def solve_group_leaf(
    sums: FloatArray, penalty: FloatArray, grouped: GroupRules, out: FloatArray
) -> float:
    """Write the best coefficients of a leaf; return how far they lower the objective."""
    n_terms, buffers = penalty.shape[0], grouped.buffers
    work = buffers.terms[: 2 * n_terms + 6]
    return solve_in_space(
        sums, penalty, grouped.groups, grouped.descend, work, buffers.prices, out
    )


@inner_kernel
def search_groups(
    histograms: FloatArray,
    features: IndexArray,
    n_values: IndexArray,
    is_categorical: BoolArray | None,
    penalty: FloatArray,
    value: FloatArray,
    drop: float,
    min_count: float,
    n_candidates: int,
    seed: np.uint64,
    rising: IndexArray,
    is_candidate: BoolArray,
    grouped: GroupRules,
    goes_left: BoolArray,
    sums: FloatArray,
    left: FloatArray,
) -> tuple[float, int, int, bool]:
    """Find the best split of a node, see `find_best_grouped_split`."""
    if sums[sums.shape[0] - 1] < 2.0 * min_count:
        return -1.0, -1, 0, False
    return _call_search(
        grouped.search,
        histograms,
        features,
        n_values,
        is_categorical,
        Node(sums, penalty, grouped.groups, value),
        min_count,
        n_candidates,
        seed,
        drop,
        rising,
        is_candidate,
        grouped.buffers,
        grouped.descend,
        goes_left,
        left,
    )


@inner_kernel
def draw_threshold(
    members: IndexArray,
    x_fine: BinArray,
    gradients: FloatArray,
    curvatures: FloatArray,
    feature: int,
    middle: int,
    min_count: float,
    seed: np.uint64,
    grouped: GroupRules,
    left: FloatArray,
) -> int:
    """Draw a fine threshold in the place of the last one of a coarse bin.

    ``left`` are the sums of the left side, which change with it.
    """
    n_moved = int((seed >> np.uint64(32)) % np.uint64(grouped.steps[feature]))
    n_channels = left.shape[0]
    last = n_channels - 1
    moved, room = grouped.cells[:n_channels], grouped.cells[n_channels:]
    cells = room[: (n_moved + 1) * n_channels].reshape(n_moved + 1, n_channels)
    accumulate_some_bins(
        x_fine,
        gradients,
        curvatures,
        members,
        feature,
        middle - n_moved,
        grouped.missing_bin,
        cells,
    )
    sum_bins(cells[:n_moved], moved)
    if n_moved == 0 or left[last] - moved[last] < min_count:
        return middle
    for channel in range(n_channels):
        left[channel] -= moved[channel]
    return middle - n_moved


@inner_kernel
def _surround(
    histogram: FloatArray,
    n_left: int,
    missing_left: bool,
    both: FloatArray,
    left: FloatArray,
) -> None:
    """Write all on the left, all on the right, and missing around some fine bins.

    The fine bins and the missing one are there, from the second row on.
    """
    n_cells, n_channels = histogram.shape[0] - 3, histogram.shape[1]
    before, after = histogram[0], histogram[n_cells + 1]
    missing = histogram[n_cells + 2]
    for channel in range(n_channels):
        missing[channel] = after[channel]
    sum_bins(histogram[1 : n_left + 1], before)
    for channel in range(n_channels):
        before[channel] = left[channel] - before[channel]
        if missing_left:
            before[channel] -= missing[channel]
    sum_bins(histogram[1 : n_cells + 1], after)
    for channel in range(n_channels):
        within = after[channel]
        after[channel] = both[channel] - before[channel] - within - missing[channel]


@inner_kernel
def find_threshold(
    members: IndexArray,
    x_fine: BinArray,
    gradients: FloatArray,
    curvatures: FloatArray,
    feature: int,
    middle: int,
    missing_left: bool,
    penalty: FloatArray,
    value: FloatArray,
    drop: float,
    min_count: float,
    rising: IndexArray,
    is_candidate: BoolArray,
    grouped: GroupRules,
    goes_left: BoolArray,
    sums: FloatArray,
) -> tuple[float, int, bool]:
    """Find the best fine threshold in the coarse bins on both sides of one.

    Returns its gain, 0 if there is no better one, the number of bins on the left, and
    whether missing values go left. The sums of the left side change with it.
    """
    step, n_fine = int(grouped.steps[feature]), int(grouped.n_fine[feature])
    first = middle - step
    stop = middle + step if middle + step < n_fine else n_fine
    n_cells, n_channels = stop - first, sums.shape[1]
    left, room = grouped.cells[:n_channels], grouped.cells[n_channels:]
    histogram = room[: (n_cells + 3) * n_channels].reshape(n_cells + 3, n_channels)
    accumulate_some_bins(
        x_fine,
        gradients,
        curvatures,
        members,
        feature,
        first,
        grouped.missing_bin,
        histogram[1 : n_cells + 2],
    )
    _surround(histogram, step, missing_left, sums[0], sums[1])
    n_bins = n_cells + 3
    grouped.n_used[0] = n_bins - 1
    gain, slot, bin_index, is_left = search_groups(
        histogram.reshape(1, n_bins, n_channels),
        grouped.one,
        grouped.n_used,
        grouped.is_category,
        penalty,
        value,
        drop,
        min_count,
        0,
        np.uint64(0),
        rising[:n_bins],
        is_candidate[:n_bins],
        grouped,
        goes_left[:n_bins],
        sums[0],
        left,
    )
    if slot < 0 or not 0 < bin_index < n_bins - 2:
        return 0.0, middle, missing_left
    for channel in range(n_channels):
        sums[1, channel] = left[channel]
    return gain, first + bin_index, is_left

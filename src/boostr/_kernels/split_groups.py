"""The best split of a node whose leaves have groups of terms."""

from __future__ import annotations

import math

import numpy as np

from boostr._kernels._jit import allocating_kernel, inner_kernel, kernel
from boostr._kernels.scan_groups import (
    Buffers,
    Node,
    Ordered,
    Space,
    bound_feature,
    divide_space,
    scan_groups,
)
from boostr._kernels.split import (
    ROUNDING,
    draw_candidates,
    find_middle_of_gap,
    mark_left,
    mix_bits,
    order_categories,
    shrink_categories,
    sum_left,
)
from boostr._typing import Address, BoolArray, FloatArray, IndexArray

__all__ = ["find_best_grouped_split"]


@inner_kernel
def _order_numbers(
    histogram: FloatArray,
    n_used: int,
    min_count: float,
    n_candidates: int,
    seed: np.uint64,
    rising: IndexArray,
    is_candidate: BoolArray,
) -> Ordered:
    """Return the bins of a numeric feature in their order."""
    if n_candidates > 0 and n_used > 0:
        counts = histogram[:n_used, histogram.shape[1] - 1]
        draw_candidates(counts, n_candidates, seed, is_candidate)
    order = rising[:n_used]
    return Ordered(histogram, order, is_candidate, min_count, n_candidates == 0)


@inner_kernel
def _find_largest(values: FloatArray) -> int:
    """Return the place of the largest value, the first of equals."""
    best = 0
    for place in range(1, values.shape[0]):
        if values[place] > values[best]:
            best = place
    return best


@allocating_kernel
def _scan_categories(
    histogram: FloatArray,
    n_used: int,
    node: Node,
    min_count: float,
    n_candidates: int,
    seed: np.uint64,
    best: float,
    is_candidate: BoolArray,
    space: Space,
    descend: Address,
    goes_left: BoolArray,
) -> tuple[float, int, bool]:
    """Return (reduction, last bin on the left, missing goes left) if better than ``best``.

    Each term orders the categories. ``goes_left`` is overwritten where they are better.
    """
    n_terms = node.own.shape[0]
    histogram = shrink_categories(histogram, n_used, n_terms)
    found, best_bin, best_missing_left = -1.0, 0, False
    for term in range(n_terms):
        curvature_at = n_terms + term * (term + 3) // 2
        order = order_categories(histogram, n_used, term, curvature_at)
        if n_candidates > 0 and order.shape[0] > 0:
            draw_candidates(np.ones(order.shape[0]), n_candidates, seed, is_candidate)
        ordered = Ordered(histogram, order, is_candidate, min_count, True)
        reduction, position, missing_left = scan_groups(ordered, node, best, space, descend)
        if reduction > best:
            found = best = reduction
            best_bin, best_missing_left = order[position], missing_left
            mark_left(order, position, missing_left, missing_left, goes_left)
    return found, best_bin, best_missing_left


@kernel
def find_best_grouped_split(
    histograms: FloatArray,
    features: IndexArray,
    n_values: IndexArray,
    is_categorical: BoolArray | None,
    node: Node,
    min_count: float,
    n_candidates: int,
    seed: np.uint64,
    own: float,
    rising: IndexArray,
    is_candidate: BoolArray,
    buffers: Buffers,
    descend: Address,
    goes_left: BoolArray,
    left: FloatArray,
) -> tuple[float, int, int, bool]:
    """Find the split of one node that lowers the objective most, see `find_best_split`.

    Features come in the order of what they can reach, and end where that is too little: the
    sooner the best one comes, the fewer thresholds of the others have to be solved. Of
    categories it is not known what they reach. Other parameters than those of
    `find_best_split` are:

    Parameters
    ----------
    node : Node
        The node and its leaf problem.
    buffers : Buffers
        Working space.
    descend : Address
        Where `descend_blocks` is, see `find_descend`.
    left : (n_channels,) float64
        Overwritten with the sums of the left side.

    Returns
    -------
    tuple of (float, int, int, bool)
        Gain, position in ``features``, last bin on the left, and whether missing values
        go left.
    """
    best, best_slot, best_bin, best_missing_left = own * (1.0 + ROUNDING), -1, 0, False
    space, n_features = divide_space(buffers), features.shape[0]
    reach = buffers.reach[:n_features]
    for slot in range(n_features):
        feature = features[slot]
        is_number = is_categorical is None or not is_categorical[feature]
        reach[slot] = math.inf
        if is_number and n_features > 1:
            ordered = _order_numbers(
                histograms[slot],
                n_values[feature],
                min_count,
                n_candidates,
                mix_bits(seed + np.uint64(feature + 1)),
                rising,
                is_candidate,
            )
            reach[slot] = bound_feature(ordered, node, space)
    for _ in range(n_features):
        slot = _find_largest(reach)
        if reach[slot] <= best:
            break
        reach[slot] = -math.inf
        feature, histogram = features[slot], histograms[slot]
        own_seed = mix_bits(seed + np.uint64(feature + 1))
        if is_categorical is not None and is_categorical[feature]:
            reduction, bin_index, missing_left = _scan_categories(
                histogram,
                n_values[feature],
                node,
                min_count,
                n_candidates,
                own_seed,
                best,
                is_candidate,
                space,
                descend,
                goes_left,
            )
        else:
            ordered = _order_numbers(
                histogram,
                n_values[feature],
                min_count,
                n_candidates,
                own_seed,
                rising,
                is_candidate,
            )
            reduction, bin_index, missing_left = scan_groups(
                ordered, node, best, space, descend
            )
            if reduction > best:
                if n_candidates == 0:
                    counts = histogram[: n_values[feature], node.totals.shape[0] - 1]
                    bin_index = find_middle_of_gap(counts, bin_index)
                mark_left(ordered.order, bin_index, missing_left, missing_left, goes_left)
        if reduction > best:
            best, best_slot = reduction, slot
            best_bin, best_missing_left = bin_index, missing_left
    if best_slot < 0:
        return -1.0, -1, 0, False
    sum_left(histograms[best_slot], goes_left, left)
    return best - own, best_slot, best_bin, best_missing_left

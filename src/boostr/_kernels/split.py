"""The best split of a node, from its histograms."""

from __future__ import annotations

from typing import Any

import numpy as np

from boostr._kernels._jit import (
    allocating_kernel,
    call_by_address,
    inlined_kernel,
    inner_kernel,
    kernel,
    types,
)
from boostr._kernels.histogram import Members, accumulate_members
from boostr._kernels.scan import scan_any_terms, scan_one_term, scan_two_terms
from boostr._typing import Address, BoolArray, FloatArray, IndexArray

__all__ = [
    "ROUNDING",
    "call_search",
    "draw_candidates",
    "find_best_split",
    "find_middle_of_gap",
    "find_search",
    "mark_left",
    "mix_bits",
    "order_categories",
    "shrink_categories",
    "sum_bins",
    "sum_left",
]

ROUNDING = 1e-10  # gains below this share of the objective are rounding, not structure
_LISTED_BELOW = 4  # members for each bin: nodes of fewer have many empty bins
_PSEUDO_COUNT = 10.0  # individuals of the node's mean that every category is mixed with


@inner_kernel
def mix_bits(state: np.uint64) -> np.uint64:
    """Scramble 64 bits (the finaliser of splitmix64), a random number per input."""
    state = (state ^ (state >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    state = (state ^ (state >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return state ^ (state >> np.uint64(31))


@inner_kernel
def draw_candidates(
    counts: FloatArray, n_candidates: int, seed: np.uint64, is_candidate: BoolArray
) -> None:
    """Mark up to ``n_candidates`` bins, drawn uniformly between the occupied ends."""
    is_candidate[: counts.shape[0]] = False
    first = 0
    last = counts.shape[0] - 1
    while first < last and counts[first] == 0.0:
        first += 1
    while last > first and counts[last] == 0.0:
        last -= 1
    span = np.uint64(last - first if last > first else 1)
    for draw in range(n_candidates):
        bits = mix_bits(seed + np.uint64(draw + 1) * np.uint64(0x9E3779B97F4A7C15))
        is_candidate[first + np.int64(bits % span)] = True
    is_candidate[counts.shape[0] - 1] = True  # all values against missing ones


@inner_kernel
def find_middle_of_gap(counts: FloatArray, position: int) -> int:
    """Move a threshold to the middle of the empty bins that follow it.

    All thresholds in the gap give the same gain; its middle is the best guess for the
    values that this node has not seen.
    """
    following = position + 1
    while following < counts.shape[0] and counts[following] == 0.0:
        following += 1
    if following == counts.shape[0]:
        return following - 1  # all values go left, seen in this node or not
    return position + (following - 1 - position) // 2


@inner_kernel
def _next_diagonal(curvature_at: int, term: int, n_terms: int, n_channels: int) -> int:
    """Return the channel of the next term's own curvature, given that of ``term``."""
    is_diagonal = n_channels == 2 * n_terms + 1
    return curvature_at + (1 if is_diagonal else term + 2)


@inner_kernel
def _shrink_term(cells: FloatArray, term: int, curvature_at: int) -> None:
    """Move the gradients per curvature of categories towards their mean.

    Those of few individuals move furthest. Their sum stays, so that both sides of a split
    deviate from the node alike. Two categories can be split in one way only, which needs
    no shrinkage; the more there are, the more.
    """
    last = cells.shape[1] - 1
    gradient, curvature, n_occupied = 0.0, 0.0, 0
    for category in range(cells.shape[0]):
        gradient += cells[category, term]
        curvature += cells[category, curvature_at]
        n_occupied += cells[category, last] > 0.0
    if curvature <= 0.0 or n_occupied <= 2:
        return
    pseudo_count = _PSEUDO_COUNT * (1.0 - 2.0 / n_occupied)
    moved = 0.0
    for category in range(cells.shape[0]):
        expected = gradient * cells[category, curvature_at] / curvature
        deviation = cells[category, term] - expected
        step = -deviation * pseudo_count / (cells[category, last] + pseudo_count)
        cells[category, term] += step
        moved += step
    for category in range(cells.shape[0]):
        cells[category, term] -= moved * cells[category, curvature_at] / curvature


@allocating_kernel
def shrink_categories(histogram: FloatArray, n_values: int, n_terms: int) -> FloatArray:
    """Return the histogram of a categorical feature by which its splits are judged."""
    n_channels = histogram.shape[1]
    shrunken = histogram.copy()
    curvature_at = n_terms
    for term in range(n_terms):
        _shrink_term(shrunken[:n_values], term, curvature_at)
        curvature_at = _next_diagonal(curvature_at, term, n_terms, n_channels)
    return shrunken


@allocating_kernel
def order_categories(
    histogram: FloatArray, n_values: int, term: int, curvature_at: int
) -> IndexArray:
    """Sort the occupied categories by the shrunken coefficient of one term."""
    n_channels = histogram.shape[1]
    ratio = np.empty(n_values)
    occupied = np.empty(n_values, np.int32)
    n_occupied = 0
    for category in range(n_values):
        cell = histogram[category]
        if cell[n_channels - 1] > 0.0:
            curvature = cell[curvature_at]
            ratio[n_occupied] = -cell[term] / curvature if curvature > 0.0 else 0.0
            occupied[n_occupied] = category
            n_occupied += 1
    # Sorted by insertion: NumPy's stable sort takes the compiler longer than all the rest.
    for place in range(1, n_occupied):
        value, category, free = ratio[place], occupied[place], place
        while free > 0 and ratio[free - 1] > value:
            ratio[free], occupied[free] = ratio[free - 1], occupied[free - 1]
            free -= 1
        ratio[free], occupied[free] = value, category
    return occupied[:n_occupied]


@inner_kernel
def mark_left(
    order: IndexArray, position: int, missing_left: bool, others_left: bool, out: BoolArray
) -> None:
    """Write the side of every bin for the split after ``position`` of ``order``."""
    out[:] = others_left
    for place in range(order.shape[0]):
        out[order[place]] = place <= position
    out[out.shape[0] - 1] = missing_left


@inlined_kernel
def _find_threshold(
    histogram: FloatArray,
    order: IndexArray,
    is_candidate: BoolArray,
    totals: FloatArray,
    penalty: FloatArray,
    solver: int | None,
    min_count: float,
    skips_empty: bool,
) -> tuple[float, int, bool]:
    """Find the best threshold of one feature by the scan that is made for the problem.

    The compiler leaves out all that is None.
    """
    node = (histogram, order, is_candidate, totals, penalty)
    if solver is not None:
        return scan_any_terms(*node, solver, min_count, skips_empty)
    if penalty.shape[0] == 1:
        return scan_one_term(*node, min_count, skips_empty)
    return scan_two_terms(*node, min_count, skips_empty)


@allocating_kernel
def _split_categories(
    histogram: FloatArray,
    n_used: int,
    totals: FloatArray,
    penalty: FloatArray,
    solver: int | None,
    min_count: float,
    n_candidates: int,
    seed: np.uint64,
    best: float,
    is_candidate: BoolArray,
    goes_left: BoolArray,
) -> tuple[float, int, bool]:
    """Return (reduction, last bin on the left, missing goes left) if better than ``best``.

    ``goes_left`` is overwritten in that case only; otherwise the reduction is ``best``.
    """
    n_terms = penalty.shape[0]
    histogram = shrink_categories(histogram, n_used, n_terms)
    best_bin = 0
    best_missing_left = False
    curvature_at = n_terms
    for term in range(n_terms):
        order = order_categories(histogram, n_used, term, curvature_at)
        if n_candidates > 0 and order.shape[0] > 0:
            occupied = np.ones(order.shape[0])
            draw_candidates(occupied, n_candidates, seed, is_candidate)
        curvature_at = _next_diagonal(curvature_at, term, n_terms, totals.shape[0])
        reduction, position, missing_left = _find_threshold(
            histogram,
            order,
            is_candidate,
            totals,
            penalty,
            solver,
            min_count,
            True,
        )
        if reduction > best:
            best = reduction
            best_bin = order[position]
            best_missing_left = missing_left
            # Categories absent from this node follow the missing values.
            mark_left(order, position, missing_left, missing_left, goes_left)
    return best, best_bin, best_missing_left


@inner_kernel
def _list_bins(
    counts: FloatArray, draws: bool, is_candidate: BoolArray, order: IndexArray
) -> int:
    """List the bins of members and of drawn candidates, and whether they are candidates.

    Returns their number. Which bins of a small node are empty cannot be guessed, so there
    are no branches.
    """
    n_listed: Any = np.uint64(0)
    for bin_index in range(np.uint64(counts.shape[0])):
        is_drawn = is_candidate[bin_index]
        order[n_listed] = bin_index
        is_candidate[n_listed] = is_drawn
        n_listed += np.uint64((counts[bin_index] > 0.0) | (draws & is_drawn))
    n_found: Any = np.int64(n_listed)
    return n_found


@inlined_kernel
def _split_numbers(
    histogram: FloatArray,
    n_used: int,
    totals: FloatArray,
    penalty: FloatArray,
    solver: int | None,
    min_count: float,
    n_candidates: int,
    seed: np.uint64,
    best: float,
    is_candidate: BoolArray,
    rising: IndexArray,
    listed: IndexArray,
    goes_left: BoolArray,
) -> tuple[float, int, bool]:
    """Return the same for a feature whose bins have an order."""
    n_members = totals[totals.shape[0] - 1]
    counts = histogram[:n_used, totals.shape[0] - 1]
    order = rising[:n_used]
    if n_candidates > 0 and n_used > 0:
        draw_candidates(counts, n_candidates, seed, is_candidate)
    if n_members < _LISTED_BELOW * n_used:
        order = listed[: _list_bins(counts, n_candidates > 0, is_candidate, listed)]
    reduction, position, missing_left = _find_threshold(
        histogram,
        order,
        is_candidate,
        totals,
        penalty,
        solver,
        min_count,
        n_candidates == 0,
    )
    bin_index = 0
    if reduction > best:
        best, bin_index = reduction, order[position]
        if n_candidates == 0:
            bin_index = find_middle_of_gap(counts, bin_index)
        mark_left(rising[:n_used], bin_index, missing_left, missing_left, goes_left)
    return best, bin_index, missing_left


@kernel
def sum_bins(histogram: FloatArray, out: FloatArray) -> None:
    """Write a node's sums, from the (n_bins, n_channels) histogram of any feature."""
    for channel in range(out.shape[0]):
        out[channel] = 0.0
    for bin_index in range(histogram.shape[0]):
        for channel in range(out.shape[0]):
            out[channel] += histogram[bin_index, channel]


@inner_kernel
def sum_left(histogram: FloatArray, goes_left: BoolArray, out: FloatArray) -> None:
    """Write the sums of the bins that go left."""
    for channel in range(out.shape[0]):
        out[channel] = 0.0
    for bin_index in range(histogram.shape[0]):
        if goes_left[bin_index]:
            for channel in range(histogram.shape[1]):
                out[channel] += histogram[bin_index, channel]


@kernel
def find_best_split(
    histograms: FloatArray,
    members: Members,
    features: IndexArray,
    n_values: IndexArray,
    is_categorical: BoolArray | None,
    penalty: FloatArray,
    solver: int | None,
    min_count: float,
    n_candidates: int,
    seed: np.uint64,
    own: float,
    rising: IndexArray,
    listed: IndexArray,
    is_candidate: BoolArray,
    goes_left: BoolArray,
    sums: FloatArray,
) -> tuple[float, int, int, bool]:
    """Find the split of one node that lowers the objective most.

    Parameters
    ----------
    histograms : (n_used, n_bins, n_channels) float64, C order
        Sums per feature and bin; the last bin holds missing values, the last channel
        counts individuals. Working space for some features if there are members.
    members : Members
        Those of a node whose sums are not known yet; else none.
    features : (n_used,) int32
        The features behind the histograms.
    n_values : (n_features,) int32
        Number of bins in use per feature, without the missing one.
    is_categorical : (n_features,) bool or None
        Features whose bins have no order; None if all have one.
    penalty : (n_terms, n_terms) float64
        The penalty matrix of the leaf problem.
    solver : int or None
        Kind of leaf problem, see :mod:`boostr._kernels.solve`.
    min_count : float
        Least number of individuals on either side.
    n_candidates : int
        Thresholds drawn at random per feature; 0 tries all of them.
    seed : uint64
        Seed of the draw; every node needs another one.
    own : float
        What the node gains as a leaf.
    rising : (n_bins,) int32
        The numbers 0, 1, 2 and so on.
    listed : (n_bins,) int32
        Working space.
    is_candidate : (n_bins,) bool
        All True; working space where thresholds are drawn.
    goes_left : (n_bins,) bool
        Overwritten with the side of every bin for the best split.
    sums : (2, n_channels) float64
        The sums of the node; the second row is overwritten with those of its left side.

    Returns
    -------
    tuple of (float, int, int, bool)
        Gain before gamma1 (-1 where no split is possible), position in ``features``, the
        last bin that goes left (numeric features) and whether missing values go left.

    Notes
    -----
    Categories are sorted by their coefficient of one term and scanned like an ordered
    feature, which finds the best partition for one term (Fisher 1958); with several terms
    each gives an order to try. The gradients of categories are shrunken before, and so are
    the gains of their splits: the best of very many partitions looks good by chance.
    """
    totals, n_channels = sums[0], histograms.shape[2]
    has_members = members.rows.shape[0] > 0
    best = own * (1.0 + ROUNDING)
    best_slot = -1
    best_bin = 0
    best_missing_left = False
    if totals[n_channels - 1] < 2 * min_count:
        return -1.0, -1, 0, False
    for slot in range(features.shape[0]):
        feature = features[slot]
        place = slot % histograms.shape[0]
        if has_members and place == 0:
            some = features[slot : slot + histograms.shape[0]]
            accumulate_members(members, some, histograms[: some.shape[0]])
        histogram = histograms[place]
        own_seed = mix_bits(seed + np.uint64(feature + 1)) if n_candidates > 0 else seed
        if is_categorical is not None and is_categorical[feature]:
            reduction, bin_index, missing_left = _split_categories(
                histogram,
                n_values[feature],
                totals,
                penalty,
                solver,
                min_count,
                n_candidates,
                own_seed,
                best,
                is_candidate,
                goes_left,
            )
        else:
            reduction, bin_index, missing_left = _split_numbers(
                histogram,
                n_values[feature],
                totals,
                penalty,
                solver,
                min_count,
                n_candidates,
                own_seed,
                best,
                is_candidate,
                rising,
                listed,
                goes_left,
            )
        if reduction > best:
            best = reduction
            best_slot = slot
            best_bin = bin_index
            best_missing_left = missing_left
            if has_members:
                sum_left(histogram, goes_left, sums[1])
    if best_slot < 0:
        return -1.0, -1, 0, False
    if not has_members:
        sum_left(histograms[best_slot], goes_left, sums[1])
    return best - own, best_slot, best_bin, best_missing_left


def _sign(categories: Any, solver: Any) -> Any:
    """Return the types of `find_best_split` and its result."""
    numbers, flags, table = types.int32[::1], types.boolean[::1], types.float64[:, ::1]
    result = types.Tuple((types.float64, types.int64, types.int64, types.boolean))
    return result(
        types.float64[:, :, ::1],
        types.NamedTuple(
            (types.uint8[:, ::1], table, table, numbers, types.int64), Members
        ),
        numbers,
        numbers,
        categories,
        table,
        solver,
        types.float64,
        types.int64,
        types.uint64,
        types.float64,
        numbers,
        numbers,
        flags,
        flags,
        table,
    )


call_search, _find = call_by_address(
    find_best_split,
    *[
        _sign(categories, solver)
        for categories in (types.none, types.boolean[::1])
        for solver in (types.none, types.int64)
    ],
)


def find_search(is_categorical: BoolArray | None, solver: int | None) -> Address:
    """Return the address of `find_best_split` for such features and such leaves."""
    return _find(2 * (is_categorical is not None) + (solver is not None))

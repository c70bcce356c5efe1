"""Splits of trees that rise or fall with some features, at all times.

Terms have rates that are never negative, so that curves whose coefficients are ordered,
term by term, are ordered at all times, and so are their rates. Coefficients of a node stay
within bounds; a split by a feature that must rise or fall puts the middle of its two sides
between them, for all nodes below. Two individuals that differ in such a feature alone part
at a split by it, if at all: their leaves are on the right sides of its middle.
"""

from __future__ import annotations

import numpy as np

from boostr._kernels._jit import allocating_kernel, inlined_kernel, inner_kernel, kernel
from boostr._kernels.scan import scan_any_terms, scan_one_term, scan_two_terms
from boostr._kernels.solve import FULL, solve_leaf
from boostr._kernels.split import (
    ROUNDING,
    _next_diagonal,
    draw_candidates,
    find_middle_of_gap,
    mark_left,
    mix_bits,
    order_categories,
    shrink_categories,
    sum_left,
)
from boostr._typing import BoolArray, FloatArray, IndexArray

__all__ = ["find_ordered_split", "solve_bounded", "solve_children"]

_MOST_SWEEPS = 50  # over the terms of a leaf at its bounds
_CLOSE = 1e-9  # steps below this share of a coefficient end the sweeps


@inner_kernel
def _read_curvature(
    sums: FloatArray, penalty: FloatArray, is_full: bool, first: int, second: int
) -> float:
    """Return an entry of H + S."""
    n_terms = penalty.shape[0]
    if not is_full:
        own = sums[n_terms + first] + penalty[first, first]
        return own if first == second else 0.0
    row, column = max(first, second), min(first, second)
    return sums[n_terms + row * (row + 1) // 2 + column] + penalty[row, column]


@inner_kernel
def _sweep(
    sums: FloatArray,
    penalty: FloatArray,
    is_full: bool,
    low: FloatArray,
    high: FloatArray,
    out: FloatArray,
) -> bool:
    """Solve for one coefficient after the other; return whether one has moved."""
    has_moved = False
    for term in range(out.shape[0]):
        curvature = _read_curvature(sums, penalty, is_full, term, term)
        if curvature <= 0.0:
            continue
        slope = -sums[term] + curvature * out[term]
        for other in range(out.shape[0]):
            slope -= out[other] * _read_curvature(sums, penalty, is_full, term, other)
        value = min(max(slope / curvature, low[term]), high[term])
        has_moved |= abs(value - out[term]) > _CLOSE * abs(value)
        out[term] = value
    return has_moved


@inner_kernel
def _measure_drop(
    sums: FloatArray, penalty: FloatArray, is_full: bool, value: FloatArray
) -> float:
    """Return how far coefficients lower the objective."""
    drop = 0.0
    for term in range(value.shape[0]):
        drop -= sums[term] * value[term]
        for other in range(value.shape[0]):
            curvature = _read_curvature(sums, penalty, is_full, term, other)
            drop -= 0.5 * value[term] * value[other] * curvature
    return drop


@kernel
def solve_bounded(
    sums: FloatArray,
    penalty: FloatArray,
    solver: int,
    low: FloatArray,
    high: FloatArray,
    out: FloatArray,
) -> float:
    """Write the best coefficients of a leaf within bounds; return the objective's drop.

    Parameters
    ----------
    sums : (n_channels,) float64
        Sums of the leaf: g, then H, then the count.
    penalty : (n_terms, n_terms) float64
        The penalty matrix S.
    solver : int
        DIAGONAL or FULL, see :mod:`boostr._kernels.solve`.
    low, high : (n_terms,) float64
        Bounds of the coefficients.
    out : (n_terms,) float64
        Overwritten with the coefficients.

    Returns
    -------
    float
        Drop of the objective against coefficients of zero; negative where these are out of
        bounds and better.

    Notes
    -----
    Coordinate descent from the free solution, put within bounds: of two terms it is there
    after a sweep.
    """
    n_terms = penalty.shape[0]
    # One term, or two that interact, need no working space.
    if n_terms == 1 or (n_terms == 2 and solver == FULL):
        reduction = solve_leaf(sums, penalty, None, out)
    else:
        reduction = solve_leaf(sums, penalty, solver, out)
    is_inside = True
    for term in range(n_terms):
        if out[term] < low[term] or out[term] > high[term]:
            out[term] = min(max(out[term], low[term]), high[term])
            is_inside = False
    if is_inside:
        return reduction
    is_full = solver == FULL
    for _ in range(_MOST_SWEEPS):
        if not _sweep(sums, penalty, is_full, low, high, out):
            break
    return _measure_drop(sums, penalty, is_full, out)


@kernel
def solve_children(
    left: FloatArray,
    right: FloatArray,
    penalty: FloatArray,
    solver: int,
    sign: int,
    low: FloatArray,
    high: FloatArray,
    middle: FloatArray,
    values: FloatArray,
) -> float:
    """Solve the two sides of a split within bounds and, by its sign, in order.

    Parameters
    ----------
    left, right : (n_channels,) float64
        Sums of both sides.
    penalty, solver, low, high
        As in `solve_bounded`, of the node that is split.
    sign : int
        1 if coefficients on the right must not be lower, -1 if they must not be higher, 0
        if they are free.
    middle : (n_terms,) float64
        Overwritten with the border between the coefficients of both sides.
    values : (2, n_terms) float64
        Overwritten with the coefficients of both sides.

    Returns
    -------
    float
        Drop of the objective by both sides.
    """
    n_terms = penalty.shape[0]
    reduction = solve_bounded(left, penalty, solver, low, high, values[0])
    reduction += solve_bounded(right, penalty, solver, low, high, values[1])
    is_ordered = True
    for term in range(n_terms):
        middle[term] = 0.5 * (values[0, term] + values[1, term])
        if sign * (values[1, term] - values[0, term]) < 0.0:
            is_ordered = False
    if is_ordered:
        return reduction
    if sign > 0:
        reduction = solve_bounded(left, penalty, solver, low, middle, values[0])
        return reduction + solve_bounded(right, penalty, solver, middle, high, values[1])
    reduction = solve_bounded(left, penalty, solver, middle, high, values[0])
    return reduction + solve_bounded(right, penalty, solver, low, middle, values[1])


@inner_kernel
def _solve_sides(
    left: FloatArray,
    right: FloatArray,
    penalty: FloatArray,
    solver: int,
    sign: int,
    low: FloatArray,
    high: FloatArray,
    middle: FloatArray,
    values: FloatArray,
) -> float:
    """Return the drop by both sides; as `solve_children`, faster for one term."""
    if penalty.shape[0] > 1:
        return solve_children(left, right, penalty, solver, sign, low, high, middle, values)
    h, h_right = left[1] + penalty[0, 0], right[1] + penalty[0, 0]
    first = min(max(-left[0] / h if h > 0.0 else 0.0, low[0]), high[0])
    second = min(max(-right[0] / h_right if h_right > 0.0 else 0.0, low[0]), high[0])
    if sign * (second - first) < 0.0:
        first = second = 0.5 * (first + second)  # both would cross the middle
    drop = -first * (left[0] + 0.5 * h * first)
    return drop - second * (right[0] + 0.5 * h_right * second)


@allocating_kernel
def _scan_ordered(
    histogram: FloatArray,
    order: IndexArray,
    is_candidate: BoolArray,
    totals: FloatArray,
    penalty: FloatArray,
    solver: int,
    min_count: float,
    skips_empty: bool,
    sign: int,
    low: FloatArray,
    high: FloatArray,
) -> tuple[float, int, bool]:
    """Find the best threshold of one feature; as `scan_any_terms`, with order."""
    n_channels, n_terms = totals.shape[0], penalty.shape[0]
    missing = histogram[histogram.shape[0] - 1]
    has_missing = missing[n_channels - 1] > 0.0
    left, right = np.zeros(n_channels), np.zeros(n_channels)
    middle, values = np.zeros(n_terms), np.zeros((2, n_terms))
    best, best_position, best_missing_left = -np.inf, -1, False
    for side in range(2 if has_missing else 1):
        for channel in range(n_channels):
            left[channel] = side * missing[channel]
        for position in range(order.shape[0]):
            cell = histogram[order[position]]
            if cell[n_channels - 1] > 0.0:
                for channel in range(n_channels):
                    left[channel] += cell[channel]
            elif skips_empty:
                continue
            n_left = left[n_channels - 1]
            n_right = totals[n_channels - 1] - n_left
            if not is_candidate[position] or n_left < min_count or n_right < min_count:
                continue
            for channel in range(n_channels):
                right[channel] = totals[channel] - left[channel]
            reduction = _solve_sides(
                left, right, penalty, solver, sign, low, high, middle, values
            )
            if reduction > best:
                best, best_position = reduction, position
                best_missing_left = side == 1 if has_missing else n_left >= n_right
    return best, best_position, best_missing_left


@inner_kernel
def _scan_free(
    histogram: FloatArray,
    order: IndexArray,
    is_candidate: BoolArray,
    totals: FloatArray,
    penalty: FloatArray,
    solver: int,
    min_count: float,
    skips_empty: bool,
) -> tuple[float, int, bool]:
    """Find the best threshold of one feature without order or bounds."""
    node = (histogram, order, is_candidate, totals, penalty)
    if penalty.shape[0] == 1:
        return scan_one_term(*node, min_count, skips_empty)
    if penalty.shape[0] == 2 and solver == FULL:
        return scan_two_terms(*node, min_count, skips_empty)
    return scan_any_terms(*node, solver, min_count, skips_empty)


@allocating_kernel
def _solve_at(
    histogram: FloatArray,
    order: IndexArray,
    position: int,
    missing_left: bool,
    totals: FloatArray,
    penalty: FloatArray,
    solver: int,
    sign: int,
    low: FloatArray,
    high: FloatArray,
) -> float:
    """Return what one threshold gains in order and within bounds."""
    n_channels, n_terms = totals.shape[0], penalty.shape[0]
    left, right = np.zeros(n_channels), np.zeros(n_channels)
    for channel in range(n_channels):
        if missing_left:
            left[channel] = histogram[histogram.shape[0] - 1, channel]
        for place in range(position + 1):
            left[channel] += histogram[order[place], channel]
        right[channel] = totals[channel] - left[channel]
    middle, values = np.zeros(n_terms), np.zeros((2, n_terms))
    return solve_children(left, right, penalty, solver, sign, low, high, middle, values)


@inner_kernel
def _find_best_of_order(
    histogram: FloatArray,
    order: IndexArray,
    is_candidate: BoolArray,
    sign: int,
    totals: FloatArray,
    penalty: FloatArray,
    solver: int,
    min_count: float,
    skips_empty: bool,
    low: FloatArray,
    high: FloatArray,
    best: float,
) -> tuple[float, int, bool]:
    """Return the best threshold of bins in a given order if it is better than ``best``.

    The best one without order and bounds is the answer if it keeps them, and tells what no
    other one exceeds.
    """
    node = (histogram, order, is_candidate, totals, penalty, solver, min_count, skips_empty)
    free, position, missing_left = _scan_free(*node)
    if position < 0 or free <= best:
        return -np.inf, -1, False
    reduction = _solve_at(
        histogram,
        order,
        position,
        missing_left,
        totals,
        penalty,
        solver,
        sign,
        low,
        high,
    )
    if reduction >= free - ROUNDING * abs(free):
        return reduction, position, missing_left
    return _scan_ordered(*node, sign, low, high)


@inlined_kernel
def _find_best_of_feature(
    histogram: FloatArray,
    n_used: int,
    is_categorical: bool,
    sign: int,
    totals: FloatArray,
    penalty: FloatArray,
    solver: int,
    min_count: float,
    n_candidates: int,
    seed: np.uint64,
    low: FloatArray,
    high: FloatArray,
    best: float,
    goes_left: BoolArray,
) -> tuple[float, int, bool]:
    """Return (reduction, last bin on the left, missing goes left) if better than ``best``.

    ``goes_left`` is overwritten in that case only; otherwise the reduction is ``best``.
    """
    n_channels, n_terms = totals.shape[0], penalty.shape[0]
    if is_categorical:
        histogram = shrink_categories(histogram, n_used, n_terms)
    counts = histogram[:n_used, n_channels - 1]
    is_candidate = np.ones(n_used, np.bool_)
    order = np.arange(n_used).astype(np.int32)
    if n_candidates > 0 and n_used > 0 and not is_categorical:
        draw_candidates(counts, n_candidates, seed, is_candidate)
    skips_empty = n_candidates == 0 or is_categorical
    best_bin, best_missing_left = 0, False
    curvature_at = n_terms
    for term in range(n_terms if is_categorical else 1):
        if is_categorical:
            order = order_categories(histogram, n_used, term, curvature_at)
            if n_candidates > 0 and order.shape[0] > 0:
                occupied = np.ones(order.shape[0])
                draw_candidates(occupied, n_candidates, seed, is_candidate)
            curvature_at = _next_diagonal(curvature_at, term, n_terms, n_channels)
        reduction, position, missing_left = _find_best_of_order(
            histogram,
            order,
            is_candidate,
            sign,
            totals,
            penalty,
            solver,
            min_count,
            skips_empty,
            low,
            high,
            best,
        )
        if reduction > best:
            best = reduction
            if skips_empty and not is_categorical:
                position = find_middle_of_gap(counts, position)
            best_bin = order[position]
            best_missing_left = missing_left
            mark_left(order, position, missing_left, missing_left, goes_left)
    return best, best_bin, best_missing_left


@allocating_kernel
def find_ordered_split(
    histograms: FloatArray,
    features: IndexArray,
    n_values: IndexArray,
    is_categorical: BoolArray,
    signs: IndexArray,
    penalty: FloatArray,
    solver: int,
    min_count: float,
    n_candidates: int,
    seed: np.uint64,
    own: float,
    low: FloatArray,
    high: FloatArray,
    goes_left: BoolArray,
    sums: FloatArray,
) -> tuple[float, int, int, bool]:
    """Find the split of one node that lowers the objective most, within bounds.

    Parameters
    ----------
    histograms, features, n_values, is_categorical, penalty, solver, min_count, \
n_candidates, seed, goes_left, sums
        As in `find_best_split`.
    signs : (n_used,) int32
        Whether coefficients must rise (1) or fall (-1) with each feature used; else 0.
    own : float
        What the node gains as a leaf, see `solve_bounded`.
    low, high : (n_terms,) float64
        Bounds of the node's coefficients.

    Returns
    -------
    tuple of (float, int, int, bool)
        As from `find_best_split`.
    """
    n_channels = histograms.shape[2]
    totals = sums[0]
    least = own + ROUNDING * abs(own)
    best, best_slot, best_bin, best_missing_left = least, -1, 0, False
    if totals[n_channels - 1] < 2 * min_count:
        return -1.0, -1, 0, False
    for slot in range(features.shape[0]):
        feature = features[slot]
        reduction, bin_index, missing_left = _find_best_of_feature(
            histograms[slot],
            n_values[feature],
            is_categorical[feature],
            signs[slot],
            totals,
            penalty,
            solver,
            min_count,
            n_candidates,
            mix_bits(seed + np.uint64(feature + 1)),
            low,
            high,
            best,
            goes_left,
        )
        if reduction > best:
            best, best_slot = reduction, slot
            best_bin, best_missing_left = bin_index, missing_left
    if best_slot < 0:
        return -1.0, -1, 0, False
    sum_left(histograms[best_slot], goes_left, sums[1])
    return best - own, best_slot, best_bin, best_missing_left

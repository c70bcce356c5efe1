"""One feature's thresholds, tried one after the other.

All three kernels do the same: the bins in ``order`` move to the left one by one, and that
twice where the node has missing values (the last bin of the histogram), once with these on
the right and once on the left. Those for one and for two terms, the default's numbers, keep
their sums in registers, which makes them several times as fast.
"""

from __future__ import annotations

import numpy as np

from boostr._kernels._jit import allocating_kernel, inner_kernel
from boostr._kernels.solve import TINY, leaf_reduction
from boostr._typing import BoolArray, FloatArray, IndexArray

__all__ = ["scan_any_terms", "scan_one_term", "scan_two_terms"]

_UNSAFE = 1e-6  # determinants below this share of the diagonal's product lose digits


@allocating_kernel
def scan_any_terms(
    histogram: FloatArray,
    order: IndexArray,
    is_candidate: BoolArray,
    totals: FloatArray,
    penalty: FloatArray,
    solver: int,
    min_count: float,
    skips_empty: bool,
) -> tuple[float, int, bool]:
    """Find the best threshold of one feature.

    Parameters
    ----------
    histogram : (n_bins, n_channels) float64, C order
        Sums per bin; the last bin holds missing values.
    order : (n_used,) int32
        Bins in the order in which they move to the left.
    is_candidate : (n_used,) bool
        Positions in ``order`` after which a threshold may stand.
    totals : (n_channels,) float64
        Sums of the node.
    penalty : (n_terms, n_terms) float64
        The penalty matrix of the leaf problem.
    solver : int
        Kind of leaf problem, see :mod:`boostr._kernels.solve`.
    min_count : float
        Least number of individuals on either side.
    skips_empty : bool
        Whether thresholds after empty bins are left out; they move nobody.

    Returns
    -------
    tuple of (float, int, bool)
        Reduction of the objective by both sides (-1 where no threshold is possible),
        position in ``order``, and whether missing values go left.
    """
    n_channels = totals.shape[0]
    n_terms = penalty.shape[0]
    missing = histogram[histogram.shape[0] - 1]
    has_missing = missing[n_channels - 1] > 0.0
    factor = np.zeros((n_terms, n_terms))
    work = np.zeros(n_terms)
    right = np.zeros(n_channels)
    best, best_position, best_missing_left = -1.0, -1, False
    for side in range(2 if has_missing else 1):
        left = side * missing
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
            reduction = leaf_reduction(
                left, penalty, solver, factor, work
            ) + leaf_reduction(right, penalty, solver, factor, work)
            if reduction > best:
                best, best_position = reduction, position
                best_missing_left = side == 1 if has_missing else n_left >= n_right
    return best, best_position, best_missing_left


@inner_kernel
def scan_one_term(
    histogram: FloatArray,
    order: IndexArray,
    is_candidate: BoolArray,
    totals: FloatArray,
    penalty: FloatArray,
    min_count: float,
    skips_empty: bool,
) -> tuple[float, int, bool]:
    """Find the best threshold of one feature for one term; as `scan_any_terms`."""
    missing = histogram[histogram.shape[0] - 1]
    has_missing = missing[2] > 0.0
    total_h = totals[1] + 2.0 * penalty[0, 0]
    best, best_position, best_missing_left = -1.0, -1, False
    for side in range(2 if has_missing else 1):
        g, n_left = side * missing[0], side * missing[2]
        h = side * missing[1] + penalty[0, 0]
        for position in range(order.shape[0]):
            bin_index = order[position]
            count = histogram[bin_index, 2]
            if count > 0.0:
                g += histogram[bin_index, 0]
                h += histogram[bin_index, 1]
                n_left += count
            elif skips_empty:
                continue
            n_right = totals[2] - n_left
            if not is_candidate[position] or n_left < min_count or n_right < min_count:
                continue
            g_right, h_right = totals[0] - g, total_h - h
            # Most thresholds are not the best so far, which is seen without division.
            both = h * h_right
            if both > 0.0 and g * g * h_right + g_right * g_right * h < best * both:
                continue
            reduction = g * g / h if h > 0.0 else 0.0
            if h_right > 0.0:
                reduction += g_right * g_right / h_right
            if reduction > best:
                best, best_position = reduction, position
                best_missing_left = side == 1 if has_missing else n_left >= n_right
    return 0.5 * best, best_position, best_missing_left


@inner_kernel
def _reduce_carefully(g1: float, g2: float, a: float, b: float, c: float) -> float:
    """Return g' [[a, b], [b, c]]^-1 g by elimination, leaving out a singular part.

    The same rule as in :mod:`boostr._kernels.solve`, without its buffers: an allocation,
    even in a branch that is never taken, would make the loop around it several times as
    slow.
    """
    if a <= 0.0:
        return g2 * g2 / c if c > 0.0 else 0.0
    ratio = b / a
    pivot = c - ratio * b
    reduction = g1 * g1 / a
    if pivot > TINY * c:
        rest = g2 - ratio * g1
        reduction += rest * rest / pivot
    return reduction


@inner_kernel
def _reduce_both(
    g1: float,
    g2: float,
    a: float,
    b: float,
    c: float,
    totals: FloatArray,
    total_a: float,
    total_b: float,
    total_c: float,
) -> float:
    """Return g'H^-1 g of the left side plus that of the right, by determinants.

    ``g1, g2`` is the gradient of the left side and ``a, b, c`` its curvature (first, mixed,
    second), the penalty included; the right side is what is left of the totals.
    """
    r1, r2 = totals[0] - g1, totals[1] - g2
    ra, rb, rc = total_a - a, total_b - b, total_c - c
    left, right = a * c - b * b, ra * rc - rb * rb
    if left <= _UNSAFE * a * c or right <= _UNSAFE * ra * rc:
        return _reduce_carefully(g1, g2, a, b, c) + _reduce_carefully(r1, r2, ra, rb, rc)
    left_form = g1 * (g1 * c - 2.0 * g2 * b) + g2 * g2 * a
    right_form = r1 * (r1 * rc - 2.0 * r2 * rb) + r2 * r2 * ra
    return (left_form * right + right_form * left) / (left * right)


@inner_kernel
def scan_two_terms(
    histogram: FloatArray,
    order: IndexArray,
    is_candidate: BoolArray,
    totals: FloatArray,
    penalty: FloatArray,
    min_count: float,
    skips_empty: bool,
) -> tuple[float, int, bool]:
    """Find the best threshold of one feature for two terms; as `scan_any_terms`."""
    missing = histogram[histogram.shape[0] - 1]
    has_missing = missing[5] > 0.0
    total_a = totals[2] + 2.0 * penalty[0, 0]
    total_b = totals[3] + 2.0 * penalty[1, 0]
    total_c = totals[4] + 2.0 * penalty[1, 1]
    best, best_position, best_missing_left = -1.0, -1, False
    for side in range(2 if has_missing else 1):
        g1, g2, n_left = side * missing[0], side * missing[1], side * missing[5]
        a = side * missing[2] + penalty[0, 0]
        b = side * missing[3] + penalty[1, 0]
        c = side * missing[4] + penalty[1, 1]
        for position in range(order.shape[0]):
            bin_index = order[position]
            count = histogram[bin_index, 5]
            if count > 0.0:
                g1 += histogram[bin_index, 0]
                g2 += histogram[bin_index, 1]
                a += histogram[bin_index, 2]
                b += histogram[bin_index, 3]
                c += histogram[bin_index, 4]
                n_left += count
            elif skips_empty:
                continue
            n_right = totals[5] - n_left
            if not is_candidate[position] or n_left < min_count or n_right < min_count:
                continue
            reduction = _reduce_both(g1, g2, a, b, c, totals, total_a, total_b, total_c)
            if reduction > best:
                best, best_position = reduction, position
                best_missing_left = side == 1 if has_missing else n_left >= n_right
    return 0.5 * best, best_position, best_missing_left

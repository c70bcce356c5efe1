"""Rates that stay above zero, and curves that do not fall."""

from __future__ import annotations

import numpy as np

from boostr._kernels._jit import allocating_kernel, kernel
from boostr._typing import FloatArray

__all__ = ["bend_rate", "bend_rates", "project_monotone"]


@kernel
def bend_rate(rate: float, floor: float) -> float:
    """Return a rate that is bent where it falls below the floor.

    Above the floor nothing changes. Below it ``floor**2 / (2 * floor - rate)`` takes its
    place, which is positive, rises with the rate and meets it smoothly. A floor of zero
    cuts rates off there; a negative one leaves them as they are.
    """
    if floor < 0.0 or rate >= floor:
        return rate
    if floor == 0.0:
        return 0.0
    return floor / (2.0 - rate / floor)


def bend_rates(rates: FloatArray, floor: float) -> None:
    """Bend all rates of an array in place; with NumPy, which needs no compiler."""
    if floor < 0.0:
        return
    is_low = rates < floor
    rates[is_low] = floor / (2.0 - rates[is_low] / floor) if floor > 0.0 else 0.0


@allocating_kernel
def project_monotone(curves: FloatArray, weights: FloatArray) -> None:
    """Replace every row by the nearest non-negative, non-decreasing one.

    Parameters
    ----------
    curves : (n_rows, n_times) float64
        Values on a grid; overwritten with the nearest such sequence in the sense of
        weighted least squares.
    weights : (n_times,) float64
        Weights of the columns, all positive.

    Notes
    -----
    Pool adjacent violators: a stack of blocks, each with its mean, weight and length.
    """
    n_times = curves.shape[1]
    mean = np.empty(n_times)
    weight = np.empty(n_times)
    length = np.empty(n_times, np.int64)
    for row in range(curves.shape[0]):
        n_blocks = 0
        for column in range(n_times):
            mean[n_blocks] = curves[row, column]
            weight[n_blocks] = weights[column]
            length[n_blocks] = 1
            while n_blocks > 0 and mean[n_blocks - 1] > mean[n_blocks]:
                before = n_blocks - 1
                both = weight[before] + weight[n_blocks]
                mean[before] += (mean[n_blocks] - mean[before]) * weight[n_blocks] / both
                weight[before] = both
                length[before] += length[n_blocks]
                n_blocks -= 1
            n_blocks += 1
        column = 0
        for block in range(n_blocks):
            for _ in range(length[block]):
                curves[row, column] = max(mean[block], 0.0)
                column += 1

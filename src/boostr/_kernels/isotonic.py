"""Nearest non-decreasing and non-negative sequences."""

from __future__ import annotations

import numpy as np

from boostr._kernels._jit import kernel
from boostr._typing import FloatArray

__all__ = ["project_monotone"]


@kernel
def project_monotone(curves: FloatArray, weights: FloatArray) -> None:
    """Replace every row by a non-negative, non-decreasing one.

    Parameters
    ----------
    curves : (n_rows, n_times) float64
        Values on a grid; overwritten. The columns with a weight become the nearest
        non-decreasing sequence in the sense of weighted least squares; the later ones,
        which no data support, rise wherever the curve rises above all it has been since.
    weights : (n_pooled,) float64
        Weights of the first columns.

    Notes
    -----
    Pool adjacent violators: a stack of blocks, each with its mean, weight and length.
    """
    n_times = curves.shape[1]
    n_pooled = weights.shape[0]
    mean = np.empty(n_pooled)
    weight = np.empty(n_pooled)
    length = np.empty(n_pooled, np.int64)
    for row in range(curves.shape[0]):
        n_blocks = 0
        last = curves[row, n_pooled - 1]
        for column in range(n_pooled):
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
        rise = 0.0
        for column in range(n_pooled, n_times):
            rise = max(rise, curves[row, column] - last)
            curves[row, column] = curves[row, n_pooled - 1] + rise

"""Nearest non-decreasing and non-negative sequences."""

from __future__ import annotations

import numpy as np

from boostr._kernels._jit import kernel
from boostr._typing import FloatArray

__all__ = ["project_monotone"]


@kernel
def project_monotone(curves: FloatArray, n_pooled: int) -> None:
    """Replace every row by a non-negative, non-decreasing one.

    Parameters
    ----------
    curves : (n_rows, n_times) float64
        Values on a grid; overwritten. The first ``n_pooled`` columns become the nearest
        non-decreasing sequence in the sense of least squares; the later ones, which no data
        support, rise wherever the curve rises above all it has been since then.
    n_pooled : int
        Number of columns to project.

    Notes
    -----
    Pool adjacent violators: a stack of blocks, each with its mean and length.
    """
    n_times = curves.shape[1]
    mean = np.empty(n_pooled)
    length = np.empty(n_pooled, np.int64)
    for row in range(curves.shape[0]):
        n_blocks = 0
        last = curves[row, n_pooled - 1]
        for column in range(n_pooled):
            mean[n_blocks] = curves[row, column]
            length[n_blocks] = 1
            while n_blocks > 0 and mean[n_blocks - 1] > mean[n_blocks]:
                n_before = length[n_blocks - 1]
                n_both = n_before + length[n_blocks]
                mean[n_blocks - 1] += (
                    (mean[n_blocks] - mean[n_blocks - 1]) * length[n_blocks] / n_both
                )
                length[n_blocks - 1] = n_both
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

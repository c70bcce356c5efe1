"""Marks of individuals: hashes of their features and times."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from boostr._kernels._jit import inner_kernel, kernel
from boostr._kernels.split import mix_bits
from boostr._typing import FloatArray, OffsetArray

__all__ = ["Marks", "mark_features", "mark_times"]

Marks = NDArray[np.uint64]

_BLOCK = 256  # individuals whose features stay in the cache
_INCREMENT = np.uint64(0x9E3779B97F4A7C15)  # of SplitMix64, so that zeros are mixed, too


@inner_kernel
def _mix(mark: np.uint64, number: float) -> np.uint64:
    """Mix a number into a mark; all zeros count as one number, and all NaN."""
    known = np.nan if np.isnan(number) else number + 0.0
    return mix_bits(mark + np.float64(known).view(np.uint64) + _INCREMENT)


@kernel
def mark_features(features: FloatArray, marks: Marks) -> None:
    """Mix features, (n, p), into the marks of their individuals, (n,).

    Rounding errors in the last digits are ignored. Individuals of a block take turns: the
    next feature of the same one would have to wait for its mark.
    """
    n, n_features = features.shape
    for begin in range(0, n, _BLOCK):
        end = begin + _BLOCK if begin + _BLOCK < n else n
        for feature in range(n_features):
            for row in range(begin, end):
                marks[row] = _mix(marks[row], float(np.float32(features[row, feature])))


@kernel
def mark_times(times: FloatArray, offsets: OffsetArray, marks: Marks) -> None:
    """Mix the times of individuals, in any order, into their marks, (n,)."""
    for row in range(marks.shape[0]):
        total = marks[row] + _INCREMENT
        for place in range(offsets[row], offsets[row + 1]):
            total += _mix(np.uint64(0), times[place])
        marks[row] = mix_bits(total)

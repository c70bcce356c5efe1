"""Values to bins."""

from __future__ import annotations

import math

import numba

from boostr._kernels._jit import kernel, parallel_kernel
from boostr._typing import BinArray, BoolArray, FloatArray, OffsetArray

__all__ = ["assign_bins", "assign_bins_parallel"]


@kernel
def assign_bins(
    values: FloatArray,
    thresholds: FloatArray,
    offsets: OffsetArray,
    is_categorical: BoolArray,
    missing_bin: int,
    out: BinArray,
) -> None:
    """Write the bin of every value: the number of thresholds below it.

    Parameters
    ----------
    values : (n_individuals, n_features) float64
        Feature values; NaN is missing. Categories are codes 0, 1, ...
    thresholds : (n_thresholds,) float64
        The thresholds of all features, each feature's in rising order.
    offsets : (n_features + 1,) int64
        Where the thresholds of every feature begin.
    is_categorical : (n_features,) bool
        Features whose value is their bin; a code beyond the known ones is missing.
    missing_bin : int
        The bin of missing values.
    out : (n_individuals, n_features) uint8
        Overwritten with bins. A value equal to a threshold goes below it.
    """
    for row in range(values.shape[0]):
        for feature in range(values.shape[1]):
            value = values[row, feature]
            low = offsets[feature]
            high = offsets[feature + 1]
            if math.isnan(value):
                out[row, feature] = missing_bin
            elif is_categorical[feature]:
                is_known = 0.0 <= value < high - low
                out[row, feature] = int(value) if is_known else missing_bin
            else:
                first = low
                while low < high:
                    middle = (low + high) // 2
                    if thresholds[middle] < value:
                        low = middle + 1
                    else:
                        high = middle
                out[row, feature] = low - first


@parallel_kernel
def assign_bins_parallel(
    values: FloatArray,
    thresholds: FloatArray,
    offsets: OffsetArray,
    is_categorical: BoolArray,
    missing_bin: int,
    out: BinArray,
    n_chunks: int,
) -> None:
    """Do the same on all threads."""
    n_rows = values.shape[0]
    for chunk in numba.prange(n_chunks):
        begin = chunk * n_rows // n_chunks
        end = (chunk + 1) * n_rows // n_chunks
        assign_bins(
            values[begin:end],
            thresholds,
            offsets,
            is_categorical,
            missing_bin,
            out[begin:end],
        )

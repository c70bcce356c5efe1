"""Values to bins, and members of a node to its children."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from boostr._kernels._jit import inner_kernel, kernel
from boostr._kernels.prefetch import prefetch
from boostr._kernels.threads import run_in_parts
from boostr._typing import BinArray, BoolArray, FloatArray, IndexArray, OffsetArray

__all__ = [
    "assign_bins",
    "assign_bins_parallel",
    "partition_members",
    "partition_members_parallel",
]

_BLOCK = 128  # individuals whose values are read at a time; they stay in the first cache
_AHEAD = 32  # members between the one that is divided and the one whose bin is asked for
_NONE, _ONE = np.uint64(0), np.uint64(1)


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
    for begin in range(0, values.shape[0], _BLOCK):
        some, bins = values[begin : begin + _BLOCK], out[begin : begin + _BLOCK]
        for feature in range(values.shape[1]):
            own = thresholds[offsets[feature] : offsets[feature + 1]]
            if not is_categorical[feature]:
                _count_below(some, feature, own, bins)
            for row in range(some.shape[0]):
                value = some[row, feature]
                if math.isnan(value):
                    bins[row, feature] = missing_bin
                elif is_categorical[feature]:
                    is_known = 0.0 <= value < own.shape[0]
                    bins[row, feature] = np.int64(value) if is_known else missing_bin


@inner_kernel
def _count_below(
    values: FloatArray, feature: int, thresholds: FloatArray, out: BinArray
) -> None:
    """Count the thresholds below every value of a feature, in steps that halve them.

    Steps of different rows do not wait for each other, and have no branches.
    """
    n_thresholds, n_steps = np.uint64(thresholds.shape[0]), np.uint64(0)
    while n_thresholds >> n_steps > _ONE:
        n_steps += _ONE
    # The first step leaves 2**n_steps - 1 thresholds, on either side.
    rest, half = n_thresholds + _ONE - (_ONE << n_steps), (_ONE << n_steps) - _ONE
    for row in range(values.shape[0]):
        is_above = n_thresholds > _NONE and thresholds[half] < values[row, feature]
        out[row, feature] = rest * np.uint64(is_above)
    while n_steps > _NONE:
        n_steps -= _ONE
        half = (_ONE << n_steps) - _ONE
        for row in range(values.shape[0]):
            low = np.uint64(out[row, feature])
            is_above = thresholds[low + half] < values[row, feature]
            out[row, feature] = low + (np.uint64(is_above) << n_steps)


def assign_bins_parallel(
    values: FloatArray,
    thresholds: FloatArray,
    offsets: OffsetArray,
    is_categorical: BoolArray,
    missing_bin: int,
    out: BinArray,
    n_parts: int,
) -> None:
    """Do the same on all threads."""
    run_in_parts(
        len(values),
        n_parts,
        lambda own: assign_bins(
            values[own], thresholds, offsets, is_categorical, missing_bin, out[own]
        ),
    )


@kernel
def partition_members(
    x_binned: BinArray,
    feature: int,
    goes_left: BoolArray,
    members: IndexArray,
    scratch: IndexArray,
) -> int:
    """Move the members that go left to the front; return how many they are.

    Parameters
    ----------
    x_binned : (n_individuals, n_features) uint8, C order
        Bin of every individual on every feature.
    feature : int
        The feature that splits the node.
    goes_left : (n_bins,) bool
        Side of every bin, the missing one included.
    members : (n_members,) int32
        Individuals of the node; reordered in place, each side in its former order.
    scratch : (n_members,) int32
        Overwritten with those that go right, from the front on.

    Returns
    -------
    int
        Number of members on the left.
    """
    n_members, n_left, column = members.shape[0], np.uint64(0), np.uint64(feature)
    n_columns = np.uint64(x_binned.shape[1])
    n_ahead = np.uint64(n_members - _AHEAD if n_members > _AHEAD else 0)
    for position in range(np.uint64(n_members)):
        if position < n_ahead:
            later = np.uint64(members[position + np.uint64(_AHEAD)])
            prefetch(x_binned, later * n_columns + column)
        member = members[position]
        # Written to both sides, of which one goes on: a branch would be guessed wrong.
        members[n_left] = member
        scratch[position - n_left] = member
        n_left += np.uint64(goes_left[x_binned[np.uint64(member), column]])
    n_right: Any = np.uint64(n_members) - n_left
    for position in range(n_right):
        members[n_left + position] = scratch[position]
    return n_members - np.int64(n_right)


def partition_members_parallel(
    x_binned: BinArray,
    feature: int,
    goes_left: BoolArray,
    members: IndexArray,
    scratch: IndexArray,
    n_parts: int,
) -> int:
    """Do the same on all threads, part by part; then bring the sides of parts together."""

    def divide(own: slice) -> tuple[int, IndexArray]:
        n_left = partition_members(x_binned, feature, goes_left, members[own], scratch[own])
        return n_left, scratch[own.start : own.stop - n_left]

    parts = run_in_parts(len(members), n_parts, divide)
    n_left, begin = 0, 0
    for n_own, right in parts:
        # The places in between are free: those who go right are in the working space.
        members[n_left : n_left + n_own] = members[begin : begin + n_own]
        n_left += n_own
        begin += n_own + len(right)
    np.concatenate([right for _, right in parts], out=members[n_left:])
    return n_left

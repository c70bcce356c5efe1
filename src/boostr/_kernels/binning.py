"""Values to bins, and members of a node to its children."""

from __future__ import annotations

import math

import numpy as np

from boostr._kernels._jit import kernel
from boostr._kernels.threads import run_in_parts
from boostr._typing import BinArray, BoolArray, FloatArray, IndexArray, OffsetArray

__all__ = [
    "assign_bins",
    "assign_bins_parallel",
    "partition_members",
    "partition_members_parallel",
]

_BLOCK = 128  # individuals whose values are read at a time; they stay in the first cache
_ONE = np.uint64(1)


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
        end = begin + _BLOCK if begin + _BLOCK < values.shape[0] else values.shape[0]
        for feature in range(values.shape[1]):
            first = np.uint64(offsets[feature])
            n_thresholds = np.uint64(offsets[feature + 1]) - first
            n_steps = np.uint64(0)
            while n_thresholds >> n_steps > _ONE:
                n_steps += _ONE
            for row in range(begin, end):
                value = values[row, feature]
                if math.isnan(value):
                    out[row, feature] = missing_bin
                elif is_categorical[feature]:
                    is_known = 0.0 <= value < n_thresholds
                    out[row, feature] = int(value) if is_known else missing_bin
                elif n_thresholds == np.uint64(0):
                    out[row, feature] = 0
                else:
                    # The first step leaves 2**n_steps - 1 thresholds, on either side.
                    # Written as shifts, the steps have no branch that could be guessed
                    # wrong: half the time.
                    rest = n_thresholds + _ONE - (_ONE << n_steps)
                    is_above = thresholds[first + (_ONE << n_steps) - _ONE] < value
                    low = first + rest if is_above else first
                    step = n_steps
                    while step > np.uint64(0):
                        step -= _ONE
                        is_above = thresholds[low + (_ONE << step) - _ONE] < value
                        low += np.uint64(is_above) << step
                    out[row, feature] = low - first


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
    for position in range(np.uint64(n_members)):
        member = members[position]
        # Written to both sides, of which one goes on: a branch would be guessed wrong.
        members[n_left] = member
        scratch[position - n_left] = member
        n_left += np.uint64(goes_left[x_binned[np.uint64(member), column]])
    n_right = np.uint64(n_members) - n_left
    for position in range(n_right):
        members[n_left + position] = scratch[position]
    return n_members - int(np.int64(n_right))


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

"""Members of a node to members of its children, in place and in a stable order."""

from __future__ import annotations

import numba
import numpy as np

from boostr._kernels._jit import kernel, parallel_kernel
from boostr._typing import BinArray, BoolArray, IndexArray

__all__ = ["partition_members", "partition_members_parallel"]


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
        Working space.

    Returns
    -------
    int
        Number of members on the left.
    """
    n_left = 0
    n_right = 0
    for position in range(members.shape[0]):
        member = members[position]
        if goes_left[x_binned[member, feature]]:
            members[n_left] = member
            n_left += 1
        else:
            scratch[n_right] = member
            n_right += 1
    for position in range(n_right):
        members[n_left + position] = scratch[position]
    return int(n_left)


@parallel_kernel
def partition_members_parallel(
    x_binned: BinArray,
    feature: int,
    goes_left: BoolArray,
    members: IndexArray,
    scratch: IndexArray,
    n_chunks: int,
) -> int:
    """Do the same on all threads: each chunk counts, then writes to its own place."""
    n_members = members.shape[0]
    n_left_of = np.zeros(n_chunks, np.int64)
    for chunk in numba.prange(n_chunks):
        begin = chunk * n_members // n_chunks
        end = (chunk + 1) * n_members // n_chunks
        n_left_of[chunk] = partition_members(
            x_binned, feature, goes_left, members[begin:end], scratch[begin:end]
        )
    n_left = n_left_of.sum()
    for chunk in numba.prange(n_chunks):
        begin = chunk * n_members // n_chunks
        end = (chunk + 1) * n_members // n_chunks
        left_before = n_left_of[:chunk].sum()
        right_before = n_left + begin - left_before
        n_here = n_left_of[chunk]
        scratch[left_before : left_before + n_here] = members[begin : begin + n_here]
        scratch[right_before : right_before + end - begin - n_here] = members[
            begin + n_here : end
        ]
    for chunk in numba.prange(n_chunks):
        begin = chunk * n_members // n_chunks
        end = (chunk + 1) * n_members // n_chunks
        members[begin:end] = scratch[begin:end]
    return int(n_left)

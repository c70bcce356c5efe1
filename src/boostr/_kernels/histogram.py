"""Sums of anonymous channels per feature and bin."""

from __future__ import annotations

import platform
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from boostr._kernels._jit import (
    call_by_address,
    inlined_kernel,
    inner_kernel,
    kernel,
    types,
    wide_kernel,
)
from boostr._kernels.prefetch import prefetch
from boostr._kernels.threads import run_in_parts
from boostr._typing import Address, BinArray, FloatArray, IndexArray

__all__ = [
    "Members",
    "accumulate_any",
    "accumulate_few",
    "accumulate_histograms",
    "accumulate_histograms_parallel",
    "accumulate_members",
    "accumulate_some_bins",
    "call_accumulate",
    "count_shares",
    "count_spare",
    "find_accumulate",
]

# Sums that are written at a time. They should stay in a cache: ARM's first one, or the
# second one of other processors, whose first one is smaller.
_FAST_BYTES = 61_440 if platform.machine() in {"aarch64", "arm64"} else 262_144
_SHARED_FROM = 20_000  # members from which a node is summed by shares
_SHARE = 12_500  # members of a share at least, but of the first two
_MOST_SHARES = 8
_AHEAD = 8  # members between the one that is summed and the one that is asked for
_BLOCK = 512  # members that are read at a time; they should stay in the second cache
Sizes = tuple[np.uint64, np.uint64]  # features of an individual, and bins of a feature


# Indices are unsigned: the compiler would else look whether they count from the end.
@inner_kernel
def _prefetch_member(
    bins: BinArray,
    sizes: Sizes,
    gradients: FloatArray,
    curvatures: FloatArray,
    member: np.uint64,
) -> None:
    """Ask for all numbers of a member; bins and curvatures may reach into another line."""
    n_columns, one = sizes[0], np.uint64(1)
    n_gradients = np.uint64(gradients.shape[1])
    n_curvatures = np.uint64(curvatures.shape[1])
    prefetch(bins, member * n_columns)
    prefetch(bins, (member + one) * n_columns - one)
    prefetch(gradients, member * n_gradients)
    prefetch(curvatures, member * n_curvatures)
    prefetch(curvatures, (member + one) * n_curvatures - one)


@inlined_kernel
def _accumulate_one(
    bins: BinArray,
    sizes: Sizes,
    gradients: FloatArray,
    block: IndexArray,
    used: IndexArray,
    flat: FloatArray,
) -> None:
    """Sum one channel: the gradient of one term, where the others are known."""
    n_columns, n_bins = sizes
    for position in range(block.shape[0]):
        member = np.uint64(block[position])
        first = gradients[member, np.uint64(0)]
        start, cells = member * n_columns, np.uint64(0)
        for slot in range(used.shape[0]):
            flat[cells + np.uint64(bins[start + np.uint64(used[slot])])] += first
            cells += n_bins


@inlined_kernel
def _accumulate_two(
    bins: BinArray,
    sizes: Sizes,
    gradients: FloatArray,
    block: IndexArray,
    used: IndexArray,
    flat: FloatArray,
) -> None:
    """Sum two channels: the gradients of two terms, where the others are known."""
    n_columns, n_bins = sizes
    one, two = np.uint64(1), np.uint64(2)
    for position in range(block.shape[0]):
        member = np.uint64(block[position])
        first, second = gradients[member, np.uint64(0)], gradients[member, one]
        start, cells = member * n_columns, np.uint64(0)
        for slot in range(used.shape[0]):
            bin_index = np.uint64(bins[start + np.uint64(used[slot])])
            cell = cells + bin_index * two
            flat[cell] += first
            flat[cell + one] += second
            cells += n_bins * two


@inlined_kernel
def _accumulate_three(
    bins: BinArray,
    sizes: Sizes,
    gradients: FloatArray,
    curvatures: FloatArray,
    block: IndexArray,
    ahead: IndexArray,
    used: IndexArray,
    flat: FloatArray,
) -> None:
    """Sum three channels (one term), each held by name.

    The compiler cannot know that writing sums leaves the rows alone, and would load them
    anew for every feature; held by name they stay in registers, a quarter faster.
    """
    n_columns, n_bins = sizes
    one, two, three = np.uint64(1), np.uint64(2), np.uint64(3)
    for position in range(block.shape[0]):
        if position < ahead.shape[0]:
            later = np.uint64(ahead[position])
            _prefetch_member(bins, sizes, gradients, curvatures, later)
        member = np.uint64(block[position])
        first, second = gradients[member, np.uint64(0)], curvatures[member, np.uint64(0)]
        start, cells = member * n_columns, np.uint64(0)
        for slot in range(used.shape[0]):
            bin_index = np.uint64(bins[start + np.uint64(used[slot])])
            cell = cells + bin_index * three
            flat[cell] += first
            flat[cell + one] += second
            flat[cell + two] += 1.0
            cells += n_bins * three


@inlined_kernel
def _accumulate_six(
    bins: BinArray,
    sizes: Sizes,
    gradients: FloatArray,
    curvatures: FloatArray,
    block: IndexArray,
    ahead: IndexArray,
    used: IndexArray,
    flat: FloatArray,
) -> None:
    """Sum six channels (two terms with full curvature), each held by name."""
    n_columns, n_bins = sizes
    one, two, three = np.uint64(1), np.uint64(2), np.uint64(3)
    four, five, six = np.uint64(4), np.uint64(5), np.uint64(6)
    for position in range(block.shape[0]):
        if position < ahead.shape[0]:
            later = np.uint64(ahead[position])
            _prefetch_member(bins, sizes, gradients, curvatures, later)
        member = np.uint64(block[position])
        first, second = gradients[member, np.uint64(0)], gradients[member, one]
        third, fourth = curvatures[member, np.uint64(0)], curvatures[member, one]
        fifth = curvatures[member, two]
        start, cells = member * n_columns, np.uint64(0)
        for slot in range(used.shape[0]):
            bin_index = np.uint64(bins[start + np.uint64(used[slot])])
            cell = cells + bin_index * six
            flat[cell] += first
            flat[cell + one] += second
            flat[cell + two] += third
            flat[cell + three] += fourth
            flat[cell + four] += fifth
            flat[cell + five] += 1.0
            cells += n_bins * six


@wide_kernel
def accumulate_few(
    x_binned: BinArray,
    gradients: FloatArray,
    curvatures: FloatArray,
    members: IndexArray,
    features: IndexArray,
    out: FloatArray,
) -> None:
    """Do what `accumulate_histograms` does for one term, or for two that interact."""
    flat, bins = out.reshape(-1), x_binned.reshape(-1)
    for place in range(flat.shape[0]):
        flat[place] = 0.0
    sizes = np.uint64(x_binned.shape[1]), np.uint64(out.shape[1])
    n_channels = out.shape[2]
    n_bytes = 8 * out.shape[1] * n_channels
    chunk = _FAST_BYTES // n_bytes if n_bytes < _FAST_BYTES else 1
    for begin in range(0, members.shape[0], _BLOCK):
        block = members[begin : begin + _BLOCK]
        ahead = members[begin + _AHEAD : begin + _BLOCK + _AHEAD]
        for first in range(0, features.shape[0], chunk):
            used = features[first : first + chunk]
            part = flat[first * out.shape[1] * n_channels :]
            if n_channels == 1:
                _accumulate_one(bins, sizes, gradients, block, used, part)
            elif n_channels == 2:
                _accumulate_two(bins, sizes, gradients, block, used, part)
            elif n_channels == 3:
                _accumulate_three(
                    bins, sizes, gradients, curvatures, block, ahead, used, part
                )
            else:
                _accumulate_six(
                    bins, sizes, gradients, curvatures, block, ahead, used, part
                )
            ahead = ahead[:0]  # which the next features will find in the cache


@wide_kernel
def accumulate_any(
    x_binned: BinArray,
    gradients: FloatArray,
    curvatures: FloatArray,
    members: IndexArray,
    features: IndexArray,
    out: FloatArray,
) -> None:
    """Do what `accumulate_histograms` does for any number of terms."""
    flat, bins = out.reshape(-1), x_binned.reshape(-1)
    for place in range(flat.shape[0]):
        flat[place] = 0.0
    n_columns, n_bins = np.uint64(x_binned.shape[1]), np.uint64(out.shape[1])
    n_gradients, n_channels = np.uint64(gradients.shape[1]), np.uint64(out.shape[2])
    n_curvatures, n_members = np.uint64(curvatures.shape[1]), members.shape[0]
    for begin in range(0, n_members, _BLOCK):
        end = begin + _BLOCK if begin + _BLOCK < n_members else n_members
        for slot in range(features.shape[0]):
            feature, cells = np.uint64(features[slot]), np.uint64(slot) * n_bins
            for position in range(begin, end):
                member = np.uint64(members[position])
                bin_index = np.uint64(bins[member * n_columns + feature])
                cell = (cells + bin_index) * n_channels
                for channel in range(n_gradients):
                    flat[cell + channel] += gradients[member, channel]
                if n_channels > n_gradients:
                    cell += n_gradients
                    for channel in range(n_curvatures):
                        flat[cell + channel] += curvatures[member, channel]
                    flat[cell + n_curvatures] += 1.0


@inner_kernel
def count_shares(n_members: int) -> int:
    """Return in how many shares members are summed.

    Threads take one share after the other, so that a faster one takes more of them. Sums
    of shares are added in their order: the bits do not depend on the number of threads.
    """
    if n_members < _SHARED_FROM:
        return 1
    n_shares = 2  # then 4, 8 and so on: two threads have as many each
    while n_shares < _MOST_SHARES and n_members >= 2 * n_shares * _SHARE:
        n_shares *= 2
    return n_shares


_count_shares: Callable[[int], int] = getattr(count_shares, "py_func", count_shares)


def count_spare(n_members: int) -> int:
    """Return how many histograms threads need beside those of nodes, one at least."""
    return max(_count_shares(n_members) - 1, 1)


_SIGNATURE = types.void(
    types.uint8[:, ::1],
    types.float64[:, ::1],
    types.float64[:, ::1],
    types.int32[::1],
    types.int32[::1],
    types.float64[:, :, ::1],
)
call_accumulate, _find_few = call_by_address(accumulate_few, _SIGNATURE)
_, _find_any = call_by_address(accumulate_any, _SIGNATURE)


class Members(NamedTuple):
    """Members of a node that has no histograms."""

    x_binned: BinArray  # (n_individuals, n_features), C order
    gradients: FloatArray  # (n_individuals, n_gradients), C order
    curvatures: FloatArray  # (n_individuals, n_curvatures), C order
    rows: IndexArray  # (n_members,)
    accumulate: Address  # of `accumulate_histograms`


@inner_kernel
def accumulate_members(members: Members, features: IndexArray, out: FloatArray) -> None:
    """Do what `accumulate_histograms` does for the members of a node."""
    call_accumulate(
        members.accumulate,
        members.x_binned,
        members.gradients,
        members.curvatures,
        members.rows,
        features,
        out,
    )


def _are_few(gradients: FloatArray, curvatures: FloatArray) -> bool:
    """Return whether these are statistics of one term, or of two that interact."""
    return (gradients.shape[1], curvatures.shape[1]) in ((1, 1), (2, 3))


def find_accumulate(gradients: FloatArray, curvatures: FloatArray) -> Address:
    """Return the address of the kernel that sums such statistics."""
    return _find_few() if _are_few(gradients, curvatures) else _find_any()


def accumulate_histograms(
    x_binned: BinArray,
    gradients: FloatArray,
    curvatures: FloatArray,
    members: IndexArray,
    features: IndexArray,
    out: FloatArray,
) -> None:
    """Sum the statistics of one node's members per feature and bin, and count them.

    Parameters
    ----------
    x_binned : (n_individuals, n_features) uint8, C order
        Bin of every individual on every feature.
    gradients : (n_individuals, n_gradients) float64, C order
        Statistics that change from tree to tree.
    curvatures : (n_individuals, n_curvatures) float64, C order
        Those that do not.
    members : (n_members,) int32
        Individuals in the node.
    features : (n_used,) int32
        Features to look at.
    out : (n_used, n_bins, n_channels) float64, C order
        Overwritten with the sums of the gradients and, if there is room for more, those of
        the curvatures, and the number of members.

    Notes
    -----
    Every cell adds its members in the order given, so the sums are the same bits however
    the work is cut: into blocks of members and, inside, as many features at a time as the
    first cache has room for the sums of.
    """
    are_few = _are_few(gradients, curvatures)
    accumulate = accumulate_few if are_few else accumulate_any
    accumulate(x_binned, gradients, curvatures, members, features, out)


@kernel
def accumulate_some_bins(
    x_binned: BinArray,
    gradients: FloatArray,
    curvatures: FloatArray,
    members: IndexArray,
    feature: int,
    first: int,
    missing_bin: int,
    out: FloatArray,
) -> None:
    """Sum the statistics of one node's members in some bins of one feature.

    Parameters
    ----------
    x_binned, gradients, curvatures, members
        As in `accumulate_histograms`.
    feature : int
        The feature.
    first : int
        First of the bins; others follow.
    missing_bin : int
        The bin of missing values.
    out : (n_read + 1, n_channels) float64, C order
        Overwritten with the sums of so many bins, and of the missing one.
    """
    n_read, n_gradients = out.shape[0] - 1, gradients.shape[1]
    out[:] = 0.0
    for position in range(members.shape[0]):
        member = members[position]
        bin_index = np.int64(x_binned[member, feature])
        is_missing = bin_index == missing_bin
        if is_missing or first <= bin_index < first + n_read:
            place = n_read if is_missing else bin_index - first
            for channel in range(n_gradients):
                out[place, channel] += gradients[member, channel]
            for channel in range(curvatures.shape[1]):
                out[place, n_gradients + channel] += curvatures[member, channel]
            out[place, out.shape[1] - 1] += 1.0


def accumulate_histograms_parallel(
    x_binned: BinArray,
    gradients: FloatArray,
    curvatures: FloatArray,
    members: IndexArray,
    features: IndexArray,
    out: FloatArray,
    n_parts: int,
) -> None:
    """Do the same in so many parts, which threads share.

    Parts are the shares of many members, see `count_shares`, or runs of features. So the
    bits do not depend on the number of parts.
    """
    n_shares = _count_shares(len(members))
    shares = [len(members) * share // n_shares for share in range(n_shares + 1)]
    sums = [out, *(np.empty_like(out) for _ in range(n_shares - 1))]
    n_runs = max(1, min(-(-n_parts // n_shares), len(features)))
    edges = [len(features) * run // n_runs for run in range(n_runs + 1)]

    def accumulate(own: slice) -> None:
        share, run = divmod(own.start, n_runs)
        some = members[shares[share] : shares[share + 1]]
        used = slice(edges[run], edges[run + 1])
        data = (x_binned, gradients, curvatures)
        accumulate_histograms(*data, some, features[used], sums[share][used])

    n_tasks = n_shares * n_runs
    run_in_parts(n_tasks, n_tasks, accumulate)
    for others in sums[1:]:
        out += others

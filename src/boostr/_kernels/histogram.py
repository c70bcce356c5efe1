"""Sums of anonymous channels per feature and bin."""

from __future__ import annotations

import numba
import numpy as np

from boostr._kernels._jit import kernel, parallel_kernel
from boostr._typing import BinArray, FloatArray, IndexArray

__all__ = ["accumulate_histograms", "accumulate_histograms_parallel"]


@kernel
def _accumulate_features(
    x_binned: BinArray,
    rows: FloatArray,
    members: IndexArray,
    features: IndexArray,
    channels: tuple[int, ...],
    out: FloatArray,
) -> None:
    out[:] = 0.0
    flat = out.reshape(-1)
    stride = out.shape[1] * len(channels)
    for position in range(members.shape[0]):
        member = members[position]
        for slot in range(features.shape[0]):
            cell = np.uint64(slot * stride) + np.uint64(
                x_binned[member, features[slot]]
            ) * np.uint64(len(channels))
            for channel in range(len(channels)):
                flat[cell + np.uint64(channel)] += rows[member, channel]


@kernel
def accumulate_histograms(
    x_binned: BinArray,
    rows: FloatArray,
    members: IndexArray,
    features: IndexArray,
    channels: tuple[int, ...],
    out: FloatArray,
) -> None:
    """Sum the rows of one node's members per feature and bin.

    Parameters
    ----------
    x_binned : (n_individuals, n_features) uint8, C order
        Bin of every individual on every feature.
    rows : (n_individuals, n_channels) float64, C order
        Statistics of every individual; their meaning is the caller's.
    members : (n_members,) int32
        Individuals in the node.
    features : (n_used,) int32
        Features to look at.
    channels : tuple of n_channels ints
        Only its length is read. A tuple's length is known to the compiler, which
        unrolls the inner loop: a third faster than a length read at run time.
    out : (n_used, n_bins, n_channels) float64, C order
        Overwritten with the sums.

    Notes
    -----
    Row-major bins: the statistics of a member are loaded once and stay in registers for
    all its features.
    """
    _accumulate_features(x_binned, rows, members, features, channels, out)


@parallel_kernel
def accumulate_histograms_parallel(
    x_binned: BinArray,
    rows: FloatArray,
    members: IndexArray,
    features: IndexArray,
    channels: tuple[int, ...],
    out: FloatArray,
    n_chunks: int,
) -> None:
    """Do the same on all threads, each owning a run of features.

    Every feature's sums are added by one thread in the order of the members, so that they
    are the same bits as those of the serial twin, for every number of threads.
    """
    n_features = features.shape[0]
    for chunk in numba.prange(n_chunks):
        begin = chunk * n_features // n_chunks
        end = (chunk + 1) * n_features // n_chunks
        _accumulate_features(
            x_binned, rows, members, features[begin:end], channels, out[begin:end]
        )

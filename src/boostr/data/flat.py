"""Flat arrays in which ``flat[offsets[i]:offsets[i + 1]]`` belongs to individual ``i``."""

from __future__ import annotations

import numpy as np

from boostr._typing import AnyArray, BoolArray, FloatArray, OffsetArray


def offsets_of(counts: AnyArray) -> OffsetArray:
    """Return the (n + 1,) offsets of individuals with the given numbers of entries."""
    offsets = np.zeros(counts.size + 1, dtype=np.int64)
    np.cumsum(counts, out=offsets[1:])
    return offsets


def owners_of(offsets: OffsetArray) -> OffsetArray:
    """Return the position of the individual that owns each entry."""
    return np.repeat(np.arange(offsets.size - 1, dtype=np.int64), np.diff(offsets))


def take_entries(
    offsets: OffsetArray, index: OffsetArray
) -> tuple[OffsetArray, OffsetArray]:
    """Return the positions of the entries of some individuals, and their new offsets."""
    counts = np.diff(offsets)[index]
    new_offsets = offsets_of(counts)
    shift = np.repeat(offsets[index] - new_offsets[:-1], counts)
    return np.arange(new_offsets[-1], dtype=np.int64) + shift, new_offsets


def order_within(values: FloatArray, owner: OffsetArray) -> OffsetArray | None:
    """Return the stable order by individual, then by value; None if already sorted."""
    same = owner[1:] == owner[:-1]
    sorted_already = (owner[1:] > owner[:-1]) | (same & (values[1:] >= values[:-1]))
    if sorted_already.all():
        return None
    return np.lexsort((values, owner)).astype(np.int64, copy=False)


def merge_touching(
    start: FloatArray, stop: FloatArray, offsets: OffsetArray
) -> tuple[FloatArray, FloatArray, OffsetArray]:
    """Return windows where those that touch are merged; they come sorted and disjoint."""
    owner = owners_of(offsets)
    goes_on = (owner[1:] == owner[:-1]) & (start[1:] == stop[:-1])
    if not goes_on.any():
        return start, stop, offsets
    opens = np.concatenate([[True], ~goes_on])
    closes = np.concatenate([~goes_on, [True]])
    counts = np.bincount(owner[opens], minlength=offsets.size - 1)
    return start[opens], stop[closes], offsets_of(counts)


def inside_windows(
    times: FloatArray,
    owner: OffsetArray,
    start: FloatArray,
    stop: FloatArray,
    window_owner: OffsetArray,
) -> BoolArray:
    """Return which times lie in a window ``(start, stop]`` of their individual.

    Times may be in any order; windows are sorted and disjoint within each individual.
    """
    if start.size == 0:
        return np.zeros(times.size, dtype=bool)
    # One sorted line of starts and times; a time equal to a start comes before it.
    is_start = np.concatenate([np.zeros(times.size), np.ones(start.size)])
    order = np.lexsort(
        (
            is_start,
            np.concatenate([times, start]),
            np.concatenate([owner, window_owner]),
        )
    )
    last_start = np.empty(order.size, dtype=np.int64)
    last_start[order] = np.cumsum(is_start[order]).astype(np.int64) - 1
    window = last_start[: times.size]
    safe = np.maximum(window, 0)
    found = (window >= 0) & (window_owner[safe] == owner)
    return np.asarray(found & (times <= stop[safe]), dtype=bool)

"""Arithmetic of flat arrays, in which ``flat[offsets[i]:offsets[i + 1]]`` is of ``i``."""

from __future__ import annotations

import numpy as np

from boostr._typing import AnyArray, BoolArray, FloatArray, OffsetArray


def offsets_of(counts: AnyArray) -> OffsetArray:
    """Turn how many each individual has into where each begins.

    Parameters
    ----------
    counts : (n,) int array
        Number of entries of every individual.

    Returns
    -------
    (n + 1,) int64 array
        Offsets, from 0 to the sum of the counts.

    Examples
    --------
    >>> offsets_of(np.array([2, 0, 1]))
    array([0, 2, 2, 3])
    """
    offsets = np.zeros(counts.size + 1, dtype=np.int64)
    np.cumsum(counts, out=offsets[1:])
    return offsets


def owners_of(offsets: OffsetArray) -> OffsetArray:
    """Give the individual of every entry.

    Parameters
    ----------
    offsets : (n + 1,) int64 array
        Where each individual begins.

    Returns
    -------
    (offsets[-1],) int64 array
        Position of the individual that owns the entry.

    Examples
    --------
    >>> owners_of(np.array([0, 2, 2, 3]))
    array([0, 0, 2])
    """
    return np.repeat(np.arange(offsets.size - 1, dtype=np.int64), np.diff(offsets))


def gather(offsets: OffsetArray, index: OffsetArray) -> tuple[OffsetArray, OffsetArray]:
    """Find the entries of some individuals, in the order asked for.

    Parameters
    ----------
    offsets : (n + 1,) int64 array
        Where each individual begins.
    index : (m,) int64 array
        Individuals to take, repeats allowed.

    Returns
    -------
    positions : (k,) int64 array
        Their entries in the flat array.
    new_offsets : (m + 1,) int64 array
        Where each of them begins after taking.

    Examples
    --------
    >>> gather(np.array([0, 2, 2, 3]), np.array([2, 0, 0]))
    (array([2, 0, 1, 0, 1]), array([0, 1, 3, 5]))
    """
    counts = np.diff(offsets)[index]
    new_offsets = offsets_of(counts)
    shift = np.repeat(offsets[index] - new_offsets[:-1], counts)
    return np.arange(new_offsets[-1], dtype=np.int64) + shift, new_offsets


def order_within(values: FloatArray, owner: OffsetArray) -> OffsetArray | None:
    """Sort by individual and then by value, ties in the order given.

    Parameters
    ----------
    values : (k,) float64 array
        What to sort by within an individual.
    owner : (k,) int64 array
        Individual of every value.

    Returns
    -------
    (k,) int64 array or None
        Positions in sorted order; None if they are sorted already.

    Examples
    --------
    >>> order_within(np.array([3.0, 1.0, 2.0]), np.array([0, 0, 1]))
    array([1, 0, 2])
    """
    same = owner[1:] == owner[:-1]
    sorted_already = (owner[1:] > owner[:-1]) | (same & (values[1:] >= values[:-1]))
    if sorted_already.all():
        return None
    return np.lexsort((values, owner)).astype(np.int64, copy=False)


def merge_touching(
    start: FloatArray, stop: FloatArray, offsets: OffsetArray
) -> tuple[FloatArray, FloatArray, OffsetArray]:
    """Join windows that end where the next one of the same individual begins.

    Parameters
    ----------
    start, stop : (w,) float64 array
        Windows, sorted and disjoint within each individual.
    offsets : (n + 1,) int64 array
        Where each individual begins.

    Returns
    -------
    start, stop, offsets : arrays
        The same, with as few windows as possible.

    Examples
    --------
    >>> merge_touching(np.array([0.0, 1.0]), np.array([1.0, 3.0]), np.array([0, 2]))
    (array([0.]), array([3.]), array([0, 1]))
    """
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
    """Tell which times lie in a window ``(start, stop]`` of their individual.

    Parameters
    ----------
    times : (k,) float64 array
        Times in any order.
    owner : (k,) int64 array
        Individual of every time.
    start, stop : (w,) float64 array
        Windows, sorted and disjoint within each individual.
    window_owner : (w,) int64 array
        Individual of every window, sorted.

    Returns
    -------
    (k,) bool array
        Whether the individual was at risk.

    Examples
    --------
    >>> zero = np.zeros(2, dtype=np.int64)
    >>> starts, stops = np.array([0.0, 5.0]), np.array([2.0, 6.0])
    >>> inside_windows(np.array([2.0, 5.0]), zero, starts, stops, zero)
    array([ True, False])
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

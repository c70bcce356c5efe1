"""Grids of times that several paths share."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from boostr._kernels.paths import count_refined, hold_values, refine_after, unite_times
from boostr._typing import BoolArray, FloatArray, OffsetArray
from boostr.data._flat import offsets_of
from boostr.data._path_build import check_size

if TYPE_CHECKING:
    from boostr.data._path_container import PathContainer

Grid = tuple[FloatArray, OffsetArray]  # times of all individuals, and where each begins


def unite(one: Grid, other: Grid) -> Grid:
    """Give the times that stand in at least one of two grids.

    Parameters
    ----------
    one, other : (times, offsets)
        Grids of the same individuals.

    Returns
    -------
    (times, offsets)
        Every time once.

    Examples
    --------
    >>> offsets = np.array([0, 2])
    >>> unite((np.array([1.0, 2.0]), offsets), (np.array([2.0, 3.0]), offsets))
    (array([1., 2., 3.]), array([0, 3]))
    """
    grid = np.empty(one[0].size + other[0].size)
    offsets = np.empty_like(one[1])
    written = unite_times(*one, *other, grid, offsets)
    return grid[:written].copy(), offsets


def keep_times(grid: Grid, keep: BoolArray) -> Grid:
    """Give some times of a grid.

    Parameters
    ----------
    grid : (times, offsets)
        The grid.
    keep : (k,) bool array
        Which times to keep.

    Returns
    -------
    (times, offsets)
        The rest of it.

    Examples
    --------
    >>> keep_times((np.array([1.0, 2.0]), np.array([0, 1, 2])), np.array([False, True]))
    (array([2.]), array([0, 0, 1]))
    """
    return grid[0][keep], offsets_of(keep)[grid[1]]


def one_each(times: FloatArray, keep: BoolArray | None = None) -> Grid:
    """Give a grid of one time per individual.

    Parameters
    ----------
    times : (n,) float64 array
        Time of every individual.
    keep : (n,) bool array, optional
        Who has one, by default all.

    Returns
    -------
    (times, offsets)
        The grid.

    Examples
    --------
    >>> one_each(np.array([1.0, 2.0]), np.array([False, True]))
    (array([2.]), array([0, 0, 1]))
    """
    every = (times, np.arange(times.size + 1))
    return every if keep is None else keep_times(every, keep)


def hold(paths: PathContainer, grid: Grid, out: FloatArray | None = None) -> FloatArray:
    """Read all sensors just after the times of a grid.

    Parameters
    ----------
    paths : Trajectories
        The sensors.
    grid : (times, offsets)
        Times of the same individuals.
    out : (n_sensors, k) float64 array, optional
        Where to write the values.

    Returns
    -------
    (n_sensors, k) float64 array
        Values; NaN where unknown.

    Examples
    --------
    >>> from boostr.data import Trajectories
    >>> Z = Trajectories.from_flat([1, 2], [0, 2], [[5, 6]], ["load"])
    >>> hold(Z, (np.array([0.0, 1.0, 1.5, 2.0]), np.array([0, 4])))
    array([[nan,  5.,  5.,  6.]])
    """
    if out is None:
        out = np.empty((len(paths.names), grid[0].size))
    hold_values(paths.begin_times(), paths.offsets, paths.values, *grid, out)
    return out


def refine(
    grid: Grid, step: float, *, reach: float = np.inf, until: FloatArray | None = None
) -> Grid:
    """Add steps after every time, up to the next one.

    Parameters
    ----------
    grid : (times, offsets)
        Times without ties.
    step : float
        Length of the steps; the last one before a time may be shorter.
    reach : float, optional
        How long after a time steps are needed; they end with a point there.
    until : (n,) float64 array, optional
        Where the steps of every individual end at the latest.

    Returns
    -------
    (times, offsets)
        A grid that does not depend, up to any moment, on the times that come later.

    Examples
    --------
    >>> refine((np.array([0.0, 2.0]), np.array([0, 2])), 1.5, reach=3.0)
    (array([0. , 1.5, 2. , 3.5, 5. ]), array([0, 5]))
    """
    times, offsets = grid
    if until is None:
        until = np.full(offsets.size - 1, np.inf)
    following = np.append(times[1:], np.inf)
    some = np.diff(offsets) > 0
    following[offsets[1:][some] - 1] = until[some]
    check_size(float((np.clip(following - times, 0.0, reach) / step).sum()) + times.size)
    counts = np.empty(times.size, dtype=np.int64)
    count_refined(times, offsets, until, reach, step, counts)
    begin = offsets_of(counts)
    refined = np.empty(begin[-1])
    refine_after(times, counts, reach, step, refined)
    return refined, begin[offsets]

"""Grids of times that several paths share."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from boostr._kernels.paths import count_refined, hold_values, refine_after, unite_times
from boostr._kernels.runs import Runs
from boostr._typing import BoolArray, FloatArray
from boostr.data._flat import offsets_of
from boostr.data._path_build import check_size

if TYPE_CHECKING:
    from boostr.data._path_container import PathContainer


def unite(one: Runs, other: Runs) -> Runs:
    """Give the times that stand in at least one of two grids.

    Parameters
    ----------
    one, other : Runs
        Grids of the same individuals.

    Returns
    -------
    Runs
        Every time once.

    Examples
    --------
    >>> offsets = np.array([0, 2])
    >>> unite(Runs(np.array([1.0, 2.0]), offsets), Runs(np.array([2.0, 3.0]), offsets))
    Runs(times=array([1., 2., 3.]), offsets=array([0, 3]))
    """
    room = one.times.size + other.times.size
    grid = Runs(np.empty(room), np.empty_like(one.offsets))
    written = unite_times(one, other, grid)
    return Runs(grid.times[:written].copy(), grid.offsets)


def keep_times(grid: Runs, keep: BoolArray) -> Runs:
    """Give some times of a grid.

    Parameters
    ----------
    grid : Runs
        The grid.
    keep : (k,) bool array
        Which times to keep.

    Returns
    -------
    Runs
        The rest of it.

    Examples
    --------
    >>> grid = Runs(np.array([1.0, 2.0]), np.array([0, 1, 2]))
    >>> keep_times(grid, np.array([False, True]))
    Runs(times=array([2.]), offsets=array([0, 0, 1]))
    """
    return Runs(grid.times[keep], offsets_of(keep)[grid.offsets])


def one_each(times: FloatArray, keep: BoolArray | None = None) -> Runs:
    """Give a grid of one time per individual.

    Parameters
    ----------
    times : (n,) float64 array
        Time of every individual.
    keep : (n,) bool array, optional
        Who has one, by default all.

    Returns
    -------
    Runs
        The grid.

    Examples
    --------
    >>> one_each(np.array([1.0, 2.0]), np.array([False, True]))
    Runs(times=array([2.]), offsets=array([0, 0, 1]))
    """
    every = Runs(times, np.arange(times.size + 1))
    return every if keep is None else keep_times(every, keep)


def hold(paths: PathContainer, grid: Runs, out: FloatArray | None = None) -> FloatArray:
    """Read all sensors just after the times of a grid.

    Parameters
    ----------
    paths : Trajectories
        The sensors.
    grid : Runs
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
    >>> hold(Z, Runs(np.array([0.0, 1.0, 1.5, 2.0]), np.array([0, 4])))
    array([[nan,  5.,  5.,  6.]])
    """
    if out is None:
        out = np.empty((len(paths.names), grid.times.size))
    hold_values(paths._pieces(), paths.values, grid, out)
    return out


def refine(
    grid: Runs, step: float, *, reach: float = np.inf, until: FloatArray | None = None
) -> Runs:
    """Add steps after every time, up to the next one.

    Parameters
    ----------
    grid : Runs
        Times without ties.
    step : float
        Length of the steps; the last one before a time may be shorter.
    reach : float, optional
        How long after a time steps are needed; they end with a point there.
    until : (n,) float64 array, optional
        Where the steps of every individual end at the latest.

    Returns
    -------
    Runs
        A grid that does not depend, up to any moment, on the times that come later.

    Examples
    --------
    >>> refine(Runs(np.array([0.0, 2.0]), np.array([0, 2])), 1.5, reach=3.0)
    Runs(times=array([0. , 1.5, 2. , 3.5, 5. ]), offsets=array([0, 5]))
    """
    times, offsets = grid
    if until is None:
        until = np.full(offsets.size - 1, np.inf)
    following = np.append(times[1:], np.inf)
    some = np.diff(offsets) > 0
    following[offsets[1:][some] - 1] = until[some]
    check_size(float((np.clip(following - times, 0.0, reach) / step).sum()) + times.size)
    counts = np.empty(times.size, dtype=np.int64)
    count_refined(grid, until, reach, step, counts)
    begin = offsets_of(counts)
    refined = np.empty(begin[-1])
    refine_after(times, counts, reach, step, refined)
    return Runs(refined, begin[offsets])

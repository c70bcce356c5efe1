"""Grids of times per individual, and sensors read on them."""

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
    """Return the union of two grids of the same individuals, without ties."""
    room = one.times.size + other.times.size
    grid = Runs(np.empty(room), np.empty_like(one.offsets))
    written = unite_times(one, other, grid)
    return Runs(grid.times[:written].copy(), grid.offsets)


def keep_times(grid: Runs, keep: BoolArray) -> Runs:
    """Return the times of a grid that a mask keeps."""
    return Runs(grid.times[keep], offsets_of(keep)[grid.offsets])


def one_each(times: FloatArray, keep: BoolArray | None = None) -> Runs:
    """Return a grid of one time per individual, for all or those that a mask keeps."""
    every = Runs(times, np.arange(times.size + 1))
    return every if keep is None else keep_times(every, keep)


def hold(paths: PathContainer, grid: Runs, out: FloatArray | None = None) -> FloatArray:
    """Return all sensors just after the times of a grid, as (n_sensors, k) values."""
    if out is None:
        out = np.empty((len(paths.names), grid.times.size))
    hold_values(paths._pieces(), paths.values, grid, out)
    return out


def refine(
    grid: Runs, step: float, *, reach: float = np.inf, until: FloatArray | None = None
) -> Runs:
    """Return a grid with steps after every time, up to the next time, `reach` or `until`.

    Up to any moment, the result does not depend on later times.
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

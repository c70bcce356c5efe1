"""Grids of times per individual, at which sensors are read."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from boostr._kernels.paths import count_refined, hold_values, refine_after, unite_times
from boostr._kernels.segments import Runs
from boostr._typing import BoolArray, FloatArray
from boostr.data.flat import offsets_of
from boostr.exceptions import InvalidParameterError

if TYPE_CHECKING:
    from boostr.data.sensors.trajectories import Trajectories

MAX_PIECES = 2**31


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


def hold(sensors: Trajectories, grid: Runs, out: FloatArray | None = None) -> FloatArray:
    """Return all sensors just after the times of a grid, as (n_sensors, k) values."""
    if out is None:
        out = np.empty((len(sensors.names), grid.times.size))
    hold_values(sensors._pieces(), sensors.values, grid, out)
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
    check_n_pieces(
        float((np.clip(following - times, 0.0, reach) / step).sum()) + times.size
    )
    counts = np.empty(times.size, dtype=np.int64)
    count_refined(grid, until, reach, step, counts)
    begin = offsets_of(counts)
    refined = np.empty(begin[-1])
    refine_after(times, counts, reach, step, refined)
    return Runs(refined, begin[offsets])


def check_n_pieces(n_pieces: float) -> None:
    """Refuse steps so small that the number of pieces would exceed the limit."""
    if n_pieces > MAX_PIECES:
        raise InvalidParameterError(
            f"Paths must have at most {MAX_PIECES} pieces, but there would be "
            f"{n_pieces:.3g}.\n\nHint: take a longer `step`."
        )

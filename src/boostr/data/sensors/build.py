"""From samples to sensors over time: ties, order, values that hold, lines and grids."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from boostr._checks.parameters import check_choice, check_length
from boostr._kernels.paths import (
    add_expiries,
    carry_forward,
    count_refined,
    fill_paths,
    fill_ties,
    hold_values,
    refine_after,
    unite_times,
)
from boostr._kernels.segments import Runs
from boostr._typing import BoolArray, FloatArray, OffsetArray
from boostr.data.flat import offsets_of, owners_of
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


@dataclass(frozen=True, kw_only=True)
class Filling:
    """Rules for a sensor's value between, before and after its samples."""

    interpolation: str = "last"
    step: float | None = None
    before: str = "unknown"
    max_gap: float | None = None

    def check(self) -> None:
        """Refuse invalid settings."""
        check_choice(self.interpolation, ("last", "linear"), "interpolation")
        check_choice(self.before, ("unknown", "first"), "before")
        if self.max_gap is not None:
            check_length(self.max_gap, "max_gap")
        if self.step is not None:
            check_length(self.step, "step")
            if self.interpolation == "last":
                raise InvalidParameterError(
                    "`step` must be None unless values are interpolated, but it is "
                    f"{self.step!r}.\n\nHint: interpolation='linear'."
                )


def fill_sensors(
    times: FloatArray,
    offsets: OffsetArray,
    values: FloatArray,
    is_numeric: tuple[bool, ...],
    filling: Filling,
) -> dict[str, Any]:
    """Return the fields of a ``Trajectories`` about times and values, made from samples.

    Times are sorted within individuals; NaN means not sampled; `values` may be overwritten.
    """
    samples, values = _merge_ties(Runs(times, offsets), values)
    fills_back = filling.before == "first"
    fields: dict[str, Any] = {"before": filling.before}
    if filling.interpolation == "last" and filling.max_gap is None:
        carry_forward(samples.offsets, fills_back, values)
        return fields | samples._asdict() | {"values": values}
    max_gap = np.inf if filling.max_gap is None else float(filling.max_gap)
    grid = samples
    if filling.max_gap is not None:
        grid = _with_expiries(samples, values, max_gap)
    if filling.interpolation == "linear":
        step = _default_step(samples) if filling.step is None else filling.step
        grid = _divide_gaps(grid, step, samples)
    is_linear = np.array(is_numeric, dtype=bool) & (filling.interpolation == "linear")
    out = np.empty((values.shape[0], grid.times.size))
    fill_paths(samples, values, is_linear, fills_back, max_gap, grid, out)
    return fields | grid._asdict() | {"values": out}


def _merge_ties(samples: Runs, values: FloatArray) -> tuple[Runs, FloatArray]:
    """Return one sample per time; among ties the last value that is not NaN wins."""
    times, offsets = samples
    keep = np.empty(times.size, dtype=bool)
    keep[-1:] = True
    np.not_equal(times[1:], times[:-1], out=keep[:-1])
    keep[offsets[1:][offsets[1:] > 0] - 1] = True
    if keep.all():
        return samples, values
    fill_ties(samples, values)
    kept = np.concatenate([[0], np.cumsum(keep)])
    merged = Runs(times[keep], kept[offsets].astype(np.int64))
    return merged, values.compress(keep, axis=1)


def _with_expiries(samples: Runs, values: FloatArray, max_gap: float) -> Runs:
    """Return the samples with the times added at which held values expire."""
    room = samples.times.size * (1 + values.shape[0])
    grid = Runs(np.empty(room), np.empty_like(samples.offsets))
    written = add_expiries(samples, values, max_gap, grid)
    return Runs(grid.times[:written].copy(), grid.offsets)


def _gaps(samples: Runs) -> FloatArray:
    """Return the time from every sample to the individual's next; 0 for its last."""
    times, offsets = samples
    gaps = np.diff(times, append=times[-1:])
    gaps[offsets[1:][offsets[1:] > 0] - 1] = 0.0
    return np.asarray(gaps)


def _default_step(samples: Runs) -> float:
    """Return a quarter of the median time between successive samples."""
    gaps = _gaps(samples)
    gaps = gaps[gaps > 0.0]
    return float(np.median(gaps)) / 4.0 if gaps.size else 1.0


def _divide_gaps(grid: Runs, step: float, samples: Runs) -> Runs:
    """Return the grid with gaps cut into equal parts of at most ``step``.

    The time after an individual's last sample is not cut.
    """
    times, offsets = grid
    gaps = _gaps(grid)
    last = np.zeros(offsets.size - 1)
    some = np.diff(samples.offsets) > 0
    last[some] = samples.times[samples.offsets[1:][some] - 1]
    gaps[times >= last[owners_of(offsets)]] = 0.0
    n_parts = np.maximum(np.ceil(gaps / step * (1.0 - 1e-12)), 1.0)
    check_n_pieces(float(n_parts.sum()))
    counts = n_parts.astype(np.int64)
    begin = offsets_of(counts)
    place = np.arange(begin[-1]) - np.repeat(begin[:-1], counts)
    divided = np.repeat(times, counts) + place * np.repeat(gaps / n_parts, counts)
    return Runs(divided, begin[offsets])

"""Values of sensors between their samples: ties, values that hold, lines and gaps."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from boostr._checks.parameters import check_choice
from boostr._checks.times import check_length
from boostr._kernels.paths import add_expiries, carry_forward, fill_paths, fill_ties
from boostr._kernels.segments import Runs
from boostr._typing import FloatArray, OffsetArray
from boostr.data.flat import offsets_of, owners_of
from boostr.data.sensors.grids import check_n_pieces
from boostr.exceptions import InvalidParameterError


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

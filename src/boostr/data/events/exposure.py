"""Exposures of individuals, which multiply the rate of events; piecewise constant."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from boostr._kernels.segments import Runs, find_pieces
from boostr._typing import AnyArray, FloatArray, OffsetArray
from boostr.data.flat import offsets_of, owners_of, take_entries
from boostr.data.individuals import positions_of

if TYPE_CHECKING:
    from boostr.data.events.recurrent_events import RecurrentEvents

__all__ = ["CutWindows", "Exposure", "exposed_windows"]


@dataclass(frozen=True, slots=True, eq=False)
class CutWindows:
    """Windows cut into pieces of constant exposure, with the window of each piece."""

    window: OffsetArray  # (k,)
    owner: OffsetArray  # (k,) position of the individual
    start: FloatArray  # (k,)
    stop: FloatArray  # (k,)
    factor: FloatArray  # (k,) the exposure


@dataclass(frozen=True, slots=True, eq=False)
class Exposure:
    """Exposures of ``n`` individuals, by which the rate of events is multiplied.

    Piece ``k`` holds on ``(begins[k], begins[k + 1]]``; successive values differ.
    """

    begins: FloatArray  # (n_pieces,) minus infinity for the first of each individual
    values: FloatArray  # (n_pieces,)
    offsets: OffsetArray  # (n + 1,)

    @classmethod
    def of_numbers(cls, values: AnyArray) -> Exposure:
        """Return constant exposures, one number per individual."""
        n = len(values)
        return cls(np.full(n, -np.inf), values.astype(np.float64), np.arange(n + 1))

    @classmethod
    def of_samples(
        cls, times: FloatArray, values: FloatArray, offsets: OffsetArray
    ) -> Exposure:
        """Return exposures that hold until the next sample; all individuals have some."""
        owner, is_first = owners_of(offsets), np.zeros(len(times), dtype=np.bool_)
        is_first[offsets[:-1]] = True
        is_new = is_first.copy()
        is_new[1:] |= values[1:] != values[:-1]
        begins = np.where(is_first, -np.inf, times)[is_new]
        counts = np.bincount(owner[is_new], minlength=len(offsets) - 1)
        return cls(begins, values[is_new], offsets_of(counts))

    @classmethod
    def concatenate(cls, parts: Sequence[Exposure]) -> Exposure:
        """Return the exposures of all parts, one after the other."""
        counts = np.concatenate([np.diff(part.offsets) for part in parts])
        return cls(
            np.concatenate([part.begins for part in parts]),
            np.concatenate([part.values for part in parts]),
            offsets_of(counts),
        )

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, key: Any) -> Exposure:
        pieces, offsets = take_entries(self.offsets, positions_of(key, len(self)))
        return Exposure(self.begins[pieces], self.values[pieces], offsets)

    def move(self, shift: FloatArray) -> Exposure:
        """Return the exposures with times shifted by one number per individual."""
        begins = self.begins + shift[owners_of(self.offsets)]
        return Exposure(begins, self.values, self.offsets)

    @property
    def is_constant(self) -> bool:
        """Whether every individual has a single exposure for all times."""
        return len(self.values) == len(self)

    def equals(self, other: Exposure | None) -> bool:
        """Return whether other exposures are the same."""
        return other is not None and all(
            np.array_equal(getattr(self, name), getattr(other, name))
            for name in ("begins", "values", "offsets")
        )

    def find(
        self, owner: AnyArray, times: FloatArray, *, is_after: bool = False
    ) -> OffsetArray:
        """Return the pieces that hold at times of individuals, or just after them."""
        owner = np.ascontiguousarray(owner, dtype=np.int64)
        if self.is_constant:
            return owner
        out = np.empty(len(times), dtype=np.int64)
        pieces = Runs(self.begins, self.offsets)
        find_pieces(pieces, owner, np.ascontiguousarray(times), is_after, out)
        return out

    def cut(self, owner: AnyArray, start: FloatArray, stop: FloatArray) -> CutWindows:
        """Return windows ``(start, stop]``, cut where the exposures change."""
        first = self.find(owner, start, is_after=True)
        last = np.maximum(self.find(owner, stop), first)
        offsets = offsets_of(last - first + 1)
        window = owners_of(offsets)
        piece = first[window] + np.arange(offsets[-1]) - offsets[window]
        ends = np.append(self.begins[1:], np.inf)
        return CutWindows(
            window,
            np.asarray(owner[window], dtype=np.int64),
            np.maximum(start[window], self.begins[piece]),
            np.where(piece == last[window], stop[window], ends[piece]),
            self.values[piece],
        )

    def total(self, owner: AnyArray, start: FloatArray, stop: FloatArray) -> FloatArray:
        """Return the exposed time of every individual: the integral over its windows."""
        parts = self.cut(owner, start, stop)
        amounts = parts.factor * (parts.stop - parts.start)
        return np.bincount(parts.owner, amounts, len(self)).astype(np.float64)


def exposed_windows(events: RecurrentEvents) -> CutWindows:
    """Return the windows of histories in pieces of constant exposure, 1 by default."""
    owner = owners_of(events.window_offsets)
    start, stop = events.window_start, events.window_stop
    if events.exposure is None:
        everything = np.arange(len(owner))
        return CutWindows(everything, owner, start, stop, np.ones(len(owner)))
    return events.exposure.cut(owner, start, stop)

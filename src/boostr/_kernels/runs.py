"""Times of all individuals in one array, one run after the other."""

from __future__ import annotations

from typing import NamedTuple

from boostr._typing import FloatArray, OffsetArray

__all__ = ["Runs"]


class Runs(NamedTuple):
    """Sorted times of all individuals; those of ``i`` are ``offsets[i]:offsets[i + 1]``."""

    times: FloatArray  # (k,)
    offsets: OffsetArray  # (n + 1,)

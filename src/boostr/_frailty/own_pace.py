"""Factors of rates that hold for one individual alone, and change at times of its own."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from boostr._typing import FloatArray, PositionArray

__all__ = ["OwnPace"]


@dataclass(frozen=True, slots=True, eq=False)
class OwnPace:
    """Curves of individuals where their factors change, and by how much these change.

    Factors are 1 at first.
    """

    values: FloatArray  # (k, n)
    changes: FloatArray  # (k, n)

    def change(self, values: FloatArray, rows: PositionArray) -> FloatArray:
        """Return values of paced curves from those of plain curves, which do not fall."""
        paced = values.copy()
        for begin, change in zip(self.values, self.changes, strict=True):
            paced += change.take(rows) * np.maximum(values - begin.take(rows), 0.0)
        return paced

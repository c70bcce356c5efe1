"""Times at which curves are evaluated."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from boostr._typing import FloatArray
from boostr._validation import as_times
from boostr.exceptions import InvalidParameterError

__all__ = ["check_grid"]


def check_grid(times: ArrayLike | None, usual: FloatArray) -> FloatArray:
    """Return sorted unique times, or the usual ones if none are given."""
    if times is None:
        return usual
    grid = np.unique(as_times(times, "times", "times count units since `y.origin`."))
    if grid.size and np.isfinite(grid).all() and grid[0] >= 0.0:
        return grid
    raise InvalidParameterError(
        "`times` must be finite and not negative, but they are not, or there are none."
    )

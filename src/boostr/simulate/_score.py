"""Distance of predicted from true cumulative intensities."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from boostr._typing import FloatArray
from boostr.exceptions import InvalidParameterError

__all__ = ["integrated_squared_error"]


def integrated_squared_error(
    predicted: ArrayLike, true: ArrayLike, times: ArrayLike
) -> FloatArray:
    """Integrate the squared difference of two curves over time, per individual.

    The error of individual ``i`` is the integral of
    ``(predicted[i](t) - true[i](t)) ** 2`` from the first to the last time, by the
    trapezoid rule.

    Parameters
    ----------
    predicted, true : array-like of shape (n, m)
        Curves, one row per individual and one column per time.
    times : array-like of shape (m,)
        Increasing times, at least two.

    Returns
    -------
    ndarray of shape (n,)
        Integrated squared errors.

    See Also
    --------
    Simulation : Has the true curves.

    Examples
    --------
    >>> from boostr.simulate import integrated_squared_error
    >>> integrated_squared_error([[1.0, 1.0], [0.0, 0.0]], [[0.0, 0.0]] * 2, [0.0, 5.0])
    array([5., 0.])
    """
    grid = np.asarray(times, dtype=np.float64)
    if grid.ndim != 1 or grid.size < 2 or not np.all(np.diff(grid) > 0.0):
        raise InvalidParameterError(
            "`times` must be at least two increasing numbers, but it has shape "
            f"{grid.shape}.\n\nHint: use np.linspace(0.0, simulation.horizon, 201)."
        )
    error = np.asarray(predicted, dtype=np.float64) - np.asarray(true, dtype=np.float64)
    if error.ndim != 2 or error.shape[1] != grid.size:
        raise InvalidParameterError(
            f"Curves must have one column per time, but their shape is {error.shape} "
            f"at {grid.size} times.\n\nHint: pass the times that the curves were "
            "computed at."
        )
    squared = error**2
    areas: FloatArray = 0.5 * (squared[:, 1:] + squared[:, :-1]) @ np.diff(grid)
    return areas

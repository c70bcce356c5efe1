"""What every simulator returns, and the checks that they share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import ArrayLike

from boostr._typing import FloatArray
from boostr.exceptions import InvalidFeaturesError, InvalidParameterError

if TYPE_CHECKING:
    from boostr.data import RecurrentEvents, Trajectories

__all__ = ["Simulation"]

Seed = int | np.random.Generator | None
End = float | tuple[float, float]  # the same for all, or drawn between two


class Truth(Protocol):
    """The true cumulative intensity as a function of times and features."""

    def __call__(self, times: ArrayLike, X: ArrayLike | None = None) -> FloatArray:
        """Give the cumulative intensity, one row per individual, one column per time."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class Simulation:
    """Simulated individuals together with the law that made them.

    ``truth(times, X)[i, j]`` is the expected number of events of an individual with
    features ``X[i]`` by ``times[j]``.

    Parameters
    ----------
    X : ndarray of shape (n, p)
        Static features.
    y : RecurrentEvents
        The observed event histories.
    truth : callable
        ``truth(times, X=None)`` gives the true cumulative intensity, of shape
        ``(n, m)``, at ``m`` times; of the simulated individuals, or of any ``X``. Where
        there are dynamic features, it follows those of the simulated individuals, and
        ``X`` has a row for each of them.
    horizon : float
        Last end of follow-up; errors are integrated from 0 to here.
    feature_names : tuple of str
        Names of the columns of `X`.
    Z : Trajectories, default=None
        Dynamic features, where there are any.
    complete : RecurrentEvents, default=None
        The same histories observed longer and without early stops, where the observed
        ones are cut short by a rule.
    survival : callable, default=None
        ``survival(times, X=None)`` gives the true chance of no terminal event by some
        times, where there are terminal events; ``truth`` accounts for them.

    See Also
    --------
    integrated_squared_error : Distance of a prediction from the truth.

    Examples
    --------
    >>> from boostr.simulate import dataset_a
    >>> simulation = dataset_a(n=3, random_state=0)
    >>> simulation.feature_names, simulation.horizon
    (('x1', 'x2'), 100.0)
    >>> simulation.truth([50.0, 100.0], X=[[0.2, 0.2], [0.8, 0.8]])
    array([[ 0.5,  1. ],
           [ 5. , 10. ]])
    """

    X: FloatArray  # (n, p)
    y: RecurrentEvents
    truth: Truth
    horizon: float
    feature_names: tuple[str, ...]
    Z: Trajectories | None = None
    complete: RecurrentEvents | None = None
    survival: Truth | None = None


def check_end(end: End) -> tuple[float, float]:
    """Return the bounds of the ends of follow-up, equal if it is the same for all."""
    bounds = np.atleast_1d(np.asarray(end, dtype=np.float64))
    low, high = float(bounds.flat[0]), float(bounds.flat[-1])
    if bounds.shape not in {(1,), (2,)} or not 0.0 < low <= high < np.inf:
        raise InvalidParameterError(
            "`end` must be a positive number or a pair (low, high) of them, but it is "
            f"{end!r}.\n\nHint: end=100.0 or end=(50.0, 100.0)."
        )
    return low, high


def check_features(X: ArrayLike, n_features: int) -> FloatArray:
    """Return the features that a truth needs, or say why they cannot be used."""
    checked = np.asarray(X, dtype=np.float64)
    if checked.ndim != 2 or checked.shape[1] < n_features:
        raise InvalidFeaturesError(
            f"The truth needs {n_features} features, one row per individual, but `X` "
            f"has shape {checked.shape}.\n\n"
            "Hint: pass rows with the columns of `simulation.feature_names`."
        )
    return checked


def numbered_names(n_features: int) -> tuple[str, ...]:
    """Name features as the paper does: x1, x2, and so on."""
    return tuple(f"x{number}" for number in range(1, n_features + 1))

"""Maximum projection designs: few points that fill a space and its projections."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_random_state

from boostr._typing import FloatArray, IndexArray
from boostr.exceptions import InvalidParameterError

__all__ = ["max_pro_criterion", "max_pro_design"]

_NEGLIGIBLE = 1e-10  # share of the criterion below which a swap brings nothing


def max_pro_criterion(design: ArrayLike) -> float:
    """Tell how far a design is from filling a space and all its projections.

    The mean over all pairs of points of ``1 / prod_k (x_ik - x_jk)**2``, to the power of
    one over the number of factors. It is infinite if two points agree in any factor.

    Parameters
    ----------
    design : array-like of shape (n_points, n_factors)
        Points of the unit cube.

    Returns
    -------
    float
        Lower is better.

    See Also
    --------
    max_pro_design : Makes a design for which it is low.

    References
    ----------
    Joseph, V. R., Gul, E. and Ba, S. (2015). Maximum projection designs for computer
    experiments. Biometrika 102, 371-380. Equation (3).

    Examples
    --------
    Two points that differ by 1/2 in one factor.

    >>> from boostr.tuning import max_pro_criterion
    >>> max_pro_criterion([[0.25], [0.75]])
    4.0
    """
    points = np.asarray(design, dtype=np.float64)
    if points.ndim != 2 or points.shape[0] < 2 or points.shape[1] < 1:
        raise InvalidParameterError(
            "`design` must have at least two points and one factor, but its shape is "
            f"{points.shape}."
        )
    first, second = np.triu_indices(len(points), 1)
    # Logarithms: a product over many factors would leave the range of numbers.
    with np.errstate(divide="ignore"):
        logs = -2.0 * np.sum(np.log(np.abs(points[first] - points[second])), axis=1)
    largest = logs.max()
    if np.isinf(largest):
        return float("inf")
    log_mean = largest + np.log(np.mean(np.exp(logs - largest)))
    return float(np.exp(log_mean / points.shape[1]))


def max_pro_design(
    n_points: int, n_factors: int, random_state: Any = None, n_restarts: int = 10
) -> FloatArray:
    """Make a Latin hypercube that fills a space and all its projections.

    Of few points in many factors, each projection onto some of the factors is as even as
    can be, so that nothing is lost where the other factors turn out not to matter.

    Parameters
    ----------
    n_points : int
        Number of points.
    n_factors : int
        Number of factors.
    random_state : int, RandomState or None, default=None
        Seed of the starts.
    n_restarts : int, default=10
        Random Latin hypercubes from which the search for a better one starts.

    Returns
    -------
    ndarray of shape (n_points, n_factors)
        Points of the unit cube; every factor takes each of the values ``(i + 1/2) /
        n_points`` once.

    See Also
    --------
    max_pro_criterion : What is minimised.

    Notes
    -----
    From every start, the best swap of two values of a factor is made, factor after factor,
    until no swap lowers the criterion. All swaps of a factor are priced by one product of
    matrices.

    References
    ----------
    Joseph, V. R., Gul, E. and Ba, S. (2015). Maximum projection designs for computer
    experiments. Biometrika 102, 371-380.

    Examples
    --------
    >>> from boostr.tuning import max_pro_design
    >>> design = max_pro_design(5, 2, random_state=0)
    >>> sorted(design[:, 0].tolist())
    [0.1, 0.3, 0.5, 0.7, 0.9]
    """
    check_count(n_points, "n_points")
    check_count(n_factors, "n_factors")
    check_count(n_restarts, "n_restarts")
    rng = check_random_state(random_state)
    best, lowest = np.zeros((1, n_factors), dtype=np.int32), np.inf
    for _ in range(n_restarts):
        levels = np.column_stack([rng.permutation(n_points) for _ in range(n_factors)])
        levels = levels.astype(np.int32)
        if n_points < 3 or n_factors == 1:  # all Latin hypercubes are equally good
            return np.asarray((levels + 0.5) / n_points)
        total = _improve(levels)
        if total < lowest:
            best, lowest = levels, total
    return np.asarray((best + 0.5) / n_points)


def check_count(value: object, name: str) -> int:
    """Return a whole number of at least 1, checked."""
    if isinstance(value, bool) or not isinstance(value, Integral) or value < 1:
        raise InvalidParameterError(
            f"`{name}` must be a whole number of at least 1, but it is {value!r}."
        )
    return int(value)


def _improve(levels: IndexArray) -> float:
    """Swap values within factors, in place, while it helps; return the criterion."""
    n_factors = levels.shape[1]
    nearness = np.stack([_nearness(levels[:, factor]) for factor in range(n_factors)])
    total = float(np.prod(nearness, axis=0).sum())
    n_idle, factor = 0, 0
    while n_idle < n_factors:
        others = np.prod(np.delete(nearness, factor, axis=0), axis=0)
        change, first, second = _find_best_swap(others, nearness[factor])
        if change < -_NEGLIGIBLE * total:
            levels[[first, second], factor] = levels[[second, first], factor]
            nearness[factor] = _nearness(levels[:, factor])
            total, n_idle = total + change, 0
        else:
            n_idle += 1
            factor = (factor + 1) % n_factors
    return total


def _nearness(column: IndexArray) -> FloatArray:
    """Return one over the squared difference of all pairs, 0 on the diagonal.

    In units of the whole range, so that no product overflows.
    """
    gaps = (column[:, None] - column[None, :]) / len(column)
    np.fill_diagonal(gaps, np.inf)
    return np.asarray(1.0 / gaps**2)


def _find_best_swap(others: FloatArray, own: FloatArray) -> tuple[float, int, int]:
    """Return the change of the sum by the best swap in a factor, and the two points.

    With A the product over the other factors and B this one, swapping i and j adds the
    sum of (A_im - A_jm)(B_jm - B_im) over other m; doubled, as pairs count twice here.
    """
    product = others @ own
    diagonal = np.diag(product)
    change = product + product.T - diagonal[:, None] - diagonal[None, :]
    change = 2.0 * (change + 2.0 * others * own)
    np.fill_diagonal(change, 0.0)
    first, second = divmod(int(np.argmin(change)), len(change))
    return float(change[first, second]), first, second

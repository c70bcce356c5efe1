"""Search spaces, and maximum projection designs that pick settings from them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_random_state

from boostr._checks.parameters import check_count
from boostr._training.settings import Settings, resolve_baseline, resolve_basis
from boostr._typing import FloatArray, IndexArray
from boostr.estimators import BoostR
from boostr.exceptions import InvalidParameterError

__all__ = ["default_space", "draw_settings", "max_pro_criterion", "max_pro_design"]

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


_WHOLE = frozenset(
    {
        "n_estimators",
        "max_leaf_nodes",
        "min_samples_leaf",
        "n_knots",
        "spline_order",
        "n_folds",
        "max_bins",
    }
)
_FIXED = frozenset({"categorical_features", "random_state", "n_jobs", "verbose"})
_MANY_POINTS = 50  # from which a design is searched for from fewer starts


def default_space(
    estimator: BoostR | None = None, *, has_sensors: bool = False
) -> dict[str, Any]:
    """Give the settings that are searched by default.

    With the paper's loss and clock these are the ranges of the paper. Otherwise they are
    the prices, the learning rate, the size of trees and the family of leaf functions; loss
    and clock are left out, because they change what the prices mean.

    Parameters
    ----------
    estimator : BoostR, default=None
        The estimator to tune; ``BoostR()`` by default.
    has_sensors : bool, default=False
        Whether it is trained with sensors, and its leaves are not functions of time.

    Returns
    -------
    dict
        A new dictionary, as `BoostRSearch` takes it.

    See Also
    --------
    BoostRSearch : Searches it.

    Examples
    --------
    >>> from boostr import BoostR
    >>> from boostr.tuning import default_space
    >>> default_space(BoostR.paper())
    {'gamma1': (0.0, 600.0), 'gamma2': (0.0, 200.0)}
    """
    model = BoostR() if estimator is None else estimator
    if model.loss == "cumulative" and model.clock == "calendar":
        return {"gamma1": (0.0, 600.0), "gamma2": (0.0, 200.0)}
    leaves = {} if has_sensors else {"leaf": ["power", "step", "spline"]}
    return {
        "gamma1": (0.0, 5.0),
        "gamma2": (0.1, 30.0, "log"),
        "learning_rate": (0.02, 0.3, "log"),
        "max_leaf_nodes": (2, 16, "log"),
        **leaves,
    }


def draw_settings(
    space: Mapping[str, Any], n_points: int, estimator: BoostR, seed: int
) -> list[dict[str, Any]]:
    """Return distinct settings that fill a space, all checked."""
    _check_names(space, estimator)
    n_restarts = 10 if n_points <= _MANY_POINTS else 2
    design = max_pro_design(n_points, len(space), seed, n_restarts)
    settings: list[dict[str, Any]] = []
    for point in design:
        setting = {
            name: _read(name, values, float(place))
            for (name, values), place in zip(space.items(), point, strict=True)
        }
        if setting not in settings:  # choices and whole numbers may come twice
            settings.append(setting)
    for setting in settings:
        params = estimator.get_params(deep=False) | setting
        Settings(**params)
        resolve_basis(params["leaf"])
        resolve_baseline(params["baseline"])
    return settings


def _check_names(space: Mapping[str, Any], estimator: BoostR) -> None:
    if not isinstance(space, Mapping) or not space:
        raise InvalidParameterError(
            f"`space` must be a dictionary of settings to search, but it is {space!r}.\n\n"
            'Hint: {"gamma2": (0.1, 30.0, "log"), "leaf": ["power", "step"]}.'
        )
    known = sorted(set(estimator.get_params(deep=False)) - _FIXED)
    unknown = [name for name in space if name not in known]
    if unknown:
        raise InvalidParameterError(
            f"`space` must name parameters of BoostR, but {unknown[0]!r} is not one that "
            f"can be searched.\n\nHint: those are {', '.join(known)}."
        )


def _read(name: str, values: Any, place: float) -> Any:
    """Return the value at a position between 0 and 1."""
    if isinstance(values, tuple):
        return _read_range(name, values, place)
    is_list = isinstance(values, Sequence | np.ndarray) and not isinstance(values, str)
    if is_list and len(values):
        return list(values)[int(place * len(values))]
    raise InvalidParameterError(
        f"`space[{name!r}]` must be a range, (low, high) or (low, high, 'log'), or a list "
        f"of choices, but it is {values!r}."
    )


def _read_range(name: str, values: tuple[Any, ...], place: float) -> float | int:
    low, high = _check_range(name, values)
    is_whole = name in _WHOLE
    top = high + 1.0 if is_whole else high  # every whole number has a unit of the range
    if len(values) == 3:
        value = float(np.exp(np.log(low) + place * (np.log(top) - np.log(low))))
    else:
        value = low + place * (top - low)
    return int(min(np.floor(value), high)) if is_whole else value


def _check_range(name: str, values: tuple[Any, ...]) -> tuple[float, float]:
    is_log = len(values) == 3
    try:
        low, high = float(values[0]), float(values[1])
        has_scale = len(values) == 2 or (is_log and values[2] == "log" and low > 0.0)
        is_range = has_scale and -np.inf < low < high < np.inf
    except (TypeError, ValueError, IndexError):
        is_range = False
    if not is_range:
        raise InvalidParameterError(
            f"`space[{name!r}]` must be a range (low, high), or (low, high, 'log') with "
            f"low above zero, but it is {values!r}.\n\n"
            "Hint: choices go into a list, [1, 2, 3]."
        )
    return low, high

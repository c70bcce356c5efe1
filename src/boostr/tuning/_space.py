"""Search spaces, and the settings that a design picks from them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from boostr.estimators import BoostR
from boostr.estimators._params import check_params, resolve_baseline, resolve_basis
from boostr.exceptions import InvalidParameterError
from boostr.tuning._design import max_pro_design

__all__ = ["default_space", "draw_settings"]

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
        check_params(params)
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

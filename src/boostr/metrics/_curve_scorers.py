"""Scorers that compare whole predicted curves."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from boostr._checks.numbers import check_weights
from boostr._typing import FloatArray
from boostr.data import Panel, RecurrentEvents
from boostr.metrics._checks import check_grid
from boostr.metrics._curves import (
    integrated_count_error,
    integrated_squared_error,
    observed_l2,
    skill_score,
)
from boostr.metrics.scorer import MetricScorer, exposure_of, find_model, make_scorer

__all__ = [
    "integrated_count_scorer",
    "observed_l2_scorer",
    "skill_scorer",
    "squared_error_scorer",
]

N_TIMES = 101  # of a grid that is made up from its last time


def squared_error_scorer(
    truth: Callable[..., FloatArray], times: ArrayLike
) -> MetricScorer:
    """Make a scorer of `integrated_squared_error`, averaged and negative.

    Parameters
    ----------
    truth : callable
        ``truth(times, X)`` gives the true curves of individuals with these features, of
        shape (n, m), as that of `boostr.simulate.Simulation` does; the features of a
        `Panel` are the static ones.
    times : float or array-like of shape (m,)
        Times from the first to the last that counts; one number stands for 101 times from
        0 on.

    Returns
    -------
    MetricScorer
        For ``scoring=`` in scikit-learn's tools; 0 at best.

    See Also
    --------
    integrated_squared_error : The metric.

    Examples
    --------
    >>> from boostr import BoostR
    >>> from boostr.metrics import squared_error_scorer
    >>> from boostr.simulate import dataset_a
    >>> train = dataset_a(n=200, random_state=1)
    >>> model = BoostR(n_estimators=20, validation=None).fit(train.X, train.y)
    >>> bool(squared_error_scorer(train.truth, 100.0)(model, train.X, train.y) < 0.0)
    True
    """
    grid = _as_grid(times)
    return make_scorer(
        "integrated_squared_error",
        _predict_with_truth,
        _mean_error,
        is_error=True,
        truth=truth,
        times=grid,
    )


def observed_l2_scorer(times: ArrayLike | None = None) -> MetricScorer:
    """Make a scorer of `observed_l2`, negative.

    Parameters
    ----------
    times : float or array-like of shape (m,), default=None
        Times between which curves are taken as straight; they must cover the follow-up. One
        number stands for 101 times from 0 on, None for 101 times that cover the follow-up
        of the individuals that are scored.

    Returns
    -------
    MetricScorer
        For ``scoring=`` in scikit-learn's tools; greater is better.

    See Also
    --------
    observed_l2 : The metric.

    Examples
    --------
    >>> from boostr import BoostR
    >>> from boostr.metrics import observed_l2_scorer
    >>> from boostr.simulate import dataset_a
    >>> train = dataset_a(n=200, random_state=1)
    >>> model = BoostR(n_estimators=20, validation=None).fit(train.X, train.y)
    >>> bool(observed_l2_scorer()(model, train.X, train.y) < 0.0)
    True
    """
    grid = None if times is None else _as_grid(times)
    return make_scorer(
        "observed_l2", _predict_covered, _observed, is_error=True, times=grid
    )


def integrated_count_scorer(times: ArrayLike) -> MetricScorer:
    """Make a scorer of `integrated_count_error`, negative.

    Parameters
    ----------
    times : float or array-like of shape (m,)
        Times from the first to the last that counts; one number stands for 101 times from
        0 on. In cross-validation every fold must be observed up to the last.

    Returns
    -------
    MetricScorer
        For ``scoring=`` in scikit-learn's tools; greater is better.

    See Also
    --------
    integrated_count_error : The metric.

    Examples
    --------
    >>> from boostr import BoostR
    >>> from boostr.metrics import integrated_count_scorer
    >>> from boostr.simulate import dataset_a
    >>> train = dataset_a(n=200, random_state=1)
    >>> model = BoostR(n_estimators=20, validation=None).fit(train.X, train.y)
    >>> bool(integrated_count_scorer(80.0)(model, train.X, train.y) < 0.0)
    True
    """
    return make_scorer(
        "integrated_count_error",
        _predict,
        integrated_count_error,
        is_error=True,
        times=_as_grid(times),
    )


def skill_scorer(times: ArrayLike) -> MetricScorer:
    """Make a scorer of `skill_score`, against the average of those that are scored.

    Parameters
    ----------
    times : float or array-like of shape (m,)
        Times from the first to the last that counts; one number stands for 101 times from
        0 on. In cross-validation every fold must be observed up to the last.

    Returns
    -------
    MetricScorer
        For ``scoring=`` in scikit-learn's tools; 0 for the average individual.

    See Also
    --------
    skill_score : The metric.

    Examples
    --------
    >>> from boostr import BoostR
    >>> from boostr.metrics import skill_scorer
    >>> from boostr.simulate import dataset_a
    >>> train = dataset_a(n=200, random_state=1)
    >>> model = BoostR(n_estimators=20, validation=None).fit(train.X, train.y)
    >>> bool(skill_scorer(80.0)(model, train.X, train.y) > 0.2)
    True
    """
    return make_scorer("skill_score", _predict, skill_score, times=_as_grid(times))


def _as_grid(times: ArrayLike) -> FloatArray:
    """Return increasing times; a single number is the last of an even grid."""
    if np.ndim(times) == 0:
        return check_grid(np.linspace(0.0, np.asarray(times, dtype=np.float64), N_TIMES))
    return check_grid(times)


def _predict(
    estimator: Any, X: Any, y: RecurrentEvents, *, times: FloatArray
) -> FloatArray:
    model, features = find_model(estimator, X, "predict_cumulative")
    return np.asarray(model.predict_cumulative(features, times, **exposure_of(y)))


def _predict_with_truth(
    estimator: Any,
    X: Any,
    y: RecurrentEvents,
    *,
    truth: Callable[..., FloatArray],
    times: FloatArray,
) -> tuple[FloatArray, FloatArray]:
    true = truth(times, X.X if isinstance(X, Panel) else X)
    return _predict(estimator, X, y, times=times), true


def _mean_error(
    y: RecurrentEvents,
    predicted: tuple[FloatArray, FloatArray],
    *,
    times: FloatArray,
    sample_weight: ArrayLike | None,
    **others: Any,
) -> float:
    errors = integrated_squared_error(*predicted, times)
    return float(np.average(errors, weights=check_weights(sample_weight, len(y))))


def _cover(y: RecurrentEvents, times: FloatArray | None) -> FloatArray:
    """Return the given times, or a grid over the follow-up."""
    return np.linspace(y.start.min(), y.end.max(), N_TIMES) if times is None else times


def _predict_covered(
    estimator: Any, X: Any, y: RecurrentEvents, *, times: FloatArray | None
) -> FloatArray:
    return _predict(estimator, X, y, times=_cover(y, times))


def _observed(
    y: RecurrentEvents,
    curves: FloatArray,
    *,
    times: FloatArray | None,
    sample_weight: ArrayLike | None,
) -> float:
    return observed_l2(y, curves, _cover(y, times), sample_weight=sample_weight)

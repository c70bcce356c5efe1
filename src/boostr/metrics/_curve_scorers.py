"""Scorers that compare whole predicted curves."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from boostr._typing import FloatArray
from boostr._validation import check_weights
from boostr.data import Panel, RecurrentEvents
from boostr.metrics._checks import check_grid
from boostr.metrics._curves import (
    integrated_count_error,
    integrated_squared_error,
    observed_l2,
    skill_score,
)
from boostr.metrics._scorer import MetricScorer, find_model

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
    return MetricScorer(
        "integrated_squared_error", partial(_truth, truth=truth, times=grid)
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
    return MetricScorer("observed_l2", partial(_observed, times=grid))


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
    return MetricScorer("integrated_count_error", partial(_counts, times=_as_grid(times)))


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
    return MetricScorer("skill_score", partial(_skill, times=_as_grid(times)))


def _as_grid(times: ArrayLike) -> FloatArray:
    """Return increasing times; one number is the last of many."""
    if np.ndim(times) == 0:
        return check_grid(np.linspace(0.0, np.asarray(times, dtype=np.float64), N_TIMES))
    return check_grid(times)


def _predict(estimator: Any, X: Any, times: FloatArray) -> FloatArray:
    model, features = find_model(estimator, X, "predict_cumulative")
    return np.asarray(model.predict_cumulative(features, times))


def _truth(
    estimator: Any,
    X: Any,
    y: RecurrentEvents,
    sample_weight: ArrayLike | None,
    *,
    truth: Callable[..., FloatArray],
    times: FloatArray,
) -> float:
    true = truth(times, X.X if isinstance(X, Panel) else X)
    errors = integrated_squared_error(_predict(estimator, X, times), true, times)
    return -float(np.average(errors, weights=check_weights(sample_weight, len(y))))


def _observed(
    estimator: Any,
    X: Any,
    y: RecurrentEvents,
    sample_weight: ArrayLike | None,
    *,
    times: FloatArray | None,
) -> float:
    grid = np.linspace(y.start.min(), y.end.max(), N_TIMES) if times is None else times
    curves = _predict(estimator, X, grid)
    return -observed_l2(y, curves, grid, sample_weight=sample_weight)


def _counts(
    estimator: Any,
    X: Any,
    y: RecurrentEvents,
    sample_weight: ArrayLike | None,
    *,
    times: FloatArray,
) -> float:
    curves = _predict(estimator, X, times)
    return -integrated_count_error(y, curves, times, sample_weight=sample_weight)


def _skill(
    estimator: Any,
    X: Any,
    y: RecurrentEvents,
    sample_weight: ArrayLike | None,
    *,
    times: FloatArray,
) -> float:
    curves = _predict(estimator, X, times)
    return skill_score(y, curves, times, sample_weight=sample_weight)

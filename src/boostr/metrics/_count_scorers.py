"""Scorers that compare expected with observed numbers of events."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from boostr.data import RecurrentEvents
from boostr.metrics._calibration import calibration_slope
from boostr.metrics._checks import check_choice, check_window
from boostr.metrics._concordance import Weights
from boostr.metrics._scorer import (
    LEAST_RATIO,
    MetricScorer,
    find_model,
    predict_by,
    predict_observed,
    predict_rates,
)
from boostr.metrics._windows import (
    point_process_log_likelihood,
    poisson_deviance,
    window_count_error,
)

__all__ = [
    "calibration_slope_scorer",
    "log_likelihood_scorer",
    "poisson_deviance_scorer",
    "window_count_scorer",
]

CLOSE = 1e-9  # predictions that differ by a smaller share are taken as equal


def window_count_scorer(
    start: float, stop: float, *, weights: Weights = None
) -> MetricScorer:
    """Make a scorer of `window_count_error`, negative.

    Parameters
    ----------
    start, stop : float
        The window (start, stop].
    weights : {None, "ipcw"}, default=None
        Whether to make use of those who are observed in part.

    Returns
    -------
    MetricScorer
        For ``scoring=`` in scikit-learn's tools; greater is better.

    See Also
    --------
    window_count_error : The metric.

    Examples
    --------
    >>> from boostr import BoostR
    >>> from boostr.metrics import window_count_scorer
    >>> from boostr.simulate import dataset_a
    >>> train = dataset_a(n=200, random_state=1)
    >>> model = BoostR(n_estimators=20, validation=None).fit(train.X, train.y)
    >>> bool(window_count_scorer(50.0, 80.0)(model, train.X, train.y) < 0.0)
    True
    """
    check_window(start, stop, 1)
    check_choice(weights, (None, "ipcw"), "weights")
    measure = partial(_window, start=start, stop=stop, weights=weights)
    return MetricScorer("window_count_error", measure)


def poisson_deviance_scorer(start: float = 0.0, stop: float = np.inf) -> MetricScorer:
    """Make a scorer of `poisson_deviance`, negative.

    The expected numbers are at least a thousandth of what the average predicted rate gives,
    so that an event where none is expected does not cost infinitely much.

    Parameters
    ----------
    start, stop : float, default=0.0, inf
        Count events in (start, stop] only.

    Returns
    -------
    MetricScorer
        For ``scoring=`` in scikit-learn's tools; 0 at best.

    See Also
    --------
    poisson_deviance : The metric.

    Examples
    --------
    >>> from boostr import BoostR
    >>> from boostr.metrics import poisson_deviance_scorer
    >>> from boostr.simulate import dataset_a
    >>> train = dataset_a(n=200, random_state=1)
    >>> model = BoostR(n_estimators=20, validation=None).fit(train.X, train.y)
    >>> bool(poisson_deviance_scorer()(model, train.X, train.y) < 0.0)
    True
    """
    check_window(start, stop, 1)
    return MetricScorer("poisson_deviance", partial(_deviance, start=start, stop=stop))


def log_likelihood_scorer() -> MetricScorer:
    """Make a scorer of `point_process_log_likelihood`.

    Rates and expected numbers are at least a thousandth of the average predicted ones, so
    that an event where none is expected does not cost infinitely much.

    Returns
    -------
    MetricScorer
        For ``scoring=`` in scikit-learn's tools; greater is better.

    See Also
    --------
    point_process_log_likelihood : The metric.

    Examples
    --------
    >>> from boostr import BoostR
    >>> from boostr.metrics import log_likelihood_scorer
    >>> from boostr.simulate import dataset_a
    >>> train = dataset_a(n=200, random_state=1)
    >>> weak = BoostR(n_estimators=1, validation=None).fit(train.X, train.y)
    >>> strong = BoostR(n_estimators=20, validation=None).fit(train.X, train.y)
    >>> scorer = log_likelihood_scorer()
    >>> scorer(strong, train.X, train.y) > scorer(weak, train.X, train.y)
    True
    """
    return MetricScorer("point_process_log_likelihood", _log_likelihood)


def calibration_slope_scorer() -> MetricScorer:
    """Make a scorer of how near the `calibration_slope` is to 1.

    Minus the distance of the slope from 1. A constant prediction has no slope and counts
    as one of 0.

    Returns
    -------
    MetricScorer
        For ``scoring=`` in scikit-learn's tools; 0 at best, -1 for a constant.

    See Also
    --------
    calibration_slope : The metric.

    Examples
    --------
    >>> from boostr import BoostR
    >>> from boostr.metrics import calibration_slope_scorer
    >>> from boostr.simulate import dataset_a
    >>> train = dataset_a(n=200, random_state=1)
    >>> model = BoostR(n_estimators=20, validation=None).fit(train.X, train.y)
    >>> bool(calibration_slope_scorer()(model, train.X, train.y) > -1.0)
    True
    """
    return MetricScorer("calibration_slope", _slope)


def _window(
    estimator: Any,
    X: Any,
    y: RecurrentEvents,
    sample_weight: ArrayLike | None,
    *,
    start: float,
    stop: float,
    weights: Weights,
) -> float:
    model, features = find_model(estimator, X, "predict_count")
    predicted = model.predict_count(features, start, stop)
    return -window_count_error(
        y, predicted, start, stop, weights=weights, sample_weight=sample_weight
    )


def _deviance(
    estimator: Any,
    X: Any,
    y: RecurrentEvents,
    sample_weight: ArrayLike | None,
    *,
    start: float,
    stop: float,
) -> float:
    expected = predict_observed(estimator, X, y, start, stop)
    return -poisson_deviance(
        y, expected, start=start, stop=stop, sample_weight=sample_weight
    )


def _log_likelihood(
    estimator: Any, X: Any, y: RecurrentEvents, sample_weight: ArrayLike | None
) -> float:
    expected = predict_observed(estimator, X, y, -np.inf, np.inf)
    rates = predict_rates(estimator, X, y, expected)
    return point_process_log_likelihood(y, expected, rates, sample_weight=sample_weight)


def _slope(
    estimator: Any, X: Any, y: RecurrentEvents, sample_weight: ArrayLike | None
) -> float:
    expected = predict_observed(estimator, X, y, -np.inf, np.inf)
    scores = predict_by(estimator, X, None)
    scores = np.maximum(scores, LEAST_RATIO * scores.mean())
    if np.ptp(scores) <= CLOSE * scores.max():
        return -1.0
    found = calibration_slope(y, expected, by=scores, sample_weight=sample_weight)
    return -abs(found.slope - 1.0)

"""Scorers that compare expected with observed numbers of events."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from boostr._typing import FloatArray
from boostr.data import RecurrentEvents
from boostr.metrics._calibration import calibration_slope
from boostr.metrics._checks import check_choice, check_window
from boostr.metrics._concordance import Weights
from boostr.metrics._windows import (
    point_process_log_likelihood,
    poisson_deviance,
    window_count_error,
)
from boostr.metrics.scorer import (
    LEAST_RATIO,
    MetricScorer,
    exposure_of,
    find_model,
    make_scorer,
    predict_by,
    predict_observed,
    predict_rates,
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
    return make_scorer(
        "window_count_error",
        _predict_window,
        window_count_error,
        is_error=True,
        start=start,
        stop=stop,
        weights=weights,
    )


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
    return make_scorer(
        "poisson_deviance",
        predict_observed,
        poisson_deviance,
        is_error=True,
        start=start,
        stop=stop,
    )


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
    return make_scorer("point_process_log_likelihood", _predict_both, _likelihood)


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
    return make_scorer("calibration_slope", _predict_order, _slope_error, is_error=True)


def _predict_window(
    estimator: Any,
    X: Any,
    y: RecurrentEvents,
    *,
    start: float,
    stop: float,
    **others: Any,
) -> FloatArray:
    model, features = find_model(estimator, X, "predict_count")
    return np.asarray(model.predict_count(features, start, stop, **exposure_of(y)))


def _predict_both(
    estimator: Any, X: Any, y: RecurrentEvents
) -> tuple[FloatArray, FloatArray]:
    """Return the expected numbers while observed, and the rates at the events."""
    expected = predict_observed(estimator, X, y, -np.inf, np.inf)
    return expected, predict_rates(estimator, X, y, expected)


def _likelihood(
    y: RecurrentEvents,
    predicted: tuple[FloatArray, FloatArray],
    sample_weight: ArrayLike | None,
) -> float:
    return point_process_log_likelihood(y, *predicted, sample_weight=sample_weight)


def _predict_order(
    estimator: Any, X: Any, y: RecurrentEvents
) -> tuple[FloatArray, FloatArray]:
    """Return the expected numbers while observed, and scores to order individuals by."""
    expected = predict_observed(estimator, X, y, -np.inf, np.inf)
    return expected, predict_by(estimator, X, y, None)


def _slope_error(
    y: RecurrentEvents,
    predicted: tuple[FloatArray, FloatArray],
    sample_weight: ArrayLike | None,
) -> float:
    expected, scores = predicted
    scores = np.maximum(scores, LEAST_RATIO * scores.mean())
    if np.ptp(scores) <= CLOSE * scores.max():
        return 1.0
    found = calibration_slope(y, expected, by=scores, sample_weight=sample_weight)
    return abs(found.slope - 1.0)

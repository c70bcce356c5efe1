"""Scorers that use only the order of predictions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

from numpy.typing import ArrayLike

from boostr._typing import FloatArray
from boostr.data import RecurrentEvents
from boostr.metrics._capture import capture_curve
from boostr.metrics._checks import check_choice, check_horizon
from boostr.metrics._concordance import (
    Tied,
    Weights,
    event_concordance,
    paper_concordance,
    recurrent_concordance,
)
from boostr.metrics.scorer import MetricScorer, make_scorer, predict_by

__all__ = [
    "capture_scorer",
    "concordance_scorer",
    "event_concordance_scorer",
    "paper_concordance_scorer",
]


def concordance_scorer(
    horizon: float | None = None, *, tied: Tied = "half", weights: Weights = None
) -> MetricScorer:
    """Make a scorer of `recurrent_concordance`.

    Parameters
    ----------
    horizon : float, default=None
        Last time at which events count, and time up to which they are predicted; None for
        the whole follow-up and the horizon of the model.
    tied : {"half", "drop", "zero"}, default="half"
        What a pair with equal predictions counts.
    weights : {None, "ipcw"}, default=None
        Compare over the common follow-up, or those observed up to the horizon.

    Returns
    -------
    MetricScorer
        For ``scoring=`` in scikit-learn's tools; 1 at best, 0.5 for a constant.

    See Also
    --------
    recurrent_concordance : The metric.

    Examples
    --------
    >>> from boostr import BoostR
    >>> from boostr.metrics import concordance_scorer
    >>> from boostr.simulate import dataset_a
    >>> train = dataset_a(n=200, random_state=1)
    >>> model = BoostR(n_estimators=20, validation=None).fit(train.X, train.y)
    >>> bool(concordance_scorer(horizon=90.0)(model, train.X, train.y) > 0.8)
    True
    """
    return _compare(recurrent_concordance, horizon, tied, weights)


def event_concordance_scorer(
    horizon: float | None = None, *, tied: Tied = "half", weights: Weights = None
) -> MetricScorer:
    """Make a scorer of `event_concordance`.

    Parameters
    ----------
    horizon : float, default=None
        Last time at which events count, and time up to which they are predicted; None for
        the whole follow-up and the horizon of the model.
    tied : {"half", "drop", "zero"}, default="half"
        What a comparison with an equal prediction counts.
    weights : {None, "ipcw"}, default=None
        Whether to weight by the inverse chance of being observed.

    Returns
    -------
    MetricScorer
        For ``scoring=`` in scikit-learn's tools; 0.5 for a constant.

    See Also
    --------
    event_concordance : The metric.

    Examples
    --------
    >>> from boostr import BoostR
    >>> from boostr.metrics import event_concordance_scorer
    >>> from boostr.simulate import dataset_a
    >>> train = dataset_a(n=200, random_state=1)
    >>> model = BoostR(n_estimators=20, validation=None).fit(train.X, train.y)
    >>> bool(event_concordance_scorer()(model, train.X, train.y) > 0.6)
    True
    """
    return _compare(event_concordance, horizon, tied, weights)


def paper_concordance_scorer(horizon: float | None = None) -> MetricScorer:
    """Make a scorer of `paper_concordance`.

    Parameters
    ----------
    horizon : float, default=None
        Time up to which events count and are predicted; by default the last end of
        follow-up, and the horizon of the model.

    Returns
    -------
    MetricScorer
        For ``scoring=`` in scikit-learn's tools; 1 at best, 0 for a constant.

    See Also
    --------
    paper_concordance : The metric.

    Examples
    --------
    >>> from boostr import BoostR
    >>> from boostr.metrics import paper_concordance_scorer
    >>> from boostr.simulate import dataset_a
    >>> train = dataset_a(n=200, random_state=1)
    >>> model = BoostR(n_estimators=20, validation=None).fit(train.X, train.y)
    >>> bool(paper_concordance_scorer(100.0)(model, train.X, train.y) > 0.7)
    True
    """
    check_horizon(horizon)
    return make_scorer("paper_concordance", _predict, paper_concordance, horizon=horizon)


def capture_scorer(
    horizon: float | None = None,
    *,
    per: Literal["individual", "follow_up"] = "individual",
) -> MetricScorer:
    """Make a scorer of the area under the `capture_curve`.

    Parameters
    ----------
    horizon : float, default=None
        Time up to which events are predicted; None for the horizon of the model.
    per : {"individual", "follow_up"}, default="individual"
        What the curve runs over.

    Returns
    -------
    MetricScorer
        For ``scoring=`` in scikit-learn's tools; 0.5 for a constant.

    See Also
    --------
    capture_curve : The metric.

    Examples
    --------
    >>> from boostr import BoostR
    >>> from boostr.metrics import capture_scorer
    >>> from boostr.simulate import dataset_a
    >>> train = dataset_a(n=200, random_state=1)
    >>> model = BoostR(n_estimators=20, validation=None).fit(train.X, train.y)
    >>> bool(capture_scorer()(model, train.X, train.y) > 0.6)
    True
    """
    check_horizon(horizon)
    check_choice(per, ("individual", "follow_up"), "per")
    return make_scorer("capture_area", _predict, _capture_area, horizon=horizon, per=per)


def _compare(
    metric: Callable[..., float], horizon: float | None, tied: Tied, weights: Weights
) -> MetricScorer:
    check_horizon(horizon)
    check_choice(tied, ("half", "drop", "zero"), "tied")
    check_choice(weights, (None, "ipcw"), "weights")
    return make_scorer(
        metric.__name__, _predict, metric, horizon=horizon, tied=tied, weights=weights
    )


def _predict(
    estimator: Any, X: Any, y: RecurrentEvents, *, horizon: float | None, **others: Any
) -> FloatArray:
    return predict_by(estimator, X, y, horizon)


def _capture_area(
    y: RecurrentEvents,
    scores: FloatArray,
    *,
    per: Literal["individual", "follow_up"],
    sample_weight: ArrayLike | None,
    **others: Any,
) -> float:
    return capture_curve(y, scores, per=per, sample_weight=sample_weight).area

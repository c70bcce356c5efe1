"""Scorers that look at the order of predictions only."""

from __future__ import annotations

from functools import partial
from typing import Any, Literal

from numpy.typing import ArrayLike

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
from boostr.metrics._scorer import MetricScorer, predict_by

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
    _check_options(horizon, tied, weights)
    measure = partial(_common, horizon=horizon, tied=tied, weights=weights)
    return MetricScorer("recurrent_concordance", measure)


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
    _check_options(horizon, tied, weights)
    measure = partial(_at_events, horizon=horizon, tied=tied, weights=weights)
    return MetricScorer("event_concordance", measure)


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
    return MetricScorer("paper_concordance", partial(_as_paper, horizon=horizon))


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
    return MetricScorer("capture_area", partial(_capture, horizon=horizon, per=per))


def _check_options(horizon: float | None, tied: Tied, weights: Weights) -> None:
    check_horizon(horizon)
    check_choice(tied, ("half", "drop", "zero"), "tied")
    check_choice(weights, (None, "ipcw"), "weights")


def _common(
    estimator: Any,
    X: Any,
    y: RecurrentEvents,
    sample_weight: ArrayLike | None,
    *,
    horizon: float | None,
    tied: Tied,
    weights: Weights,
) -> float:
    scores = predict_by(estimator, X, horizon)
    return recurrent_concordance(
        y, scores, horizon, tied=tied, weights=weights, sample_weight=sample_weight
    )


def _at_events(
    estimator: Any,
    X: Any,
    y: RecurrentEvents,
    sample_weight: ArrayLike | None,
    *,
    horizon: float | None,
    tied: Tied,
    weights: Weights,
) -> float:
    scores = predict_by(estimator, X, horizon)
    return event_concordance(
        y, scores, horizon, tied=tied, weights=weights, sample_weight=sample_weight
    )


def _as_paper(
    estimator: Any,
    X: Any,
    y: RecurrentEvents,
    sample_weight: ArrayLike | None,
    *,
    horizon: float | None,
) -> float:
    scores = predict_by(estimator, X, horizon)
    return paper_concordance(y, scores, horizon, sample_weight=sample_weight)


def _capture(
    estimator: Any,
    X: Any,
    y: RecurrentEvents,
    sample_weight: ArrayLike | None,
    *,
    horizon: float | None,
    per: Literal["individual", "follow_up"],
) -> float:
    scores = predict_by(estimator, X, horizon)
    return capture_curve(y, scores, per=per, sample_weight=sample_weight).area

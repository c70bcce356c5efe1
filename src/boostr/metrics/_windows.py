"""Errors of predicted counts, and the likelihood of predicted rates."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from boostr._checks.numbers import check_weights, first_few
from boostr._checks.parameters import check_choice
from boostr._typing import BoolArray, FloatArray
from boostr.data import RecurrentEvents, check_target
from boostr.data.events.intervals import refuse_intervals
from boostr.exceptions import InvalidEventsError, InvalidParameterError
from boostr.metrics._observation import (
    check_borders,
    check_chances,
    check_observed,
    check_positive,
    check_values,
    count_events,
    covers,
    inverse_weighted_costs,
)

__all__ = [
    "brier_score",
    "count_in_window",
    "point_process_log_likelihood",
    "poisson_deviance",
    "window_count_error",
]


def window_count_error(
    y: RecurrentEvents,
    predicted: ArrayLike,
    start: ArrayLike,
    stop: ArrayLike,
    *,
    weights: Literal["ipcw"] | None = None,
    sample_weight: ArrayLike | None = None,
) -> float:
    r"""Average the squared errors of predicted counts in a window of time.

    Over those who are observed all the way from start to stop, with :math:`N_i` events in
    the window and the predictions :math:`p_i`,

    .. math::

        \frac{\sum_i w_i (N_i - p_i)^2}{\sum_i w_i}.

    With weights "ipcw" the average runs over all individuals, and :math:`N_i` becomes
    :math:`\sum 1 / \pi(t)` over the observed events in the window, where :math:`\pi(t)` is
    the share of individuals observed at ``t``.

    Parameters
    ----------
    y : RecurrentEvents
        Event histories. Where events have costs, their sums are predicted.
    predicted : array-like of shape (n,)
        Expected number of events in the whole window, also of those who leave before.
    start, stop : float or array-like of shape (n,)
        The window (start, stop], the same for all or one each.
    weights : {None, "ipcw"}, default=None
        Whether individuals that were observed in part are made use of. The error is then
        larger by a term that is the same for all predictions.
    sample_weight : array-like of shape (n,), default=None
        Weights of individuals.

    Returns
    -------
    float
        Lower is better. Even the truth is far from 0: counts scatter around it.

    Raises
    ------
    InvalidEventsError
        If no individual is observed through the window.

    See Also
    --------
    poisson_deviance : Uses all individuals, and allows ends that depend on events.
    integrated_count_error : The same for all windows that begin with the first time.
    scorer : Makes a scorer for scikit-learn.

    Notes
    -----
    Both forms need ends that do not depend on the events: of those who leave after their
    fourth event only the quiet ones see the end of the window.

    References
    ----------
    Bouaziz, O. (2024). Assessing model prediction performance for the expected cumulative
    number of recurrent events. Lifetime Data Analysis 30.

    Examples
    --------
    The last machine leaves too early to be counted.

    >>> from boostr.data import RecurrentEvents
    >>> from boostr.metrics import window_count_error
    >>> y = RecurrentEvents.from_lists([[1.0, 3.0], [4.0], [1.0]], end=[5.0, 5.0, 2.0])
    >>> window_count_error(y, [1.0, 1.0, 1.0], start=0.0, stop=4.0)
    0.5
    """
    events = check_target(y)
    expected = check_values(predicted, events, "predicted")
    weight = check_weights(sample_weight, events)
    check_choice(weights, (None, "ipcw"), "weights")
    first, last = check_borders(start, stop, len(events))
    if weights == "ipcw":
        check_observed(events, weight, float(first.min()), float(last.max()))
        costs = inverse_weighted_costs(events, weight)
        squared = (count_events(events, first, last, costs) - expected) ** 2
        return float(np.average(squared, weights=weight))
    counts, known = count_in_window(events, first, last, weight)
    squared = (counts - expected) ** 2
    return float(np.average(squared[known], weights=weight[known]))


def count_in_window(
    y: RecurrentEvents, start: FloatArray, stop: FloatArray, weight: FloatArray
) -> tuple[FloatArray, BoolArray]:
    """Return counts in a window, and who was observed through all of it and counts."""
    known = covers(y, start, stop) & (weight > 0.0)
    if not known.any():
        raise InvalidEventsError(
            f"An individual must be observed through the window, from {start.min():g} to "
            f"{stop.max():g}, but none of {len(y)} is.\n\n"
            "Hint: choose a shorter window; window_count_error also has weights='ipcw'."
        )
    return count_events(y, start, stop), known


def brier_score(
    y: RecurrentEvents,
    probability: ArrayLike,
    start: ArrayLike,
    stop: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
) -> float:
    r"""Average the squared errors of chances of any event in a window of time.

    Over those who are observed all the way from start to stop, with :math:`A_i` = 1 if they
    have an event in the window and the chances :math:`p_i`,

    .. math::

        \frac{\sum_i w_i (A_i - p_i)^2}{\sum_i w_i}.

    Parameters
    ----------
    y : RecurrentEvents
        Event histories.
    probability : array-like of shape (n,)
        Chance of at least one event in the whole window: the column "probability" of
        `boostr.BoostR.forecast`, or ``1 - exp(-predict_count(X, start, stop))``.
    start, stop : float or array-like of shape (n,)
        The window (start, stop], the same for all or one each.
    sample_weight : array-like of shape (n,), default=None
        Weights of individuals.

    Returns
    -------
    float
        Lower is better: 0 for certain and right answers, 0.25 for a chance of one half.

    Raises
    ------
    InvalidEventsError
        If no individual is observed through the window.

    See Also
    --------
    calibration_table : Compares chances with shares, by groups.
    window_count_error : Judges the numbers of events.
    scorer : Makes a scorer for scikit-learn.

    Notes
    -----
    Ends of follow-up must not depend on the events, as in `window_count_error`.

    References
    ----------
    Brier, G. W. (1950). Verification of forecasts expressed in terms of probability.
    Monthly Weather Review 78, 1-3.

    Examples
    --------
    The last machine leaves too early to be counted.

    >>> from boostr.data import RecurrentEvents
    >>> from boostr.metrics import brier_score
    >>> y = RecurrentEvents.from_lists([[1.0, 3.0], [4.5], [1.0]], end=[5.0, 5.0, 2.0])
    >>> brier_score(y, [0.5, 0.5, 0.9], start=0.0, stop=4.0)
    0.25
    """
    events = check_target(y)
    chance = check_chances(probability, events)
    weight = check_weights(sample_weight, events)
    borders = check_borders(start, stop, len(events))
    counts, known = count_in_window(events, *borders, weight)
    squared = ((counts > 0.0) - chance) ** 2
    return float(np.average(squared[known], weights=weight[known]))


def poisson_deviance(
    y: RecurrentEvents,
    expected: ArrayLike,
    *,
    start: ArrayLike = -np.inf,
    stop: ArrayLike = np.inf,
    sample_weight: ArrayLike | None = None,
) -> float:
    r"""Average the Poisson deviance of counts in each individual's own follow-up.

    With :math:`N_i` events observed and :math:`E_i` expected while ``i`` was observed,

    .. math::

        \frac{2}{\sum_i w_i} \sum_i w_i \left( N_i \log \frac{N_i}{E_i} - N_i + E_i \right).

    Parameters
    ----------
    y : RecurrentEvents
        Event histories.
    expected : array-like of shape (n,)
        Expected number of events while observed, within the window if there is one:
        `expected_counts` reads them from curves, ``predict_count(X, y.start, y.end)`` gives
        them where there are no gaps.
    start, stop : float or array-like of shape (n,), default=-inf, inf
        Count events in (start, stop] only, the same for all or one each.
    sample_weight : array-like of shape (n,), default=None
        Weights of individuals.

    Returns
    -------
    float
        Lower is better; infinite if there are events where none are expected.

    See Also
    --------
    point_process_log_likelihood : Judges when the events happen, too.
    window_count_error : Squared errors of counts.
    scorer : Makes a scorer for scikit-learn.

    Notes
    -----
    Predictions are compared over what was observed, so unequal follow-up needs no weights.
    For curves of one shape, :math:`E_i = r_i M(c_i)`, this is the likelihood of the point
    process up to a constant, which is fair also where the end of follow-up depends on the
    events. Other curves are judged by counts alone; then ends should not depend on events.

    References
    ----------
    McCullagh, P. and Nelder, J. A. (1989). Generalized Linear Models. Chapman and Hall.

    Examples
    --------
    >>> from boostr.data import RecurrentEvents
    >>> from boostr.metrics import poisson_deviance
    >>> y = RecurrentEvents.from_lists([[], [1.0]], end=[1.0, 2.0])
    >>> poisson_deviance(y, [0.5, 1.0])
    0.5
    """
    events = check_target(y)
    mean = check_positive(expected, events, "expected")
    weight = check_weights(sample_weight, events)
    counts = count_events(events, *check_borders(start, stop, len(events)))
    used = weight > 0.0
    deviances = _deviances(counts[used], mean[used])
    return float(2.0 * np.average(deviances, weights=weight[used]))


def _deviances(counts: FloatArray, mean: FloatArray) -> FloatArray:
    """Return half the Poisson deviance of each count."""
    happened = counts > 0.0
    with np.errstate(divide="ignore"):
        ratio = np.divide(counts, mean, out=np.ones_like(mean), where=happened)
    deviances: FloatArray = counts * np.log(ratio) - counts + mean
    return deviances


def point_process_log_likelihood(
    y: RecurrentEvents,
    expected: ArrayLike,
    intensity: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
) -> float:
    r"""Average the log-likelihood of histories under predicted rates.

    With the predicted rate :math:`\lambda_i`, the events :math:`t_{ik}` and the time
    observed :math:`Y_i`,

    .. math::

        \frac{1}{\sum_i w_i} \sum_i w_i \left( \sum_k \log \lambda_i(t_{ik})
        - \int Y_i(t) \lambda_i(t)\, dt \right).

    Parameters
    ----------
    y : RecurrentEvents
        Event histories. Costs weight the events.
    expected : array-like of shape (n,)
        Expected number of events while observed, the integral of the rate:
        `expected_counts` reads it from curves.
    intensity : array-like of shape (n_events,)
        Predicted rate of its owner at every event, in the order of ``y.times``.
    sample_weight : array-like of shape (n,), default=None
        Weights of individuals.

    Returns
    -------
    float
        Higher is better; minus infinity if an event happens at a rate of zero. Differences
        between predictions do not depend on the unit of time.

    See Also
    --------
    boostr.BoostR.score : The same minus that of the average individual.
    poisson_deviance : Judges the numbers of events alone.
    scorer : Makes a scorer for scikit-learn.

    Notes
    -----
    The true rate, given the past, has the highest expectation whenever the end of follow-up
    depends on the past only. This is the measure to trust where individuals leave after
    some number of events, with late entry, and with gaps.

    References
    ----------
    Cook, R. J. and Lawless, J. F. (2007). The Statistical Analysis of Recurrent Events.
    Springer. Section 2.1.

    Examples
    --------
    A rate of 1 for two units of time, and one event.

    >>> from boostr.data import RecurrentEvents
    >>> from boostr.metrics import point_process_log_likelihood
    >>> y = RecurrentEvents.from_lists([[0.5]], end=[2.0])
    >>> point_process_log_likelihood(y, expected=[2.0], intensity=[1.0])
    -2.0
    """
    events = check_target(y)
    mean = check_positive(expected, events, "expected")
    weight = check_weights(sample_weight, events)
    refuse_intervals(events, "The likelihood of a point process")
    rates = _check_rates(intensity, events)
    with np.errstate(divide="ignore"):
        logs = events.costs * np.log(rates)
    gains = np.bincount(events.event_owner, logs, len(events)) - mean
    counted = weight > 0.0
    return float(np.average(gains[counted], weights=weight[counted]))


def _check_rates(intensity: ArrayLike, y: RecurrentEvents) -> FloatArray:
    rates = np.asarray(intensity, dtype=np.float64)
    if rates.shape != y.times.shape:
        raise InvalidParameterError(
            f"`intensity` must have one rate per event, but its shape is {rates.shape} for "
            f"{y.times.size} events.\n\nHint: the rate of individual y.event_owner[k] at "
            "time y.times[k]."
        )
    wrong = np.flatnonzero(~((rates >= 0.0) & np.isfinite(rates)))
    if wrong.size:
        raise InvalidParameterError(
            "`intensity` must be finite and not negative, but it is not at "
            f"{wrong.size} of {rates.size} events (of ids "
            f"{first_few(y.ids[np.unique(y.event_owner[wrong])])}).\n\n"
            "Hint: BoostR(monotone=True) never predicts negative rates."
        )
    return rates

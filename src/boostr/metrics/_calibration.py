"""Calibration, and the share of events among the highest predictions."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from numbers import Integral
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from boostr._checks.numbers import check_weights, first_few
from boostr._checks.parameters import check_choice
from boostr._typing import AnyArray, FloatArray, OffsetArray
from boostr.data import RecurrentEvents, check_target
from boostr.data.events.frames import make_table
from boostr.exceptions import InvalidEventsError, InvalidParameterError
from boostr.metrics._observation import (
    check_borders,
    check_chances,
    check_positive,
    check_values,
    count_events,
)
from boostr.metrics._windows import count_in_window

__all__ = [
    "CalibrationSlope",
    "CalibrationTable",
    "CaptureCurve",
    "calibration_slope",
    "calibration_table",
    "capture_curve",
]

N_STEPS = 100  # of Newton's method at most
CLOSE = 1e-10
_LEAST_SPREAD = 1e-8  # share of the variance of scores that a fitted slope leaves


@dataclass(frozen=True, slots=True, eq=False)
class CalibrationTable:
    """Expected and observed numbers of events of groups, from low to high predictions.

    Made by `calibration_table`.

    Parameters
    ----------
    n : (g,) int64 array
        Number of individuals in each group.
    lower, upper : (g,) float64 array
        Lowest and highest score in each group.
    follow_up : (g,) float64 array
        Time observed, summed with weights.
    expected, observed : (g,) float64 array
        Expected and observed numbers (or costs) of events, summed with weights.
    ratio : (g,) float64 array
        Observed over expected; NaN where nothing is expected.
    error : (g,) float64 array
        Robust standard error of the ratio.
    time_unit : str or None
        Unit of the follow-up, where it is known.
    is_chance : bool
        Whether individuals with any event in a window are counted, not events; the
        follow-up of each is then 1, so that rates are shares.

    See Also
    --------
    calibration_table : Computes it.

    Examples
    --------
    >>> from boostr.data import RecurrentEvents
    >>> from boostr.metrics import calibration_table
    >>> y = RecurrentEvents.from_lists([[], [1.0], [2.0, 3.0], [1.0, 2.0]], end=4.0)
    >>> table = calibration_table(y, [0.4, 0.6, 1.5, 2.5], n_groups=2)
    >>> table.observed / table.follow_up
    array([0.125, 0.5  ])
    """

    n: OffsetArray
    lower: FloatArray
    upper: FloatArray
    follow_up: FloatArray
    expected: FloatArray
    observed: FloatArray
    ratio: FloatArray
    error: FloatArray
    time_unit: str | None = None
    is_chance: bool = False

    def to_frame(self, *, backend: str | None = None) -> Any:
        """Write a table with one row per group.

        Parameters
        ----------
        backend : {"pandas", "polars"}, default=None
            Which table to make; by default pandas if it is installed, else polars.

        Returns
        -------
        DataFrame
            Columns "n", "lower", "upper", "follow_up", "expected", "observed", "ratio" and
            "error".

        Examples
        --------
        >>> from boostr.data import RecurrentEvents
        >>> from boostr.metrics import calibration_table
        >>> y = RecurrentEvents.from_lists([[], [1.0], [2.0, 3.0], [1.0]], end=4.0)
        >>> calibration_table(y, [0.4, 0.6, 1.5, 2.5], n_groups=2).to_frame().shape
        (2, 8)
        """
        others = {"time_unit", "is_chance"}
        names = [name for name in self.__dataclass_fields__ if name not in others]
        return make_table({name: getattr(self, name) for name in names}, backend)


@dataclass(frozen=True, slots=True, eq=False)
class CalibrationSlope:
    """How observed events follow the predictions: in total, and from low to high ones.

    Made by `calibration_slope`.

    Parameters
    ----------
    slope : float
        1 if rates differ between individuals as predicted, less if they differ less.
    slope_error : float
        Its robust standard error.
    ratio : float
        Observed over expected number of events of all individuals together.
    ratio_error : float
        Its robust standard error.

    See Also
    --------
    calibration_slope : Computes it.

    Examples
    --------
    >>> from boostr.data import RecurrentEvents
    >>> from boostr.metrics import calibration_slope
    >>> y = RecurrentEvents.from_lists([[1.0], [1.0, 2.0]], end=4.0)
    >>> calibration_slope(y, [1.0, 4.0]).ratio
    0.6
    """

    slope: float
    slope_error: float
    ratio: float
    ratio_error: float


def calibration_table(
    y: RecurrentEvents,
    expected: ArrayLike,
    *,
    n_groups: int = 10,
    by: ArrayLike | None = None,
    window: tuple[ArrayLike, ArrayLike] | None = None,
    sample_weight: ArrayLike | None = None,
) -> CalibrationTable:
    r"""Compare expected with observed numbers of events, by groups of individuals.

    Individuals are grouped by quantiles of a score. A group *g* has the ratio of observed
    to expected events, and its robust standard error,

    .. math::

        r_g = \frac{\sum_{i \in g} w_i N_i}{\sum_{i \in g} w_i E_i}, \qquad
        s_g = \frac{\sqrt{\sum_{i \in g} w_i^2 (N_i - r_g E_i)^2}}{\sum_{i \in g} w_i E_i},

    with :math:`N_i` events observed and :math:`E_i` expected while ``i`` was observed.

    Parameters
    ----------
    y : RecurrentEvents
        Event histories.
    expected : array-like of shape (n,)
        Expected number of events while observed; `expected_counts` reads them from curves,
        ``predict_count(X, y.start, y.end)`` gives them where there are no gaps.
    n_groups : int, default=10
        Number of groups; fewer come out where many scores are equal.
    by : array-like of shape (n,), default=None
        The score: predictions for a common time, as ``predict(X)`` gives. By default
        `expected`, which is possible only where all were observed equally long.
    window : tuple of two, default=None
        Start and stop of a window, one each for all or one per individual: `expected` are
        then chances of any event in it, as for `brier_score`, and who has one is counted,
        among those observed through the window.
    sample_weight : array-like of shape (n,), default=None
        Weights of individuals.

    Returns
    -------
    CalibrationTable
        One entry per group, from low to high scores.

    See Also
    --------
    calibration_slope : The same in two numbers.

    Notes
    -----
    Events and their expectation are taken over the same follow-up, so unequal ends need no
    weights, even if they depend on the past, as long as the score does not depend on them:
    an individual that leaves early because of many events is expected to have had few. The
    standard errors hold whether or not the events of an individual depend on each other. A
    constant prediction can be well calibrated: look at a concordance, too.

    References
    ----------
    Cook, R. J. and Lawless, J. F. (2007). The Statistical Analysis of Recurrent Events.
    Springer.

    Examples
    --------
    >>> from boostr.data import RecurrentEvents
    >>> from boostr.metrics import calibration_table
    >>> y = RecurrentEvents.from_lists([[], [1.0], [2.0, 3.0], [1.0, 2.0]], end=4.0)
    >>> table = calibration_table(y, [0.4, 0.6, 1.5, 2.5], n_groups=2)
    >>> table.expected, table.observed
    (array([1., 4.]), array([1., 4.]))

    Chances of any event in (0, 2], and the machines that have one:

    >>> calibration_table(y, [0.4, 0.6, 0.7, 0.8], n_groups=2, window=(0.0, 2.0)).observed
    array([1., 2.])
    """
    events, mean, counts, weight = _check(y, expected, sample_weight)
    _check_n_groups(n_groups)
    follow_up = events.follow_up
    if window is None:
        scores = _score(events, mean, by)
    else:
        mean = check_chances(expected, events)
        borders = check_borders(*window, len(events))
        counts, known = count_in_window(events, *borders, weight)
        counts = (counts > 0.0).astype(np.float64)
        weight = np.where(known, weight, 0.0)
        scores = mean if by is None else check_positive(by, events, "by")
        follow_up = np.ones(len(events))
    used = weight > 0.0
    edges = np.quantile(scores[used], np.linspace(0.0, 1.0, n_groups + 1)[1:-1])
    raw = np.searchsorted(edges, scores[used], side="left")
    group = np.unique(raw, return_inverse=True)[1]
    counts, mean, weight, scores = counts[used], mean[used], weight[used], scores[used]

    def total(values: AnyArray) -> FloatArray:
        return np.asarray(np.bincount(group, values), dtype=np.float64)

    observed, expected_sum = total(weight * counts), total(weight * mean)
    ratio = _divide(observed, expected_sum)
    residual = np.where(mean > 0.0, counts - ratio[group] * mean, 0.0)
    lower, upper = np.full(ratio.size, np.inf), np.full(ratio.size, -np.inf)
    np.minimum.at(lower, group, scores)
    np.maximum.at(upper, group, scores)
    return CalibrationTable(
        n=np.bincount(group),
        lower=lower,
        upper=upper,
        follow_up=total(weight * follow_up[used]),
        expected=expected_sum,
        observed=observed,
        ratio=ratio,
        error=_divide(np.sqrt(total((weight * residual) ** 2)), expected_sum),
        time_unit=events.time_unit,
        is_chance=window is not None,
    )


def calibration_slope(
    y: RecurrentEvents,
    expected: ArrayLike,
    *,
    by: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
) -> CalibrationSlope:
    r"""Tell whether rates differ between individuals as much as predicted.

    A Poisson regression of the observed numbers :math:`N_i` on the logarithm of the score
    :math:`r_i`, with the expected numbers :math:`E_i` for exposure,

    .. math::

        \log \mathrm{E} N_i = \alpha + \log E_i + (\beta - 1) \log r_i.

    The slope :math:`\beta` is 1 if predictions are right up to a common factor, below 1 if
    they are too far apart, as those of a model that has learned noise, and above 1 if they
    are too close together.

    Parameters
    ----------
    y : RecurrentEvents
        Event histories.
    expected : array-like of shape (n,)
        Expected number of events while observed; positive where there are events.
    by : array-like of shape (n,), default=None
        The score: predictions for a common time, as ``predict(X)`` gives. By default
        `expected`, which is possible only where all were observed equally long.
    sample_weight : array-like of shape (n,), default=None
        Weights of individuals.

    Returns
    -------
    CalibrationSlope
        The slope, the ratio of observed to expected events, and robust standard errors.

    Raises
    ------
    InvalidParameterError
        If all scores are equal, or nothing is expected where there are events.
    InvalidEventsError
        If there are no events, or all happened to those with the highest, or lowest, score.

    See Also
    --------
    calibration_table : The same by groups.
    scorer : Makes a scorer from the distance of the slope from 1.

    Notes
    -----
    Standard errors are those of the sandwich, which hold whether or not the events of an
    individual depend on each other, and whether or not they are Poisson.

    References
    ----------
    Cox, D. R. (1958). Two further applications of a model for binary regression. Biometrika
    45, 562-565.

    Examples
    --------
    One and two events where one and four are expected: rates differ half as much, on the
    scale of logarithms.

    >>> from boostr.data import RecurrentEvents
    >>> from boostr.metrics import calibration_slope
    >>> y = RecurrentEvents.from_lists([[1.0], [1.0, 2.0]], end=4.0)
    >>> round(calibration_slope(y, [1.0, 4.0]).slope, 6)
    0.5
    """
    events, mean, counts, weight = _check(y, expected, sample_weight)
    scores = _score(events, mean, by)
    _check_possible(events, counts, mean, scores)
    used = (weight > 0.0) & (mean > 0.0) & (scores > 0.0)
    counts, mean, weight = counts[used], mean[used], weight[used]
    if not (weight * counts).any():
        raise InvalidEventsError(
            "There must be events to find a slope, but there are none.\n\n"
            "Hint: in cross-validation use fewer folds."
        )
    logs = np.log(scores[used])
    if np.ptp(logs) < CLOSE:
        raise InvalidParameterError(
            "Predictions must differ to have a slope, but all scores are equal.\n\n"
            "Hint: a constant tells nothing about individuals; calibration_table compares "
            "it with what was observed."
        )
    centred = logs - np.average(logs, weights=weight * mean)
    with_events = centred[weight * counts > 0.0]
    is_extreme = with_events.min() == centred.max() or with_events.max() == centred.min()
    bend, bend_error = np.nan, np.nan
    if not is_extreme:
        with suppress(np.linalg.LinAlgError):  # it is as good as infinite
            bend, bend_error = _fit_slope(counts, mean, weight, centred)
    if not np.isfinite(bend_error):
        raise InvalidEventsError(
            "Events must happen to individuals with different predictions to find a slope, "
            "but all happened to those with the highest ones, or with the lowest ones, or "
            "nearly so.\n\nHint: this takes more events, or more individuals with events."
        )
    ratio = float(weight @ counts / (weight @ mean))
    residual = weight * (counts - ratio * mean)
    ratio_error = float(np.sqrt(residual @ residual) / (weight @ mean))
    return CalibrationSlope(1.0 + bend, bend_error, ratio, ratio_error)


def _fit_slope(
    counts: FloatArray, mean: FloatArray, weight: FloatArray, logs: FloatArray
) -> tuple[float, float]:
    """Return the slope of counts on logs with exposure, and its standard error."""
    design = np.column_stack([np.ones_like(logs), logs])
    theta = np.array([np.log(weight @ counts / (weight @ mean)), 0.0])

    def fitted(theta: FloatArray) -> FloatArray:
        return mean * np.exp(np.minimum(design @ theta, 50.0))

    def gain(theta: FloatArray) -> float:
        return float(weight @ (counts * (design @ theta) - fitted(theta)))

    for _ in range(N_STEPS):
        rates = fitted(theta)
        information = design.T @ (design * (weight * rates)[:, np.newaxis])
        step = np.linalg.solve(information, design.T @ (weight * (counts - rates)))
        # The likelihood is concave: a step that overshoots is halved until it gains.
        while gain(theta + step) < gain(theta) and np.abs(step).max() > CLOSE:
            step *= 0.5
        theta = theta + step
        if np.abs(step).max() <= CLOSE:
            break
    residual = design * (weight * (counts - fitted(theta)))[:, np.newaxis]
    inverse = np.linalg.inv(information)
    variance = (inverse @ (residual.T @ residual) @ inverse)[1, 1]
    # Of a slope that is as good as infinite, events are expected at one score alone.
    left = np.linalg.det(information) / information[0, 0] ** 2
    if left < _LEAST_SPREAD * np.average(logs**2, weights=weight * mean):
        raise np.linalg.LinAlgError
    return float(theta[1]), float(np.sqrt(max(variance, 0.0)))


def _check(
    y: object, expected: ArrayLike, sample_weight: ArrayLike | None
) -> tuple[RecurrentEvents, FloatArray, FloatArray, FloatArray]:
    """Return histories, expected and observed numbers of events, and weights."""
    events = check_target(y)
    n = len(events)
    mean = check_positive(expected, events, "expected")
    counts = count_events(events, np.full(n, -np.inf), np.full(n, np.inf))
    return events, mean, counts, check_weights(sample_weight, events)


def _score(y: RecurrentEvents, mean: FloatArray, by: ArrayLike | None) -> FloatArray:
    """Return the values by which individuals are ordered."""
    if by is not None:
        return check_positive(by, y, "by")
    if np.ptp(y.start) or np.ptp(y.end) or y.window_start.size > len(y):
        raise InvalidParameterError(
            "`by` must be given where individuals were not observed equally long, because "
            "the expected number of events then tells how long that was.\n\n"
            "Hint: by=model.predict(X), the predictions for a common time."
        )
    return mean


def _check_n_groups(n_groups: int) -> None:
    if isinstance(n_groups, bool) or not isinstance(n_groups, Integral) or n_groups < 1:
        raise InvalidParameterError(
            f"`n_groups` must be a whole number of at least 1, but it is {n_groups!r}.\n\n"
            "Hint: 10 groups of at least 20 individuals each are readable."
        )


def _check_possible(
    y: RecurrentEvents, counts: FloatArray, mean: FloatArray, scores: FloatArray
) -> None:
    wrong = np.flatnonzero((counts > 0.0) & ((mean <= 0.0) | (scores <= 0.0)))
    if wrong.size:
        raise InvalidParameterError(
            "`expected` must be positive where there are events, but it is zero for "
            f"{wrong.size} of {len(y)} individuals (ids {first_few(y.ids[wrong])}).\n\n"
            "Hint: set a smallest prediction, as in np.maximum(expected, 1e-3)."
        )


def _divide(above: FloatArray, below: FloatArray) -> FloatArray:
    """Return the ratio, NaN for a denominator of zero."""
    return np.divide(above, below, out=np.full_like(below, np.nan), where=below > 0.0)


@dataclass(frozen=True, slots=True, eq=False)
class CaptureCurve:
    """Share of the events that the individuals with the highest predictions have.

    Made by `capture_curve`. Between its points the curve is straight, as if individuals
    with equal predictions were taken in parts.

    Parameters
    ----------
    share : (k,) float64 array
        Share of individuals, or of follow-up, from 0 to 1, highest predictions first.
    captured : (k,) float64 array
        Share of the events that these have, from 0 to 1.
    ideal_share, ideal_captured : (j,) float64 array
        The same if individuals were ordered by what was observed: no prediction is higher.
    area : float
        Area under the curve; 0.5 for a constant prediction.
    ideal_area : float
        Area under the ideal curve.
    n_events : float
        Number (or cost) of events, with weights.
    per : {"individual", "follow_up"}
        What `share` is a share of.

    See Also
    --------
    capture_curve : Computes it.

    Examples
    --------
    >>> from boostr.data import RecurrentEvents
    >>> from boostr.metrics import capture_curve
    >>> y = RecurrentEvents.from_lists([[], [1.0, 2.0], [3.0], []], end=4.0)
    >>> curve = capture_curve(y, [0.5, 2.0, 1.0, 0.5])
    >>> curve.at(0.25), curve.gain
    (0.6666666666666666, 1.0)
    """

    share: FloatArray
    captured: FloatArray
    ideal_share: FloatArray
    ideal_captured: FloatArray
    area: float
    ideal_area: float
    n_events: float
    per: str

    @property
    def gain(self) -> float:
        """Area above the diagonal as a share of the ideal one; 1 at best, 0 for chance."""
        possible = self.ideal_area - 0.5
        return (self.area - 0.5) / possible if possible > 0.0 else 0.0

    def at(self, share: float) -> float:
        """Return the share of the events of individuals with the highest predictions.

        Parameters
        ----------
        share : float
            How many of the individuals (or how much of the follow-up), in [0, 1].

        Returns
        -------
        float
            Share of the events.

        Examples
        --------
        >>> from boostr.data import RecurrentEvents
        >>> from boostr.metrics import capture_curve
        >>> y = RecurrentEvents.from_lists([[], [1.0, 2.0], [3.0], []], end=4.0)
        >>> capture_curve(y, [0.5, 2.0, 1.0, 0.5]).at(0.5)
        1.0
        """
        return float(np.interp(share, self.share, self.captured))


def capture_curve(
    y: RecurrentEvents,
    predicted: ArrayLike,
    *,
    per: Literal["individual", "follow_up"] = "individual",
    sample_weight: ArrayLike | None = None,
) -> CaptureCurve:
    r"""Return the share of the events of individuals with the highest predictions.

    "The top tenth has seven tenths of the events" is the point (0.1, 0.7) of the curve

    .. math::

        s(c) = \frac{\sum_{p_i \ge c} w_i u_i}{\sum_i w_i u_i}, \qquad
        g(c) = \frac{\sum_{p_i \ge c} w_i N_i}{\sum_i w_i N_i},

    with :math:`N_i` events observed, the predictions :math:`p_i`, and :math:`u_i` = 1, or
    the time observed.

    Parameters
    ----------
    y : RecurrentEvents
        Event histories. Where events have costs, these are captured.
    predicted : array-like of shape (n,)
        Predictions; only their order counts. Expected counts by a common time, not by the
        own end of follow-up.
    per : {"individual", "follow_up"}, default="individual"
        What the curve runs over. Shares of individuals are what one can act on; shares of
        follow-up are fair where those with many events leave early.
    sample_weight : array-like of shape (n,), default=None
        Weights of individuals.

    Returns
    -------
    CaptureCurve
        The curve, the ideal one, and their areas.

    Raises
    ------
    InvalidEventsError
        If there are no events.

    See Also
    --------
    event_concordance : Says the same as the area, at each moment.
    scorer : Makes a scorer from the area.

    Notes
    -----
    Individuals with equal predictions enter together, along a straight line, so that their
    order in the data does not matter. Where all are observed equally long, the area is the
    probability that the owner of a random event is predicted above a random individual.

    References
    ----------
    Tasche, D. (2006). Validation of internal rating systems and PD estimates.
    arXiv:physics/0606071 (cumulative accuracy profile).

    Examples
    --------
    >>> from boostr.data import RecurrentEvents
    >>> from boostr.metrics import capture_curve
    >>> y = RecurrentEvents.from_lists([[], [1.0, 2.0], [3.0], []], end=4.0)
    >>> curve = capture_curve(y, [0.5, 2.0, 1.0, 0.5])
    >>> curve.share, curve.captured.round(2)
    (array([0.  , 0.25, 0.5 , 1.  ]), array([0.  , 0.67, 1.  , 1.  ]))
    """
    events = check_target(y)
    n = len(events)
    scores = check_values(predicted, events, "predicted")
    weight = check_weights(sample_weight, events)
    check_choice(per, ("individual", "follow_up"), "per")
    unit = weight if per == "individual" else weight * events.follow_up
    counts = count_events(events, np.full(n, -np.inf), np.full(n, np.inf))
    weighted = weight * counts
    if not weighted.any():
        raise InvalidEventsError(
            "There must be events to capture, but there are none.\n\n"
            "Hint: in cross-validation use fewer folds."
        )
    # By density, what was observed, no other order can be above.
    density = np.divide(weighted, unit, out=np.zeros(n), where=unit > 0.0)
    share, captured = _curve(scores, unit, weighted)
    ideal_share, ideal_captured = _curve(density, unit, weighted)
    return CaptureCurve(
        share=share,
        captured=captured,
        ideal_share=ideal_share,
        ideal_captured=ideal_captured,
        area=_area(share, captured),
        ideal_area=_area(ideal_share, ideal_captured),
        n_events=float(weighted.sum()),
        per=per,
    )


def _curve(
    scores: FloatArray, unit: FloatArray, events: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return shares of units and events by descending score, ties together."""
    place = np.unique(-scores, return_inverse=True)[1]
    sums = [np.cumsum(np.bincount(place, values)) for values in (unit, events)]
    share, captured = (np.concatenate([[0.0], own / own[-1]]) for own in sums)
    return share, captured


def _area(share: FloatArray, captured: FloatArray) -> float:
    return float(0.5 * np.diff(share) @ (captured[1:] + captured[:-1]))

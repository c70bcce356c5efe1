"""Distances of predicted curves from true and from observed ones."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from boostr._checks.numbers import check_weights
from boostr._kernels.mcf import integrate_squared_gaps
from boostr._typing import FloatArray
from boostr.data import RecurrentEvents, check_target
from boostr.exceptions import InvalidEventsError, InvalidParameterError
from boostr.metrics._observation import (
    check_cover,
    check_curves,
    check_grid,
    check_observed,
    inverse_weighted_costs,
)

__all__ = [
    "integrated_count_error",
    "integrated_squared_error",
    "observed_l2",
    "skill_score",
]


def integrated_squared_error(
    predicted: ArrayLike, true: ArrayLike, times: ArrayLike
) -> FloatArray:
    r"""Integrate the squared difference of two curves over time, per individual.

    The error of individual ``i`` is

    .. math::

        \int \left( \hat\mu_i(t) - \mu_i(t) \right)^2 dt

    from the first to the last time, by the trapezoid rule.

    Parameters
    ----------
    predicted, true : array-like of shape (n, m)
        Curves, one row per individual and one column per time.
    times : array-like of shape (m,)
        Increasing times, at least two.

    Returns
    -------
    ndarray of shape (n,)
        Integrated squared errors.

    See Also
    --------
    boostr.simulate.Simulation : Has the true curves.
    scorer : Makes a scorer from the mean.

    Examples
    --------
    >>> from boostr.metrics import integrated_squared_error
    >>> integrated_squared_error([[1.0, 1.0], [0.0, 0.0]], [[0.0, 0.0]] * 2, [0.0, 5.0])
    array([5., 0.])
    """
    grid = check_grid(times)
    error = np.asarray(predicted, dtype=np.float64) - np.asarray(true, dtype=np.float64)
    if error.ndim != 2 or error.shape[1] != grid.size:
        raise InvalidParameterError(
            f"Curves must have one column per time, but their shape is {error.shape} "
            f"at {grid.size} times.\n\nHint: pass the times that the curves were "
            "computed at."
        )
    squared = error**2
    areas: FloatArray = 0.5 * (squared[:, 1:] + squared[:, :-1]) @ np.diff(grid)
    return areas


def observed_l2(
    y: RecurrentEvents,
    predicted: ArrayLike,
    times: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
) -> float:
    r"""Integrate the squared distance of predicted curves from the observed counts.

    With :math:`Y_i(t)` = 1 while ``i`` is observed, and the events :math:`N_i` and the
    curve :math:`\mu_i` counted while it is,

    .. math::

        \frac{1}{\sum_i w_i} \sum_i w_i \int Y_i(t) \left( N_i(t) - \mu_i(t) \right)^2 dt,

    exactly, with curves that are linear between the times given. This is what the Boost-R
    paper minimises, averaged over individuals.

    Parameters
    ----------
    y : RecurrentEvents
        Event histories.
    predicted : array-like of shape (n, m)
        Predicted cumulative counts, one row per individual and one column per time.
    times : array-like of shape (m,)
        Increasing times that cover the follow-up.
    sample_weight : array-like of shape (n,), default=None
        Weights of individuals.

    Returns
    -------
    float
        Lower is better. Even the truth is far from 0: counts scatter around it.

    See Also
    --------
    integrated_count_error : Makes up for those who left before the horizon.
    point_process_log_likelihood : Fair also where ends depend on the events.
    scorer : Makes a scorer for scikit-learn.

    Notes
    -----
    Where the end of follow-up depends on the events, for instance where individuals leave
    after their fourth one, those still observed are the quiet ones, and this distance
    rewards curves that are too low. Compare models by another measure then.

    References
    ----------
    Liu, X. and Pan, R. Boost-R: Gradient Boosted Trees for Recurrence Data. Journal of
    Quality Technology. Section 2.

    Examples
    --------
    One event at time 1, and a curve that expects none: a distance of 1 for one unit.

    >>> from boostr.data import RecurrentEvents
    >>> from boostr.metrics import observed_l2
    >>> y = RecurrentEvents.from_lists([[1.0]], end=[2.0])
    >>> observed_l2(y, [[0.0, 0.0]], [0.0, 2.0])
    1.0
    """
    events = check_target(y)
    curves, grid = check_curves(predicted, times, len(events))
    weight = check_weights(sample_weight, events)
    check_cover(grid, events.window_start, events.window_stop)
    areas = np.empty(len(events))
    integrate_squared_gaps(
        events.times,
        events.costs,
        events.event_offsets,
        events.window_start,
        events.window_stop,
        events.window_offsets,
        grid,
        curves,
        areas,
    )
    return float(np.average(areas, weights=weight))


def integrated_count_error(
    y: RecurrentEvents,
    predicted: ArrayLike,
    times: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
) -> float:
    r"""Integrate the mean squared error of predicted counts, weighted for censoring.

    Every event counts the inverse of the share :math:`\pi(t)` of individuals that are
    observed when it happens, which makes up for unobserved events. With these counts
    :math:`\tilde N_i(t) = \int_0^t \pi(u)^{-1} dN_i(u)` the error is

    .. math::

        \int \frac{1}{\sum_i w_i} \sum_i w_i \left( \tilde N_i(t) - \mu_i(t) \right)^2 dt

    from the first to the last time, exactly, with curves that are linear in between;
    counts and curves start from zero with the first time.

    Parameters
    ----------
    y : RecurrentEvents
        Event histories.
    predicted : array-like of shape (n, m)
        Predicted cumulative counts, one row per individual and one column per time.
    times : array-like of shape (m,)
        Increasing times; at any time between the first and the last, at least one
        individual must be observed.
    sample_weight : array-like of shape (n,), default=None
        Weights of individuals.

    Returns
    -------
    float
        Lower is better. Even the truth is far from 0: counts scatter around it.

    Raises
    ------
    InvalidEventsError
        If no individual is observed for some time.

    See Also
    --------
    skill_score : The same beside the error of the mean cumulative function.
    window_count_error : The error in one window of time.
    scorer : Makes a scorer for scikit-learn.

    Notes
    -----
    If being observed depends neither on events nor on features, :math:`\tilde N_i(t)` has
    the mean :math:`\mu_i(t)`, and the error is the squared distance of the prediction from
    the truth plus a term that is the same for all predictions. The average of
    :math:`\tilde N_i` is the mean cumulative function. Where ends depend on the events, as
    where individuals leave after their fourth one, no weights of this kind help: use
    `point_process_log_likelihood` or `poisson_deviance`.

    References
    ----------
    Bouaziz, O. (2024). Assessing model prediction performance for the expected cumulative
    number of recurrent events. Lifetime Data Analysis 30.

    Examples
    --------
    Both are observed at time 1, half of them at time 3: the event there counts twice.

    >>> from boostr.data import RecurrentEvents
    >>> from boostr.metrics import integrated_count_error
    >>> y = RecurrentEvents.from_lists([[1.0], [3.0]], end=[2.0, 4.0])
    >>> integrated_count_error(y, [[0.0, 0.0], [0.0, 0.0]], [0.0, 4.0])
    3.5
    """
    events = check_target(y)
    curves, grid = check_curves(predicted, times, len(events))
    weight = check_weights(sample_weight, events)
    check_observed(events, weight, grid[0], grid[-1])
    jumps = inverse_weighted_costs(events, weight)
    areas = _weighted_areas(events, jumps, grid, curves)
    return float(np.average(areas, weights=weight))


def skill_score(
    y: RecurrentEvents,
    predicted: ArrayLike,
    times: ArrayLike,
    *,
    reference: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
) -> float:
    r"""Return the share by which predictions lower the error of one curve for all.

    .. math::

        1 - \frac{\mathrm{error}(\mu_1, \dots, \mu_n)}{\mathrm{error}(m, \dots, m)},

    where *error* is `integrated_count_error` and *m* the mean cumulative function.

    Parameters
    ----------
    y : RecurrentEvents
        Event histories.
    predicted : array-like of shape (n, m)
        Predicted cumulative counts, one row per individual and one column per time.
    times : array-like of shape (m,)
        Increasing times; at any time between the first and the last, at least one
        individual must be observed.
    reference : array-like of shape (m,), default=None
        The curve to compare with; by default the mean cumulative function of `y`, which
        no other single curve beats on these individuals.
    sample_weight : array-like of shape (n,), default=None
        Weights of individuals.

    Returns
    -------
    float
        At most 1, but even the truth is far from it; 0 is no better than the reference.

    See Also
    --------
    integrated_count_error : The error.
    scorer : Makes a scorer for scikit-learn.

    Notes
    -----
    The error of the truth is the scatter of counts around it, so the skill of the truth is
    the share of the scatter that the features explain, not 1.

    References
    ----------
    Bouaziz, O. (2024). Assessing model prediction performance for the expected cumulative
    number of recurrent events. Lifetime Data Analysis 30.

    Examples
    --------
    >>> from boostr.data import RecurrentEvents
    >>> from boostr.metrics import skill_score
    >>> y = RecurrentEvents.from_lists([[], [2.0]], end=[4.0, 4.0])
    >>> skill_score(y, [[0.0, 0.5, 0.5], [0.0, 0.5, 0.5]], [0.0, 2.0, 4.0])
    0.0
    >>> skill_score(y, [[0.0, 0.0, 0.0], [0.0, 1.0, 1.0]], [0.0, 2.0, 4.0])
    0.5
    """
    events = check_target(y)
    curves, grid = check_curves(predicted, times, len(events))
    weight = check_weights(sample_weight, events)
    check_observed(events, weight, grid[0], grid[-1])
    jumps = inverse_weighted_costs(events, weight)
    if reference is None:
        curve = _mean_curve(events, weight, jumps, grid)
    else:
        curve = _check_reference(reference, grid.size)
    areas = _weighted_areas(events, jumps, grid, curves)
    error = float(weight @ _weighted_areas(events, jumps, grid, curve[np.newaxis]))
    if error <= 0.0:
        raise InvalidEventsError(
            "The reference must have an error to compare with, but it has none between "
            f"{grid[0]:g} and {grid[-1]:g}.\n\nHint: choose times with events."
        )
    return float(1.0 - weight @ areas / error)


def _check_reference(reference: ArrayLike, n_times: int) -> FloatArray:
    curve = np.asarray(reference, dtype=np.float64)
    if curve.shape != (n_times,) or not np.isfinite(curve).all():
        raise InvalidParameterError(
            f"`reference` must be one finite number per time, but its shape is "
            f"{curve.shape} for {n_times} times.\n\n"
            "Hint: MeanCumulativeFunction().fit(y).predict(times) gives such a curve."
        )
    return curve


def _weighted_areas(
    y: RecurrentEvents, jumps: FloatArray, grid: FloatArray, curves: FloatArray
) -> FloatArray:
    """Return each individual's integrated squared error of weighted counts."""
    n = len(y)
    counts = (y.times > grid[0]) & (y.times <= grid[-1])
    sizes = np.bincount(y.event_owner[counts], minlength=n)
    areas = np.empty(n)
    integrate_squared_gaps(
        y.times[counts],
        jumps[counts],
        np.concatenate([[0], np.cumsum(sizes)]),
        np.full(n, grid[0]),
        np.full(n, grid[-1]),
        np.arange(n + 1),
        grid,
        curves,
        areas,
    )
    return areas


def _mean_curve(
    y: RecurrentEvents, weight: FloatArray, jumps: FloatArray, grid: FloatArray
) -> FloatArray:
    """Return the mean cumulative function at given times, zero at the first."""
    order = np.argsort(y.times, kind="stable")
    weighted = (weight[y.event_owner] * jumps)[order]
    sums = np.concatenate([[0.0], np.cumsum(weighted)]) / weight.sum()
    curve = sums[np.searchsorted(y.times[order], grid, side="right")]
    return curve - curve[0]

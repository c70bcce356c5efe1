"""Maximum likelihood of power-law processes: log-linear in features, or per group."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
import scipy  # its parts load when they are used, which keeps `import boostr` light
from sklearn.exceptions import ConvergenceWarning

from boostr._typing import AnyArray, FloatArray, OffsetArray
from boostr.baselines._base import refuse_no_events
from boostr.data import RecurrentEvents
from boostr.data.events.exposure import exposed_windows
from boostr.data.events.intervals import refuse_intervals

__all__ = ["Histories", "PowerFit", "exposures", "fit_power_laws", "maximise"]

_MAX_STEPS = 200
_CONVERGED = 1e-12  # share of the log-likelihood that a step may still gain
_SHORTEST = 1e-10  # step that is not halved any more
_SHAPES = (0.05, 20.0)  # between which shapes of groups are looked for
_N_HALVINGS = 50
_MAX_LOG_SHAPE = 5.0  # events at the very end alone would have an infinite shape


@dataclass(frozen=True, slots=True, eq=False)
class Histories:
    """Sufficient data of the likelihood; times are divided by the last one."""

    start: FloatArray  # (n_windows,)
    stop: FloatArray  # (n_windows,)
    owner: OffsetArray  # (n_windows,)
    exposure: FloatArray  # (n_windows,) factors of time
    counts: FloatArray  # (n,) events
    log_times: FloatArray  # (n,) sum of the logs of event times
    weights: FloatArray  # (n,)
    unit: float

    @classmethod
    def from_events(cls, events: RecurrentEvents, weights: FloatArray) -> Histories:
        """Return the data of events; refuse histories without any."""
        refuse_no_events(events)
        refuse_intervals(events, "A power-law process")
        n, unit = len(events), float(events.window_stop.max())
        windows = exposed_windows(events)
        return cls(
            start=windows.start / unit,
            stop=windows.stop / unit,
            owner=windows.owner,
            exposure=windows.factor,
            counts=events.n_events.astype(np.float64),
            log_times=_sum_by(events.event_owner, np.log(events.times / unit), n),
            weights=weights,
            unit=unit,
        )


@dataclass(frozen=True, slots=True, eq=False)
class PowerFit:
    """The maximum of the likelihood, with times divided by the unit."""

    coefficients: FloatArray  # (q,) of the design; 0 for columns that others determine
    log_shape: float
    covariance: FloatArray  # (q + 1, q + 1), NaN where nothing is estimated
    log_likelihood: float  # with times as given


def exposures(histories: Histories, shape: float) -> tuple[FloatArray, ...]:
    """Return each individual's sum of ``stop**shape - start**shape``, and two derivatives.

    Windows are weighted by their exposures.
    """
    parts = []
    with np.errstate(divide="ignore", invalid="ignore"):
        for times, sign in ((histories.stop, 1.0), (histories.start, -1.0)):
            power, log = sign * histories.exposure * times**shape, np.log(times)
            is_late = times > 0.0
            parts.append([power, *(np.where(is_late, power * log**k, 0.0) for k in (1, 2))])
    n = len(histories.weights)
    return tuple(
        _sum_by(histories.owner, late + early, n)
        for late, early in zip(*parts, strict=True)
    )


def maximise(design: FloatArray, histories: Histories, *, fixed_shape: bool) -> PowerFit:
    """Return the maximum likelihood fit by Newton's method with step halving.

    Parameters are the coefficients and the log of the shape, with the inverse observed
    information as covariance. Columns are scaled first.
    """
    kept = _find_independent(design, histories.weights)
    scale = np.sqrt(np.average(design[:, kept] ** 2, axis=0, weights=histories.weights))
    scaled = design[:, kept] / scale
    theta = np.zeros(len(kept) + 1)
    total = float(histories.weights @ histories.counts)
    theta[0] = np.log(total / float(histories.weights @ exposures(histories, 1.0)[0]))
    n_free = len(theta) - fixed_shape
    theta, value, information = _find_top(scaled, histories, theta, n_free)
    # Back from scaled columns to all of them; what is not estimated has no variance.
    n_columns = design.shape[1]
    coefficients = np.zeros(n_columns)
    coefficients[kept] = theta[:-1] / scale
    free = np.append(kept, n_columns)[:n_free]
    own_scale = np.append(scale, 1.0)[:n_free]
    inverse = np.linalg.pinv(information[:n_free, :n_free], hermitian=True)
    covariance = np.full((n_columns + 1, n_columns + 1), np.nan)
    covariance[np.ix_(free, free)] = inverse / np.multiply.outer(own_scale, own_scale)
    log_likelihood = value - total * float(np.log(histories.unit))
    return PowerFit(coefficients, float(theta[-1]), covariance, log_likelihood)


def _find_top(
    design: FloatArray, histories: Histories, theta: FloatArray, n_free: int
) -> tuple[FloatArray, float, FloatArray]:
    """Return the best parameters, their log-likelihood and the observed information."""
    value, gradient, information = _climb(design, histories, theta)
    for _ in range(_MAX_STEPS):
        step = np.zeros_like(theta)
        step[:n_free] = _solve(information[:n_free, :n_free], gradient[:n_free])
        is_close = float(gradient @ step) <= _CONVERGED * (1.0 + abs(value))
        trial = _climb(design, histories, theta + step)
        while trial[0] < value and np.abs(step).max() > _SHORTEST and not is_close:
            step *= 0.5
            trial = _climb(design, histories, theta + step)
        gain = trial[0] - value
        # The last step, which is too short to show in the likelihood, makes it exact.
        if gain >= 0.0 or (is_close and np.isfinite(trial[0])):
            theta = theta + step
            value, gradient, information = trial
        if is_close or gain <= _CONVERGED * (1.0 + abs(value)):
            return theta, value, information
    warnings.warn(
        f"The likelihood has not reached its maximum after {_MAX_STEPS} steps; standard "
        "errors may be wrong.",
        ConvergenceWarning,
        stacklevel=2,
    )
    return theta, value, information


def _sum_by(owner: OffsetArray, values: FloatArray, n: int) -> FloatArray:
    return np.asarray(np.bincount(owner, values, n), dtype=np.float64)


def _climb(
    design: FloatArray, histories: Histories, theta: FloatArray
) -> tuple[float, FloatArray, FloatArray]:
    """Return log-likelihood, gradient and observed information."""
    if abs(theta[-1]) > _MAX_LOG_SHAPE:
        return -np.inf, theta, np.eye(len(theta))
    shape = float(np.exp(theta[-1]))
    weights = histories.weights
    with np.errstate(over="ignore", invalid="ignore"):
        exposure, first, second = exposures(histories, shape)
        linear = design @ theta[:-1]
        rate = weights * np.exp(linear)
        n_events = float(weights @ histories.counts)
        logs = float(weights @ histories.log_times)
        value = float(weights * histories.counts @ linear) + n_events * theta[-1]
        value += (shape - 1.0) * logs - float(rate @ exposure)
        if not np.isfinite(value):
            return -np.inf, theta, np.eye(len(theta))
        slope = shape * float(rate @ first)
        gradient = np.append(
            design.T @ (weights * histories.counts - rate * exposure),
            n_events + shape * logs - slope,
        )
        information = np.empty((len(theta), len(theta)))
        information[:-1, :-1] = design.T @ ((rate * exposure)[:, None] * design)
        information[-1, :-1] = information[:-1, -1] = shape * (design.T @ (rate * first))
        curvature = slope - shape * logs + shape**2 * float(rate @ second)
        information[-1, -1] = curvature
    return value, gradient, information


def _solve(information: FloatArray, gradient: FloatArray) -> FloatArray:
    """Return an ascent step, also if the information is not positive definite."""
    eigenvalues, vectors = np.linalg.eigh(information)
    least = 1e-12 * max(float(np.abs(eigenvalues).max()), np.finfo(float).tiny)
    curvature = np.maximum(np.abs(eigenvalues), least)
    return np.asarray(vectors @ ((vectors.T @ gradient) / curvature))


def _find_independent(design: FloatArray, weights: FloatArray) -> AnyArray:
    """Return linearly independent columns, always with the first."""
    scaled = np.sqrt(weights)[:, None] * design
    intercept = scaled[:, :1] / np.linalg.norm(scaled[:, 0])
    rest = scaled[:, 1:] - intercept @ (intercept.T @ scaled[:, 1:])
    length = np.linalg.norm(scaled[:, 1:], axis=0)
    norm = np.linalg.norm(rest, axis=0)
    varied = np.flatnonzero(norm > 1e-9 * length)
    if not varied.size:
        return np.zeros(1, dtype=np.intp)
    factor, order = scipy.linalg.qr(rest[:, varied] / norm[varied], mode="r", pivoting=True)
    diagonal = np.abs(np.diag(factor))
    chosen = varied[np.sort(order[: np.count_nonzero(diagonal > 1e-9 * diagonal[0])])]
    return np.concatenate([[0], 1 + chosen])


def fit_power_laws(
    histories: Histories,
    group: OffsetArray,
    member: AnyArray,
    weight: FloatArray,
    n_groups: int,
    pooled_shape: float,
) -> tuple[FloatArray, FloatArray]:
    """Return scale and shape, ``scale * (t / unit) ** shape``, of every group.

    Individual ``member[k]`` counts ``weight[k]`` times in ``group[k]``. One imaginary
    event per group draws the shape to the pooled one; the scale matches the events.
    """
    n_events = np.bincount(group, weight * histories.counts[member], n_groups)
    logs = np.bincount(group, weight * histories.log_times[member], n_groups)
    # The logarithm of the likelihood is concave in the shape: its slope has one zero.
    low, high = (np.full(n_groups, np.log(bound)) for bound in _SHAPES)
    for _ in range(_N_HALVINGS):
        middle = 0.5 * (low + high)
        shape = np.exp(middle)
        exposure, change = _expose(histories, group, member, weight, shape)
        mean_log = np.divide(change, exposure, out=np.zeros(n_groups), where=exposure > 0.0)
        slope = (n_events + 1.0) / shape + logs - n_events * mean_log - 1.0 / pooled_shape
        low = np.where(slope > 0.0, middle, low)
        high = np.where(slope > 0.0, high, middle)
    shape = np.exp(0.5 * (low + high))
    exposure, _ = _expose(histories, group, member, weight, shape)
    scale = np.divide(n_events, exposure, out=np.zeros(n_groups), where=exposure > 0.0)
    return scale, shape


def _expose(
    histories: Histories,
    group: OffsetArray,
    member: AnyArray,
    weight: FloatArray,
    shape: FloatArray,
) -> tuple[FloatArray, FloatArray]:
    """Return the sums of ``stop**shape - start**shape`` and their derivatives."""
    n, n_groups = len(histories.weights), len(shape)
    n_windows = np.bincount(histories.owner, minlength=n)
    begins = np.cumsum(n_windows) - n_windows
    n_own = n_windows[member]
    entry = np.repeat(np.arange(len(member)), n_own)
    shift = np.repeat(begins[member] - (np.cumsum(n_own) - n_own), n_own)
    window = np.arange(entry.size) + shift
    own_group, exponent = group[entry], shape[group[entry]]
    totals = []
    for order in (0, 1):
        part = np.zeros(entry.size)
        for times, sign in ((histories.stop, 1.0), (histories.start, -1.0)):
            at = times[window]
            log = np.log(np.where(at > 0.0, at, 1.0))
            power = np.where(at > 0.0, np.exp(exponent * log), 0.0)
            part += sign * power * log**order
        sums = np.bincount(own_group, weight[entry] * part, n_groups)
        totals.append(np.asarray(sums, dtype=np.float64))
    return totals[0], totals[1]

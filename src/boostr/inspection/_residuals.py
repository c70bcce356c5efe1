"""Residuals of histories, and their gaps on the scale of the model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import kl_div, ndtr

from boostr._checks.parameters import check_choice
from boostr._engine.curves import UnitCurves
from boostr._typing import AnyArray, BoolArray, FloatArray, PositionArray
from boostr.basis import Clock
from boostr.data import RecurrentEvents, Trajectories
from boostr.data.events.fingerprint import warn_if_trained_on
from boostr.data.events.frames import make_table
from boostr.data.events.intervals import refuse_intervals
from boostr.exceptions import InvalidEventsError
from boostr.inspection._summary_held_out import read_held_out
from boostr.inspection.model import read_model, sort_times

__all__ = ["CumulativeResiduals", "RescaledTimes", "rescaled_times", "residuals"]

_N_TIMES = 101  # of the grid of cumulative residuals
_N_REFLECTIONS = 500  # of Brownian motion at the two borders


@dataclass(frozen=True, slots=True, eq=False)
class CumulativeResiduals:
    """Observed minus expected numbers of events by time, of each individual.

    Made by `residuals` of kind "cumulative".

    Parameters
    ----------
    times : (m,) float64 array
        Times, ascending.
    values : (n, m) float64 array
        Residuals by these times, over the time observed; constant after the last window.
        NaN for individuals without out-of-fold prediction.
    time_unit : str or None
        Unit of time, where it is known.

    See Also
    --------
    residuals : Computes it.
    boostr.plotting.plot_cumulative_residuals : Draws it.

    Examples
    --------
    >>> import numpy as np
    >>> from boostr.inspection import CumulativeResiduals
    >>> found = CumulativeResiduals(np.array([1.0]), np.array([[0.5], [-1.5]]))
    >>> found.mean, found.error
    (array([-0.5]), array([1.]))
    """

    times: FloatArray
    values: FloatArray
    time_unit: str | None = None

    @property
    def mean(self) -> FloatArray:
        """Mean residual by each time; near zero where the level is right."""
        return np.asarray(np.nanmean(self.values, axis=0))

    @property
    def error(self) -> FloatArray:
        """Standard error of the mean, also where events depend on each other."""
        n = np.sum(~np.isnan(self.values), axis=0)
        spread = np.nanstd(self.values, axis=0)
        return np.asarray(spread / np.sqrt(np.maximum(n - 1, 1)))


def residuals(
    model: Any,
    X: Any,
    y: RecurrentEvents,
    Z: Trajectories | None = None,
    *,
    kind: Literal["martingale", "deviance", "cumulative"] = "martingale",
    times: ArrayLike | None = None,
) -> FloatArray | CumulativeResiduals:
    r"""Compare each individual's events with those that the model expects.

    With :math:`N_i` events observed and :math:`E_i` expected while ``i`` was observed, the
    martingale residual is :math:`M_i = N_i - E_i`, and the deviance residual, which is less
    skewed,

    .. math::

        \mathrm{sign}(M_i) \sqrt{2 \left( N_i \log \frac{N_i}{E_i} - M_i \right)}.

    Parameters
    ----------
    model : BoostR
        A fitted model.
    X : array-like, DataFrame, Panel or None
        Static features. None takes the out-of-fold predictions of the individuals that
        `fit` was given, which is the fair comparison for them.
    y : RecurrentEvents
        Histories of the same individuals. Where events have costs, these are compared.
    Z : Trajectories, default=None
        Their sensors, for a model that uses some.
    kind : {"martingale", "deviance", "cumulative"}, default="martingale"
        One number per individual, or martingale residuals by time.
    times : array-like of shape (m,), default=None
        Times of cumulative residuals; by default 101 over the follow-up.

    Returns
    -------
    ndarray of shape (n,) or CumulativeResiduals
        Positive where more events came than expected; NaN without out-of-fold prediction.

    See Also
    --------
    rescaled_times : Tests when the events come, too.
    boostr.metrics.calibration_table : Observed and expected events by groups.

    Notes
    -----
    Drawn against a feature, residuals show what the model has missed about it. They rest on
    features and sensors alone: differences that own history would explain stay in them.

    References
    ----------
    Therneau, T. M., Grambsch, P. M. and Fleming, T. R. (1990). Martingale-based residuals
    for survival models. Biometrika 77, 147-160.

    Examples
    --------
    >>> from boostr import BoostR
    >>> from boostr.inspection import residuals
    >>> from boostr.simulate import dataset_a
    >>> train, test = dataset_a(n=150, random_state=1), dataset_a(n=50, random_state=2)
    >>> model = BoostR(n_estimators=30, random_state=0).fit(train.X, train.y)
    >>> residuals(model, test.X, test.y).shape
    (50,)
    >>> residuals(model, None, train.y, kind="cumulative").values.shape
    (150, 101)
    """
    check_choice(kind, ("martingale", "deviance", "cumulative"), "kind")
    found = _Expected.of(model, X, y, Z, "residuals")
    events, rows = found.events, np.arange(len(found.events))
    if kind == "cumulative":
        span = np.linspace(events.start.min(), events.end.max(), _N_TIMES)
        grid = sort_times(times, span)
        values = np.column_stack([found.count_residuals(time) for time in grid])
        return CumulativeResiduals(grid, found.spread(values), events.time_unit)
    expected = found.read(rows, events.end)
    observed = np.bincount(events.event_owner, events.costs, len(events))
    left = observed - expected
    if kind == "deviance":
        left = np.sign(left) * np.sqrt(2.0 * kl_div(observed, expected))
    return found.spread(left)


@dataclass(frozen=True, slots=True, eq=False)
class _Expected:
    """Histories, and the expected numbers of events while they were observed."""

    events: RecurrentEvents  # of individuals with predictions
    is_known: BoolArray  # (n,) which these are
    curves: UnitCurves
    clock: Clock

    @classmethod
    def of(cls, model: Any, X: Any, y: Any, Z: Any, asker: str) -> _Expected:
        """Predict individuals by their features, or the training ones out of fold."""
        fitted = read_model(model)
        if X is None:
            theta, events, sensors = read_held_out(fitted, y, Z)
        else:
            features, events, sensors = fitted.read_individuals(X, y, Z, asker)
            warn_if_trained_on(model, events, features, stacklevel=4)
            theta = fitted.sum_trees(features)
        is_known = ~np.isnan(theta[:, 0])
        if not is_known.all():
            theta, events = theta[is_known], events[is_known]
            sensors = None if sensors is None else sensors[is_known]
        curves = fitted.fitted.trees.curves(theta, sensors, events.exposure)
        return cls(events, is_known, curves, fitted.clock)

    def read(self, rows: PositionArray, times: FloatArray) -> FloatArray:
        """Return the events expected of individuals while observed, each by a time."""
        y, total = self.events, np.zeros(len(rows))
        first, n_windows = y.window_offsets[:-1][rows], np.diff(y.window_offsets)[rows]
        for number in range(int(n_windows.max(initial=0))):
            some = np.flatnonzero(n_windows > number)
            window = first[some] + number
            begin = y.window_start[window]
            end = np.clip(times[some], begin, y.window_stop[window])
            total[some] += self._value(rows[some], end) - self._value(rows[some], begin)
        return total

    def _value(self, rows: PositionArray, times: FloatArray) -> FloatArray:
        return self.curves.values_at(rows, self.clock.read(times))

    def count_residuals(self, time: float) -> FloatArray:
        """Return observed minus expected events by a time."""
        y, n = self.events, len(self.events)
        came = y.times <= time
        observed = np.bincount(y.event_owner[came], y.costs[came], n)
        return np.asarray(observed - self.read(np.arange(n), np.full(n, time)))

    def spread(self, values: FloatArray) -> FloatArray:
        """Return values of all individuals, NaN for those without prediction."""
        spread = np.full((len(self.is_known), *values.shape[1:]), np.nan)
        spread[self.is_known] = values
        return spread


@dataclass(frozen=True, slots=True, eq=False)
class RescaledTimes:
    """Gaps between events on the scale of the model, and a test that they are exponential.

    Made by `rescaled_times`.

    Parameters
    ----------
    gaps : (k,) float64 array
        Expected number of events from each event to the next, while observed: one of these
        for every event, and one for the time after an individual's last one.
    is_censored : (k,) bool array
        Whether the follow-up has ended before the next event.
    individual : (k,) int64 array
        Row of the individual.
    statistic : float
        Largest distance of the numbers of gaps up to any length from those expected, over
        the square root of all events expected.
    p_value : float
        Chance of a distance as large if the model is right.

    See Also
    --------
    rescaled_times : Computes it.
    boostr.plotting.plot_rescaled_times : Draws it.

    Examples
    --------
    >>> from boostr import BoostR
    >>> from boostr.inspection import rescaled_times
    >>> from boostr.simulate import dataset_a
    >>> train, test = dataset_a(n=150, random_state=1), dataset_a(n=50, random_state=2)
    >>> model = BoostR(n_estimators=30, random_state=0).fit(train.X, train.y)
    >>> found = rescaled_times(model, test.X, test.y)
    >>> len(found.gaps) == 50 + test.y.times.size
    True
    """

    gaps: FloatArray
    is_censored: BoolArray
    individual: AnyArray
    statistic: float
    p_value: float

    def counts(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Count the gaps up to each length, and those expected.

        Returns
        -------
        length : ndarray of shape (m,)
            All lengths of gaps, from 0 on, ascending.
        expected, observed : ndarray of shape (m,)
            Numbers of gaps up to each length that end with an event.
        """
        return _count_gaps(self.gaps, self.is_censored)

    def to_frame(self, *, backend: str | None = None) -> Any:
        """Write a table with one row per gap.

        Parameters
        ----------
        backend : {"pandas", "polars"}, default=None
            Which table to make; by default pandas if it is installed, else polars.

        Returns
        -------
        DataFrame
            Columns "individual", "gap" and "is_censored".
        """
        columns = {"individual": self.individual, "gap": self.gaps}
        return make_table({**columns, "is_censored": self.is_censored}, backend)


def rescaled_times(
    model: Any, X: Any, y: RecurrentEvents, Z: Trajectories | None = None
) -> RescaledTimes:
    r"""Test whether gaps between events are those of the model.

    Counted in expected events, each individual is a Poisson process of rate one if the
    model is right, and the gaps between its events are exponential with mean one; the last
    gap is censored. With :math:`N(u)` gaps that ended with an event by length ``u``, and
    :math:`E(u) = \sum_k \min(g_k, u)` expected, the difference :math:`N - E` is then like a
    Brownian motion in the time :math:`E`. The test is that of Kolmogorov and Smirnov for
    it: large values of :math:`\max_u |N(u) - E(u)| / \sqrt{E(\infty)}`.

    Parameters
    ----------
    model : BoostR
        A fitted model.
    X : array-like, DataFrame, Panel or None
        Static features; None takes the out-of-fold predictions of the individuals that
        `fit` was given.
    y : RecurrentEvents
        Histories of the same individuals, without costs.
    Z : Trajectories, default=None
        Their sensors, for a model that uses some.

    Returns
    -------
    RescaledTimes
        The gaps, the statistic and its p-value.

    See Also
    --------
    boostr.plotting.plot_rescaled_times : Draws observed against expected gaps.
    residuals : One number per individual.

    Notes
    -----
    Many short gaps mean that events bring events, or that individuals differ in ways that
    features do not tell (frailties, which forecasts learn from own history): the test then
    rejects though the mean numbers are right. Ties are gaps of length zero.

    References
    ----------
    Brown, E. N., Barbieri, R., Ventura, V., Kass, R. E. and Frank, L. M. (2002). The
    time-rescaling theorem and its application to neural spike train data analysis. Neural
    Computation 14, 325-346.

    Andersen, P. K., Borgan, Ø., Gill, R. D. and Keiding, N. (1993). Statistical Models
    Based on Counting Processes. Springer. Section V.4.

    Examples
    --------
    >>> from boostr import BoostR
    >>> from boostr.inspection import rescaled_times
    >>> from boostr.simulate import dataset_a
    >>> train, test = dataset_a(n=200, random_state=1), dataset_a(n=50, random_state=2)
    >>> model = BoostR(random_state=0).fit(train.X, train.y)
    >>> rescaled_times(model, test.X, test.y).p_value > 0.05
    True
    """
    found = _Expected.of(model, X, y, Z, "rescaled_times")
    events = found.events
    refuse_intervals(events, "A test of the gaps between events")
    if events.has_costs:
        raise InvalidEventsError(
            "Gaps are those between events that count one each, but the events of `y` have "
            "costs.\n\nHint: fit a model to the same histories without costs."
        )
    n = len(events)
    owner = np.concatenate([events.event_owner, np.arange(n)])
    times = np.concatenate([events.times, events.end])
    is_end = np.repeat([False, True], [events.times.size, n])
    order = np.lexsort((is_end, times, owner))
    owner, is_end = owner[order], is_end[order]
    passed = found.read(owner, times[order])
    # Sorted by individual: the first gap of each begins at zero.
    is_first = np.concatenate([[True], is_end[:-1]])
    before = np.concatenate([[0.0], passed[:-1]])
    gaps = np.maximum(passed - np.where(is_first, 0.0, before), 0.0)
    statistic, p_value = _test_gaps(gaps, is_end)
    individual = np.flatnonzero(found.is_known)[owner]
    return RescaledTimes(gaps, is_end, individual, statistic, p_value)


def _count_gaps(
    gaps: FloatArray, is_censored: BoolArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return lengths, and how many gaps up to each are expected and observed."""
    order = np.argsort(gaps, kind="stable")
    lengths = np.concatenate([[0.0], gaps[order]])
    n_longer = np.arange(len(gaps), 0, -1)  # in each cell between two lengths
    expected = np.concatenate([[0.0], np.cumsum(n_longer * np.diff(lengths))])
    observed = np.concatenate([[0.0], np.cumsum(~is_censored[order])])
    return lengths, expected, observed


def _test_gaps(gaps: FloatArray, is_censored: BoolArray) -> tuple[float, float]:
    """Return the largest distance of observed from expected gaps, and its p-value."""
    _, expected, observed = _count_gaps(gaps, is_censored)
    if not expected[-1] > 0.0:
        raise InvalidEventsError(
            "The model must expect events while individuals are observed, but it expects "
            "none.\n\nHint: it was fitted to histories without events."
        )
    # The distance is largest at a gap, counted or not yet.
    distance = np.maximum(
        np.abs(observed - expected)[1:], np.abs(observed[:-1] - expected[1:])
    )
    statistic = float(distance.max() / np.sqrt(expected[-1]))
    # Brownian motion leaves (-a, a) by time 1: reflections at both borders.
    places = np.arange(_N_REFLECTIONS)
    chance = 4.0 * np.sum((-1.0) ** places * ndtr(-(2.0 * places + 1.0) * statistic))
    return statistic, float(np.clip(chance, 0.0, 1.0))

"""Predictions of a fitted `BoostR`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from boostr._checks.numbers import check_ids_match, check_weights
from boostr._checks.parameters import check_times, check_windows
from boostr._engine.curves import UnitCurves
from boostr._training.fitted import Fitted
from boostr._training.run import use_threads
from boostr._training.sensors import (
    Sensors,
    check_reach,
    count_strange,
    spread_shared,
)
from boostr._typing import FloatArray
from boostr.basis import Clock, FittedSensorBasis
from boostr.data import Panel, RecurrentEvents, Trajectories
from boostr.data.events.exposure import exposed_windows
from boostr.data.events.fingerprint import (
    check_histories,
    warn_if_trained_on,
)
from boostr.data.features import check_rows
from boostr.estimators._base import FittedEstimator
from boostr.exceptions import InvalidParameterError, InvalidSensorsError

__all__ = ["PredictionMethods"]

Parts = Sequence[tuple[UnitCurves, Clock]]  # the curves of every kind, on its clock

_LEAST_RATIO = 1e-3  # an event at a predicted rate of zero must not cost infinitely much


class PredictionMethods(FittedEstimator):
    """Cumulative curves, rates, counts and score of a fitted model."""

    def predict(
        self,
        X: Any,
        Z: Sensors | None = None,
        horizon: float | None = None,
        *,
        hold_last: bool = True,
        exposure: Any = None,
        kind: Any = None,
    ) -> FloatArray:
        """Predict how many events each individual has by a horizon.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n, p)
            Static features, or a `Panel` of features and sensors.
        Z : Trajectories or SharedSensors, default=None
            Sensors, for a model that was fitted with them: what they have shown, or will
            show. They are matched by id where the index of `X` has ids, else by position.
        horizon : float, default=None
            Time from 0; the last end of follow-up in training by default.
        hold_last : bool, default=True
            Whether the last values of sensors hold where these end before the times asked
            for; False refuses such times.
        exposure : float, array-like of shape (n,), mapping or Trajectories, default=None
            Exposures of the individuals, for a model that was fitted with some; by default
            1, so that predictions are per unit.
        kind : object, default=None
            One of `kind_labels_`, to predict events of this kind; by default the sum over
            all kinds.

        Returns
        -------
        ndarray of shape (n,)
            Expected number (or cost) of events in (0, horizon].
        """
        check_is_fitted(self)
        end = self.horizon_ if horizon is None else horizon
        times = check_times(end, "horizon")
        if len(times) != 1:
            raise InvalidParameterError(
                f"`horizon` must be one time, but it is {len(times)}.\n\n"
                "Hint: predict_cumulative(X, times) predicts at several."
            )
        options = {"hold_last": hold_last, "exposure": exposure, "kind": kind}
        return self.predict_cumulative(X, times, Z, **options)[:, 0]

    def predict_cumulative(
        self,
        X: Any,
        times: ArrayLike,
        Z: Sensors | None = None,
        *,
        hold_last: bool = True,
        exposure: Any = None,
        conditional: bool = False,
        kind: Any = None,
    ) -> FloatArray:
        r"""Predict how many events each individual has by some times.

        For a model that was fitted with terminal events this is the mean number where the
        dead have no further events, :math:`\int_0^t S(u-) \lambda(u)\, du` with the rate
        while alive and the chance of being so; otherwise the cumulative intensity.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n, p)
            Static features.
        times : float or array-like of shape (m,)
            Times, from 0 on; beyond the training data the curves are continued.
        Z : Trajectories or SharedSensors, default=None
            Sensors, for a model that was fitted with them: what they have shown, or will
            show. They are matched by id where the index of `X` has ids, else by position.
        hold_last : bool, default=True
            Whether the last values of sensors hold where these end before the times asked
            for; False refuses such times.
        exposure : float, array-like of shape (n,), mapping or Trajectories, default=None
            Exposures of the individuals, for a model that was fitted with some; by default
            1, so that predictions are per unit.
        conditional : bool, default=False
            Whether to predict the number while alive, as if nobody could die: the
            cumulative intensity.
        kind : object, default=None
            One of `kind_labels_`, to predict events of this kind; by default the sum over
            all kinds.

        Returns
        -------
        ndarray of shape (n, m)
            Expected number (or cost) of events in (0, t].
        """
        checked = check_times(times)
        features, sensors = self._read_input(X, Z, checked, hold_last=hold_last)
        exposed = self._read_exposure(X, exposure, len(features))

        def read(part: Fitted) -> FloatArray:
            curves = part.trees.curves(part.trees.coefficients(features), sensors, exposed)
            surviving = None if conditional else part.survive(curves, features, sensors)
            if surviving is None:
                return curves.values(part.clock.read(checked))
            return surviving.values(checked)

        return self._sum_parts(kind, read)

    def predict_survival(
        self,
        X: Any,
        times: ArrayLike,
        Z: Sensors | None = None,
        *,
        hold_last: bool = True,
    ) -> FloatArray:
        """Predict the chance that each individual has had no terminal event.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n, p)
            Static features.
        times : float or array-like of shape (m,)
            Times, from 0 on.
        Z : Trajectories or SharedSensors, default=None
            Sensors, for a model that was fitted with them: what they have shown, or will
            show. They are matched by id where the index of `X` has ids, else by position.
        hold_last : bool, default=True
            Whether the last values of sensors hold where these end before the times asked
            for; False refuses such times.

        Returns
        -------
        ndarray of shape (n, m)
            Chance of no terminal event in (0, t].

        Examples
        --------
        >>> from boostr import BoostR
        >>> from boostr.simulate import patients
        >>> clinic = patients(n=100, random_state=1)
        >>> model = BoostR(n_estimators=10, random_state=0).fit(clinic.X, clinic.y)
        >>> model.predict_survival(clinic.X[:2], times=[0.0, 50.0]).shape
        (2, 2)
        """
        checked = check_times(times)
        hazard = self._read_fitted().need_terminal()
        features, sensors = self._read_input(X, Z, checked, hold_last=hold_last)
        curves = hazard.cumulate_hazard(features, sensors)
        return np.exp(-curves.values(hazard.clock.read(checked)))

    def predict_intensity(
        self,
        X: Any,
        times: ArrayLike,
        Z: Sensors | None = None,
        *,
        hold_last: bool = True,
        exposure: Any = None,
        kind: Any = None,
    ) -> FloatArray:
        """Predict the rate of events of each individual, while it is alive.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n, p)
            Static features.
        times : float or array-like of shape (m,)
            Times, from 0 on; at each the sensors' last values before it act.
        Z : Trajectories or SharedSensors, default=None
            Sensors, for a model that was fitted with them: what they have shown, or will
            show. They are matched by id where the index of `X` has ids, else by position.
        hold_last : bool, default=True
            Whether the last values of sensors hold where these end before the times asked
            for; False refuses such times.
        exposure : float, array-like of shape (n,), mapping or Trajectories, default=None
            Exposures of the individuals, for a model that was fitted with some; by default
            1, so that predictions are per unit.
        kind : object, default=None
            One of `kind_labels_`, to predict events of this kind; by default the sum over
            all kinds.

        Returns
        -------
        ndarray of shape (n, m)
            Expected number (or cost) of events per unit of time.
        """
        checked = check_times(times)
        features, sensors = self._read_input(X, Z, checked, hold_last=hold_last)
        exposed = self._read_exposure(X, exposure, len(features))

        def read(part: Fitted) -> FloatArray:
            curves = part.trees.curves(part.trees.coefficients(features), sensors, exposed)
            return curves.slopes(part.clock.read(checked)) * part.clock.rate(checked)

        return self._sum_parts(kind, read)

    def predict_count(
        self,
        X: Any,
        start: ArrayLike,
        stop: ArrayLike,
        Z: Sensors | None = None,
        *,
        hold_last: bool = True,
        exposure: Any = None,
        conditional: bool = False,
        kind: Any = None,
    ) -> FloatArray:
        """Predict how many events each individual has in a window of its own.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n, p)
            Static features.
        start, stop : float or array-like of shape (n,)
            The window (start, stop], the same for all or one each.
        Z : Trajectories or SharedSensors, default=None
            Sensors, for a model that was fitted with them: what they have shown, or will
            show. They are matched by id where the index of `X` has ids, else by position.
        hold_last : bool, default=True
            Whether the last values of sensors hold where these end before the times asked
            for; False refuses such times.
        exposure : float, array-like of shape (n,), mapping or Trajectories, default=None
            Exposures of the individuals, for a model that was fitted with some; by default
            1, so that predictions are per unit.
        conditional : bool, default=False
            Whether to predict the number while alive, as in `predict_cumulative`.
        kind : object, default=None
            One of `kind_labels_`, to predict events of this kind; by default the sum over
            all kinds.

        Returns
        -------
        ndarray of shape (n,)
            Expected number (or cost) of events in the window.
        """
        last = check_times(stop, "stop").max(initial=0.0)
        features, sensors = self._check_input(X, Z, until=last)
        starts, stops = check_windows(start, stop, len(features))
        if sensors is not None and not hold_last:
            check_reach(sensors, stops)
        exposed = self._read_exposure(X, exposure, len(features))
        rows = np.arange(len(features))

        def read(part: Fitted) -> FloatArray:
            curves = part.trees.curves(part.trees.coefficients(features), sensors, exposed)
            surviving = None if conditional else part.survive(curves, features, sensors)
            if surviving is not None:
                before = surviving.values_at(rows, starts)
                return surviving.values_at(rows, stops) - before
            before = curves.values_at(rows, part.clock.read(starts))
            return curves.values_at(rows, part.clock.read(stops)) - before

        return self._sum_parts(kind, read)

    def _sum_parts(self, kind: Any, read: Callable[[Fitted], FloatArray]) -> FloatArray:
        """Return what the model of a kind says, or the sum over all kinds."""
        parts = [read(part) for part in self._read_fitted().parts(kind)]
        return reduce(np.add, parts)

    def staged_predict_cumulative(
        self,
        X: Any,
        times: ArrayLike,
        Z: Sensors | None = None,
        *,
        exposure: Any = None,
    ) -> Iterator[FloatArray]:
        """Predict the cumulative intensity after each round of boosting.

        These are the trees that were grown on all events, also where kinds are learned.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n, p)
            Static features.
        times : float or array-like of shape (m,)
            Times, from 0 on.
        Z : Trajectories or SharedSensors, default=None
            Sensors, for a model that was fitted with them: what they have shown, or will
            show. They are matched by id where the index of `X` has ids, else by position.
        exposure : float, array-like of shape (n,), mapping or Trajectories, default=None
            Exposures of the individuals, for a model that was fitted with some; by default
            1, so that predictions are per unit.

        Yields
        ------
        ndarray of shape (n, m)
            As `predict_cumulative`, with the first 1, 2, ... trees of every model.
        """
        checked = check_times(times)
        features, sensors = self._check_input(X, Z, until=checked.max(initial=0.0))
        exposed = self._read_exposure(X, exposure, len(features))
        clock = self.clock_.read(checked)
        fitted = self._read_fitted()
        with use_threads(self.n_jobs) as n_threads:
            for theta in self.ensemble_.staged_coefficients(features, n_threads):
                curves = fitted.trees.curves(theta, sensors, exposed)
                surviving = fitted.survive(curves, features, sensors)
                yield (
                    curves.values(clock) if surviving is None else surviving.values(checked)
                )

    def score(
        self,
        X: Any,
        y: RecurrentEvents,
        sample_weight: ArrayLike | None = None,
        Z: Sensors | None = None,
    ) -> float:
        """Return the mean gain in log-likelihood over the average individual.

        The mean log-likelihood per individual of the point process with the predicted
        intensity, minus that of the average individual of the training data. It is fair to
        individuals with different, and event-dependent, ends of follow-up, and the same
        measure for all settings of the estimator. Both have the exposures of `y`. On
        individuals that the model was trained on it is too high, and a warning says so.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n, p)
            Static features.
        y : RecurrentEvents
            Event histories.
        sample_weight : array-like of shape (n,), default=None
            Weights of individuals.
        Z : Trajectories or SharedSensors, default=None
            Sensors, for a model that was fitted with them: what they have shown, or will
            show. They are matched by id where the index of `X` has ids, else by position.

        Returns
        -------
        float
            Higher is better; 0 is no better than ignoring the features.
        """
        features, sensors = self._check_input(X, Z, y)
        events = check_rows(y, len(features))
        check_ids_match(X.X if isinstance(X, Panel) else X, events)
        check_histories(self, events)
        warn_if_trained_on(self, events, features)
        n = len(events)
        weights = check_weights(sample_weight, events)
        parts = [
            (part.trees.curves(part.trees.coefficients(features), sensors), part.clock)
            for part in self._read_fitted().parts()
        ]
        windows = exposed_windows(events)
        excess = self._excess(parts, windows.owner, windows.start, windows.stop)
        gains = np.bincount(windows.owner, -windows.factor * excess, n)
        gains += np.bincount(
            events.event_owner, events.costs * self._log_ratio(parts, events), n
        )
        return float(np.average(gains, weights=weights))

    def check_sensors(self, Z: Trajectories) -> dict[str, dict[str, int]]:
        """Count sensor values that are unknown or outside the range of training.

        Predictions take the nearest value seen in place of a number below or above, and
        the average in place of an unknown value or an unseen category.

        Parameters
        ----------
        Z : Trajectories
            Sensors to predict with.

        Returns
        -------
        dict
            For each sensor of the model the numbers of its ``samples``, and of those that
            are ``unknown``, ``below`` or ``above`` the range of training, or in ``unseen``
            categories.
        """
        check_is_fitted(self)
        layout, basis = self.sensor_layout_, self.ensemble_.basis
        if layout is None or not isinstance(basis, FittedSensorBasis):
            raise InvalidSensorsError("This model was fitted without sensors.")
        return count_strange(basis, Z, layout.apply(Z))

    def _excess(
        self, parts: Parts, owner: Any, start: FloatArray, stop: FloatArray
    ) -> FloatArray:
        """Return expected minus average number of events in every window."""
        average = self.reference_clock_.read(stop) - self.reference_clock_.read(start)
        return np.asarray(_rise(parts, owner, start, stop) - average)

    def _log_ratio(self, parts: Parts, events: RecurrentEvents) -> FloatArray:
        """Return the log of predicted over average rate at every event.

        Of events in intervals, that of the numbers expected there.
        """
        owner, times, reference = events.event_owner, events.times, self.reference_clock_
        if events.intervals is None:
            rates = reduce(np.add, [_rate(part, owner, times) for part in parts])
            average = reference.rate(times)
        else:
            start, stop = events.intervals[:, 0], events.intervals[:, 1]
            rates = _rise(parts, owner, start, stop)
            average = reference.read(stop) - reference.read(start)
        ratio = np.divide(rates, average, out=np.ones_like(rates), where=average > 0.0)
        return np.log(np.maximum(ratio, _LEAST_RATIO))

    def _read_input(
        self, X: Any, Z: Sensors | None, times: FloatArray, *, hold_last: bool
    ) -> tuple[FloatArray, Trajectories | None]:
        """Return features and sensors, which must cover the times or hold their values."""
        until = times.max(initial=0.0)
        features, sensors = self._check_input(X, Z, until=until)
        if sensors is not None and not hold_last:
            check_reach(sensors, until)
        return features, sensors

    def predict_out_of_fold(
        self,
        times: ArrayLike,
        Z: Sensors | None = None,
        *,
        exposure: Any = None,
        kind: Any = None,
    ) -> FloatArray:
        """Predict each training individual by the models that have not seen it.

        Parameters
        ----------
        times : float or array-like of shape (m,)
            Times, from 0 on.
        Z : Trajectories or SharedSensors, default=None
            The sensors of the training individuals, in the order of `y`, for a model that
            was fitted with them.
        exposure : float, array-like of shape (n,), mapping or Trajectories, default=None
            Exposures of the training individuals, in the order of `y`, for a model that was
            fitted with some; by default 1, so that predictions are per unit.
        kind : object, default=None
            One of `kind_labels_`, to predict events of this kind; by default the sum over
            all kinds.

        Returns
        -------
        ndarray of shape (n, m)
            Expected number (or cost) of events in (0, t] of the training individuals, while
            they are alive; NaN for individuals that every model was trained on.
        """
        fitted, checked = self._read_fitted(), check_times(times)
        theta = fitted.training_coefficients()
        known = ~np.isnan(theta[:, 0])
        result = np.full((len(known), len(checked)), np.nan)
        last = checked.max(initial=0.0)
        given = spread_shared(Z, None, len(known), self.sensor_layout_, until=last)
        sensors = fitted.read_sensors(given)
        if sensors is not None and len(sensors) != len(known):
            raise InvalidSensorsError(
                "`Z` must hold the sensors of all training individuals, but it has "
                f"{len(sensors)} for {len(known)}.\n\nHint: pass what `fit` was given."
            )
        sensors = None if sensors is None else sensors[known]
        exposed = self._read_exposure(None, exposure, len(known))
        exposed = None if exposed is None else exposed[known]

        def read(part: Fitted) -> FloatArray:
            own = part.training_coefficients()[known]
            curves = part.trees.curves(own, sensors, exposed)
            return curves.values(part.clock.read(checked))

        result[known] = self._sum_parts(kind, read)
        return result


def _rise(parts: Parts, owner: Any, start: FloatArray, stop: FloatArray) -> FloatArray:
    """Return the numbers of events that all parts together expect in windows."""
    rises = []
    for curves, clock in parts:
        expected = curves.values_at(owner, clock.read(stop))
        expected -= curves.values_at(owner, clock.read(start))
        rises.append(expected)
    return reduce(np.add, rises)


def _rate(part: tuple[UnitCurves, Clock], owner: Any, times: FloatArray) -> FloatArray:
    """Return the rates of individuals at times."""
    curves, clock = part
    return curves.slopes_at(owner, clock.read(times)) * clock.rate(times)

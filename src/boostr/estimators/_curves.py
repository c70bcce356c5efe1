"""Predictions that every estimator with a fitted `Ensemble` shares."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numba
import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted, validate_data

from boostr._checks.numbers import check_ids_match, check_weights, first_few
from boostr._engine.curves import ExposedCurves, expose
from boostr._engine.ensemble import Curves as PlainCurves
from boostr._engine.ensemble import Ensemble
from boostr._typing import FloatArray
from boostr.basis import Clock, FittedSensorBasis
from boostr.data import Panel, RecurrentEvents, SharedSensors, Trajectories
from boostr.data.events.exposure import Exposure, exposed_windows
from boostr.data.events.fingerprint import (
    check_histories,
    had_exposure,
    refuse_new_exposure,
    warn_if_trained_on,
)
from boostr.data.events.read_exposure import read_new_exposure
from boostr.data.features import match_columns
from boostr.estimators._checks import check_rows, check_times, check_window
from boostr.estimators._exposure import find_labels
from boostr.estimators._features import FeatureEncoder, check_table
from boostr.estimators._sensors import (
    SensorLayout,
    Sensors,
    check_reach,
    count_strange,
    split_panel,
    spread_shared,
    warn_of_strange,
)
from boostr.exceptions import InvalidParameterError, InvalidSensorsError

__all__ = ["CurvePredictor", "use_threads"]

Curves = PlainCurves | ExposedCurves

_LEAST_RATIO = 1e-3  # an event at a predicted rate of zero must not cost infinitely much


@contextmanager
def use_threads(n_jobs: int | None) -> Iterator[int]:
    """Run kernels on ``n_jobs`` threads (all of them by default); yield their number."""
    available = int(numba.config.NUMBA_NUM_THREADS)  # type: ignore[attr-defined]
    before = numba.get_num_threads()
    if n_jobs is None:
        wanted = before
    elif n_jobs < 0:
        wanted = available + 1 + n_jobs
    else:
        wanted = n_jobs
    n_threads = int(np.clip(wanted, 1, available))
    numba.set_num_threads(n_threads)
    try:
        yield n_threads
    finally:
        numba.set_num_threads(before)


class CurvePredictor(BaseEstimator):  # type: ignore[misc]
    """Cumulative curves, rates, counts and score from a fitted ensemble."""

    ensemble_: Ensemble
    clock_: Clock
    reference_clock_: Clock
    encoder_: FeatureEncoder
    sensor_layout_: SensorLayout | None
    horizon_: float
    split_counts_: FloatArray
    monotone: bool
    n_jobs: int | None

    def predict(
        self,
        X: Any,
        Z: Sensors | None = None,
        horizon: float | None = None,
        *,
        hold_last: bool = True,
        exposure: Any = None,
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

        Returns
        -------
        ndarray of shape (n,)
            Expected number (or cost) of events in (0, horizon].
        """
        check_is_fitted(self)
        asked = self.horizon_ if horizon is None else horizon
        times = check_times(asked, "horizon")
        if len(times) != 1:
            raise InvalidParameterError(
                f"`horizon` must be one time, but it is {len(times)}.\n\n"
                "Hint: predict_cumulative(X, times) predicts at several."
            )
        return self.predict_cumulative(X, times, Z, hold_last=hold_last, exposure=exposure)[
            :, 0
        ]

    def predict_cumulative(
        self,
        X: Any,
        times: ArrayLike,
        Z: Sensors | None = None,
        *,
        hold_last: bool = True,
        exposure: Any = None,
    ) -> FloatArray:
        """Predict the cumulative intensity of each individual.

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

        Returns
        -------
        ndarray of shape (n, m)
            Expected number (or cost) of events in (0, t].
        """
        checked = check_times(times)
        curves = self._predict_curves(X, Z, checked, exposure, hold_last=hold_last)
        return curves.values(self.clock_.read(checked))

    def predict_intensity(
        self,
        X: Any,
        times: ArrayLike,
        Z: Sensors | None = None,
        *,
        hold_last: bool = True,
        exposure: Any = None,
    ) -> FloatArray:
        """Predict the rate of events of each individual.

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

        Returns
        -------
        ndarray of shape (n, m)
            Expected number (or cost) of events per unit of time.
        """
        checked = check_times(times)
        curves = self._predict_curves(X, Z, checked, exposure, hold_last=hold_last)
        return curves.slopes(self.clock_.read(checked)) * self.clock_.rate(checked)

    def predict_count(
        self,
        X: Any,
        start: ArrayLike,
        stop: ArrayLike,
        Z: Sensors | None = None,
        *,
        hold_last: bool = True,
        exposure: Any = None,
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

        Returns
        -------
        ndarray of shape (n,)
            Expected number (or cost) of events in the window.
        """
        last = check_times(stop, "stop").max(initial=0.0)
        features, sensors = self._check_input(X, Z, until=last)
        starts, stops = check_window(start, stop, len(features))
        if sensors is not None and not hold_last:
            check_reach(sensors, stops)
        exposed = self._read_exposure(X, exposure, len(features))
        curves = self._curves(self._coefficients(features), sensors, exposed)
        rows = np.arange(len(features))
        before = curves.values_at(rows, self.clock_.read(starts))
        return curves.values_at(rows, self.clock_.read(stops)) - before

    def staged_predict_cumulative(
        self,
        X: Any,
        times: ArrayLike,
        Z: Sensors | None = None,
        *,
        exposure: Any = None,
    ) -> Iterator[FloatArray]:
        """Predict the cumulative intensity after each round of boosting.

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
        with use_threads(self.n_jobs) as n_threads:
            for theta in self.ensemble_.staged_coefficients(features, n_threads):
                yield self._curves(theta, sensors, exposed).values(clock)

    def score(
        self,
        X: Any,
        y: RecurrentEvents,
        sample_weight: ArrayLike | None = None,
        Z: Sensors | None = None,
    ) -> float:
        """Tell how much better the predictions explain events than the average does.

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
        weights = check_weights(sample_weight, n)
        curves = self._curves(self._coefficients(features), sensors)
        windows = exposed_windows(events)
        excess = self._excess(curves, windows.owner, windows.start, windows.stop)
        gains = np.bincount(windows.owner, -windows.factor * excess, n)
        gains += np.bincount(
            events.event_owner, events.costs * self._log_ratio(curves, events), n
        )
        return float(np.average(gains, weights=weights))

    def check_sensors(self, Z: Trajectories) -> dict[str, dict[str, int]]:
        """Count where sensors are outside of what training has seen.

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
        self, curves: Curves, owner: Any, start: FloatArray, stop: FloatArray
    ) -> FloatArray:
        """Return expected minus average number of events in every window."""
        expected = curves.values_at(owner, self.clock_.read(stop))
        expected -= curves.values_at(owner, self.clock_.read(start))
        average = self.reference_clock_.read(stop) - self.reference_clock_.read(start)
        return np.asarray(expected - average)

    def _log_ratio(self, curves: Curves, events: RecurrentEvents) -> FloatArray:
        """Return the log of predicted over average rate at every event."""
        times = events.times
        rates = curves.slopes_at(events.event_owner, self.clock_.read(times))
        rates = rates * self.clock_.rate(times)
        average = self.reference_clock_.rate(times)
        ratio = np.divide(rates, average, out=np.ones_like(rates), where=average > 0.0)
        return np.log(np.maximum(ratio, _LEAST_RATIO))

    def _predict_curves(
        self,
        X: Any,
        Z: Sensors | None,
        times: FloatArray,
        exposure: Any,
        *,
        hold_last: bool,
    ) -> Curves:
        """Return curves; sensors must cover all times unless their last values hold."""
        until = times.max(initial=0.0)
        features, sensors = self._check_input(X, Z, until=until)
        if sensors is not None and not hold_last:
            check_reach(sensors, until)
        exposed = self._read_exposure(X, exposure, len(features))
        return self._curves(self._coefficients(features), sensors, exposed)

    def _curves(
        self,
        theta: FloatArray,
        sensors: Trajectories | None = None,
        exposure: Exposure | None = None,
    ) -> Curves:
        curves = self.ensemble_.curves(theta, sensors, monotone=self.monotone)
        return expose(curves, exposure, self.clock_)

    def _read_exposure(self, X: Any, given: Any, n: int) -> Exposure | None:
        """Return the exposures of individuals without histories; None means 1 each."""
        exposure = read_new_exposure(given, n, find_labels(X))
        if exposure is not None and not had_exposure(self):
            refuse_new_exposure()
        return exposure

    def _check_input(
        self, X: Any, Z: Sensors | None, y: object = None, until: Any = None
    ) -> tuple[FloatArray, Trajectories | None]:
        """Return encoded features and sensors; shared sensors end at a given time."""
        check_is_fitted(self)
        events = y if isinstance(y, RecurrentEvents) else None
        if isinstance(Z, SharedSensors) and events is None:
            Z = spread_shared(Z, None, len(X), self.sensor_layout_, until=until)
        X, given = split_panel(X, Z, events)
        table = match_columns(self, check_table(X), self.encoder_.names)
        validate_data(self, table, reset=False, skip_check_array=True)
        features = self.encoder_.transform(table, self.split_counts_ > 0.0)
        return features, self._check_sensors(given)

    def _check_sensors(self, given: Trajectories | None) -> Trajectories | None:
        layout, basis = self.sensor_layout_, self.ensemble_.basis
        if layout is None and given is None:
            return None
        if layout is None:
            raise InvalidSensorsError(
                "This model was fitted without sensors, but it is asked to predict with "
                "some.\n\nHint: leave out `Z`, or fit the model with it, fit(X, y, Z=Z)."
            )
        if given is None:
            raise InvalidSensorsError(
                "This model was fitted with sensors and needs them to predict "
                f"({first_few(layout.names)}), but there are none.\n\n"
                "Hint: pass Z=…; scikit-learn's tools carry them in `Panel(X, Z)`, given "
                "to fit as well as to predict and score."
            )
        used = layout.apply(given)
        layout.warn_of_others(given)
        assert isinstance(basis, FittedSensorBasis)  # noqa: S101 - it was fitted with them
        warn_of_strange(count_strange(basis, given, used))
        return used

    def _coefficients(
        self, features: FloatArray, ensemble: Ensemble | None = None
    ) -> FloatArray:
        """Return the coefficients of individuals by the model or a part of it."""
        ensemble = self.ensemble_ if ensemble is None else ensemble
        with use_threads(self.n_jobs) as n_threads:
            return ensemble.coefficients(features, n_threads)

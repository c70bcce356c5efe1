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

from boostr._engine.curves import MonotoneCurves
from boostr._engine.ensemble import Ensemble
from boostr._typing import FloatArray
from boostr._validation import check_ids_match, check_weights
from boostr.basis import Clock
from boostr.data import RecurrentEvents
from boostr.estimators._checks import check_rows, check_times, check_window
from boostr.estimators._features import FeatureEncoder, check_table
from boostr.exceptions import InvalidParameterError

__all__ = ["CurvePredictor", "use_threads"]

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
    """Curves of individuals from a fitted ensemble: cumulative, rates, counts, score."""

    ensemble_: Ensemble
    clock_: Clock
    reference_clock_: Clock
    encoder_: FeatureEncoder
    horizon_: float
    monotone: bool
    n_jobs: int | None

    def predict(self, X: Any, horizon: float | None = None) -> FloatArray:
        """Predict how many events each individual has by a horizon.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n, p)
            Static features.
        horizon : float, default=None
            Time from 0; the last end of follow-up in training by default.

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
        return self.predict_cumulative(X, times)[:, 0]

    def predict_cumulative(self, X: Any, times: ArrayLike) -> FloatArray:
        """Predict the cumulative intensity of each individual.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n, p)
            Static features.
        times : float or array-like of shape (m,)
            Times, from 0 on; beyond the training data the curves are continued.

        Returns
        -------
        ndarray of shape (n, m)
            Expected number (or cost) of events in (0, t].
        """
        checked = check_times(times)
        curves = self._curves(self._coefficients(X))
        return curves.values(self.clock_.read(checked))

    def predict_intensity(self, X: Any, times: ArrayLike) -> FloatArray:
        """Predict the rate of events of each individual.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n, p)
            Static features.
        times : float or array-like of shape (m,)
            Times, from 0 on.

        Returns
        -------
        ndarray of shape (n, m)
            Expected number (or cost) of events per unit of time.
        """
        checked = check_times(times)
        curves = self._curves(self._coefficients(X))
        return curves.slopes(self.clock_.read(checked)) * self.clock_.rate(checked)

    def predict_count(self, X: Any, start: ArrayLike, stop: ArrayLike) -> FloatArray:
        """Predict how many events each individual has in a window of its own.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n, p)
            Static features.
        start, stop : float or array-like of shape (n,)
            The window (start, stop], the same for all or one each.

        Returns
        -------
        ndarray of shape (n,)
            Expected number (or cost) of events in the window.
        """
        theta = self._coefficients(X)
        starts, stops = check_window(start, stop, len(theta))
        curves = self._curves(theta)
        rows = np.arange(len(theta))
        before = curves.values_at(rows, self.clock_.read(starts))
        return curves.values_at(rows, self.clock_.read(stops)) - before

    def staged_predict_cumulative(self, X: Any, times: ArrayLike) -> Iterator[FloatArray]:
        """Predict the cumulative intensity after each round of boosting.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n, p)
            Static features.
        times : float or array-like of shape (m,)
            Times, from 0 on.

        Yields
        ------
        ndarray of shape (n, m)
            As `predict_cumulative`, with the first 1, 2, ... trees of every model.
        """
        checked = check_times(times)
        features = self._check_features(X)
        with use_threads(self.n_jobs) as n_threads:
            for theta in self.ensemble_.staged_coefficients(features, n_threads):
                yield self._curves(theta).values(self.clock_.read(checked))

    def score(
        self, X: Any, y: RecurrentEvents, sample_weight: ArrayLike | None = None
    ) -> float:
        """Tell how much better the predictions explain events than the average does.

        The mean log-likelihood per individual of the point process with the predicted
        intensity, minus that of the average individual of the training data. It is fair to
        individuals with different, and event-dependent, ends of follow-up, and the same
        measure for all settings of the estimator.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n, p)
            Static features.
        y : RecurrentEvents
            Event histories.
        sample_weight : array-like of shape (n,), default=None
            Weights of individuals.

        Returns
        -------
        float
            Higher is better; 0 is no better than ignoring the features.
        """
        theta = self._coefficients(X)
        events = check_rows(y, len(theta))
        check_ids_match(X, events)
        weights = check_weights(sample_weight, len(events))
        curves = self._curves(theta)
        owner = np.repeat(np.arange(len(events)), np.diff(events.window_offsets))
        excess = self._exposure(curves, owner, events.window_start, events.window_stop)
        gains = np.bincount(owner, -excess, len(events))
        gains += np.bincount(
            events.event_owner, events.costs * self._log_ratio(curves, events), len(events)
        )
        return float(np.average(gains, weights=weights))

    def _exposure(
        self, curves: MonotoneCurves, owner: Any, start: FloatArray, stop: FloatArray
    ) -> FloatArray:
        """Return expected minus average number of events in every window."""
        expected = curves.values_at(owner, self.clock_.read(stop))
        expected -= curves.values_at(owner, self.clock_.read(start))
        average = self.reference_clock_.read(stop) - self.reference_clock_.read(start)
        return np.asarray(expected - average)

    def _log_ratio(self, curves: MonotoneCurves, events: RecurrentEvents) -> FloatArray:
        """Return the log of predicted over average rate at every event."""
        times = events.times
        rates = curves.slopes_at(events.event_owner, self.clock_.read(times))
        rates = rates * self.clock_.rate(times)
        average = self.reference_clock_.rate(times)
        ratio = np.divide(rates, average, out=np.ones_like(rates), where=average > 0.0)
        return np.log(np.maximum(ratio, _LEAST_RATIO))

    def _curves(self, theta: FloatArray) -> MonotoneCurves:
        return self.ensemble_.curves(theta, monotone=self.monotone)

    def _check_features(self, X: Any) -> FloatArray:
        check_is_fitted(self)
        table = check_table(X)
        validate_data(self, table, reset=False, skip_check_array=True)
        return self.encoder_.transform(table)

    def _coefficients(self, X: Any) -> FloatArray:
        features = self._check_features(X)
        with use_threads(self.n_jobs) as n_threads:
            return self.ensemble_.coefficients(features, n_threads)

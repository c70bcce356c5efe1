"""Base class of the baselines: checks, and predictions from individual curves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted, validate_data

from boostr._checks.numbers import check_ids_match, check_weights
from boostr._checks.times import check_times, check_windows
from boostr._engine.curves import expose
from boostr._typing import BoolArray, FloatArray
from boostr.baselines._columns import Columns, read_table
from boostr.baselines._curves import Curves
from boostr.baselines._steps import pool_clock
from boostr.basis import CalendarClock, Clock
from boostr.data import Panel, RecurrentEvents
from boostr.data.events.exposure import exposed_windows
from boostr.data.events.fingerprint import check_histories
from boostr.data.events.read_exposure import read_new_exposure
from boostr.data.features import check_rows, match_columns
from boostr.data.target import refuse_exposure
from boostr.exceptions import InvalidParameterError

__all__ = ["Rival", "RivalData"]

_LEAST_RATIO = 1e-3  # an event at a predicted rate of zero must not cost infinitely much


@dataclass(frozen=True, slots=True, eq=False)
class RivalData:
    """Individuals of positive weight; ``is_used`` marks them among all."""

    features: FloatArray  # (n_used, p) numbers, codes of categories, NaN
    events: RecurrentEvents
    weights: FloatArray  # (n_used,)
    is_used: BoolArray  # (n,) who they are among all


class Rival(BaseEstimator):  # type: ignore[misc]
    """Estimator of cumulative intensities with the interface of `BoostR`.

    Subclasses implement `_learn`, from checked data, and `_curves`, for given features.
    """

    _takes_exposure = False
    columns_: Columns
    horizon_: float
    reference_clock_: Clock
    time_unit_: str | None
    time_origin_: np.datetime64 | None
    has_costs_: bool
    has_exposure_: bool

    def fit(
        self, X: Any, y: RecurrentEvents, sample_weight: ArrayLike | None = None
    ) -> Self:
        """Learn from event histories.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n, p)
            Static features, one row per individual. Columns of text or category type in a
            DataFrame are categorical, all others must be numbers; NaN is missing. Of a
            `Panel` the static features are read, and sensors are not.
        y : RecurrentEvents
            Event histories of the same individuals, in the same order.
        sample_weight : array-like of shape (n,), default=None
            How much each individual counts; 0 leaves it out.

        Returns
        -------
        object
            The fitted estimator itself.
        """
        self._check_params()
        self._forget()
        try:
            data = self._check_data(X, y, sample_weight)
            self.horizon_ = float(data.events.window_stop.max())
            self.time_unit_ = data.events.time_unit
            self.time_origin_ = data.events.origin
            self.has_costs_ = data.events.has_costs
            self.has_exposure_ = data.events.exposure is not None
            self.reference_clock_ = pool_clock(data.events, data.weights)
            self._learn(data)
        except BaseException:
            self._forget()
            raise
        return self

    def predict(
        self, X: Any, horizon: float | None = None, *, exposure: Any = None
    ) -> FloatArray:
        """Predict how many events each individual has by a horizon.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n, p)
            Static features.
        horizon : float, default=None
            Time from 0; the last end of follow-up in training by default.
        exposure : float, array-like of shape (n,), mapping or Trajectories, default=None
            Exposures of the individuals, where those of training had some; by default 1,
            so that predictions are per unit.

        Returns
        -------
        ndarray of shape (n,)
            Expected number (or cost) of events in (0, horizon].
        """
        check_is_fitted(self)
        times = check_times(self.horizon_ if horizon is None else horizon, "horizon")
        if len(times) != 1:
            raise InvalidParameterError(
                f"`horizon` must be one time, but it is {len(times)}.\n\n"
                "Hint: predict_cumulative(X, times) predicts at several."
            )
        return self.predict_cumulative(X, times, exposure=exposure)[:, 0]

    def predict_cumulative(
        self, X: Any, times: ArrayLike, *, exposure: Any = None
    ) -> FloatArray:
        """Predict the cumulative intensity of each individual.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n, p)
            Static features.
        times : float or array-like of shape (m,)
            Times, from 0 on.
        exposure : float, array-like of shape (n,), mapping or Trajectories, default=None
            Exposures of the individuals, where those of training had some; by default 1,
            so that predictions are per unit.

        Returns
        -------
        ndarray of shape (n, m)
            Expected number (or cost) of events in (0, t].
        """
        checked = check_times(times)
        return self._exposed_curves(X, exposure).values(checked)

    def predict_intensity(
        self, X: Any, times: ArrayLike, *, exposure: Any = None
    ) -> FloatArray:
        """Predict the rate of events of each individual.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n, p)
            Static features.
        times : float or array-like of shape (m,)
            Times, from 0 on.
        exposure : float, array-like of shape (n,), mapping or Trajectories, default=None
            Exposures of the individuals, where those of training had some; by default 1,
            so that predictions are per unit.

        Returns
        -------
        ndarray of shape (n, m)
            Expected number (or cost) of events per unit of time. Where the curves have
            steps, it is the slope of the smoothed curves.
        """
        checked = check_times(times)
        return self._exposed_curves(X, exposure).slopes(checked)

    def predict_count(
        self, X: Any, start: ArrayLike, stop: ArrayLike, *, exposure: Any = None
    ) -> FloatArray:
        """Predict how many events each individual has in a window of its own.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n, p)
            Static features.
        start, stop : float or array-like of shape (n,)
            Limits of the windows.
        exposure : float, array-like of shape (n,), mapping or Trajectories, default=None
            Exposures of the individuals, where those of training had some; by default 1,
            so that predictions are per unit.

        Returns
        -------
        ndarray of shape (n,)
            Expected number (or cost) of events in (start, stop].
        """
        curves = self._exposed_curves(X, exposure)
        starts, stops = check_windows(start, stop, len(read_table(X)))
        rows = np.arange(len(starts))
        return curves.values_at(rows, stops) - curves.values_at(rows, starts)

    def score(
        self, X: Any, y: RecurrentEvents, sample_weight: ArrayLike | None = None
    ) -> float:
        """Tell how much better the predictions explain events than the average does.

        The measure of `BoostR.score`: the mean log-likelihood per individual of the point
        process with the predicted intensity, minus that of the average individual of the
        training data.

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
        features = self._check_features(X)
        events = self._check_events(X, y, len(features))
        check_histories(self, events)
        weights = check_weights(sample_weight, len(events))
        curves = self._curves(features)
        clock, n, windows = self.reference_clock_, len(events), exposed_windows(events)
        owner, start, stop = windows.owner, windows.start, windows.stop
        excess = curves.values_at(owner, stop) - curves.values_at(owner, start)
        excess -= clock.read(stop) - clock.read(start)
        rates = curves.slopes_at(events.event_owner, events.times)
        average = clock.rate(events.times)
        ratio = np.divide(rates, average, out=np.ones_like(rates), where=average > 0.0)
        logs = np.log(np.maximum(ratio, _LEAST_RATIO))
        gains = np.bincount(events.event_owner, events.costs * logs, n)
        gains -= np.bincount(owner, windows.factor * excess, n)
        return float(np.average(gains, weights=weights))

    def __sklearn_tags__(self) -> Any:
        """Return the tags that describe the accepted data to scikit-learn."""
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        tags.target_tags.required = True
        return tags

    def _check_params(self) -> None:
        """Refuse invalid parameters."""

    def _learn(self, data: RivalData) -> None:
        raise NotImplementedError

    def _curves(self, features: FloatArray) -> Curves:
        raise NotImplementedError

    def _forget(self) -> None:
        """Delete the results of an earlier fit, so that a failed one leaves none."""
        for name in [name for name in vars(self) if name.endswith("_")]:
            delattr(self, name)

    def _check_data(
        self, X: Any, y: RecurrentEvents, sample_weight: ArrayLike | None
    ) -> RivalData:
        table = read_table(X)
        validate_data(self, table, reset=True, skip_check_array=True)
        self.columns_ = Columns.learn(table)
        features = self.columns_.encode(table)
        events = self._check_events(X, y, len(features))
        weights = check_weights(sample_weight, len(events))
        is_used = weights > 0.0
        if is_used.all():
            return RivalData(features, events, weights, is_used)
        return RivalData(features[is_used], events[is_used], weights[is_used], is_used)

    def _check_features(self, X: Any) -> FloatArray:
        check_is_fitted(self)
        table = match_columns(self, read_table(X), self.columns_.names)
        validate_data(self, table, reset=False, skip_check_array=True)
        return self.columns_.encode(table, is_new=True)

    def _exposed_curves(self, X: Any, exposure: Any) -> Curves:
        """Return the curves of individuals, with exposures if given."""
        features = self._check_features(X)
        index = getattr(X, "index", None)
        labels = None if callable(index) else index
        given = read_new_exposure(exposure, len(features), labels)
        if given is not None and not self.has_exposure_:
            raise InvalidParameterError(
                "This model was fitted without exposures, but individuals have some now."
                "\n\nHint: fit(X, y.with_exposure(exposure)), or leave out `exposure`."
            )
        return expose(self._curves(features), given, CalendarClock())

    def _check_events(self, X: Any, y: object, n_rows: int) -> RecurrentEvents:
        events = check_rows(y, n_rows, "static features go into one row each.")
        check_ids_match(X.X if isinstance(X, Panel) else X, events)
        if not self._takes_exposure:
            refuse_exposure(events, type(self).__name__)
        return events

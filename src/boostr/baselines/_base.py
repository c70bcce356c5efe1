"""Base class of the baselines: checks, and predictions from individual curves."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted, validate_data

from boostr._checks.numbers import check_ids_match, check_weights
from boostr._checks.parameters import check_times, check_windows
from boostr._engine.curves import expose
from boostr._typing import AnyArray, BoolArray, FloatArray
from boostr.baselines._columns import Columns, read_table
from boostr.baselines._curves import Curves
from boostr.baselines._steps import pool_clock
from boostr.basis import CalendarClock, Clock
from boostr.data import Panel, RecurrentEvents, SharedSensors, Trajectories
from boostr.data.events.exposure import exposed_windows
from boostr.data.events.fingerprint import check_histories, refuse_new_exposure
from boostr.data.events.read_exposure import read_new_exposure
from boostr.data.features import check_rows, match_columns
from boostr.data.sensors.checks import align_with, check_clocks
from boostr.data.target import refuse_exposure
from boostr.exceptions import (
    InvalidEventsError,
    InvalidFeaturesError,
    InvalidParameterError,
    InvalidSensorsError,
)

__all__ = ["Baseline", "BaselineData", "need_features", "refuse_no_events"]

_TAKERS = (
    "XGBoostPoisson, LightGBMPoisson, HistGradientBoostingPoisson, XGBoostTime, "
    "HistGradientBoostingTime and AndersenGill"
)
_LEAST_RATIO = 1e-3  # an event at a predicted rate of zero must not cost infinitely much


@dataclass(frozen=True, slots=True, eq=False)
class BaselineData:
    """Individuals of positive weight; ``is_used`` marks them among all."""

    columns: Columns
    features: FloatArray  # (n_used, p) numbers, codes of categories, NaN
    sensors: Trajectories | None
    events: RecurrentEvents
    weights: FloatArray  # (n_used,)
    is_used: BoolArray  # (n,)

    def take(self, rows: AnyArray) -> BaselineData:
        """Return some of the individuals."""
        return replace(
            self,
            features=self.features[rows],
            sensors=None if self.sensors is None else self.sensors[rows],
            events=self.events[rows],
            weights=self.weights[rows],
            is_used=np.ones(len(self.weights[rows]), dtype=np.bool_),
        )


class Baseline(BaseEstimator):  # type: ignore[misc]
    """Estimator of cumulative intensities with the interface of `BoostR`.

    Subclasses implement `_learn`, from checked data, and `_curves`.
    """

    _takes_exposure = False
    _takes_sensors = False
    _is_fitted = False
    columns_: Columns
    sensor_layout_: Trajectories | None  # without individuals: names, categories, clock
    horizon_: float
    reference_clock_: Clock
    time_unit_: str | None
    time_origin_: np.datetime64 | None
    has_costs_: bool
    has_exposure_: bool

    def fit(
        self,
        X: Any,
        y: RecurrentEvents,
        Z: Trajectories | SharedSensors | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Learn from event histories.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n, p)
            Static features, one row per individual. Columns of text or category type in a
            DataFrame are categorical, all others must be numbers; NaN is missing. A
            `Panel` also brings sensors, which baselines that take none leave out.
        y : RecurrentEvents
            Event histories of the same individuals, in the same order.
        Z : Trajectories or SharedSensors, default=None
            Sensors of the same individuals, for the baselines that take them.
        sample_weight : array-like of shape (n,), default=None
            How much each individual counts; 0 leaves it out.

        Returns
        -------
        object
            The fitted estimator itself.
        """
        self._check_params()
        self._is_fitted = False
        data = self._check_data(X, y, Z, sample_weight)
        validate_data(self, read_table(X), reset=True, skip_check_array=True)
        return self._fit(data)

    def predict(
        self,
        X: Any,
        Z: Trajectories | None = None,
        horizon: float | None = None,
        *,
        exposure: Any = None,
    ) -> FloatArray:
        """Predict how many events each individual has by a horizon.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n, p)
            Static features.
        Z : Trajectories, default=None
            Sensors of the individuals, where training had some; after the last sample they
            keep their values.
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
        return self.predict_cumulative(X, times, Z, exposure=exposure)[:, 0]

    def predict_cumulative(
        self,
        X: Any,
        times: ArrayLike,
        Z: Trajectories | None = None,
        *,
        exposure: Any = None,
    ) -> FloatArray:
        """Predict the cumulative intensity of each individual.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n, p)
            Static features.
        times : float or array-like of shape (m,)
            Times, from 0 on.
        Z : Trajectories, default=None
            Sensors of the individuals, where training had some; after the last sample they
            keep their values.
        exposure : float, array-like of shape (n,), mapping or Trajectories, default=None
            Exposures of the individuals, where those of training had some; by default 1,
            so that predictions are per unit.

        Returns
        -------
        ndarray of shape (n, m)
            Expected number (or cost) of events in (0, t].
        """
        checked = check_times(times)
        return self._exposed_curves(X, Z, exposure).values(checked)

    def predict_intensity(
        self,
        X: Any,
        times: ArrayLike,
        Z: Trajectories | None = None,
        *,
        exposure: Any = None,
    ) -> FloatArray:
        """Predict the rate of events of each individual.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n, p)
            Static features.
        times : float or array-like of shape (m,)
            Times, from 0 on.
        Z : Trajectories, default=None
            Sensors of the individuals, where training had some; after the last sample they
            keep their values.
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
        return self._exposed_curves(X, Z, exposure).slopes(checked)

    def predict_count(
        self,
        X: Any,
        start: ArrayLike,
        stop: ArrayLike,
        Z: Trajectories | None = None,
        *,
        exposure: Any = None,
    ) -> FloatArray:
        """Predict how many events each individual has in a window of its own.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n, p)
            Static features.
        start, stop : float or array-like of shape (n,)
            Limits of the windows.
        Z : Trajectories, default=None
            Sensors of the individuals, where training had some; after the last sample they
            keep their values.
        exposure : float, array-like of shape (n,), mapping or Trajectories, default=None
            Exposures of the individuals, where those of training had some; by default 1,
            so that predictions are per unit.

        Returns
        -------
        ndarray of shape (n,)
            Expected number (or cost) of events in (start, stop].
        """
        curves = self._exposed_curves(X, Z, exposure)
        starts, stops = check_windows(start, stop, len(read_table(X)))
        rows = np.arange(len(starts))
        return curves.values_at(rows, stops) - curves.values_at(rows, starts)

    def score(
        self,
        X: Any,
        y: RecurrentEvents,
        sample_weight: ArrayLike | None = None,
        Z: Trajectories | SharedSensors | None = None,
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
        Z : Trajectories or SharedSensors, default=None
            Sensors of the individuals, where training had some.

        Returns
        -------
        float
            Higher is better; 0 is no better than ignoring the features.
        """
        features, sensors = self._check_features(X, Z, y)
        events = self._check_events(X, y, len(features))
        check_histories(self, events)
        gains = self._score_each(features, sensors, events)
        return float(np.average(gains, weights=check_weights(sample_weight, events)))

    def _score_each(
        self, features: FloatArray, sensors: Trajectories | None, events: RecurrentEvents
    ) -> FloatArray:
        """Return the log-likelihood of each individual beyond that of the average one."""
        curves = self._curves(features, sensors)
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
        return np.asarray(gains)

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

    def _fit(self, data: BaselineData) -> Self:
        """Learn from checked data."""
        self._describe(data)
        self._learn(data)
        self._is_fitted = True
        return self

    def _describe(self, data: BaselineData) -> None:
        """Keep what predictions must know of the training data."""
        self.columns_ = data.columns
        self.sensor_layout_ = None if data.sensors is None else data.sensors[:0]
        self.horizon_ = float(data.events.window_stop.max())
        self.time_unit_ = data.events.time_unit
        self.time_origin_ = data.events.origin
        self.has_costs_ = data.events.has_costs
        self.has_exposure_ = data.events.exposure is not None
        self.reference_clock_ = pool_clock(data.events, data.weights)

    def _learn(self, data: BaselineData) -> None:
        raise NotImplementedError

    def _curves(self, features: FloatArray, sensors: Trajectories | None) -> Curves:
        raise NotImplementedError

    def __sklearn_is_fitted__(self) -> bool:
        return self._is_fitted

    def _check_data(
        self, X: Any, y: RecurrentEvents, Z: Any, sample_weight: ArrayLike | None
    ) -> BaselineData:
        table = read_table(X)
        columns = Columns.learn(table)
        features = columns.encode(table)
        events = self._check_events(X, y, len(features))
        sensors = self._check_sensors(X, Z, events)
        weights = check_weights(sample_weight, events)
        is_used = weights > 0.0
        data = BaselineData(columns, features, sensors, events, weights, is_used)
        return data if is_used.all() else replace(data.take(is_used), is_used=is_used)

    def _check_features(
        self, X: Any, Z: Any, y: RecurrentEvents | None = None
    ) -> tuple[FloatArray, Trajectories | None]:
        """Return features and sensors of new individuals, as in training."""
        check_is_fitted(self)
        table = match_columns(self, read_table(X), self.columns_.names)
        validate_data(self, table, reset=False, skip_check_array=True)
        features = self.columns_.encode(table, is_new=True)
        layout, sensors = self.sensor_layout_, self._check_sensors(X, Z, y)
        if sensors is None and layout is None:
            return features, None
        if sensors is None:
            raise InvalidSensorsError(
                "This model was fitted with sensors, so it needs them to predict.\n\n"
                "Hint: pass them as Z=Z, or in a Panel(X, Z) in the place of `X`."
            )
        if layout is None:
            raise InvalidSensorsError(
                "This model was fitted without sensors, but individuals have some now.\n\n"
                "Hint: leave out `Z`, or fit the model with it, fit(X, y, Z=Z)."
            )
        check_clocks(layout, sensors)
        known = zip(layout.names, layout.categories, strict=True)
        categories = {name: each for name, each in known if each is not None}
        return features, sensors.select(layout.names).encode(categories)

    def _check_sensors(
        self, X: Any, Z: Any, y: RecurrentEvents | None
    ) -> Trajectories | None:
        """Return the sensors of the individuals in the order of the rows."""
        if Z is not None and not self._takes_sensors:
            raise InvalidSensorsError(
                f"{type(self).__name__} cannot use sensors, but `Z` has some.\n\n"
                f"Hint: leave out `Z`; of the baselines {_TAKERS} use it."
            )
        if isinstance(X, Panel):
            if Z is not None:
                raise InvalidSensorsError(
                    "Sensors must come once, but they come in the Panel and as `Z`.\n\n"
                    "Hint: fit(Panel(X, Z), y) or fit(X, y, Z=Z)."
                )
            return X.Z if self._takes_sensors else None
        if Z is None:
            return None
        if isinstance(Z, SharedSensors) and y is not None:
            Z = Z.for_individuals(y)
        if isinstance(Z, Trajectories) and y is not None:
            check_clocks(Z, y)
            Z = align_with(Z, y)
        return Panel(read_table(X), Z).Z

    def _exposed_curves(self, X: Any, Z: Any, exposure: Any) -> Curves:
        """Return the curves of individuals, with exposures if given."""
        features, sensors = self._check_features(X, Z)
        given = read_new_exposure(exposure, len(features), X)
        if given is not None and not self.has_exposure_:
            refuse_new_exposure()
        return expose(self._curves(features, sensors), given, CalendarClock())

    def _check_events(self, X: Any, y: object, n_rows: int) -> RecurrentEvents:
        events = check_rows(y, n_rows, "static features go into one row each.")
        check_ids_match(X.X if isinstance(X, Panel) else X, events)
        if not self._takes_exposure:
            refuse_exposure(events, type(self).__name__)
        return events


def need_features(features: FloatArray, model: str) -> None:
    """Refuse a table without features."""
    if features.shape[1] == 0:
        raise InvalidFeaturesError(
            f"{model} must have features to tell individuals apart, but `X` has none."
            "\n\nHint: McfRegressor gives all individuals the mean cumulative function."
        )


def refuse_no_events(events: RecurrentEvents) -> None:
    """Refuse histories without any event."""
    if not events.costs.any():
        raise InvalidEventsError(
            "A rate of events cannot be estimated without any event, but there is "
            "none.\n\nHint: check the column that says which rows are events."
        )

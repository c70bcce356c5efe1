"""Bands, simulated histories and calibration of forecasts."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from boostr._typing import FloatArray
from boostr.data import RecurrentEvents
from boostr.data.features import match_columns
from boostr.estimators._checks import check_length, check_times
from boostr.estimators._forecast_band import make_band
from boostr.estimators._forecast_checks import (
    check_level,
    check_whole,
    read_lengths,
    refuse_function,
)
from boostr.estimators._forecast_results import CurveBand, ForecastCalibration
from boostr.estimators._frailty import score_windows
from boostr.estimators._newcomers import add_newcomers
from boostr.estimators._out_of_fold import OutOfFoldPredictor
from boostr.estimators._outlook import HistorySensors, Present, look_ahead
from boostr.estimators._paths import draw_histories
from boostr.estimators._sensors import Sensors, split_panel, spread_shared
from boostr.exceptions import InvalidEventsError, InvalidParameterError
from boostr.inspection.model import find_unused_plan, warn_of_unused

__all__ = ["FuturePredictor", "make_generator"]


class FuturePredictor(OutOfFoldPredictor):
    """Simulated futures of individuals from a fitted ensemble and their histories."""

    frailty_variance_: float
    frailty_half_life_: float
    cost_moments_: FloatArray
    forecast_scores_: FloatArray

    def predict_band(
        self,
        X: Any,
        times: ArrayLike,
        Z: Sensors | None = None,
        y: RecurrentEvents | None = None,
        level: float = 0.9,
        *,
        of: Literal["count", "mean"] = "count",
        exposure: Any = None,
    ) -> CurveBand:
        """Predict cumulative curves with a band around each.

        Parameters
        ----------
        X, Z
            As in `predict_cumulative`.
        times : array-like of shape (m,)
            Times, from 0 on.
        y : RecurrentEvents, default=None
            Histories: curves are the events so far up to the end of each, and a forecast
            after it. None predicts new individuals from time 0 on.
        level : float, default=0.9
            Probability of the band at a time.
        of : {"count", "mean"}, default="count"
            Band of the number of events that will be seen, or of the expected number, about
            which the models of the folds disagree.
        exposure : float, array-like of shape (n,), mapping or Trajectories, default=None
            As in `forecast`.

        Returns
        -------
        CurveBand
            Expected numbers and their bands, (n, m) each.
        """
        check_is_fitted(self)
        check_level(level)
        if of not in {"count", "mean"}:
            raise InvalidParameterError(
                f"`of` must be 'count' or 'mean', but it is {of!r}."
            )
        checked = check_times(times)
        last = np.maximum(checked.max(initial=0.0), 0.0 if y is None else y.end)
        Z = spread_shared(Z, y, len(X), self.sensor_layout_, until=last)
        table, sensors = split_panel(X, Z, y)
        present = Present.read(table, y, sensors, sensors, None, exposure)
        outlook = look_ahead(self, present, present.now, own_history=True)
        return make_band(outlook, present, checked, level, of)

    def simulate(  # noqa: PLR0913 - all but the first three are by name
        self,
        X: Any,
        n_paths: int = 1,
        y: RecurrentEvents | None = None,
        *,
        horizon: ArrayLike | None = None,
        Z: Sensors | HistorySensors | None = None,
        future: Sensors | None = None,
        now: Any = None,
        own_history: bool = True,
        random_state: Any = None,
        exposure: Any = None,
    ) -> RecurrentEvents:
        """Draw event histories from the fitted model, frailties included.

        Parameters
        ----------
        X, y, horizon, Z, future, now, own_history, exposure
            As in `forecast`. Without histories, new individuals from `now` on.
        n_paths : int, default=1
            Histories drawn for each individual.
        random_state : int, RandomState or None, default=None
            Seed.

        Returns
        -------
        RecurrentEvents
            ``n * n_paths`` histories, observed from now to the horizon: all of the first
            individual, then all of the second, and so on, with the ids of these. Every
            event has the mean cost. Exposures, where there are some, go with them.
        """
        check_is_fitted(self)
        present, stop = self._present(X, y, horizon, Z, future, now, exposure)
        outlook = look_ahead(self, present, stop, own_history=own_history)
        rng = make_generator(random_state)
        n_paths = check_whole(n_paths, "n_paths")
        return draw_histories(self, outlook, present, stop, n_paths, rng)

    def calibrate_forecast(
        self,
        X: Any,
        y: RecurrentEvents,
        horizon: float,
        Z: Sensors | None = None,
        future: Sensors | None = None,
        *,
        own_history: bool = True,
        out_of_fold: bool = False,
        exposure: Any = None,
    ) -> ForecastCalibration:
        """Measure how forecasts over the last part of known histories would have done.

        Parameters
        ----------
        X, y, Z
            Features, histories and sensors: of individuals that training has not seen, or,
            with `out_of_fold`, of all training individuals in the order of `fit`. Sensors
            come as Trajectories; what they show in the last part is not looked at.
        future : Trajectories, optional
            What sensors show in the last part, for instance ``Z`` again. To be given where
            forecasts know the future of sensors, too; intervals are too wide otherwise.
        horizon : float
            Length of the last part. Individuals that were followed for less are left out.
        own_history : bool, default=True
            Whether forecasts are updated by the histories, as in `forecast`.
        out_of_fold : bool, default=False
            Whether the individuals are those of training, to be predicted by the models
            that have not seen them.
        exposure : float, array-like of shape (n,), mapping or Trajectories, default=None
            As in `forecast`.

        Returns
        -------
        ForecastCalibration
            To be passed as `intervals` to `forecast`, for the same horizon: intervals then
            cover at least the level, on average over individuals that are exchangeable with
            these, if training has not seen them; with `out_of_fold` about the level, as
            forecasts are made by the average of models of which each score has one.
        """
        check_is_fitted(self)
        horizon = check_length(horizon, "horizon")
        if callable(Z):
            refuse_function()
        if exposure is not None:
            y = y.with_exposure(exposure)
        now = np.maximum(y.end - horizon, y.start)
        present = Present.read(X, y, Z, future, now, reach=y.end - now)
        long_enough = y.end - y.start >= horizon
        theta = None
        if out_of_fold:
            theta = self._training_coefficients(len(y))
            long_enough &= ~np.isnan(theta[:, 0])
            theta = np.nan_to_num(theta)
        if not long_enough.any():
            raise InvalidEventsError(
                f"Calibration needs individuals that were followed for {horizon:g} or more,"
                f" but none of {len(y)} was.\n\nHint: calibrate a shorter horizon."
            )
        outlook = look_ahead(self, present, y.end, own_history=own_history, theta=theta)
        scores = score_windows(
            outlook.curves,
            y,
            present.now,
            outlook.law,
            outlook.costs,
            own_history=own_history,
        )
        scores = scores[long_enough & ~np.isnan(scores)]
        return ForecastCalibration(np.sort(scores), horizon, own_history)

    def _present(
        self,
        X: Any,
        y: Any,
        horizon: ArrayLike | None,
        Z: Any,
        future: Any,
        now: Any,
        exposure: Any = None,
        by: Any = None,
    ) -> tuple[Present, FloatArray]:
        """Return the individuals and the end of their forecasts."""
        y = add_newcomers(X, y, now)
        length = self.horizon_ if horizon is None else horizon
        lengths = read_lengths(length, y, now, len(X))
        reach = np.maximum(lengths, self.horizon_)
        layout = self.sensor_layout_
        present = Present.read(X, y, Z, future, now, exposure, layout=layout, reach=reach)
        warn_of_unused(find_unused_plan(self, future), "sensor", stacklevel=4)
        group = by if isinstance(by, str) else None
        table = match_columns(self, present.table, self.encoder_.names, group)
        return replace(present, table=table), present.now + lengths


def make_generator(random_state: Any) -> np.random.Generator:
    """Return the random generator of a seed."""
    if isinstance(random_state, np.random.RandomState):
        random_state = random_state.randint(np.iinfo(np.int32).max)
    return np.random.default_rng(random_state)

"""Forecasts for individuals with a history: number of events, next event, intervals."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace
from functools import reduce
from operator import add
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from boostr._checks.parameters import check_length, check_times
from boostr._forecasting.arguments import (
    add_newcomers,
    check_calibration,
    check_level,
    check_share,
    check_whole,
    interval_level,
    read_lengths,
    refuse_function,
    warn_of_unknown,
)
from boostr._forecasting.outlook import Outlook, Present, make_outlook
from boostr._forecasting.results import (
    CurveBand,
    ForecastCalibration,
    make_band,
    make_forecast_table,
    make_group_table,
    read_labels,
    sum_counts,
)
from boostr._forecasting.simulate import count_paths, draw_histories
from boostr._frailty.counts import Counts, MixedCounts
from boostr._frailty.law import Frailties
from boostr._training.event_sensors import HistorySensors
from boostr._training.frailty import score_windows
from boostr._training.sensors import Sensors, split_panel, spread_shared
from boostr._typing import FloatArray
from boostr.data import RecurrentEvents, Trajectories
from boostr.data.events.fingerprint import check_histories, refuse_new_exposure
from boostr.data.features import match_columns
from boostr.estimators._base import FittedEstimator
from boostr.exceptions import InvalidEventsError, InvalidParameterError
from boostr.inspection import Explanation, explain
from boostr.inspection.model import find_unused_plan, warn_of_unused

__all__ = ["ForecastMethods", "make_generator"]

Intervals = Literal["frailty", "conformal"] | ForecastCalibration

_ROUNDING = 1e-9  # of a length that is the difference of two times


class ForecastMethods(FittedEstimator):
    """Forecasts from a fitted model and the history of each individual."""

    def forecast(  # noqa: PLR0913 - all but the first six are by name
        self,
        X: Any,
        y: RecurrentEvents | None = None,
        horizon: ArrayLike | None = None,
        Z: Sensors | HistorySensors | None = None,
        future: Sensors | None = None,
        level: float = 0.9,
        *,
        now: Any = None,
        k: int = 1,
        quantiles: float | Sequence[float] = (),
        own_history: bool = True,
        intervals: Intervals = "frailty",
        n_paths: int = 200,
        random_state: Any = 0,
        exposure: Any = None,
        kind: Any = None,
    ) -> Any:
        """Forecast the events of each individual in the time after its own present.

        Forecasts use each individual's history: one with more events than predicted is
        expected to keep having more, the more so the longer it was observed and the more
        training individuals differed from their predictions (see Notes).

        Parameters
        ----------
        X : array-like or DataFrame of shape (n, p)
            Static features, or a `Panel` of features and sensors.
        y : RecurrentEvents, default=None
            Histories of the same individuals. None forecasts new individuals. Where `X` is
            a DataFrame from pandas with the ids as index, it may have rows without a
            history: these are new individuals that begin now.
        horizon : float, time stamp or array-like of shape (n,), default=None
            Length of the time ahead, the same for all or one each, or, if `y` has dates,
            the date at which the forecast ends; by default as long as the training data,
            from the first start to the last end.
        Z : Trajectories, SharedSensors or callable, default=None
            Sensors, for a model that was fitted with them. Values after `now` are ignored,
            except for sensors that are known ahead, such as the season. Sensors that are
            computed from the events, such as the time since the last one, are given as a
            function ``Z(y, until)`` of histories and the times up to which to compute them;
            futures are then simulated, and their events change the sensors.
        future : Trajectories or SharedSensors, default=None
            What the sensors will show after `now`, all or some of them; by default the last
            values hold.
        level : float, default=0.9
            Probability of the intervals, above 0 and below 1.
        now : float, time stamp or array-like of shape (n,), default=None
            Present of the individuals: what came later is not looked at. By default the
            end of follow-up of each, or 0 without histories.
        k : int, default=1
            Number of events whose probability is asked for.
        quantiles : float or sequence of float, default=()
            Further quantiles of the time to the next event, beside the median.
        own_history : bool, default=True
            Whether histories update the forecasts; if False, they only determine `now`.
        intervals : {"frailty", "conformal"} or ForecastCalibration, default="frailty"
            Intervals of the frailty model, or such that are calibrated on forecasts of
            other individuals; see Notes.
        n_paths : int, default=200
            Futures drawn for each individual, where `Z` is a function; with `verbose` there
            is a bar.
        random_state : int, RandomState or None, default=0
            Seed of these futures.
        exposure : float, array-like of shape (n,), mapping or Trajectories, default=None
            Exposures of the individuals, for a model that was fitted with some; by default
            those of `y`, or 1 each without histories.
        kind : object, default=None
            One of `kind_labels_`, to forecast events of this kind; by default all of them,
            whose expected number is the sum over the kinds.

        Returns
        -------
        DataFrame
            From polars if `X` is, else from pandas if that is installed. One row per
            individual, the highest expected number first:

            - ``id``, and ``now`` (a time stamp where histories have them);
            - ``expected``: expected number (or cost) of events in the time ahead;
            - ``probability`` of at least `k` events;
            - ``lower``, ``upper``: prediction interval of the number (or cost);
            - ``next_event_median``: median time from now to the next event; further
              quantiles as ``next_event_q10`` and so on. Infinite if it is never reached; if
              `Z` is a function, also if not within the horizon; if sensors are known ahead,
              also if not within the horizon or the length of the training data, whichever
              is longer;
            - ``frailty``: what the history multiplies the prediction by, 1 without one,
              renewal included if events make further ones rarer for a while;
            - ``terminal``: chance of the terminal event in the time ahead, for a model that
              was fitted with some; 0 for those who had it;
            - ``likely_kind``: the kind of which most events are expected, for a model that
              has learned kinds and unless one is asked for; None after a terminal event;
            - ``next_event_date``: the date of the median, where histories have dates.

        See Also
        --------
        forecast_fleet : The total, with an interval of its own.
        predict_next_event : Quantiles of the time to the next event alone.
        explain_forecast : The reasons for the expected numbers.

        Notes
        -----
        The rate of an individual is its predicted rate times a frailty, a gamma variable
        with mean 1 and variance `frailty_variance_` plus the relative variance of the
        prediction, measured by how much the fold models disagree. After ``n`` events, where
        ``m`` were predicted, the frailty's mean is ``(1 / v + n) / (1 / v + m)``. Only
        the time under observation counts, and it does not matter if observation ends
        because of the events. Where training histories show clearly that events make
        further ones rarer for a while (renewal), rates are lower after an event, and rise
        again with the time without one. With a finite `frailty_half_life_` the past fades,
        and intervals are wider the longer the time ahead. Costs of events are taken as
        independent of frailties, and count in units that make their variance equal to
        their mean.

        Counts are then negative binomial. An interval holds the most probable numbers: the
        next one is added as long as the probability so far plus half of its own does not
        exceed the level. Over many individuals the coverage is about the level; for a
        single one with few expected events it must be above or below (0.1 events expected:
        0 alone covers 0.905, and 0 to 1 covers 0.995).

        ``intervals="conformal"`` replaces the level by the one at which intervals for
        training individuals, forecast by models that have not seen them from the first half
        of their follow-up for the second, reach the requested coverage. Intervals then
        cover about the level, on average over individuals that are exchangeable with the
        training individuals and forecast in that way. For other windows pass what
        `calibrate_forecast` returns; on individuals that training has not seen, coverage
        is at least the level, on average. Both take forecasts in which sensors hold their
        last values, unless `calibrate_forecast` gets a future, too; neither supports a
        function `Z`. Models without validation have no such forecasts of training
        individuals. Their frailties are estimated from individuals that the trees have
        seen, so own history may count for too little.

        Where the model was fitted with terminal events, individuals may die in the time
        ahead, and all columns allow for it: numbers are those of a Poisson process that
        ends with death. The hazard is multiplied by a power of the frailty if this clearly
        raises the likelihood of the deaths in training. Individuals whose history ends with
        a terminal event have an expected number of 0.

        Intervals of costs reach half a unit beyond whole numbers of units, as costs need
        not be whole.

        Examples
        --------
        >>> from boostr import BoostR
        >>> from boostr.simulate import dataset_a
        >>> fleet = dataset_a(n=100, random_state=1)
        >>> model = BoostR(n_estimators=20, random_state=0).fit(fleet.X, fleet.y)
        >>> model.forecast(fleet.X, fleet.y, horizon=20).columns[:4].tolist()
        ['id', 'now', 'expected', 'probability']
        """
        check_is_fitted(self)
        check_level(level)
        scores = self.fitted_.parts(kind)[0] if kind is not None else self.fitted_
        chosen = interval_level(intervals, level, scores.forecast_scores)
        check_whole(k, "k")
        present, stop = self._present(X, y, horizon, Z, future, now, exposure)
        check_calibration(intervals, stop - present.now, Z, own_history=own_history)
        outlook = self._look_ahead(present, stop, own_history=own_history, kind=kind)
        frailties = outlook.frailties(stop)
        occurring, counts = self._count(
            outlook, present, stop, frailties, n_paths, random_state
        )
        lower, upper = outlook.costs.interval(counts, chosen)
        columns: dict[str, Any] = {
            "expected": counts.mean * outlook.costs.unit,
            "probability": outlook.exceed(k, occurring, stop),
            "lower": lower,
            "upper": upper,
            "next_event_median": outlook.wait(0.5, frailties, stop),
            **{
                f"next_event_q{100 * share:g}": outlook.wait(share, frailties, stop)
                for share in map(check_share, np.atleast_1d(quantiles).tolist())
            },
            "frailty": outlook.own_factor(stop, frailties),
        }
        if outlook.hazard is not None:
            expected = outlook.expect(stop)
            deaths = outlook.expect_deaths(frailties, stop, expected)
            assert deaths is not None  # noqa: S101 - there is a hazard
            columns["terminal"] = deaths.chance
        if outlook.parts:
            by_kind = np.array([part.expect_ahead(stop) for part in outlook.parts])
            labels = np.array(self.kind_labels_, dtype=object)
            likely = labels[np.argmax(by_kind, axis=0)]
            likely[present.is_dead] = None
            columns["likely_kind"] = likely
        return make_forecast_table(X, present, columns)

    def _count(
        self,
        outlook: Outlook,
        present: Present,
        stop: FloatArray,
        frailties: Frailties,
        n_paths: int,
        random_state: Any,
    ) -> tuple[Counts | MixedCounts, Counts | MixedCounts]:
        """Return counts of events, and of units of cost, from now to a stop."""
        if not callable(present.sensors):
            return outlook.look_ahead(frailties, stop)[:2]
        rng = make_generator(random_state)
        n_paths = check_whole(n_paths, "n_paths")
        occurring = count_paths(
            self._read_fitted(), outlook, present, stop, frailties, n_paths, rng
        )
        return occurring, outlook.count_drawn(occurring, frailties, stop)

    def forecast_fleet(  # noqa: PLR0913 - all but the first six are by name
        self,
        X: Any,
        y: RecurrentEvents | None = None,
        horizon: ArrayLike | None = None,
        Z: Sensors | HistorySensors | None = None,
        future: Sensors | None = None,
        level: float = 0.9,
        *,
        by: Any = None,
        now: Any = None,
        own_history: bool = True,
        exposure: Any = None,
        n_paths: int = 200,
        random_state: Any = 0,
        kind: Any = None,
    ) -> Any:
        """Forecast how many events all individuals together will have.

        Parameters
        ----------
        X, y, horizon, Z, future, level, now, own_history, exposure, n_paths, \
random_state, kind
            As in `forecast`.
        by : str or array-like of shape (n,), default=None
            Groups to sum by, such as sites: a column of `X`, or one label per individual.

        Returns
        -------
        FleetForecast or DataFrame
            Expected number and interval of all individuals. With `by` a table with a row
            per group: its label, ``n_individuals``, ``expected``, ``lower``, ``upper``.

        Notes
        -----
        Errors that all individuals share do not average out. Forecasts from up to
        `n_origins` earlier dates are compared with the observed totals, and their errors
        widen the interval, more so for a longer horizon. The usual error of other fleets
        counts as two further dates, so intervals are wide where dates are few. No interval
        allows for a change that the histories have not shown.

        Examples
        --------
        >>> import pandas as pd
        >>> from boostr import BoostR
        >>> from boostr.simulate import dataset_a
        >>> fleet = dataset_a(n=100, random_state=1)
        >>> X = pd.DataFrame(fleet.X, columns=["load", "age"])
        >>> model = BoostR(n_estimators=20, random_state=0).fit(X, fleet.y)
        >>> site = np.where(np.arange(100) < 40, "north", "south")
        >>> totals = model.forecast_fleet(X, fleet.y, horizon=20, by=site)
        >>> totals["n_individuals"].tolist()
        [60, 40]
        """
        check_is_fitted(self)
        check_level(level)
        labels = None if by is None else read_labels(X, y, by)
        present, stop = self._present(X, y, horizon, Z, future, now, exposure, by)
        self._warn_of_long_horizon(present, stop)
        outlook = self._look_ahead(present, stop, own_history=own_history, kind=kind)
        frailties = outlook.frailties(stop)
        counts = self._count(outlook, present, stop, frailties, n_paths, random_state)[1]
        if labels is None:
            return sum_counts(outlook, counts, stop, level, outlook.rows)
        groups, place = np.unique(labels, return_inverse=True)
        totals = [
            sum_counts(outlook, counts, stop, level, np.flatnonzero(place == group))
            for group in range(len(groups))
        ]
        name = by if isinstance(by, str) else "group"
        return make_group_table(X, name, groups, totals)

    def _warn_of_long_horizon(self, present: Present, stop: FloatArray) -> None:
        """Warn if event sensors are simulated for longer than the training data."""
        longest = (1.0 + _ROUNDING) * self.fitted_.span
        if callable(present.sensors) and np.any(stop - present.now > longest):
            warnings.warn(
                "Sensors that follow from the events are drawn for a horizon that is "
                f"longer than the training data ({self.fitted_.span:g}), so they may "
                "show what no individual has shown. Ask for a shorter horizon, or forecast "
                "without these sensors.",
                RuntimeWarning,
                stacklevel=3,
            )

    def explain_forecast(  # noqa: PLR0913 - all but the first five are by name
        self,
        X: Any,
        y: RecurrentEvents | None = None,
        horizon: ArrayLike | None = None,
        Z: Sensors | None = None,
        future: Sensors | None = None,
        *,
        now: Any = None,
        own_history: bool = True,
        exposure: Any = None,
        kind: Any = None,
    ) -> Explanation:
        """Explain what `forecast` expects by features, sensors and own history.

        Parameters
        ----------
        X, y, horizon, Z, future, now, own_history, exposure, kind
            As in `forecast`; `Z` must be given as Trajectories.

        Returns
        -------
        Explanation
            Reasons for the expected number (or cost) of events in the time ahead, one row
            per individual in the order of `X`; `forecast` sorts by risk instead.

        See Also
        --------
        boostr.inspection.explain : Says what the amounts are.

        Examples
        --------
        >>> from boostr import BoostR
        >>> from boostr.simulate import dataset_a
        >>> fleet = dataset_a(n=100, random_state=1)
        >>> model = BoostR(n_estimators=20, random_state=0).fit(fleet.X, fleet.y)
        >>> model.explain_forecast(fleet.X, fleet.y, horizon=20).reasons
        ('x0', 'x1', 'own history')
        """
        check_is_fitted(self)
        if callable(Z):
            raise InvalidParameterError(
                "`explain_forecast` needs sensors as Trajectories, but `Z` is a function."
                "\n\nHint: Z(y, until) makes them, as they are if nothing happens."
            )
        present, stop = self._present(X, y, horizon, Z, future, now, exposure)
        outlook = self._look_ahead(present, stop, own_history=own_history, kind=kind)
        if not outlook.parts:
            return self._explain_ahead(outlook, stop, kind)
        parts = zip(outlook.parts, self.kind_labels_, strict=True)
        reasons = [self._explain_ahead(part, stop, label) for part, label in parts]
        return reduce(add, reasons)

    def _explain_ahead(self, outlook: Outlook, stop: FloatArray, kind: Any) -> Explanation:
        """Return the reasons for what one model expects."""
        present, frailties = outlook.present, outlook.frailties(stop)
        reasons = explain(
            self,
            present.table,
            Z=present.sensors if isinstance(present.sensors, Trajectories) else None,
            start=present.now,
            stop=stop,
            frailty=outlook.own_factor(stop, frailties) if outlook.own_history else None,
            exposure=present.exposure,
            kind=kind,
        )
        # The pace and the level of the time ahead are those of all: they multiply reasons.
        expected = outlook.expect_ahead(stop, frailties)
        factor = np.divide(
            expected,
            reasons.prediction,
            out=np.ones(len(expected)),
            where=reasons.prediction > 0.0,
        )
        return replace(reasons.scaled(factor), ids=present.ids)

    def predict_next_event(  # noqa: PLR0913 - all but the first five are by name
        self,
        X: Any,
        y: RecurrentEvents | None = None,
        quantiles: float | Sequence[float] = 0.5,
        Z: Sensors | HistorySensors | None = None,
        future: Sensors | None = None,
        *,
        now: Any = None,
        own_history: bool = True,
        exposure: Any = None,
        kind: Any = None,
    ) -> FloatArray:
        """Predict the time from each individual's present to its next event.

        Parameters
        ----------
        X, y, Z, future, now, own_history, exposure, kind
            As in `forecast`.
        quantiles : float or sequence of float, default=0.5
            Probabilities, above 0 and below 1, by which the event has happened.

        Returns
        -------
        ndarray of shape (n,), or (n, m) for several quantiles
            Times from now; infinite where the event does not happen with that probability
            within 100 times the time of the training data, or within its length from now
            on where `Z` is a function or sensors are known ahead.
        """
        check_is_fitted(self)
        present, stop = self._present(X, y, None, Z, future, now, exposure)
        outlook = self._look_ahead(present, stop, own_history=own_history, kind=kind)
        frailties = outlook.frailties(stop)
        shares = [check_share(share) for share in np.atleast_1d(quantiles)]
        waits = [outlook.wait(share, frailties, stop) for share in shares]
        found = np.stack(waits, axis=1)
        return found[:, 0] if np.ndim(quantiles) == 0 else found

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
        kind: Any = None,
    ) -> CurveBand:
        """Predict cumulative curves with a band around each.

        Parameters
        ----------
        X, Z
            As in `predict_cumulative`.
        times : array-like of shape (m,)
            Times, from 0 on.
        y : RecurrentEvents, default=None
            Histories. Each curve counts the observed events up to the end of follow-up and
            is a forecast after it, with later samples of `Z` as planned values (`forecast`
            ignores these). None predicts new individuals from time 0 on.
        level : float, default=0.9
            Probability of the band at a time.
        of : {"count", "mean"}, default="count"
            "count" is a band of the number of events that will be observed, "mean" a band
            of the expected number, from the differences between the models of the folds.
        exposure : float, array-like of shape (n,), mapping or Trajectories, default=None
            As in `forecast`.
        kind : object, default=None
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
        outlook = self._look_ahead(present, present.now, own_history=True, kind=kind)
        return make_band(outlook, outlook.present, checked, level, of)

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
        kind: Any = None,
    ) -> RecurrentEvents:
        """Draw event histories from the fitted model, frailties included.

        Parameters
        ----------
        X, y, horizon, Z, future, now, own_history, exposure, kind
            As in `forecast`. Without histories, new individuals from `now` on. Drawn events
            have no kinds.
        n_paths : int, default=1
            Histories drawn for each individual.
        random_state : int, RandomState or None, default=None
            Seed.

        Returns
        -------
        RecurrentEvents
            ``n * n_paths`` histories, observed from now to the horizon: all of the first
            individual, then all of the second, and so on, with the ids of these. Every
            event has the mean cost. Exposures, where there are some, go with them. With a
            model of terminal events, histories may end with one before the horizon; those
            who are dead now have no events.
        """
        check_is_fitted(self)
        present, stop = self._present(X, y, horizon, Z, future, now, exposure)
        outlook = self._look_ahead(present, stop, own_history=own_history, kind=kind)
        rng = make_generator(random_state)
        n_paths = check_whole(n_paths, "n_paths")
        return draw_histories(self._read_fitted(), outlook, present, stop, n_paths, rng)

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
        """Calibrate prediction intervals on forecasts of the last part of histories.

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
            these, if training has not seen them; with `out_of_fold` about the level, since
            each score comes from one fold model, and forecasts average all of them.
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
            theta = self.fitted_.training_coefficients(len(y))
            long_enough &= ~np.isnan(theta[:, 0])
            theta = np.nan_to_num(theta)
        if not long_enough.any():
            raise InvalidEventsError(
                f"Calibration needs individuals that were followed for {horizon:g} or more,"
                f" but none of {len(y)} was.\n\nHint: calibrate a shorter horizon."
            )
        outlook = self._look_ahead(present, y.end, own_history=own_history, theta=theta)
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
        span = self.fitted_.span
        length = span if horizon is None else horizon
        lengths = read_lengths(length, y, now, len(X))
        reach = np.maximum(lengths, span)
        layout = self.sensor_layout_
        present = Present.read(X, y, Z, future, now, exposure, layout=layout, reach=reach)
        if now is not None and y is not None:
            warn_of_unknown(y, present.now)
        warn_of_unused(find_unused_plan(self, future), "sensor", stacklevel=4)
        group = by if isinstance(by, str) else None
        table = match_columns(self, present.table, self.encoder_.names, group)
        return replace(present, table=table), present.now + lengths

    def _look_ahead(
        self,
        present: Present,
        stop: FloatArray,
        *,
        own_history: bool,
        theta: FloatArray | None = None,
        kind: Any = None,
    ) -> Outlook:
        """Return the curves of individuals up to a time, with their checked histories."""
        fitted = self._read_fitted()
        place = None if kind is None else fitted.find_kind(kind)
        if present.target is not None:
            check_histories(self, present.target)
        if present.exposure is not None and not self.has_exposure_:
            refuse_new_exposure()
        present = replace(present, table=self._check_table(present.table))
        outlook = make_outlook(fitted, present, stop, own_history=own_history, theta=theta)
        return outlook if place is None else outlook.parts[place]


def make_generator(random_state: Any) -> np.random.Generator:
    """Return the random generator of a seed."""
    if isinstance(random_state, np.random.RandomState):
        random_state = random_state.randint(np.iinfo(np.int32).max)
    return np.random.default_rng(random_state)

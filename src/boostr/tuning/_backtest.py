"""Forecasts that models would have made at past dates, compared with what happened."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import narwhals as nw
import numpy as np
from sklearn.base import clone

from boostr._checks.parameters import check_length
from boostr._forecasting.arguments import check_level
from boostr._frailty.law import sum_by_owner
from boostr._typing import AnyArray, FloatArray, PositionArray
from boostr.data import RecurrentEvents
from boostr.data.clip import clip, clip_sensors
from boostr.data.events.intervals import move_intervals
from boostr.data.features import is_frame
from boostr.exceptions import BoostrError, InvalidParameterError
from boostr.io.files import check_checkpoint
from boostr.metrics import capture_curve, event_concordance, poisson_deviance
from boostr.metrics.predictions import LEAST_RATIO, exposure_of, find_model
from boostr.tuning._backtest_result import Backtest, Date, list_dates, make_backtest
from boostr.tuning._checkpoint import Checkpoint, RunProgress, hash_parts
from boostr.tuning._plan import Candidate, Individuals, list_candidates
from boostr.tuning._splits import as_of_split

__all__ = ["backtest"]

_TENTH = 0.1  # of individuals, those most at risk


def backtest(  # noqa: PLR0913 - all but the first four are by name
    models: Any,
    X: Any,
    y: RecurrentEvents,
    Z: Any = None,
    *,
    as_of: Any,
    horizon: float,
    level: float = 0.9,
    checkpoint: str | os.PathLike[str] | None = None,
    verbose: int = 0,
) -> Backtest:
    """Compare forecasts that models would have made at past dates with what came.

    At each date, every candidate is fitted anew to what was known then, and forecasts the
    events of each individual under observation from its own history. Histories and sensors
    end at the date; static features and exposures are taken as they are, so they must have
    been known, or planned.

    Parameters
    ----------
    models : estimator or dict of candidates by name
        A candidate is an estimator, such as `BoostR` or one of `boostr.baselines`; or a
        tuple ``(estimator, y)`` or ``(estimator, y, Z)`` with histories of the same
        individuals in another time scale, see `RecurrentEvents.in_calendar_time`. A tuple
        without sensors is fitted without them. Estimators are cloned, never fitted
        themselves.
    X : array-like or DataFrame of shape (n, p), or Panel
        Static features.
    y : RecurrentEvents
        Event histories, in calendar time or in age.
    Z : Trajectories, SharedSensors or callable, default=None
        Sensors, or a function that computes them from the events, as in ``BoostR.fit``.
        Baselines that use no sensors ignore them, and all of them ignore a function.
    as_of : sequence, or int
        The dates: times on the axis of `y`, or time stamps where `y` was made of them.
        Where time is age, a time stamp cuts every individual at its own age on that day,
        and a number cuts all at the same age. An int asks for so many evenly spaced dates,
        the last of which lies one horizon before the end of all follow-up.
    horizon : float
        Length of the forecasts, in the unit of `y`.
    level : float, default=0.9
        Probability of the intervals.
    checkpoint : str or path, default=None
        File in which finished runs are kept. Another call with the same data and horizon
        goes on with them, also if it has more candidates or dates.
    verbose : int, default=0
        1 shows a progress bar.

    Returns
    -------
    Backtest
        A table with one row per candidate and date, with `summary` and `plot`.

    Raises
    ------
    InvalidParameterError
        If no individual is observed before, after or at a date, or no event came before.

    See Also
    --------
    boostr.tuning.as_of_split : The split at one date.
    boostr.tuning.AsOfSplit : The same dates for a search of settings.

    Notes
    -----
    Individuals that have not entered by the date are not known then: they are left out, of
    the training and of the comparison. Those whose follow-up ends after the date but within
    the horizon, or has a gap, are compared on the part observed without a break from the
    date on.

    Candidates with a method ``forecast`` are asked for forecasts with own history, and
    those with ``forecast_fleet`` for the interval of the total; of others the expected
    number is ``predict_count`` from the date on. All are judged on the same individuals. In
    the deviance, a forecast below a thousandth of the mean rate counts as that, as an
    event where none was expected would cost infinitely much; ``zeros`` counts forecasts of
    exactly 0. Baselines that are made of mean cumulative functions expect nothing beyond
    the longest follow-up of training; they need a `y` in age, with individuals that are
    older at the date than most will be at the horizon.

    Examples
    --------
    >>> from boostr import backtest
    >>> from boostr.baselines import HomogeneousPoisson, PowerLawProcess
    >>> from boostr.simulate import dataset_a
    >>> fleet = dataset_a(n=100, random_state=1)
    >>> models = {"constant": HomogeneousPoisson(), "power law": PowerLawProcess()}
    >>> result = backtest(models, fleet.X, fleet.y, as_of=[40, 60], horizon=20)
    >>> result.summary()[["candidate", "n_dates", "observed"]]
       candidate  n_dates  observed
    0   constant        2     200.0
    1  power law        2     200.0
    """
    check_level(level)
    horizon = check_length(horizon, "horizon")
    check_checkpoint(checkpoint)
    common, candidates = list_candidates(models, X, y, Z)
    dates = list_dates(as_of, common.events, horizon)
    windows = [_find_window(date, common.events, horizon) for date in dates]
    kept = Checkpoint(checkpoint, _fingerprint(common, horizon, level), "backtest")
    keys = [
        [(candidate.fingerprint(), str(date)) for date in dates] for candidate in candidates
    ]
    n_done = sum(key in kept.records for row in keys for key in row)
    rows = []
    with RunProgress(
        is_shown=verbose > 0, n_runs=len(candidates) * len(dates), n_done=n_done
    ) as progress:
        for candidate, own_keys in zip(candidates, keys, strict=True):
            for key, window in zip(own_keys, windows, strict=True):
                if key not in kept.records:
                    kept.add(key, _run(candidate, window, level))
                    progress.advance()
                row = {"candidate": candidate.name, "date": window.date.label}
                row |= {"horizon": horizon, "level": level}
                rows.append(row | kept.records[key])
    return make_backtest(rows, common.table, common.events.time_unit)


@dataclass(frozen=True, slots=True, eq=False)
class Window:
    """Observed events after a date, among those under observation at it."""

    date: Date
    rows: PositionArray  # of the individuals
    lengths: FloatArray  # of their windows
    after: RecurrentEvents  # in the time since the date


def _find_window(date: Date, y: RecurrentEvents, horizon: float) -> Window:
    """Return the observed events after a date; an error says what is missing."""
    split = as_of_split(y, date.label, horizon)
    rows, lengths = date.find_observed(y, horizon)
    if not rows.size:
        raise InvalidParameterError(
            f"Some individual must be observed as of {date}, before and after it, but "
            f"none of {len(y)} individuals is.\n\nHint: choose dates within follow-up."
        )
    if not split.train.times.size:
        raise InvalidParameterError(
            f"There must be events to learn from before every date, but there are none "
            f"before {date}.\n\nHint: choose later dates."
        )
    stop = np.full(len(y), -np.inf)
    stop[rows] = date.times[rows] + lengths
    after, _ = clip(y, date.times, stop)
    zero = date.times[rows]
    moved = after._with(
        times=after.times - zero[after.event_owner],
        intervals=move_intervals(after, -zero),
        window_start=np.zeros(len(rows)),
        window_stop=lengths,
        origin=None,
        origins=None,
        is_terminal=None,
        exposure=None if after.exposure is None else after.exposure.move(-zero),
    )
    return Window(date, rows, lengths, moved)


def _fingerprint(common: Individuals, horizon: float, level: float) -> dict[str, str]:
    """Return the parts that all runs share, by the names used in messages."""
    features = common.table
    if is_frame(features):
        frame = nw.from_native(features, eager_only=True)
        features = {name: frame[name].to_numpy() for name in frame.columns}
    data = hash_parts(features, common.events, common.sensors)
    return {"data": data, "horizon": hash_parts(horizon), "level": hash_parts(level)}


def _run(candidate: Candidate, window: Window, level: float) -> dict[str, Any]:
    """Fit a candidate as of a date and score its forecasts."""
    begin = time.perf_counter()
    try:
        known, rows = _know(candidate, window.date)
        own = () if candidate.history_sensors is None else (candidate.history_sensors,)
        model = clone(candidate.model).fit(known.features, known.events, *own)
        individuals = known.take(np.searchsorted(rows, window.rows))
        forecast = _forecast(model, individuals, candidate, window, level)
    except Exception as error:
        error.add_note(f"(candidate {candidate.name!r} as of {window.date})")
        raise
    return {**_judge(window, forecast), "seconds": time.perf_counter() - begin}


def _know(candidate: Candidate, date: Date) -> tuple[Individuals, PositionArray]:
    """Return the data known to a candidate at a date, and the rows."""
    individuals = candidate.individuals
    times = date.times + candidate.shift
    if individuals.sensors is not None:
        sensors = clip_sensors(individuals.sensors, times)
        individuals = replace(individuals, sensors=sensors)
    past, rows = clip(individuals.events, np.full(len(times), -np.inf), times)
    return individuals.take(rows, past), rows


@dataclass(frozen=True, slots=True, eq=False)
class _Forecast:
    """Forecasts of a candidate for individuals and for their total."""

    expected: FloatArray
    intervals: tuple[FloatArray, FloatArray] | None = None
    total: tuple[float, float] | None = None


def _forecast(
    model: Any, individuals: Individuals, candidate: Candidate, window: Window, level: float
) -> _Forecast:
    """Forecast the events of individuals from the end of their histories on."""
    try:
        best, features = find_model(model, individuals.features, "forecast")
    except InvalidParameterError:
        best, features = find_model(model, individuals.features, "predict_count")
        begin = individuals.events.end
        end, exposure = begin + window.lengths, exposure_of(individuals.events)
        expected = best.predict_count(features, begin, end, **exposure)
        return _Forecast(np.asarray(expected, dtype=np.float64))
    options: dict[str, Any] = {"level": level}
    if candidate.history_sensors is not None:
        options["Z"] = candidate.history_sensors
    table = best.forecast(features, individuals.events, window.lengths, **options)
    columns = _in_order(table, individuals.events.ids)
    intervals = total = None
    if {"lower", "upper"} <= columns.keys():
        intervals = columns["lower"], columns["upper"]
    if hasattr(best, "forecast_fleet") and candidate.history_sensors is None:
        events = individuals.events
        fleet = best.forecast_fleet(features, events, window.lengths, level=level)
        total = float(fleet.lower), float(fleet.upper)
    return _Forecast(columns["expected"], intervals, total)


def _in_order(table: Any, ids: AnyArray) -> dict[str, FloatArray]:
    """Return the numbers of a table of forecasts in the order of the individuals."""
    frame = nw.from_native(table, eager_only=True)
    place = {one: row for row, one in enumerate(frame["id"].to_list())}
    order = np.array([place[one] for one in ids.tolist()])
    names = [name for name in ("expected", "lower", "upper") if name in frame.columns]
    return {name: frame[name].to_numpy().astype(np.float64)[order] for name in names}


def _judge(window: Window, forecast: _Forecast) -> dict[str, Any]:
    """Return one row of the table of results."""
    after, expected = window.after, forecast.expected
    counts = sum_by_owner(after.event_owner, after.costs, len(after))
    observed, total = float(counts.sum()), float(expected.sum())
    risk = expected / window.lengths
    least = LEAST_RATIO * total / window.lengths.sum() * window.lengths
    return {
        "n_individuals": len(after),
        "observed": observed,
        "expected": total,
        "ratio": total / observed if observed else float("nan"),
        **_judge_intervals(counts, forecast),
        "deviance": poisson_deviance(after, np.maximum(expected, least)),
        "mae": float(np.abs(counts - expected).mean()),
        "concordance": _try(event_concordance, after, risk),
        "capture": _try(lambda *given: capture_curve(*given).at(_TENTH), after, risk),
        "zeros": int((expected == 0.0).sum()),
    }


def _judge_intervals(counts: FloatArray, forecast: _Forecast) -> dict[str, float]:
    """Return whether intervals covered the outcomes, NaN without intervals."""
    lower = upper = held = coverage = float("nan")
    if forecast.total is not None:
        lower, upper = forecast.total
        held = float(lower <= counts.sum() <= upper)
    if forecast.intervals is not None:
        low, high = forecast.intervals
        coverage = float(np.mean((low <= counts) & (counts <= high)))
    return {"lower": lower, "upper": upper, "held": held, "coverage": coverage}


def _try(measure: Callable[..., float], after: RecurrentEvents, risk: FloatArray) -> float:
    """Return a metric, NaN if the data do not allow it."""
    try:
        return float(measure(after, risk))
    except BoostrError:
        return float("nan")

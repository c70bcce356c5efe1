"""Checks of the arguments of forecasts."""

from __future__ import annotations

import numbers
from typing import Any, NoReturn

import numpy as np

from boostr._checks.numbers import check_labels, first_few, warn_user
from boostr._checks.parameters import as_times, check_spread
from boostr._forecasting.results import ForecastCalibration
from boostr._frailty.counts import conformal_level
from boostr._typing import AnyArray, FloatArray
from boostr.data import Panel, RecurrentEvents
from boostr.data.clip import read_times
from boostr.data.times import as_moments, find_origins, name_length, to_numbers
from boostr.exceptions import DataWarning, InvalidParameterError

__all__ = [
    "add_newcomers",
    "check_calibration",
    "check_level",
    "check_share",
    "check_whole",
    "describe_gone",
    "interval_level",
    "read_lengths",
    "refuse_function",
    "warn_of_unknown",
]


def check_level(level: Any) -> None:
    """Refuse interval levels outside (0, 1)."""
    if not _is_share(level):
        raise InvalidParameterError(
            f"`level` must be a number above 0 and below 1, but it is {level!r}.\n\n"
            "Hint: level=0.9 gives intervals that hold nine times out of ten."
        )


def check_share(share: Any) -> float:
    """Return the probability of a quantile, checked."""
    if not _is_share(share):
        raise InvalidParameterError(
            f"`quantiles` must be numbers above 0 and below 1, but there is {share!r}."
        )
    return float(share)


def check_whole(value: Any, name: str) -> int:
    """Return a whole number of at least 1."""
    is_whole = isinstance(value, numbers.Integral) and not isinstance(value, bool)
    if not is_whole or value < 1:
        raise InvalidParameterError(
            f"`{name}` must be a whole number of at least 1, but it is {value!r}."
        )
    return int(value)


def interval_level(intervals: Any, level: float, scores: FloatArray) -> float:
    """Return the level at which the frailty model gives the wanted intervals."""
    if isinstance(intervals, str) and intervals == "frailty":
        return level
    if isinstance(intervals, ForecastCalibration):
        scores = intervals.scores
    elif not (isinstance(intervals, str) and intervals == "conformal"):
        raise InvalidParameterError(
            "`intervals` must be 'frailty', 'conformal' or what calibrate_forecast "
            f"returns, but it is {intervals!r}."
        )
    elif not len(scores):
        raise InvalidParameterError(
            "Conformal intervals need forecasts by models that have not seen the "
            "individuals, but this model was fitted without validation.\n\n"
            "Hint: fit with validation='cv', or pass what calibrate_forecast(…) returns "
            "for other individuals."
        )
    found = conformal_level(scores, level)
    if found is None:
        raise InvalidParameterError(
            f"Conformal intervals with a level of {level:g} need forecasts of more "
            f"individuals than the {len(scores)} there are.\n\n"
            f"Hint: a level of {len(scores) / (len(scores) + 1):.3g} or less, or "
            "intervals='frailty'."
        )
    return found


def describe_gone(y: RecurrentEvents, length: float) -> str | None:
    """Return a sentence on follow-ups that ended some time before the last date."""
    if find_origins(y) is None:
        return None
    ends = as_moments(y, slice(None), y.end)
    since = to_numbers(ends, ends.max(), y.time_unit)
    is_gone = since <= -length
    if y.is_terminal is not None:
        is_gone &= ~y.is_terminal
    n_gone = int(is_gone.sum())
    if not n_gone:
        return None
    were = "individual was" if n_gone == 1 else "individuals were"
    return (
        f"{n_gone:,} of {len(y):,} {were} last observed {name_length(length, y.time_unit)} "
        f"or more before the last date, {ends.max().astype('datetime64[D]')} (ids "
        f"{first_few(y.ids[is_gone])}): each is forecast from its own end of follow-up. "
        "Leave those out that are gone, or mark their ends as terminal events."
    )


def warn_of_unknown(y: RecurrentEvents, now: FloatArray) -> None:
    """Warn if follow-up ends before the present; the dead have no more events."""
    since = now - y.end
    if y.is_terminal is not None:
        since = np.where(y.is_terminal, 0.0, since)
    late = since > 0.0
    if late.any():
        warn_user(
            f"`now` is later than the end of follow-up of {late.sum():,} of {len(y):,} "
            f"individuals (ids {first_few(y.ids[late])}), by "
            f"{name_length(float(since.max()), y.time_unit)} at most: what happened in "
            "between is not known, and forecasts do not count it.",
            DataWarning,
        )


def read_lengths(horizon: Any, y: RecurrentEvents | None, now: Any, n: int) -> FloatArray:
    """Return the length of the forecast per individual, from a length or a date."""
    if y is not None:
        check_labels(horizon, y, "horizon")
    is_number = np.asarray(horizon).dtype.kind in "fiu"
    if is_number or y is None:
        lengths = as_times(horizon, "horizon")
        wrong = ~((lengths > 0.0) & np.isfinite(lengths))
        if wrong.any():
            raise InvalidParameterError(
                "`horizon` must be finite and above zero, but it is "
                f"{first_few(lengths[wrong])}."
            )
        return check_spread(lengths, n, "horizon")
    present = y.end if now is None else read_times(y, now, "now")
    lengths = read_times(y, horizon, "horizon") - present
    wrong = ~(lengths > 0.0)
    if wrong.any():
        raise InvalidParameterError(
            f"`horizon` must be later than the present of all individuals, but {horizon!r} "
            f"is not for {wrong.sum()} of {n} (ids {first_few(y.ids[wrong])}).\n\n"
            "Hint: a later date, or leave these individuals out."
        )
    return lengths


def check_calibration(
    intervals: Any, lengths: FloatArray, sensors: Any, *, own_history: bool
) -> None:
    """Refuse a calibration made from forecasts of another kind."""
    if isinstance(intervals, str) and intervals == "frailty":
        return
    if callable(sensors):
        refuse_function()
    had_history = True
    if isinstance(intervals, ForecastCalibration):
        had_history = intervals.own_history
        if not np.allclose(lengths, intervals.horizon, rtol=1e-6, atol=0.0):
            shortest, longest = lengths.min(), lengths.max()
            asked = f"{shortest:g}" + (f" to {longest:g}" if longest > shortest else "")
            raise InvalidParameterError(
                f"Intervals are calibrated for a horizon of {intervals.horizon:g}, but "
                f"forecasts are asked for {asked}.\n\n"
                "Hint: calibrate_forecast(…) with the horizon of the forecasts."
            )
    if had_history != own_history:
        raise InvalidParameterError(
            f"Intervals are calibrated by forecasts with own_history={had_history}, but "
            f"those that are asked for have own_history={own_history}.\n\n"
            f"Hint: calibrate_forecast(…, own_history={own_history})."
        )


def refuse_function() -> NoReturn:
    """Refuse to calibrate forecasts that are simulated."""
    raise InvalidParameterError(
        "Conformal intervals need sensors as Trajectories, but `Z` is a function.\n\n"
        "Hint: intervals='frailty' are those of drawn futures."
    )


def _is_share(value: Any) -> bool:
    return (
        isinstance(value, numbers.Real)
        and not isinstance(value, bool)
        and 0.0 < float(value) < 1.0
    )


_MOMENT = 1e-14  # of the longest follow-up, for which newcomers count as observed


def add_newcomers(X: Any, y: RecurrentEvents | None, now: Any) -> RecurrentEvents | None:
    """Return histories for all rows of a table, also for ids without one.

    Newcomers start at the present of the fleet, or at 0 if times are ages. Their follow-up
    lasts a moment, so it tells nothing.
    """
    table = X.X if isinstance(X, Panel) else X
    index = getattr(table, "index", None)  # of a table from pandas
    if y is None or index is None or callable(index) or len(table) <= len(y):
        return y
    ids = np.asarray(index)
    is_new = ~np.isin(ids, y.ids)
    if not y.has_ids or is_new.sum() != len(ids) - len(y):
        return y  # rows and histories do not fit: others say so
    if now is not None:
        raise InvalidParameterError(
            "`now` cannot be given where some rows of `X` have no history, but "
            f"{is_new.sum()} of {len(ids)} have none (ids {first_few(ids[is_new])}).\n\n"
            "Hint: forecast these without `y`, and the others with it."
        )
    if y.exposure is not None:
        raise InvalidParameterError(
            f"New individuals need an exposure, but {is_new.sum()} rows of `X` are not in "
            f"`y` (ids {first_few(ids[is_new])}).\n\nHint: forecast these without `y`, "
            "with exposure=…."
        )
    joined = RecurrentEvents.concatenate([y, _begin(y, ids[is_new])])
    place = {one: row for row, one in enumerate(joined.ids.tolist())}
    return joined[np.array([place[one] for one in ids.tolist()])]


def _is_on_one_axis(y: RecurrentEvents, ids: AnyArray) -> bool:
    """Return whether times of all count from one date; warn if nothing tells."""
    if y.origins is not None or y.origin is not None:
        return y.origins is None
    if np.ptp(y.start) == 0.0:
        return False
    if np.ptp(y.end) == 0.0:  # ages differ at the end of a study
        return True
    warn_user(
        f"Individuals without a history (ids {first_few(ids)}) are forecast from time 0, "
        "as if times were ages. If times count from one date, read them as time stamps, or "
        "forecast these individuals without `y`, from now=….",
        DataWarning,
    )
    return False


def _begin(y: RecurrentEvents, ids: AnyArray) -> RecurrentEvents:
    """Return histories that have just begun."""
    n, moment = len(ids), _MOMENT * float(y.end.max())
    start = float(y.end.max()) if _is_on_one_axis(y, ids) else 0.0
    new = RecurrentEvents.from_flat(
        [], np.zeros(n + 1, int), start=np.full(n, start), end=np.full(n, start + moment)
    )
    origins = None
    if y.origins is not None:
        origins = np.full(n, as_moments(y, slice(None), y.end).max())
    return new._with(
        ids=ids.astype(y.ids.dtype),
        has_ids=True,
        id_name=y.id_name,
        time_unit=y.time_unit,
        origin=y.origin,
        origins=origins,
        has_costs=y.has_costs,
        is_terminal=None if y.is_terminal is None else np.zeros(n, dtype=bool),
        intervals=None if y.intervals is None else y.intervals[:0],
        event_kind=None if y.event_kind is None else y.event_kind[:0],
        kinds=y.kinds,
    )

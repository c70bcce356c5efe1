"""The individuals of a fleet, their past, and warnings about their data."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from boostr._checks.numbers import check_ids_match, first_few
from boostr._forecasting.arguments import describe_gone
from boostr._html import thin
from boostr._training.sensors import split_panel, spread_shared
from boostr._typing import FloatArray, OffsetArray
from boostr.data import RecurrentEvents, Trajectories
from boostr.data.features import check_rows, check_table, match_columns
from boostr.data.flat import offsets_of
from boostr.data.individuals import count_of
from boostr.data.times import MICROSECONDS, find_origins, name_length, name_unit
from boostr.exceptions import InvalidParameterError
from boostr.inspection.model import find_unused_plan
from boostr.nonparametric import MeanCumulativeFunction

__all__ = [
    "Activity",
    "FleetData",
    "History",
    "Mcf",
    "TimeAxis",
    "choose_timeline",
    "find_warnings",
    "name_some",
    "own_origins",
]

_MOST_LINES = 150  # individuals of the timeline
_MOST_STEPS = 400  # of the mean cumulative function
_N_BINS = 40


@dataclass(frozen=True, slots=True)
class TimeAxis:
    """How times are written: in a unit, or as dates where the histories have them."""

    unit: str | None  # in full, as "days"
    origin: float | None  # of the axis, in milliseconds since 1970, where it has dates
    milliseconds: float | None  # of one unit of time, where individuals have dates

    @classmethod
    def of(cls, y: RecurrentEvents) -> TimeAxis:
        """Read the axis off histories."""
        unit = y.time_unit
        if find_origins(y) is None or unit not in MICROSECONDS:
            return cls(name_unit(unit), None, None)
        origin = None if y.origin is None else float(_to_milliseconds(y.origin))
        return cls(name_unit(unit), origin, MICROSECONDS[str(unit)] / 1000.0)

    @property
    def label(self) -> str:
        """Label of an axis of time."""
        if self.origin is not None:
            return "Date"
        return "Time" if self.unit is None else f"Time ({self.unit})"

    def length(self, time: float) -> str:
        """Return a length of time in words."""
        return name_length(time, self.unit)

    def name(self, time: float) -> str:
        """Return a time in words."""
        if self.origin is None:
            return self.length(time)
        moment = np.datetime64(int(self.place(np.array(time))), "ms")
        return str(moment.astype("datetime64[D]"))

    def place(self, times: FloatArray) -> FloatArray:
        """Return where times stand on the axis."""
        if self.origin is None or self.milliseconds is None:
            return times
        return self.origin + times * self.milliseconds


@dataclass(frozen=True, slots=True, eq=False)
class FleetData:
    """Individuals with features, histories and sensors in step with each other."""

    table: Any  # of static features, as given
    features: FloatArray  # the same as numbers, (n, p)
    y: RecurrentEvents
    given: Trajectories | None  # sensors as they came
    sensors: Trajectories | None  # the same as in training

    @classmethod
    def read(cls, model: Any, X: Any, y: Any, Z: Any, horizon: float = 0.0) -> FleetData:
        """Check that all parts are of the same individuals, and fit the model."""
        if callable(Z):
            raise InvalidParameterError(
                "A report needs sensors as Trajectories, but `Z` is a function.\n\n"
                "Hint: forecast(…) takes such functions."
            )
        events = y if isinstance(y, RecurrentEvents) else None
        if events is not None:
            reach = max(horizon, model.fitted_.span)
            Z = spread_shared(Z, events, len(events), until=events.end + reach)
        table, sensors = split_panel(X, Z, events)
        table = match_columns(model, table, model.encoder_.names)
        features, used = model._check_input(table, sensors)
        checked = check_rows(y, len(features))
        check_ids_match(table, checked)
        return cls(check_table(table), features, checked, sensors, used)

    def __len__(self) -> int:
        return len(self.features)


def choose_timeline(y: RecurrentEvents) -> RecurrentEvents:
    """Return evenly spaced individuals in the order of the ends of their follow-up."""
    order = np.lexsort((y.start, y.end))
    return y[order[thin(len(y), _MOST_LINES)]]


@dataclass(frozen=True, slots=True, eq=False)
class Activity:
    """Average number of individuals observed, and number of events, in cells of time."""

    edges: FloatArray  # (m + 1,)
    observed: FloatArray  # (m,) individuals on average
    events: OffsetArray  # (m,)

    @classmethod
    def of(cls, y: RecurrentEvents) -> Activity:
        """Count all individuals and events."""
        edges = np.linspace(y.start.min(), y.end.max(), _N_BINS + 1)
        starts, stops = (
            np.array([np.minimum(times, edge).sum() for edge in edges])
            for times in (y.window_start, y.window_stop)
        )
        observed = np.diff(stops - starts) / np.diff(edges)
        return cls(edges, observed, np.histogram(y.times, edges)[0])


@dataclass(frozen=True, slots=True, eq=False)
class Mcf:
    """The mean cumulative function with its band, at some of its steps."""

    times: FloatArray
    mean: FloatArray
    lower: FloatArray
    upper: FloatArray
    confidence: float

    @classmethod
    def of(cls, y: RecurrentEvents) -> Mcf | None:
        """Estimate it; None where there are no events."""
        if not y.times.size:
            return None
        fitted = MeanCumulativeFunction().fit(y)
        kept = thin(len(fitted.times_), _MOST_STEPS)
        first, last = fitted.span_
        times = np.concatenate([[first], fitted.times_[kept], [last]])

        def step(values: FloatArray) -> FloatArray:
            return np.concatenate([[0.0], values[kept], values[-1:]])

        return cls(
            times,
            step(fitted.mcf_),
            step(fitted.lower_),
            step(fitted.upper_),
            fitted.confidence,
        )


@dataclass(frozen=True, slots=True, eq=False)
class History:
    """Some events of every individual, with the number or cost up to each."""

    offsets: OffsetArray  # (n + 1,)
    times: FloatArray
    totals: FloatArray

    @classmethod
    def of(cls, y: RecurrentEvents, most: int) -> History:
        """Keep about ``most`` events; totals count those that are left out, too."""
        share = max(int(most / max(len(y), 1)), 2)
        sums = np.cumsum(y.costs)
        before = np.concatenate([[0.0], sums])[y.event_offsets[:-1]]
        totals = sums - before[y.event_owner]
        if y.times.size <= most:
            return cls(y.event_offsets, y.times, totals)
        bounds = zip(y.event_offsets[:-1], y.event_offsets[1:], strict=True)
        parts = [first + thin(int(last - first), share) for first, last in bounds]
        kept = np.concatenate(parts)
        offsets = offsets_of(np.array([len(part) for part in parts]))
        return cls(offsets, y.times[kept], totals[kept])


def own_origins(y: RecurrentEvents) -> FloatArray | None:
    """Return each individual's date of time 0 in milliseconds, where they differ."""
    return None if y.origins is None else _to_milliseconds(y.origins)


def _to_milliseconds(stamps: Any) -> Any:
    return stamps.astype("datetime64[us]").astype(np.int64) / 1000.0


_FEW_EVENTS = 50
_MANY_MISSING = 0.05  # share of the individuals
_MANY_STRANGE = 0.01  # share of the samples
_MOST_LISTED = 10  # features or sensors named one by one


def find_warnings(
    model: Any, fleet: FleetData, horizon: float, future: Any = None
) -> tuple[str, ...]:
    """Return one sentence for each weakness of the data."""
    axis = TimeAxis.of(fleet.y)
    return (
        *_check_events(fleet),
        *_check_follow_up(model, fleet, horizon, axis),
        *_check_features(model, fleet),
        *_check_sensors(model, fleet, horizon, axis),
        *_check_plan(model, future),
    )


def _check_events(fleet: FleetData) -> list[str]:
    n_events = int(fleet.y.n_events.sum())
    if n_events >= _FEW_EVENTS:
        return []
    return [
        f"There {'is' if n_events == 1 else 'are'} only {count_of(n_events, 'event')}: "
        "the checks below are rough."
        if n_events
        else "There are no events, so nothing can be said on how good the forecasts are."
    ]


def _check_follow_up(
    model: Any, fleet: FleetData, horizon: float, axis: TimeAxis
) -> list[str]:
    y, found = fleet.y, []
    middle = float(np.median(y.follow_up))
    if middle < horizon:
        found.append(
            f"Follow-up is short: half of the individuals were observed for less than "
            f"{axis.length(middle)}, and the forecast reaches {axis.length(horizon)} ahead."
        )
    gone = describe_gone(y, horizon)
    if gone is not None:
        found.append(gone)
    late = int(np.sum(y.end + horizon > model.horizon_ * (1.0 + 1e-12)))
    if late:
        found.append(
            f"The forecasts of {late:,} of {len(y):,} individuals reach beyond the last "
            f"end of follow-up in training ({axis.name(model.horizon_)}): there, curves "
            "are continued and not learned."
        )
    return found


def _check_features(model: Any, fleet: FleetData) -> list[str]:
    found = []
    words = model.encoder_.name_unlearned(fleet.table, fleet.features)
    counts = Counter((place, text) for (_, place), text in words.items())
    shares = np.isnan(fleet.features).mean(axis=0)
    for (place, _), n in counts.items():
        shares[place] -= n / len(fleet)
    missing = [
        f"{name} ({share:.0%})"
        for name, share in zip(model.encoder_.names, shares, strict=True)
        if share > _MANY_MISSING
    ]
    if missing:
        found.append(f"Features with missing values: {name_some(missing)}.")
    if counts:
        names = model.encoder_.names
        named = [
            f"{names[place]} {text} for {count_of(n, 'individual', ',')}"
            for (place, text), n in counts.items()
        ]
        found.append(
            "Categories that training has not seen, or too rarely to learn from, which "
            f"count as missing: {name_some(named)}."
        )
    return found


def _check_sensors(
    model: Any, fleet: FleetData, horizon: float, axis: TimeAxis
) -> list[str]:
    if fleet.given is None:
        return []
    found, strange, unknown = [], [], []
    for name, count in model.check_sensors(fleet.given).items():
        n_strange = count["below"] + count["above"] + count["unseen"]
        if n_strange > _MANY_STRANGE * count["samples"]:
            strange.append(
                f"{name} ({count['below']:,} samples below, {count['above']:,} above, "
                f"{count['unseen']:,} in unseen categories, of {count['samples']:,})"
            )
        n_unknown = count["unknown"] - count["unseen"]
        if n_unknown > _MANY_MISSING * count["samples"]:
            unknown.append(f"{name} ({n_unknown / count['samples']:.0%})")
    if strange:
        found.append(
            "Sensors outside of what training has seen, where the nearest value seen "
            f"counts: {name_some(strange)}."
        )
    if unknown:
        found.append(f"Sensors with unknown values: {name_some(unknown)}.")
    stale = np.flatnonzero(fleet.given.last_times < fleet.y.end - horizon)
    if stale.size:
        found.append(
            f"Sensors of {stale.size:,} of {len(fleet):,} individuals end more than "
            f"{axis.length(horizon)} before the present (ids "
            f"{first_few(fleet.y.ids[stale])})."
        )
    return found


def _check_plan(model: Any, future: Any) -> list[str]:
    unused = find_unused_plan(model, future)
    if not unused:
        return []
    return [
        "The plans for these sensors change nothing, as the model does not use them: "
        f"{name_some(unused)}."
    ]


def name_some(names: Sequence[str]) -> str:
    """Return names separated by commas, the first ten and how many more."""
    more = len(names) - _MOST_LISTED
    listed = ", ".join(names[:_MOST_LISTED])
    return f"{listed} and {more} more" if more > 0 else listed

"""The individuals of a fleet as a report takes them, and what the fleet did so far."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from boostr._tables.tables import check_table, match_columns
from boostr._typing import AnyArray, FloatArray, OffsetArray, PositionArray
from boostr._validation import check_ids_match
from boostr.baselines import MeanCumulativeFunction
from boostr.data import RecurrentEvents, Trajectories
from boostr.data._flat import offsets_of, owners_of
from boostr.data._origins import find_origins
from boostr.data._times import MICROSECONDS, name_length, name_unit
from boostr.estimators._checks import check_rows
from boostr.estimators._sensors import split_panel, spread_shared
from boostr.exceptions import InvalidParameterError

__all__ = [
    "Activity",
    "Fleet",
    "History",
    "Mcf",
    "TimeAxis",
    "Timeline",
    "own_origins",
    "thin",
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

    def place(self, times: FloatArray) -> FloatArray:
        """Return where times stand on the axis."""
        if self.origin is None or self.milliseconds is None:
            return times
        return self.origin + times * self.milliseconds


@dataclass(frozen=True, slots=True, eq=False)
class Fleet:
    """Individuals with features, histories and sensors in step with each other."""

    table: Any  # of static features, as given
    features: FloatArray  # the same as numbers, (n, p)
    y: RecurrentEvents
    given: Trajectories | None  # sensors as they came
    sensors: Trajectories | None  # the same as in training

    @classmethod
    def read(cls, model: Any, X: Any, y: Any, Z: Any, horizon: float = 0.0) -> Fleet:
        """Check that all parts are of the same individuals, and fit the model."""
        if callable(Z):
            raise InvalidParameterError(
                "A report needs sensors as Trajectories, but `Z` is a function.\n\n"
                "Hint: forecast(…) takes such functions."
            )
        events = y if isinstance(y, RecurrentEvents) else None
        if events is not None:
            reach = max(horizon, model.horizon_)
            Z = spread_shared(Z, events, len(events), until=events.end + reach)
        table, sensors = split_panel(X, Z, events)
        table = match_columns(model, table, model.encoder_.names)
        features, used = model._check_input(table, sensors)
        checked = check_rows(y, len(features))
        check_ids_match(table, checked)
        return cls(check_table(table), features, checked, sensors, used)

    def __len__(self) -> int:
        return len(self.features)


@dataclass(frozen=True, slots=True, eq=False)
class Timeline:
    """When some individuals were observed, in rows from 0 on, and their events."""

    labels: AnyArray  # (n_rows,)
    window_row: PositionArray
    window_start: FloatArray
    window_stop: FloatArray
    event_row: PositionArray
    event_time: FloatArray
    n_individuals: int  # of whom these are some

    @classmethod
    def of(cls, y: RecurrentEvents) -> Timeline:
        """Take evenly spaced individuals in the order of the ends of their follow-up."""
        order = np.lexsort((y.start, y.end))
        places = thin(len(y), _MOST_LINES)
        shown = y[order[places]]
        return cls(
            labels=shown.ids,
            window_row=owners_of(shown.window_offsets),
            window_start=shown.window_start,
            window_stop=shown.window_stop,
            event_row=shown.event_owner,
            event_time=shown.times,
            n_individuals=len(y),
        )


@dataclass(frozen=True, slots=True, eq=False)
class Activity:
    """How many individuals were observed, and how many events seen, in cells of time."""

    edges: FloatArray  # (m + 1,)
    observed: FloatArray  # (m,) individuals on average
    events: OffsetArray  # (m,)

    @classmethod
    def of(cls, y: RecurrentEvents) -> Activity:
        """Count all individuals and events."""
        edges = np.linspace(y.start.min(), y.end.max(), _N_BINS + 1)
        seen = [
            float(
                np.sum(np.minimum(y.window_stop, edge) - np.minimum(y.window_start, edge))
            )
            for edge in edges
        ]
        observed = np.diff(seen) / np.diff(edges)
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
    """Events of every individual, at most so many, with the number or cost so far."""

    offsets: OffsetArray  # (n + 1,)
    times: FloatArray
    totals: FloatArray

    @classmethod
    def of(cls, y: RecurrentEvents, most: int) -> History:
        """Keep ``most`` events of all; totals count those that are left out, too."""
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
    """Return everybody's date of time 0 in milliseconds, where these are its own."""
    return None if y.origins is None else _to_milliseconds(y.origins)


def _to_milliseconds(stamps: Any) -> Any:
    return stamps.astype("datetime64[us]").astype(np.int64) / 1000.0


def thin(n: int, most: int) -> PositionArray:
    """Return evenly spaced positions among ``n``, the first and the last one included."""
    if n <= most:
        return np.arange(n)
    return np.unique(np.linspace(0, n - 1, most).round().astype(np.intp))

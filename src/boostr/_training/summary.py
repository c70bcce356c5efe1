"""Counts, last follow-up and sensor ranges over all individuals; computed first."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from boostr._checks.numbers import first_few, warn_user
from boostr._engine.statistics import put_on_clock
from boostr._frailty.law import sum_by_owner
from boostr._typing import AnyArray, FloatArray, OffsetArray, PositionArray
from boostr.basis import CalendarClock
from boostr.basis.sensors import draw_sensor_sample
from boostr.data import RecurrentEvents, Trajectories
from boostr.data.events.exposure import exposed_windows
from boostr.data.events.fingerprint import Fingerprint
from boostr.exceptions import (
    DataWarning,
    InvalidEventsError,
    InvalidParameterError,
    InvalidSensorsError,
)

__all__ = ["DataSummary", "Leverage", "Magnitudes"]

_MOST_NAMED = 3  # individuals that may outweigh all others together
_MOST_SHARE = 0.1  # of all individuals that these may be, if they are several
_TIMES_ALL = 2.0  # by how much they must raise the average
_TIMES_NEXT = 30.0  # how many times as much as the next one they must have, each
_TIMES_NEXT_OF_FEW = 1000.0  # the same over the number of individuals, if these are sample


def _rank_largest(values: FloatArray, n: int) -> PositionArray:
    """Return where the ``n`` largest values are, the first of equals first."""
    if len(values) > n:
        least = np.partition(values, -n)[-n]
        places = np.flatnonzero(values >= least)
    else:
        places = np.arange(len(values))
    return places[np.argsort(-values[places], kind="stable")[:n]]


@dataclass(frozen=True, slots=True, eq=False)
class Leverage:
    """Events or costs of some individuals: of those with the most, and of the others.

    The others are summed apart, since small numbers get lost in a sum with large ones.
    """

    n: int
    has_costs: bool
    amount: float  # of the others, by their weights
    time: float  # of these under observation, by weights and exposures
    ids: tuple[Any, ...]  # of those with the most
    amounts: FloatArray  # of these, the largest first
    times: FloatArray
    numbers: FloatArray  # of their events

    @classmethod
    def of(cls, events: RecurrentEvents, weights: FloatArray) -> Leverage:
        """Look at individuals."""
        n, windows = len(events), exposed_windows(events)
        numbers = costs = events.n_events.astype(np.float64)
        with np.errstate(over="ignore"):  # which is refused elsewhere
            if events.has_costs:
                costs = sum_by_owner(events.event_owner, events.costs, n)
            amounts = weights * costs
            length = windows.factor * (windows.stop - windows.start)
            times = weights * np.bincount(windows.owner, length, n)
            return cls._rank(
                n,
                events.has_costs,
                (0.0, 0.0),
                events.ids,
                (amounts, times, numbers),
            )

    @classmethod
    def _rank(
        cls,
        n: int,
        has_costs: bool,
        rest: tuple[float, float],
        ids: AnyArray,
        each: tuple[FloatArray, FloatArray, FloatArray],
    ) -> Leverage:
        """Keep those with the most, one more than are named, and sum up the others."""
        first = _rank_largest(each[0], _MOST_NAMED + 1)
        is_other = np.ones(len(each[0]), dtype=np.bool_)
        is_other[first] = False
        amount, time = (
            before + float(values.sum(where=is_other))
            for before, values in zip(rest, each[:2], strict=True)
        )
        top = (values[first] for values in each)
        return cls(n, has_costs, amount, time, tuple(ids[first].tolist()), *top)

    def join(self, other: Leverage) -> Leverage:
        """Return that of both groups of individuals."""
        ids = np.empty(len(self.ids) + len(other.ids), dtype=object)
        ids[:] = (*self.ids, *other.ids)
        return Leverage._rank(
            self.n + other.n,
            self.has_costs,
            (self.amount + other.amount, self.time + other.time),
            ids,
            (
                np.concatenate([self.amounts, other.amounts]),
                np.concatenate([self.times, other.times]),
                np.concatenate([self.numbers, other.numbers]),
            ),
        )

    def warn(self) -> None:
        """Warn of individuals that outweigh all others together."""
        for n_first in range(1, min(len(self.ids), _MOST_NAMED + 1)):
            is_few = n_first == 1 or n_first <= _MOST_SHARE * self.n
            if is_few and self._outweigh(n_first):
                self._name(n_first)
                return

    def _rates(self, n_first: int) -> tuple[float, float]:
        """Return the rate of all but the first sample, and of all."""
        amount = self.amount + float(self.amounts[n_first:].sum())
        time = self.time + float(self.times[n_first:].sum())
        own, own_time = self.amounts[:n_first].sum(), self.times[:n_first].sum()
        return amount / time, float((amount + own) / (time + own_time))

    def _outweigh(self, n_first: int) -> bool:
        """Tell whether the first few have far more than the others, and than their time."""
        amounts, times = self.amounts[:n_first], self.times[:n_first]
        rate, raised = self._rates(n_first)
        # Where the others have nothing, it takes many events to be beyond chance.
        single = (amounts / np.maximum(self.numbers[:n_first], 1.0)).max()
        following = self.amounts[n_first] or single
        least = max(_TIMES_NEXT, _TIMES_NEXT_OF_FEW / self.n) * following
        is_raised = raised > _TIMES_ALL * rate
        return bool(is_raised and (amounts - rate * times).min() > least)

    def _name(self, n_first: int) -> None:
        """Say who it is, what it does and what can be done."""
        what = "costs" if self.has_costs else "events"
        own = float(self.amounts[:n_first].sum())
        total = own + self.amount + float(self.amounts[n_first:].sum())
        rate, raised = self._rates(n_first)
        ratio = "infinitely" if rate == 0.0 else f"{raised / rate:,.4g}"
        warn_user(
            f"{own:,.6g} of {total:,.6g} {what} ({own / total:.2%}) are those of {n_first} "
            f"of {self.n:,} individuals (ids {first_few(self.ids[:n_first])}). They make "
            f"the average rate {ratio} times as high, and with it the predictions of all "
            "others. Check these histories; leave the individuals out, give them a smaller "
            "`sample_weight`, or fit a model of their own to them.",
            DataWarning,
        )


_LIMITS = (1e-30, 1e30)  # statistics are products of their powers, which are squared
_SENSOR_LIMITS = (1e-100, 1e100)  # only functions of these come into the statistics


@dataclass(frozen=True, slots=True, eq=False)
class Magnitudes:
    """The largest time, cost and so on of some individuals, with the id."""

    largest: dict[str, tuple[float, Any]]
    sensors: dict[str, tuple[float, Any]]

    @classmethod
    def of(
        cls, events: RecurrentEvents, weights: FloatArray, sensors: Trajectories | None
    ) -> Magnitudes:
        """Return the magnitudes of individuals and of their sensors, if any."""
        ids, each = events.ids, np.arange(len(events) + 1)
        values = {
            "Times": (events.window_stop, events.window_offsets),
            "Costs": (events.costs, events.event_offsets),
            "`sample_weight`": (weights, each),
        }
        if events.exposure is not None:
            values["Exposures"] = (events.exposure.values, events.exposure.offsets)
        largest = {name: _find_largest(*pair, ids) for name, pair in values.items()}
        if sensors is None:
            return cls(largest, {})
        own = {
            f"Values of sensor {name!r}": _find_largest(row, sensors.offsets, sensors.ids)
            for name, row in zip(sensors.names, sensors.values, strict=True)
        }
        return cls(largest, own)

    def join(self, other: Magnitudes) -> Magnitudes:
        """Return the magnitudes of both groups of individuals."""
        return Magnitudes(
            _join(self.largest, other.largest), _join(self.sensors, other.sensors)
        )

    def check(self) -> None:
        """Refuse values too large or too small to be squared and summed."""
        for name, found in self.largest.items():
            error = InvalidParameterError if name[0] == "`" else InvalidEventsError
            _check(name, *found, _LIMITS, error)
        for name, found in self.sensors.items():
            _check(name, *found, _SENSOR_LIMITS, InvalidSensorsError)


def _find_largest(
    values: FloatArray, offsets: OffsetArray, ids: AnyArray
) -> tuple[float, Any]:
    """Return the largest absolute value (0 if none) and the id of its individual."""
    high, low = np.fmax.reduce(values, initial=0.0), np.fmin.reduce(values, initial=0.0)
    size = float(max(high, -low))
    if size == 0.0:
        return 0.0, None
    place = int(np.argmax(values == (high if size == high else low)))
    return size, ids[int(np.searchsorted(offsets, place, side="right")) - 1]


def _join(
    some: dict[str, tuple[float, Any]], others: dict[str, tuple[float, Any]]
) -> dict[str, tuple[float, Any]]:
    return {
        name: max(some[name], others[name], key=lambda found: found[0]) for name in some
    }


def _check(
    name: str, size: float, owner: Any, limits: tuple[float, float], error: type[Exception]
) -> None:
    if size == 0.0 or limits[0] <= size <= limits[1]:
        return
    way = "too small" if size < limits[0] else "too large"
    raise error(
        f"{name} must be between {limits[0]:g} and {limits[1]:g} at their largest, but the "
        f"largest, of individual {owner}, is {size:g}, {way} to compute with.\n\n"
        "Hint: give them in another unit."
    )


_YEARS = (1980.0, 2100.0)  # in which dates of events mostly lie
_DAYS = 365.2425  # of a year
# What numbers may count, from which year on and how many of them are in a year.
_LIKELY = (
    ("calendar years", 0.0, 1.0),
    ("days since 1970", 1970.0, _DAYS),
    ("seconds since 1970", 1970.0, 86_400.0 * _DAYS),
    ("milliseconds since 1970", 1970.0, 86_400e3 * _DAYS),
    ("microseconds since 1970", 1970.0, 86_400e6 * _DAYS),
    ("nanoseconds since 1970", 1970.0, 86_400e9 * _DAYS),
)
_FAR = 10.0  # first start over the time from then to the last end
_FAR_IF_LIKELY = 0.25  # the same for numbers that may be dates
_LATE = 0.5  # share of the time axis without events before the first one

Ranges = tuple[FloatArray, FloatArray]  # (n_sensors,) each, NaN for one that is unknown


@dataclass(frozen=True, slots=True, eq=False)
class DataSummary:
    """Counts, first and last times, and sensor ranges; `join` combines two groups."""

    n: int
    n_events: int
    start: float  # the first start of follow-up
    stop: float  # the last end of follow-up
    last_start: float
    first_event: float  # infinite without events
    has_dates: bool  # whether times were time stamps
    magnitudes: Magnitudes
    leverage: Leverage
    ranges: Ranges | None = None  # of the sensors while observed, where it was looked at
    fingerprint: Fingerprint | None = None  # where it was taken together with the rest

    @classmethod
    def of(
        cls,
        events: RecurrentEvents,
        weights: FloatArray,
        sensors: Trajectories | None = None,
        *,
        wants_ranges: bool = True,
    ) -> DataSummary:
        """Return the summary of some individuals, with sensor ranges if wanted."""
        ranges = None
        if sensors is not None and wants_ranges:
            sample = draw_sensor_sample(put_on_clock(events, CalendarClock(), sensors))
            ranges = sample.lows, sample.highs
        return cls(
            len(events),
            len(events.times),
            float(events.window_start.min()),
            float(events.window_stop.max()),
            float(events.window_start.max()),
            float(events.times.min(initial=np.inf)),
            events.origin is not None or events.origins is not None,
            Magnitudes.of(events, weights, sensors),
            Leverage.of(events, weights),
            ranges,
        )

    def join(self, other: DataSummary) -> DataSummary:
        """Return the summary of both groups of individuals."""
        ranges = self.ranges
        if ranges is not None and other.ranges is not None:
            ranges = (
                np.fmin(ranges[0], other.ranges[0]),
                np.fmax(ranges[1], other.ranges[1]),
            )
        fingerprint = self.fingerprint
        if fingerprint is not None and other.fingerprint is not None:
            fingerprint = fingerprint.join(other.fingerprint)
        return DataSummary(
            self.n + other.n,
            self.n_events + other.n_events,
            min(self.start, other.start),
            max(self.stop, other.stop),
            max(self.last_start, other.last_start),
            min(self.first_event, other.first_event),
            self.has_dates,
            self.magnitudes.join(other.magnitudes),
            self.leverage.join(other.leverage),
            ranges,
            fingerprint,
        )

    def check(self, clock: str) -> None:
        """Refuse values too large or small to compute with; warn of suspicious times."""
        self.magnitudes.check()
        self.leverage.warn()
        if self.n_events == 0:
            warn_user(
                f"There are no events among {self.n:,} individuals, so that the model "
                "expects none, whatever the features. Check the column of the events.",
                DataWarning,
            )
        if self.has_dates:
            return
        self._warn_of_missing_starts()
        if clock == "calendar":
            self._warn_of_far_start()

    def _warn_of_missing_starts(self) -> None:
        """Warn of events whose times look like dates, while follow-up begins at 0."""
        if self.n_events == 0 or self.start > 0.0 or self.first_event < _LATE * self.stop:
            return
        likely = _name_likely(self.first_event, self.stop)
        if likely is None:
            return
        warn_user(
            f"Follow-up begins at {self.start:g}, but the first event is at "
            f"{self.first_event:g}, and times look like {likely}: individuals count as "
            "observed without events for all the time before. Pass time stamps "
            "instead of numbers, or pass the start of follow-up as `start`.",
            DataWarning,
        )

    def _warn_of_far_start(self) -> None:
        """Warn of times that begin far from 0, and what they may be."""
        likely = _name_likely(self.start, self.stop)
        nearest = _FAR if likely is None else _FAR_IF_LIKELY
        if self.start <= nearest * (self.stop - self.start):
            return
        warn_user(
            f"Times begin at {self.start:g} and end at {self.stop:g}, far from 0"
            + ("" if likely is None else f", like {likely}")
            + '. With clock="calendar" leaf functions of time begin at the first start and '
            "not at 0. Where numbers are dates, pass time stamps in their place, so that "
            "forecasts know the calendar; else subtract the first start from all times.",
            DataWarning,
        )


def _name_likely(start: float, stop: float) -> str | None:
    """Return the unit that times between the years 1980 and 2100 may be in."""
    for name, first, unit in _LIKELY:
        low, high = ((year - first) * unit for year in _YEARS)
        if low <= start and stop <= high:
            return name
    return None

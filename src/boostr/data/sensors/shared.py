"""``SharedSensors``: the same for all individuals on the same date, as seasons are."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from boostr._typing import AnyArray, FloatArray
from boostr.data.flat import offsets_of, owners_of
from boostr.data.individuals import count_of
from boostr.data.sensors.checks import Clocked, align_with, check_clocks, check_own_names
from boostr.data.target import check_target
from boostr.data.times import MICROSECONDS, as_moments, find_origins, to_numbers, to_stamps
from boostr.exceptions import InvalidParameterError, InvalidSensorsError, SeasonWarning

if TYPE_CHECKING:
    from boostr.data.events.recurrent_events import RecurrentEvents
    from boostr.data.sensors.trajectories import Trajectories

__all__ = ["SharedSensors"]

N_CYCLES = 2  # that must have been seen before a season is told from chance


@dataclass(frozen=True, kw_only=True)
class Season:
    """Recurring periods of the calendar, one category each."""

    categories: tuple[str, ...]
    unit: str  # of numpy, in whose multiples periods begin
    multiple: int = 1
    shift: int = 0  # of the period that has 1970-01-01
    n_days: int  # of one cycle
    words: str  # what two cycles are

    def list_periods(self, first: Any, last: Any) -> tuple[AnyArray, FloatArray]:
        """Return the begin and the code of every period from one date to beyond another."""
        begin, end = (
            int(moment.astype(f"datetime64[{self.unit}]").astype(np.int64)) // self.multiple
            for moment in (first, last)
        )
        places = np.arange(begin, end + 2)
        stamps = (places * self.multiple).astype(f"datetime64[{self.unit}]")
        codes = (places + self.shift) % len(self.categories)
        return stamps.astype("datetime64[us]"), codes.astype(np.float64)


_MONTHS = "January February March April May June July August September October November"
_DAYS = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday"
SEASONS = {
    "month": Season(
        categories=(*_MONTHS.split(), "December"), unit="M", n_days=365, words="years"
    ),
    "quarter": Season(
        categories=("Q1", "Q2", "Q3", "Q4"), unit="M", multiple=3, n_days=365, words="years"
    ),
    "weekday": Season(
        categories=tuple(_DAYS.split()), unit="D", shift=3, n_days=7, words="weeks"
    ),
    "hour": Season(
        categories=tuple(f"{hour:02d}" for hour in range(24)),
        unit="h",
        n_days=1,
        words="days",
    ),
}


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class SharedSensors:
    """Sensors that show the same to all individuals on the same date.

    Weather, prices and seasons have no individuals: they are kept once, and every
    individual reads them at its own calendar date when they meet histories. They take the
    place of `Trajectories` in `BoostR.fit`, forecasts and predictions. Make them with
    `Trajectories.shared` and `Trajectories.seasonal`.

    Parameters
    ----------
    series : Trajectories
        The series of one individual that stands for all; its dates count from 1970.
    seasons : tuple of str
        Seasons, which follow from the date.
    resolution : int
        Length of the steps in which events are dated, in microseconds: an event that is
        dated by day belongs to the whole day.
    own : Trajectories or None
        Sensors of the individuals' own, in addition.

    See Also
    --------
    Trajectories.shared : Makes them from a table.
    Trajectories.seasonal : Makes them from the calendar.

    Examples
    --------
    >>> import pandas as pd
    >>> from boostr.data import RecurrentEvents, Trajectories
    >>> weather = pd.DataFrame({"day": [0, 4], "temperature": [5.0, -3.0]})
    >>> shared = Trajectories.shared(weather, time="day")
    >>> shared
    SharedSensors(temperature)
    >>> y = RecurrentEvents.from_lists([[3.0], []], end=[10.0, 7.0])
    >>> shared.for_individuals(y).read([4.0, 5.0])[:, :, 0]
    array([[ 5., -3.],
           [ 5., -3.]])
    """

    series: Trajectories
    seasons: tuple[str, ...] = ()
    resolution: int = 0
    own: Trajectories | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """Names of all sensors."""
        own = () if self.own is None else self.own.names
        return own + self.series.names + self.seasons

    def __repr__(self) -> str:
        own = "" if self.own is None else f"; {count_of(len(self.own), 'individual')}"
        return f"{type(self).__name__}({', '.join(self.names)}{own})"

    def __getitem__(self, key: Any) -> SharedSensors:
        """Return the sensors of some individuals; shared sensors stay the same."""
        return self if self.own is None else replace(self, own=self.own[key])

    def merge(self, other: Trajectories | SharedSensors) -> SharedSensors:
        """Add further sensors.

        Parameters
        ----------
        other : Trajectories or SharedSensors
            Sensors of the individuals' own, or others that all share.

        Returns
        -------
        SharedSensors
            All sensors.

        Raises
        ------
        InvalidSensorsError
            If a sensor stands in both, or they count time differently.

        Examples
        --------
        >>> import pandas as pd
        >>> from boostr.data import Trajectories
        >>> weather = pd.DataFrame({"day": [0, 4], "temperature": [5.0, -3.0]})
        >>> load = Trajectories.from_flat([1, 2], [0, 1, 2], [[5, 6]], ["load"])
        >>> load.merge(Trajectories.shared(weather, time="day"))
        SharedSensors(load, temperature; 2 individuals)
        """
        check_own_names(self.names, other.names)
        if not isinstance(other, SharedSensors):
            own = other if self.own is None else self.own.merge(other)
            return replace(self, own=own)
        both = [one for one in (self.own, other.own) if one is not None]
        return SharedSensors(
            series=self._join_series(other),
            seasons=self.seasons + other.seasons,
            resolution=self.resolution if self.seasons else other.resolution,
            own=both[0].merge(both[1]) if len(both) == 2 else next(iter(both), None),
        )

    def _with_own(self, own: Any) -> SharedSensors:
        """Return these shared sensors with the individuals' own sensors added."""
        check_own_names(own.names, self.names)
        return replace(self, own=own if self.own is None else own.merge(self.own))

    def _join_series(self, other: SharedSensors) -> Trajectories:
        """Return the shared sensors of both; all must have dates, or all numbers."""
        one, two = self.series, other.series
        if not one.names or not two.names:
            return one if one.names else two
        if (one.origin is None) != (two.origin is None):
            raise InvalidSensorsError(
                "Shared sensors must all have dates, or all numbers, but some of each are "
                f"given ({', '.join(one.names)}; {', '.join(two.names)})."
            )
        return one.merge(two)

    def for_individuals(
        self, y: RecurrentEvents, until: ArrayLike | None = None
    ) -> Trajectories:
        """Return the sensors of every individual, on its own time axis.

        `BoostR` does so by itself. Tools that need `Trajectories`, for instance `Panel`,
        take the result.

        Parameters
        ----------
        y : RecurrentEvents
            Histories of the individuals.
        until : float or (n,) array-like, optional
            Time up to which the sensors are needed, by default the end of follow-up of
            every individual; a forecast needs a later one.

        Returns
        -------
        Trajectories
            One entry per individual, from time 0 to the first sample after `until`.

        Examples
        --------
        >>> import pandas as pd
        >>> from boostr.data import RecurrentEvents, Trajectories
        >>> entry = pd.to_datetime(["2024-01-30", "2024-02-10"])
        >>> df = pd.DataFrame({"pump": [1, 2], "entry": entry, "failed": 0})
        >>> df["day"] = df["entry"] + pd.Timedelta(days=5)
        >>> y = RecurrentEvents.from_long(
        ...     df, "pump", "day", "failed", start="entry", origin="individual"
        ... )
        >>> dates = pd.to_datetime(["2024-01-01", "2024-02-01"])
        >>> prices = pd.DataFrame({"date": dates, "price": [7.0, 9.0]})
        >>> shared = Trajectories.shared(prices, time="date")
        >>> shared.for_individuals(y).read([1.0, 4.0])[:, :, 0]
        array([[7., 9.],
               [9., 9.]])
        """
        check_target(y)
        end = y.end if until is None else np.asarray(until, dtype=np.float64)
        return self._spread_over(y, np.zeros(len(y)), end)

    def _spread_over(
        self, y: RecurrentEvents, start: FloatArray, until: FloatArray
    ) -> Trajectories:
        """Return all sensors of every individual, from `start` to beyond `until`."""
        series = self._on_axis(y, find_origins(y), start, until)
        series = series._with(
            ids=y.ids, has_ids=y.has_ids, id_name=y.id_name, origin=y.origin
        )
        if self.own is None:
            return series
        return align_with(self.own, y).merge(series)

    def _without_histories(self, n: int, clock: Clocked, until: ArrayLike) -> Trajectories:
        """Return the sensors of ``n`` individuals without histories, on a common axis."""
        if clock.time_unit in MICROSECONDS and clock.origin is None and self._has_dates:
            raise InvalidSensorsError(
                "Shared sensors are read on dates, but the date of each individual's time "
                "0 is not known here.\n\nHint: Z=shared.for_individuals(y, until=…)."
            )
        zero, end = np.zeros(n), np.broadcast_to(np.asarray(until, np.float64), (n,))
        series = self._on_axis(clock, clock.origin, zero, end)
        return series if self.own is None else self.own.merge(series)

    @property
    def _has_dates(self) -> bool:
        return bool(self.seasons) or self.series.origin is not None

    def _on_axis(
        self, clock: Clocked, since: Any, start: FloatArray, until: FloatArray
    ) -> Trajectories:
        """Return the sensors for all individuals, clipped to the time each needs."""
        self._check_axis(clock, since)
        until = np.broadcast_to(until, start.shape)
        series, unit = self.series, clock.time_unit
        if self.seasons:
            series = self._add_seasons(since, start, until, str(unit))
        base, shift = series.times, np.zeros(len(start))
        if since is not None:
            stamps = to_stamps(series.times, series.origin, str(series.time_unit))
            earliest = np.min(since) if len(start) else since
            base = to_numbers(stamps, earliest, unit)
            shift = shift + to_numbers(np.asarray(since), earliest, unit)
        # The sample before the start holds at it, the one after the end shows the reach.
        first = np.maximum(np.searchsorted(base, shift + start, side="right") - 1, 0)
        last = np.minimum(np.searchsorted(base, shift + until, side="right") + 1, base.size)
        offsets = offsets_of(np.maximum(last - first, 0))
        owner = owners_of(offsets)
        samples = np.arange(offsets[-1]) + (first - offsets[:-1])[owner]
        is_common = since is None or np.ndim(since) == 0
        return series._with(
            times=base[samples]
            if is_common
            else to_numbers(stamps[samples], since[owner], unit),
            values=np.take(series.values, samples, axis=1),
            offsets=offsets,
            ids=np.arange(len(start)),
            has_ids=False,
            id_name=None,
            time_unit=unit,
            origin=since if is_common else None,
        )

    def _check_axis(self, clock: Clocked, since: Any) -> None:
        """Refuse dates on an axis of numbers, and numbers on an axis of dates."""
        if since is None and self._has_dates:
            raise InvalidSensorsError(
                "Shared sensors with dates need histories that count time from a date, but "
                "these count from an unknown one.\n\n"
                "Hint: RecurrentEvents.from_long reads time stamps; for an axis of numbers "
                "give the shared sensors numbers, too."
            )
        if since is not None and self.series.names and self.series.origin is None:
            raise InvalidSensorsError(
                "Shared sensors need dates where histories count time from dates, but the "
                f"times of {', '.join(self.series.names)} are numbers.\n\n"
                "Hint: read a column of time stamps; y.origin is the date of time 0."
            )
        if since is None:
            check_clocks(self.series, clock)

    def _add_seasons(
        self, since: Any, start: FloatArray, until: FloatArray, unit: str
    ) -> Trajectories:
        """Return the shared sensors with the seasons of all dates needed."""
        if not np.isfinite(until).all():
            raise InvalidParameterError("`until` must be finite where there are seasons.")
        first = to_stamps(start, since, unit).min()
        last = to_stamps(until, since, unit).max()
        merged = self.series
        step = np.timedelta64(self.resolution, "us")
        for name in self.seasons:
            season = SEASONS[name]
            # A value acts after its sample: periods of dated days begin a day before.
            stamps, codes = season.list_periods(first, last + step)
            times = to_numbers(stamps - step, merged.origin, merged.time_unit)
            one = merged._with(
                times=times,
                values=codes[None, :],
                offsets=np.array([0, times.size]),
                names=(name,),
                categories=(season.categories,),
                before="first",
                known_ahead=(name,),
            )
            merged = merged.merge(one) if merged.names else one
        return merged


def find_resolution(y: RecurrentEvents) -> int:
    """Return the precision of the dates of events in microseconds: a day, an hour or 0.

    Ends of follow-up are used if there are no events.
    """
    if y.times.size:
        moments = as_moments(y, owners_of(y.event_offsets), y.times)
    else:
        moments = as_moments(y, slice(None), y.end)
    ticks = moments.astype("datetime64[us]").astype(np.int64)
    for unit in ("D", "h"):
        if not np.any(ticks % MICROSECONDS[unit]):
            return MICROSECONDS[unit]
    return 0


def find_seasons(
    y: RecurrentEvents, names: str | Sequence[str], n_cycles: float
) -> tuple[str, ...]:
    """Return the seasons with at least `n_cycles` observed; warn about the others."""
    chosen = (names,) if isinstance(names, str) else tuple(dict.fromkeys(names))
    wrong = [name for name in chosen if name not in SEASONS]
    if wrong or not chosen:
        raise InvalidParameterError(
            f"A season must be one of {', '.join(SEASONS)}, but it is "
            f"{wrong[0] if wrong else names!r}."
        )
    if find_origins(y) is None:
        raise InvalidParameterError(
            "Seasons need histories that count time from a date, but these count from an "
            "unknown one.\n\n"
            "Hint: RecurrentEvents.from_long reads tables of time stamps."
        )
    first = as_moments(y, slice(None), y.start).min()
    last = as_moments(y, slice(None), y.end).max()
    span = (last - first) / np.timedelta64(1, "D")
    short = {name: f"{n_cycles:g} {SEASONS[name].words}" for name in chosen}
    short = {name: w for name, w in short.items() if span < n_cycles * SEASONS[name].n_days}
    for name, needed in short.items():
        warnings.warn(
            f"The season {name!r} is left out, because it needs {needed} of data and "
            f"follow-up covers {span:.0f} days ({str(first)[:10]} to {str(last)[:10]}).",
            SeasonWarning,
            stacklevel=3,
        )
    return tuple(name for name in chosen if name not in short)

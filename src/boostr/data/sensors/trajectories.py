"""``Trajectories``: sensors of many individuals over time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from os import PathLike
from typing import Any, Literal, Self, overload

import numpy as np
from numpy.typing import ArrayLike

from boostr._checks.ids import as_ids
from boostr._kernels.paths import read_values
from boostr._kernels.segments import Runs
from boostr._typing import AnyArray, FloatArray, OffsetArray
from boostr.data.events.frames import make_table
from boostr.data.events.recurrent_events import RecurrentEvents
from boostr.data.flat import owners_of, take_entries
from boostr.data.individuals import IndividualArray, Wording, count_of
from boostr.data.parquet.files import Paths, open_source
from boostr.data.parquet.sensors import ScannedTrajectories, scan_sensors
from boostr.data.sensors import past
from boostr.data.sensors.build import Filling
from boostr.data.sensors.checks import (
    Categories,
    check_clocks,
    count_unseen,
    match_ids,
    recode,
)
from boostr.data.sensors.combine import (
    assign_sensors,
    continue_sensors,
    join_individuals,
    merge_sensors,
)
from boostr.data.sensors.describe import write_sensors
from boostr.data.sensors.read import Given, read_arrays, read_samples
from boostr.data.sensors.shared import (
    N_CYCLES,
    SharedSensors,
    find_resolution,
    find_seasons,
)
from boostr.data.target import check_target
from boostr.data.time_scales import move_samples
from boostr.data.times import EPOCH, to_stamps
from boostr.exceptions import InvalidParameterError, InvalidSensorsError, SensorTypeError


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Trajectories(IndividualArray):
    """Sensors of many individuals, sliceable like a 1-D array.

    Sensors are sampled at times that may differ between individuals and between sensors.
    A value acts *after* its sample and holds until the next one of the same sensor:
    piece ``k`` of an individual holds on ``(times[k], times[k + 1]]``, so that an event
    never knows what was measured at the same moment or later; the last piece holds for
    ever. Before the first sample the sensors are unknown, or have their first known value
    if ``before="first"``. Make it with one of the constructors ``from_…``, which check
    every rule and drop nothing; calling the class itself takes the arrays below as they
    are.

    Parameters
    ----------
    times : (n_samples,) float64 array
        Times of the samples, individual after individual, sorted within each.
    values : (n_sensors, n_samples) float64 array
        What holds after each time, carried forward; NaN where unknown, and codes of
        categories where a sensor has them.
    offsets : (n + 1,) int64 array
        Samples of individual ``i`` are ``times[offsets[i]:offsets[i + 1]]``.
    names : tuple of str
        Names of the sensors.
    categories : tuple
        For each sensor the categories in the order of their codes; None for numbers.
    ids : (n,) array
        Id of every individual; its position if no ids were given.
    has_ids : bool
        Whether ids were given.
    id_name : str or None
        Name of the column that the ids came from.
    time_unit : str or None
        Unit of the times: "s", "min", "h", "D", "W", or whatever the user called it.
    origin : numpy.datetime64 or None
        Moment of time 0, if the times were time stamps with a common origin.
    before : {"unknown", "first"}
        What holds before the first sample.
    known_ahead : tuple of str
        Sensors whose future is known, such as the season; forecasts look at it.

    See Also
    --------
    RecurrentEvents : The event histories of the same individuals.
    SharedSensors : Series that all individuals share.
    Panel : A table of features and the sensors, kept in step.

    Notes
    -----
    ``Z[mask]``, ``Z[slice]`` and ``Z[positions]`` give another ``Trajectories``, as with
    ``RecurrentEvents``. ``np.asarray(Z)`` is an object array that holds the values of
    every individual. The arrays must not be changed.

    Examples
    --------
    >>> import pandas as pd
    >>> from boostr.data import Trajectories
    >>> df = pd.DataFrame(
    ...     {"well": ["W1", "W1", "W2"], "day": [0.0, 4.0, 1.0], "torque": [5.0, 6.0, 7.0]}
    ... )
    >>> Z = Trajectories.from_long(df, id="well", time="day")
    >>> Z
    Trajectories(2 individuals, 1 sensor, 3 samples)
    >>> Z.read([4.0, 5.0])[:, :, 0]
    array([[5., 6.],
           [7., 7.]])
    """

    _wording = Wording(
        container="Trajectories",
        entries="sensor series",
        items="samples",
        numbers="Z.values and Z.times are arrays of numbers, Z.read(times) as well",
        constructors="`Trajectories.from_long` or `from_flat`",
        type_error=SensorTypeError,
        value_error=InvalidSensorsError,
    )

    times: FloatArray  # (n_samples,)
    values: FloatArray  # (n_sensors, n_samples)
    offsets: OffsetArray  # (n + 1,)
    names: tuple[str, ...]
    categories: tuple[tuple[Any, ...] | None, ...]
    ids: AnyArray  # (n,)
    has_ids: bool
    id_name: str | None = None
    time_unit: str | None = None
    origin: np.datetime64 | None = None
    before: Literal["unknown", "first"] = "unknown"
    known_ahead: tuple[str, ...] = ()  # some of the names

    @property
    def last_times(self) -> FloatArray:
        """Time of every individual's last sample, minus infinity if it has none."""
        last = np.full(len(self), -np.inf)
        some = np.diff(self.offsets) > 0
        last[some] = self.times[self.offsets[1:][some] - 1]
        return last

    def __len__(self) -> int:
        return int(self.offsets.size) - 1

    def __repr__(self) -> str:
        return (
            f"{type(self).__name__}({count_of(len(self), 'individual')}, "
            f"{count_of(len(self.names), 'sensor')}, "
            f"{count_of(self.times.size, 'sample')})"
        )

    def _repr_html_(self) -> str:
        """Return figures, and a table of the sensors, for notebooks."""
        return write_sensors(self, _times(self))

    def _take(self, index: OffsetArray) -> Self:
        """Return the individuals at some positions."""
        samples, offsets = take_entries(self.offsets, index)
        return self._with(
            times=self.times[samples],
            values=np.take(self.values, samples, axis=1),
            offsets=offsets,
            ids=self.ids[index],
        )

    def _entries(self) -> Iterator[AnyArray]:
        """Return the values of every individual."""
        bounds = pairwise(self.offsets.tolist())
        return (self.values[:, first:last] for first, last in bounds)

    def _pieces(self) -> Runs:
        """Return the times at which the pieces of all individuals begin."""
        return Runs(self.begin_times(), self.offsets)

    def _samples(self) -> Runs:
        """Return the sample times of all individuals."""
        return Runs(self.times, self.offsets)

    def _index(self, name: str) -> int:
        """Return the position of a sensor."""
        if name in self.names:
            return self.names.index(name)
        raise InvalidParameterError(
            f"There must be a sensor {name!r}, but there is none.\n\n"
            f"Hint: the sensors are {', '.join(map(repr, self.names)) or 'none at all'}."
        )

    def _known_ahead(self) -> tuple[str, ...]:
        """Return the sensors that are known in advance."""
        return tuple(name for name in self.names if name in self.known_ahead)

    def _categorical(self) -> Categories:
        """Return the categories of every sensor by name."""
        return dict(zip(self.names, self.categories, strict=True))

    def _check_as_many(self, n: int) -> None:
        """Refuse to match a different number of individuals by position."""
        if n != len(self):
            raise InvalidSensorsError(
                "Without ids, sensors are matched by position and must be as many, but "
                f"they are of {len(self)} individuals and not of {n}.\n\n"
                "Hint: give the sensors ids, with `from_long` or ids=…."
            )

    def _matched(self, other: Any) -> Trajectories:
        """Return other sensors in the order of these individuals."""
        if not isinstance(other, Trajectories):
            raise SensorTypeError(
                f"Sensors must come in a Trajectories, but they come in a "
                f"{type(other).__name__}.\n\n"
                "Hint: Trajectories.from_long and Trajectories.from_flat make one."
            )
        check_clocks(self, other)
        if self.has_ids and other.has_ids:
            return other.align(self.ids)
        other._check_as_many(len(self))
        return other

    @classmethod
    def from_long(  # noqa: PLR0913 - all but the first four are by name
        cls,
        source: Any,
        id: str,
        time: str,
        columns: Sequence[str] | None = None,
        *,
        ids: ArrayLike | None = None,
        interpolation: Literal["last", "linear"] = "last",
        step: float | None = None,
        before: Literal["unknown", "first"] = "unknown",
        max_gap: float | None = None,
        unit: str | None = None,
        origin: Any = None,
    ) -> Self:
        """Read a table with one row per sample.

        Individuals come out sorted by id, so the order of the rows does not matter;
        rows that are sorted by id and time are read fastest.

        Parameters
        ----------
        source : DataFrame, str or Path
            From pandas, polars or anything else that narwhals reads; or the path of a
            Parquet file or of a folder of them, which is read column by column and never
            stands in memory as a whole.
        id, time : str
            Names of the columns. Times are numbers, durations or time stamps; they may
            lie before the origin. Rows of one individual at the same time are one
            sample, in which the later row wins where it knows the sensor.
        columns : sequence of str, optional
            The sensors, by default all other columns. Numbers and booleans are read as
            numbers, texts and categories as categories; missing means not sampled.
        ids : array-like, optional
            All individuals that there should be, in the order wanted, for instance
            ``y.ids``: those without any row are kept, with unknown sensors.
        interpolation : {"last", "linear"}, default="last"
            Between samples the last value holds, or numbers move in a line to the next
            sample; then a value acts before it was measured. Lines are cut into pieces
            that hold the value at their middle.
        step : float, optional
            The longest piece of a line, by default a quarter of the median time between
            successive samples of an individual.
        before : {"unknown", "first"}, default="unknown"
            Before its first sample a sensor is unknown, or has its first known value.
        max_gap : float, optional
            How long a value holds at most without a new sample of the same sensor;
            afterwards it is unknown. Lines are not drawn across longer gaps. By default
            values hold for ever.
        unit : {"s", "min", "m", "h", "D", "W"}, optional
            Unit to which time stamps and durations are converted, days by default.
            Numbers stay as they are, and any text is kept as the name of their unit.
        origin : time stamp or str, optional
            Moment of time 0, needed for time stamps: ``y.origin``; or the name of a
            column that holds each row's own origin, where time is age.

        Returns
        -------
        Trajectories
            One entry per id.

        Raises
        ------
        InvalidSensorsError
            If a rule is broken; the message names the individuals.

        Examples
        --------
        >>> import pandas as pd
        >>> from boostr.data import Trajectories
        >>> df = pd.DataFrame(
        ...     {"well": [1, 1, 2], "day": [0, 4, 1], "torque": [5.0, None, 7.0]}
        ... )
        >>> Trajectories.from_long(df, id="well", time="day", columns=["torque"]).values
        array([[5., 5., 7.]])
        """
        filling = Filling(
            interpolation=interpolation, step=step, before=before, max_gap=max_gap
        )
        roles = {"id": id, "time": time, "sensors": columns}
        fields = read_samples(
            open_source(source), roles, ids=ids, filling=filling, unit=unit, origin=origin
        )
        return cls(**fields)

    @classmethod
    def from_flat(  # noqa: PLR0913 - all but the first four are by name
        cls,
        times: ArrayLike,
        offsets: ArrayLike,
        values: ArrayLike,
        names: Sequence[str],
        *,
        categories: Given = None,
        ids: ArrayLike | None = None,
        interpolation: Literal["last", "linear"] = "last",
        step: float | None = None,
        before: Literal["unknown", "first"] = "unknown",
        max_gap: float | None = None,
    ) -> Self:
        """Read the samples of all individuals from arrays.

        Parameters
        ----------
        times : (n_samples,) array-like
            Times of the samples, individual after individual.
        offsets : (n + 1,) array-like of int
            Individual ``i`` has ``times[offsets[i]:offsets[i + 1]]``.
        values : (n_sensors, n_samples) array-like
            What was measured; NaN where a sensor was not sampled. One sensor may come
            in one dimension.
        names : sequence of str
            Names of the sensors.
        categories : mapping or sequence, optional
            Categories of the sensors that hold codes, by name; or for every sensor its
            categories or None.
        ids : (n,) array-like, optional
            Id of every individual, its position by default.
        interpolation, step, before, max_gap
            As in `from_long`.

        Returns
        -------
        Trajectories
            One entry per individual; the arrays are copies.

        Examples
        --------
        >>> from boostr.data import Trajectories
        >>> Trajectories.from_flat([0, 4, 1], [0, 2, 3], [[5, 6, 7]], ["torque"])
        Trajectories(2 individuals, 1 sensor, 3 samples)
        """
        filling = Filling(
            interpolation=interpolation, step=step, before=before, max_gap=max_gap
        )
        fields = read_arrays(
            times, offsets, values, names, categories=categories, ids=ids, filling=filling
        )
        return cls(**fields)

    @classmethod
    def from_events(cls, events: RecurrentEvents) -> Self:
        """Make the sensors of individuals that have none.

        What the events themselves tell can then be added, for instance with
        `time_since_event` and `events_in_window`.

        Parameters
        ----------
        events : RecurrentEvents
            Histories of the individuals.

        Returns
        -------
        Trajectories
            One entry per individual, without sensors and samples.

        Examples
        --------
        >>> from boostr.data import RecurrentEvents, Trajectories
        >>> y = RecurrentEvents.from_lists([[3.0], []], end=[10.0, 7.0])
        >>> Z = Trajectories.from_events(y).events_in_window(y, 5.0)
        >>> Z.read([2.0, 4.0, 9.0])[0, :, 0]
        array([0., 1., 0.])
        """
        return cls(
            times=np.empty(0),
            values=np.empty((0, 0)),
            offsets=np.zeros(len(events) + 1, dtype=np.int64),
            names=(),
            categories=(),
            ids=events.ids,
            has_ids=events.has_ids,
            id_name=events.id_name,
            time_unit=events.time_unit,
            origin=events.origin,
        )

    @classmethod
    def scan_parquet(  # noqa: PLR0913 - all but the first are by name
        cls,
        path: Paths,
        *,
        id: str,
        time: str,
        columns: Sequence[str] | None = None,
        ids: ArrayLike | None = None,
        interpolation: Literal["last", "linear"] = "last",
        step: float | None = None,
        before: Literal["unknown", "first"] = "unknown",
        max_gap: float | None = None,
        unit: str | None = None,
        origin: Any = None,
        cache: str | PathLike[str] | None = None,
        sort_memory: str = "1GB",
    ) -> ScannedTrajectories:
        """Point at Parquet files with more samples than fit into memory.

        `BoostR.fit` takes the result as ``Z`` and goes through the files twice, a chunk at
        a time. Files that are sorted by id are read as they stand; so are those that each
        hold a range of ids, in any order. Others are sorted once, on disk.

        Parameters
        ----------
        path : str, Path or sequence of them
            A file, a folder, a pattern such as ``"samples/*.parquet"``, or several.
        id, time, columns
            As in `from_long`.
        ids : array-like, optional
            All individuals that there should be, for instance ``y.ids``: those without any
            row are kept, with unknown sensors.
        interpolation, step, before, max_gap, unit, origin
            As in `from_long`; lines need a ``step``.
        cache : str or Path, optional
            Folder for sorted rows, to find them there the next time; by default they are
            deleted with the object.
        sort_memory : str, default="1GB"
            Memory that sorting may take; it goes on on disk.

        Returns
        -------
        ScannedTrajectories
            Of which nothing is read yet.

        Examples
        --------
        >>> import pathlib, tempfile
        >>> from boostr.data import Trajectories
        >>> Z = Trajectories.from_flat([0, 4, 1], [0, 2, 3], [[5, 6, 7]], ["torque"])
        >>> file = pathlib.Path(tempfile.mkdtemp()) / "samples.parquet"
        >>> Z.to_long(backend="pandas").to_parquet(file)
        >>> Trajectories.scan_parquet(file, id="id", time="time").collect().values
        array([[5., 6., 7.]])
        """
        filling = Filling(
            interpolation=interpolation, step=step, before=before, max_gap=max_gap
        )
        return scan_sensors(
            cls,
            path,
            {"id": id, "time": time, "sensors": columns},
            ids=ids,
            filling=filling,
            unit=unit,
            origin=origin,
            cache=cache,
            sort_memory=sort_memory,
        )

    @classmethod
    def shared(  # noqa: PLR0913 - all but the first three are by name
        cls,
        source: Any,
        time: str,
        columns: Sequence[str] | None = None,
        *,
        interpolation: Literal["last", "linear"] = "last",
        step: float | None = None,
        before: Literal["unknown", "first"] = "unknown",
        max_gap: float | None = None,
        unit: str | None = None,
        known_ahead: bool = False,
    ) -> SharedSensors:
        """Read a table of sensors that are the same for all, such as weather or prices.

        The series is kept once. Individuals read it at their own calendar date where `y`
        counts time from dates, also where each has its own date of time 0; an axis of
        numbers is that of `y`.

        Parameters
        ----------
        source : DataFrame, str or Path
            One row per sample, as in `from_long` but without ids.
        time : str
            Name of the column of times: time stamps where `y` has them, else numbers.
        columns : sequence of str, optional
            The sensors, by default all other columns.
        interpolation, step, before, max_gap
            As in `from_long`.
        unit : {"s", "min", "m", "h", "D", "W"}, optional
            Unit of `step` and `max_gap` for time stamps, days by default; for numbers the
            name of their unit.
        known_ahead : bool, default=False
            Whether samples after the present are known at the present, as for holidays
            and tariffs: forecasts then look at them. Otherwise they do not, and what is
            planned or forecast (the weather) comes as ``future``.

        Returns
        -------
        SharedSensors
            To be given as ``Z``, alone or merged with other sensors.

        Examples
        --------
        >>> import pandas as pd
        >>> from boostr.data import Trajectories
        >>> df = pd.DataFrame({"day": [0, 4], "temperature": [5.0, -3.0]})
        >>> Trajectories.shared(df, time="day")
        SharedSensors(temperature)
        """
        filling = Filling(
            interpolation=interpolation, step=step, before=before, max_gap=max_gap
        )
        roles = {"id": None, "time": time, "sensors": columns}
        fields = read_samples(
            open_source(source), roles, ids=None, filling=filling, unit=unit, origin=EPOCH
        )
        ahead = fields["names"] if known_ahead else ()
        return SharedSensors(series=cls(**fields, known_ahead=ahead))

    @classmethod
    def seasonal(
        cls,
        y: RecurrentEvents,
        seasons: str | Sequence[str] = ("month", "weekday"),
        *,
        min_cycles: float = N_CYCLES,
    ) -> SharedSensors:
        """Make sensors of the season, where enough of it was seen.

        They follow from the calendar, so that forecasts know their future by themselves.

        Parameters
        ----------
        y : RecurrentEvents
            Histories that count time from a date, or each from its own.
        seasons : str or sequence of str, default=("month", "weekday")
            Some of "month", "quarter", "weekday" and "hour": a sensor of categories each.
            Dates are taken as they are, time stamps with a zone in UTC.
        min_cycles : float, default=2
            Cycles (years, weeks, days) that follow-up must cover from the first entry to
            the last end: with fewer, a season is left out with a `SeasonWarning`, because
            a single winter cannot be told from a bad time. 0 takes all, for instance for
            the few individuals that a forecast is made for.

        Returns
        -------
        SharedSensors
            The seasons that were kept; if there are none, `BoostR` uses no sensors.

        Examples
        --------
        >>> import pandas as pd
        >>> from boostr.data import RecurrentEvents, Trajectories
        >>> days = pd.to_datetime(["2024-01-01", "2024-01-06", "2024-02-05"])
        >>> df = pd.DataFrame({"pump": 1, "day": days[1:], "failed": [1, 0]})
        >>> y = RecurrentEvents.from_long(df, "pump", "day", "failed", start=days[0])
        >>> Trajectories.seasonal(y, "weekday")
        SharedSensors(weekday)
        """
        check_target(y)
        empty = cls(
            times=np.empty(0),
            values=np.empty((0, 0)),
            offsets=np.zeros(2, dtype=np.int64),
            names=(),
            categories=(),
            ids=np.arange(1),
            has_ids=False,
            time_unit="D",
            origin=EPOCH,
        )
        return SharedSensors(
            series=empty,
            seasons=find_seasons(y, seasons, min_cycles),
            resolution=find_resolution(y),
        )

    def begin_times(self) -> FloatArray:
        """Return the time after which every piece holds.

        Returns
        -------
        (n_samples,) float64 array
            The times themselves; minus infinity for the first piece of every individual
            if the first known values also hold before the first sample.

        Examples
        --------
        >>> from boostr.data import Trajectories
        >>> Z = Trajectories.from_flat([1, 2], [0, 2], [[5, 6]], ["load"], before="first")
        >>> Z.begin_times()
        array([-inf,   2.])
        """
        if self.before == "unknown":
            return self.times
        begin = self.times.copy()
        begin[self.offsets[:-1][np.diff(self.offsets) > 0]] = -np.inf
        return begin

    def read(self, times: ArrayLike) -> FloatArray:
        """Return the values that act at some times.

        Parameters
        ----------
        times : float, (m,) or (n, m) array-like
            Times for all individuals, or one row of times for each.

        Returns
        -------
        (n, m, n_sensors) float64 array
            Values last sampled strictly before each time; NaN where unknown, codes for
            categories.

        Examples
        --------
        >>> from boostr.data import Trajectories
        >>> Z = Trajectories.from_flat([1, 2], [0, 2], [[5, 6]], ["load"])
        >>> Z.read([1.0, 2.0, 9.0])[:, :, 0]
        array([[nan,  5.,  6.]])
        """
        given = np.atleast_1d(np.asarray(times, dtype=np.float64))
        if given.ndim > 2 or (given.ndim == 2 and given.shape[0] != len(self)):
            raise InvalidParameterError(
                "`times` must be in one dimension, or one row per individual, but its "
                f"shape is {given.shape} for {len(self)} individuals."
            )
        rows = np.ascontiguousarray(np.broadcast_to(given, (len(self), given.shape[-1])))
        out = np.empty((*rows.shape, len(self.names)))
        read_values(self._pieces(), self.values, rows, out)
        return out

    def equals(self, other: object) -> bool:
        """Return whether two containers hold the same sensors in the same order.

        Parameters
        ----------
        other : object
            Anything; only another container can be equal.

        Returns
        -------
        bool
            Whether ids, sensors, times, values, unit and origin all agree. The name of
            the id column does not count.

        Examples
        --------
        >>> from boostr.data import Trajectories
        >>> Z = Trajectories.from_flat([1, 2], [0, 1, 2], [[5, 6]], ["load"])
        >>> Z.equals(Z[[0, 1]]), Z.equals(Z[[1, 0]])
        (True, False)
        """
        if not isinstance(other, Trajectories):
            return False
        facts = ("names", "categories", "before", "time_unit", "origin")
        return (
            all(getattr(self, name) == getattr(other, name) for name in facts)
            and all(
                np.array_equal(getattr(self, name), getattr(other, name))
                for name in ("ids", "offsets", "times")
            )
            and np.array_equal(self.values, other.values, equal_nan=True)
        )

    def select(self, names: str | Sequence[str]) -> Self:
        """Keep some of the sensors.

        Parameters
        ----------
        names : str or sequence of str
            Names of the sensors, in the order wanted.

        Returns
        -------
        Trajectories
            The same samples of these sensors.

        Examples
        --------
        >>> from boostr.data import Trajectories
        >>> Z = Trajectories.from_flat([1], [0, 1], [[5], [6]], ["load", "torque"])
        >>> Z.select(["torque"]).values
        array([[6.]])
        """
        given = [names] if isinstance(names, str) else names
        chosen = [self._index(name) for name in given]
        return self._with(
            values=self.values[chosen],
            names=tuple(self.names[i] for i in chosen),
            categories=tuple(self.categories[i] for i in chosen),
        )

    def align(self, ids: ArrayLike) -> Self:
        """Return the individuals in the order of ids.

        Parameters
        ----------
        ids : (m,) array-like
            Ids in the order wanted, for instance ``y.ids``; an id may stand twice.

        Returns
        -------
        Trajectories
            One entry per id. Series without ids are left in their order, if there are
            as many.

        Raises
        ------
        InvalidSensorsError
            If an id has no entry, or an entry is of none of the ids.

        Examples
        --------
        >>> from boostr.data import Trajectories
        >>> Z = Trajectories.from_flat([1, 2], [0, 1, 2], [[5, 6]], ["load"], ids=[7, 3])
        >>> Z.align([3, 7]).values
        array([[6., 5.]])
        """
        wanted = as_ids(ids, InvalidParameterError)
        if not self.has_ids:
            self._check_as_many(wanted.size)
            return self
        index = match_ids(self.ids, wanted)
        return self if index is None else self._take(index)

    def encode(self, categories: Mapping[str, Sequence[Any]]) -> Self:
        """Write categorical sensors in given lists of categories.

        Parameters
        ----------
        categories : mapping of str to sequence
            For some sensors the categories in the order of their codes, for instance
            those of the training data.

        Returns
        -------
        Trajectories
            The same values under other codes. A category that is not in the list
            becomes unknown; `count_unseen` tells how often.

        Examples
        --------
        >>> import pandas as pd
        >>> from boostr.data import Trajectories
        >>> df = pd.DataFrame({"well": 1, "day": [0, 1], "mode": ["idle", "run"]})
        >>> Z = Trajectories.from_long(df, "well", "day")
        >>> Z.encode({"mode": ("run", "stop")}).values
        array([[nan,  0.]])
        """
        return self._with(**recode(self._categorical(), self.values, categories))

    def count_unseen(self, categories: Mapping[str, Sequence[Any]]) -> dict[str, int]:
        """Count the pieces whose category is not in given lists.

        Parameters
        ----------
        categories : mapping of str to sequence
            For some sensors the categories that are known.

        Returns
        -------
        dict
            By sensor, how many pieces `encode` would make unknown.

        Examples
        --------
        >>> import pandas as pd
        >>> from boostr.data import Trajectories
        >>> df = pd.DataFrame({"well": 1, "day": [0, 1], "mode": ["idle", "run"]})
        >>> Z = Trajectories.from_long(df, "well", "day")
        >>> Z.count_unseen({"mode": ("run", "stop")})
        {'mode': 1}
        """
        return count_unseen(self._categorical(), self.values, categories)

    @classmethod
    def concatenate(cls, parts: Sequence[Self]) -> Self:
        """Return the individuals of several containers in one.

        Parameters
        ----------
        parts : sequence of Trajectories
            At least one; all with the same sensors, unit, origin and ``before``.

        Returns
        -------
        Trajectories
            All individuals, with the ids they had. Categories are united.

        Examples
        --------
        >>> from boostr.data import Trajectories
        >>> Z = Trajectories.from_flat([1, 2], [0, 1, 2], [[5, 6]], ["load"])
        >>> Trajectories.concatenate([Z[1:], Z[:1]]).values
        array([[6., 5.]])
        """
        return join_individuals(list(parts), cls)

    @overload
    def merge(self, other: Trajectories) -> Self: ...

    @overload
    def merge(self, other: SharedSensors) -> SharedSensors: ...

    def merge(self, other: Trajectories | SharedSensors) -> Self | SharedSensors:
        """Put the sensors of the same individuals from two sources side by side.

        Parameters
        ----------
        other : Trajectories or SharedSensors
            Other sensors. Those of individuals are put into the order of these ids, or
            matched by position where one of the two has no ids.

        Returns
        -------
        Trajectories or SharedSensors
            All sensors, with pieces that begin at the samples of either; shared sensors
            are added when the histories, and so the dates, are known.

        Raises
        ------
        InvalidSensorsError
            If the individuals differ, or a sensor stands in both.

        Examples
        --------
        >>> from boostr.data import Trajectories
        >>> load = Trajectories.from_flat([1, 3], [0, 2], [[5, 6]], ["load"])
        >>> speed = Trajectories.from_flat([2], [0, 1], [[9]], ["speed"])
        >>> load.merge(speed).values
        array([[ 5.,  5.,  6.],
               [nan,  9.,  9.]])
        """
        if isinstance(other, SharedSensors):
            return other._with_own(self)
        return merge_sensors(self, self._matched(other))

    def assign(self, **sensors: Any) -> Self:
        """Change sensors, or add some that follow from others.

        Parameters
        ----------
        **sensors : callable, number or array
            New values by the sensor's name. For an existing sensor: a function of the
            array of its known values, or one value for all of these. For a new sensor: a
            function of a dict with the arrays of all sensors, or one value for all pieces.
            For either, also an array with the values of all pieces. The values of a
            categorical sensor are categories.

        Returns
        -------
        Trajectories
            The same pieces with other values; what was unknown stays unknown.

        Examples
        --------
        >>> from boostr.data import Trajectories
        >>> Z = Trajectories.from_flat([1, 2], [0, 2], [[5, 10]], ["torque"])
        >>> Z.assign(torque=lambda v: 0.8 * v, speed=3.0).values
        array([[4., 8.],
               [3., 3.]])
        """
        return self._with(**assign_sensors(self, sensors))

    def followed_by(self, future: Trajectories, at: ArrayLike | None = None) -> Self:
        """Continue the sensors with those of a future.

        Parameters
        ----------
        future : Trajectories
            What the sensors will show; all of these sensors or some of them. It is put
            into the order of these ids.
        at : float or (n,) array-like, optional
            Until when the own sensors hold, by default the last sample of each individual.

        Returns
        -------
        Trajectories
            These sensors up to ``at``, and those of the future after it, beginning with
            the value that the future has at ``at``. As long as the future has no known
            value, or if it lacks the sensor, the last value before ``at`` holds.

        Examples
        --------
        >>> from boostr.data import Trajectories
        >>> Z = Trajectories.from_flat([1, 2], [0, 2], [[5, 6]], ["load"])
        >>> future = Trajectories.from_flat([0, 4], [0, 2], [[1, 2]], ["load"])
        >>> Z.followed_by(future, at=3.0).read([3.0, 4.0, 5.0])[:, :, 0]
        array([[6., 1., 2.]])
        """
        return continue_sensors(self, self._matched(future), at)

    def lag(
        self, sensor: str | Sequence[str], by: float, *, name: str | None = None
    ) -> Self:
        """Add lagged values of sensors.

        Parameters
        ----------
        sensor : str or sequence of str
            Sensors to look at, of numbers or categories.
        by : float
            How long ago.
        name : str, optional
            Name of the new sensor, by default for instance "torque lag 5".

        Returns
        -------
        Trajectories
            One further sensor for each.

        Examples
        --------
        >>> from boostr.data import Trajectories
        >>> Z = Trajectories.from_flat([0, 4], [0, 2], [[1, 2]], ["torque"])
        >>> Z.lag("torque", 5.0).select("torque lag 5").read([5.0, 6.0, 9.0, 10.0]).ravel()
        array([nan,  1.,  1.,  2.])
        """
        return past.add_lag(self, sensor, by, name)

    def running_mean(
        self,
        sensor: str | Sequence[str],
        window: float,
        step: float | None = None,
        *,
        name: str | None = None,
    ) -> Self:
        """Add the moving average of sensors, weighted by time.

        Parameters
        ----------
        sensor : str or sequence of str
            Sensors of numbers.
        window : float
            How far back the mean reaches; only the known part of it counts. Where
            nothing in it was known, the present value stands.
        step : float, optional
            The longest piece while the mean changes, by default a 20th of the window.
        name : str, optional
            Name of the new sensor, by default for instance "torque mean 7".

        Returns
        -------
        Trajectories
            One further sensor for each.

        Examples
        --------
        >>> from boostr.data import Trajectories
        >>> Z = Trajectories.from_flat([0, 10], [0, 2], [[1, 2]], ["torque"])
        >>> Z = Z.running_mean("torque", 4.0, step=1.0)
        >>> Z.read([9.0, 10.5, 11.5, 12.5, 13.5, 14.5])[0, :, 1]
        array([1.  , 1.  , 1.25, 1.5 , 1.75, 2.  ])
        """
        return past.add_running_mean(self, sensor, window, step, name)

    def fading_sum(
        self,
        sensor: str | Sequence[str],
        half_life: float,
        step: float | None = None,
        *,
        name: str | None = None,
    ) -> Self:
        """Add the integral of sensors over the past, with exponential decay.

        At time ``t`` it is the integral of ``z(u) * 2**(-(t - u) / half_life)`` over all
        ``u < t``; unknown values count as zero.

        Parameters
        ----------
        sensor : str or sequence of str
            Sensors of numbers.
        half_life : float
            Time after which the past counts half.
        step : float, optional
            The longest piece, by default a 20th of the half-life. Pieces end ten
            half-lives after a sample, when the sum has settled to a thousandth.
        name : str, optional
            Name of the new sensor, by default for instance "torque fading 7".

        Returns
        -------
        Trajectories
            One further sensor for each.

        Examples
        --------
        >>> from boostr.data import Trajectories
        >>> Z = Trajectories.from_flat([0, 1], [0, 2], [[1, 0]], ["torque"])
        >>> Z = Z.fading_sum("torque", half_life=2.0, step=1.0)
        >>> Z.read([1.5, 3.5])[0, :, 1].round(3)
        array([0.845, 0.423])
        """
        return past.add_fading_sum(self, sensor, half_life, step, name)

    def running_max(
        self,
        sensor: str | Sequence[str],
        window: float | None = None,
        *,
        name: str | None = None,
    ) -> Self:
        """Add the largest known value of sensors so far, the present one included.

        Parameters
        ----------
        sensor : str or sequence of str
            Sensors of numbers.
        window : float, optional
            How far back the maximum reaches, by default over all of the past.
        name : str, optional
            Name of the new sensor, by default "torque max" or for instance
            "torque max 7".

        Returns
        -------
        Trajectories
            One further sensor for each.

        Examples
        --------
        >>> from boostr.data import Trajectories
        >>> Z = Trajectories.from_flat([0, 1], [0, 2], [[3, 2]], ["torque"])
        >>> Z = Z.running_max("torque", window=4.0)
        >>> Z.read([0.5, 5.0, 5.5])[0, :, 1]
        array([3., 3., 2.])
        """
        return past.add_running_max(self, sensor, window, name)

    def time_since_event(
        self,
        events: Any,
        step: float | None = None,
        *,
        until: ArrayLike | None = None,
        name: str = "time since event",
    ) -> Self:
        """Add the time since the individual's last event.

        Before its first event it is the time since entry, and before entry unknown. An
        event at ``t`` counts after ``t``.

        Parameters
        ----------
        events : RecurrentEvents
            Histories of the same individuals, matched by id.
        step : float, optional
            The longest piece, by default a 200th of the longest follow-up.
        until : float or (n,) array-like, optional
            When the time stops growing, by default at the end of follow-up of every
            individual; a forecast needs a later time.
        name : str, default="time since event"
            Name of the new sensor.

        Returns
        -------
        Trajectories
            One further sensor.

        Examples
        --------
        >>> from boostr.data import RecurrentEvents, Trajectories
        >>> y = RecurrentEvents.from_lists([[3.0]], end=[10.0])
        >>> Z = Trajectories.from_events(y).time_since_event(y, step=1.0)
        >>> Z.read([0.0, 1.0, 3.0, 4.5, 10.0]).ravel()
        array([nan,  0.,  2.,  1.,  6.])
        """
        own = self._match_events(events)
        return past.add_time_since_event(self, own, step, until, name)

    def events_in_window(
        self, events: Any, window: float, *, name: str | None = None
    ) -> Self:
        """Add the number of the individual's events within a moving window.

        An event at ``t`` counts on ``(t, t + window]``; before entry the number is
        unknown.

        Parameters
        ----------
        events : RecurrentEvents
            Histories of the same individuals, matched by id.
        window : float
            How long an event counts.
        name : str, optional
            Name of the new sensor, by default for instance "events in last 30".

        Returns
        -------
        Trajectories
            One further sensor.

        Examples
        --------
        >>> from boostr.data import RecurrentEvents, Trajectories
        >>> y = RecurrentEvents.from_lists([[3.0, 4.0]], end=[10.0])
        >>> Z = Trajectories.from_events(y).events_in_window(y, 2.0)
        >>> Z.read([3.0, 3.5, 5.0, 5.5, 6.5]).ravel()
        array([0., 1., 2., 1., 0.])
        """
        own = self._match_events(events)
        return past.add_recent_events(self, own, window, name)

    def _match_events(self, events: Any) -> RecurrentEvents:
        """Return the histories in the order of the individuals of the sensors."""
        if not isinstance(events, RecurrentEvents):
            raise SensorTypeError(
                f"`events` must be a RecurrentEvents, but it is a "
                f"{type(events).__name__}.\n\n"
                "Hint: pass the y to which the sensors belong."
            )
        check_clocks(self, events)
        if self.has_ids and events.has_ids:
            index = match_ids(events.ids, self.ids)
            return events if index is None else events[index]
        self._check_as_many(len(events))
        return events

    def to_time_scale(self, y: RecurrentEvents, other: RecurrentEvents) -> Self:
        """Count time as the same histories do in another time scale.

        Parameters
        ----------
        y : RecurrentEvents
            Histories of the same individuals, in the time scale of the sensors.
        other : RecurrentEvents
            The same histories in the time scale wanted, for instance
            ``y.in_calendar_time()``.

        Returns
        -------
        Trajectories
            The same samples in the order of the histories, at other times.

        Examples
        --------
        >>> from boostr.data import RecurrentEvents, Trajectories
        >>> y = RecurrentEvents.from_lists([[3.0], []], end=[10.0, 7.0])
        >>> Z = Trajectories.from_flat([0, 4, 1], [0, 2, 3], [[5, 6, 7]], ["torque"])
        >>> Z.to_time_scale(y, y.in_calendar_time(since=[0.0, 100.0])).times
        array([  0.,   4., 101.])
        """
        aligned = self.align(y.ids)
        return aligned._with(**move_samples(aligned, y, other))

    def to_long(self, *, backend: str | None = None) -> Any:
        """Write a table with one row per piece.

        Parameters
        ----------
        backend : {"pandas", "polars"}, optional
            Which table to make; by default pandas if it is installed, else polars.

        Returns
        -------
        DataFrame
            Columns ``id_name`` (or "id"), "time" and the sensors, categories as texts.
            Times are time stamps if the origin is known. ``from_long`` with the same
            ``ids``, ``unit``, ``origin`` and ``before`` gives the same series back,
            unless a value had become unknown again.

        Examples
        --------
        >>> from boostr.data import Trajectories
        >>> Z = Trajectories.from_flat([0, 4, 1], [0, 2, 3], [[5, 6, 7]], ["torque"])
        >>> Z.to_long(backend="pandas")
           id  time  torque
        0   0   0.0     5.0
        1   0   4.0     6.0
        2   1   1.0     7.0
        """
        return _write_samples(self, backend)


def _write_samples(sensors: Trajectories, backend: str | None) -> Any:
    """Return a table with one row per piece."""
    time_name = "time" if "time" not in sensors.names else "sample time"
    taken = {time_name, *sensors.names}
    wanted = (sensors.id_name or "id", "id", "id of series")
    id_name = next(name for name in wanted if name not in taken)
    ids = sensors.ids[owners_of(sensors.offsets)]
    # Lists let both libraries find the type of ids that NumPy calls objects.
    columns: dict[str, Any] = {id_name: ids.tolist() if ids.dtype.kind == "O" else ids}
    columns[time_name] = _times(sensors)
    for name, row, categories in zip(
        sensors.names, sensors.values, sensors.categories, strict=True
    ):
        columns[name] = row if categories is None else _texts(row, categories)
    return make_table(columns, backend)


def _times(sensors: Trajectories) -> AnyArray:
    """Return times as dates if the sensors have an origin, else as numbers."""
    if sensors.origin is None or sensors.time_unit is None:
        return sensors.times
    return to_stamps(sensors.times, sensors.origin, sensors.time_unit)


def _texts(codes: AnyArray, categories: tuple[Any, ...]) -> list[Any]:
    """Return codes as categories, unknown ones as None."""
    known = [*categories, None]
    places = np.where(np.isnan(codes), len(categories), codes).astype(np.int64)
    return [known[place] for place in places.tolist()]

"""``Trajectories``: sensors of many individuals over time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike

from boostr._typing import AnyArray
from boostr.data.events.frames import make_table
from boostr.data.events.recurrent_events import RecurrentEvents
from boostr.data.flat import owners_of
from boostr.data.parquet.sensors import TrajectoryScans
from boostr.data.parquet.source import open_source
from boostr.data.sensors.build import Filling
from boostr.data.sensors.past import MemoryTransforms
from boostr.data.sensors.read import EPOCH, Given, read_arrays, read_table
from boostr.data.sensors.season import N_CYCLES, find_resolution, find_seasons
from boostr.data.sensors.shared import SharedSensors
from boostr.data.target import check_target
from boostr.data.time_scales import move_samples
from boostr.data.times import to_stamps

if TYPE_CHECKING:
    from boostr.data.sensors.container import PathContainer


def write_samples(paths: PathContainer, backend: str | None) -> Any:
    """Return a table with one row per piece."""
    time_name = "time" if "time" not in paths.names else "sample time"
    taken = {time_name, *paths.names}
    wanted = (paths.id_name or "id", "id", "id of series")
    id_name = next(name for name in wanted if name not in taken)
    ids = paths.ids[owners_of(paths.offsets)]
    # Lists let both libraries find the type of ids that NumPy calls objects.
    columns: dict[str, Any] = {id_name: ids.tolist() if ids.dtype.kind == "O" else ids}
    columns[time_name] = _times(paths)
    for name, row, categories in zip(
        paths.names, paths.values, paths.categories, strict=True
    ):
        columns[name] = row if categories is None else _texts(row, categories)
    return make_table(columns, backend)


def _times(paths: PathContainer) -> AnyArray:
    """Return times as dates if the sensors have an origin, else as numbers."""
    if paths.origin is None or paths.time_unit is None:
        return paths.times
    return to_stamps(paths.times, paths.origin, paths.time_unit)


def _texts(codes: AnyArray, categories: tuple[Any, ...]) -> list[Any]:
    """Return codes as categories, unknown ones as None."""
    known = [*categories, None]
    places = np.where(np.isnan(codes), len(categories), codes).astype(np.int64)
    return [known[place] for place in places.tolist()]


class Trajectories(TrajectoryScans, MemoryTransforms):
    """Sensor series of many individuals, sliceable like a 1-D array.

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
        table = open_source(source)
        return cls(
            **read_table(table, roles, ids=ids, filling=filling, unit=unit, origin=origin)
        )

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
        return cls(
            **read_arrays(
                times,
                offsets,
                values,
                names,
                categories=categories,
                ids=ids,
                filling=filling,
            )
        )

    @classmethod
    def from_events(cls, events: RecurrentEvents) -> Self:
        """Make the series of individuals without any sensor.

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
        table = open_source(source)
        fields = read_table(
            table, roles, ids=None, filling=filling, unit=unit, origin=EPOCH
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
            the few individuals that a fitted model is asked about.

        Returns
        -------
        SharedSensors
            The seasons that remain; `BoostR` does without sensors where none does.

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
        return write_samples(self, backend)

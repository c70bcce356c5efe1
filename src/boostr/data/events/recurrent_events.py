"""``RecurrentEvents``: windows of observation and event times of many individuals."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from os import PathLike
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike

import boostr
from boostr._checks.parameters import check_choice
from boostr._html import make_card, make_facts, make_note
from boostr._typing import AnyArray, BoolArray, FloatArray, OffsetArray
from boostr.data.events.assemble import assemble
from boostr.data.events.describe import EventsSummary, describe_events
from boostr.data.events.exposure import Exposure
from boostr.data.events.frames import write_long, write_start_stop
from boostr.data.events.intervals import to_periods
from boostr.data.events.kinds import find_kind, join_kinds, keep_kinds
from boostr.data.events.read import (
    find_tied,
    read_counts,
    read_long,
    read_start_stop,
    settle_duplicates,
)
from boostr.data.events.read_exposure import (
    check_exposed,
    match_exposure,
    read_exposure_column,
)
from boostr.data.events.sequences import read_flat, read_lists, read_wide
from boostr.data.events.terminal import join_terminal, match_terminal
from boostr.data.events.timeline import draw_timeline
from boostr.data.flat import offsets_of, owners_of, take_entries
from boostr.data.individuals import (
    IndividualArray,
    Wording,
    check_parts,
    count_of,
    join_ids,
)
from boostr.data.parquet.events import ScannedEvents, scan_events
from boostr.data.parquet.files import Paths
from boostr.data.time_scales import to_age, to_calendar_time
from boostr.data.times import join_origins, name_unit
from boostr.exceptions import InvalidEventsError, TargetTypeError

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_N_SHOWN = 12  # individuals of the timeline in a notebook
_EVENT_FIELDS = ("times", "costs", "intervals", "event_kind")  # one entry per event


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class RecurrentEvents(IndividualArray):
    """Event histories of many individuals, sliceable like a 1-D array.

    Every individual is observed on one or more windows ``(start, stop]``, and has
    events at times within them; events at the same time are allowed. Windows that
    touch are one window. The container is the ``y`` of every estimator, and
    scikit-learn splits it as it stands. Make it with one of the constructors
    ``from_…``, which check every rule and drop nothing; calling the class itself
    takes the arrays below as they are.

    Parameters
    ----------
    times : (n_events,) float64 array
        Event times, individual after individual, sorted within each.
    event_offsets : (n + 1,) int64 array
        Events of individual ``i`` are ``times[event_offsets[i]:event_offsets[i + 1]]``.
    costs : (n_events,) float64 array
        What each event counts; ones if no costs were given.
    has_costs : bool
        Whether costs were given.
    window_start, window_stop : (n_windows,) float64 array
        Windows, individual after individual, sorted and disjoint within each.
    window_offsets : (n + 1,) int64 array
        Where the windows of each individual begin.
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
    origins : (n,) datetime64[us] array or None
        Moment of time 0 of each, if they were time stamps with ``origin="individual"``.
    exposure : object or None
        What `with_exposure` has made of exposures, if there are any.
    is_terminal : (n,) bool array or None
        Whether the end of follow-up of each is a terminal event, such as death, after
        which there are no events; None if it was never said.
    intervals : (n_events, 3) float64 array or None
        Start and stop of the interval in which each event came, and the share of the way
        between them at which it is counted; None if event times are known.
    event_kind : (n_events,) int64 array or None
        Position of each event's kind in ``kinds``; None if no kinds were given.
    kinds : list or None
        Labels of the kinds of events, such as failure modes, sorted.

    See Also
    --------
    boostr.BoostR : The estimator that learns from these histories.

    Notes
    -----
    ``y[mask]``, ``y[slice]`` and ``y[positions]`` give another ``RecurrentEvents``;
    positions may repeat, as in a bootstrap. ``y[3]`` gives a container of length one,
    and iterating yields such containers. ``np.asarray(y)`` is an object array that
    holds the event times of every individual. The arrays must not be changed.

    Examples
    --------
    >>> from boostr.data import RecurrentEvents
    >>> y = RecurrentEvents.from_lists([[3.0, 8.5], []], end=[10.0, 7.0])
    >>> y
    RecurrentEvents(2 individuals, 2 events, follow-up 17)
    >>> y.n_events
    array([2, 0])
    >>> y[y.end > 8].times
    array([3. , 8.5])
    """

    _wording = Wording(
        container="RecurrentEvents",
        entries="histories",
        items="events",
        numbers="y.n_events, y.end or y.times are arrays of numbers",
        constructors="one of the constructors `RecurrentEvents.from_…`",
        type_error=TargetTypeError,
        value_error=InvalidEventsError,
    )

    times: FloatArray  # (n_events,)
    event_offsets: OffsetArray  # (n + 1,)
    costs: FloatArray  # (n_events,)
    has_costs: bool
    window_start: FloatArray  # (n_windows,)
    window_stop: FloatArray  # (n_windows,)
    window_offsets: OffsetArray  # (n + 1,)
    ids: AnyArray  # (n,)
    has_ids: bool
    id_name: str | None = None
    time_unit: str | None = None
    origin: np.datetime64 | None = None
    origins: AnyArray | None = None  # (n,) datetime64[us]
    exposure: Exposure | None = None  # of n individuals
    is_terminal: BoolArray | None = None  # (n,)
    intervals: FloatArray | None = None  # (n_events, 3)
    event_kind: OffsetArray | None = None  # (n_events,)
    kinds: list[Any] | None = None

    @property
    def start(self) -> FloatArray:
        """Entry of every individual: the start of its first window."""
        return self.window_start[self.window_offsets[:-1]]

    @property
    def end(self) -> FloatArray:
        """End of follow-up of every individual: the stop of its last window."""
        return self.window_stop[self.window_offsets[1:] - 1]

    @property
    def n_events(self) -> OffsetArray:
        """Number of events of every individual."""
        return np.diff(self.event_offsets)

    @property
    def follow_up(self) -> FloatArray:
        """Total length of the windows of every individual, without the gaps."""
        length = self.window_stop - self.window_start
        return np.asarray(np.add.reduceat(length, self.window_offsets[:-1]))

    @property
    def event_owner(self) -> OffsetArray:
        """Position of the individual of every event."""
        return owners_of(self.event_offsets)

    def __len__(self) -> int:
        return int(self.event_offsets.size) - 1

    def __repr__(self) -> str:
        total = float(self.follow_up.sum())
        unit = name_unit(self.time_unit)
        length = f"{total:.0f}" if total >= 1000 else f"{total:.4g}"
        return (
            f"{type(self).__name__}({count_of(len(self), 'individual')}, "
            f"{count_of(self.times.size, 'event')}, follow-up {length}"
            f"{'' if unit is None else ' ' + unit})"
        )

    def _repr_html_(self) -> str:
        """Return figures, and a timeline of the first individuals, for notebooks."""
        parts = [make_facts(self.describe().facts())]
        if len(self):
            parts.append(draw_timeline(self, _N_SHOWN))
        if len(self) > _N_SHOWN:
            parts.append(make_note(f"The first {_N_SHOWN} of {len(self):,} individuals."))
        return make_card(type(self).__name__, *parts)

    def describe(self) -> EventsSummary:
        """Return the histories in figures.

        Returns
        -------
        EventsSummary
            Counts, rates, follow-up, late entry, gaps, costs and exposures. It prints as a
            list, and `to_frame` makes a table of it.

        Examples
        --------
        >>> from boostr.datasets import load_valve_seats
        >>> figures = load_valve_seats().y.describe()
        >>> figures.n_events, round(figures.share_without_events, 2)
        (48, 0.41)
        """
        return describe_events(self)

    def plot(self, *, ax: Axes | None = None, **options: Any) -> Axes:
        """Draw when individuals were observed, as lines, and their events, as dots.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; a new figure by default.
        **options
            Passed to `boostr.plotting.plot_timeline`.

        Returns
        -------
        matplotlib Axes
            Where the histories were drawn.

        See Also
        --------
        boostr.plotting.plot_timeline : The function that draws.

        Examples
        --------
        >>> from boostr.datasets import load_valve_seats
        >>> load_valve_seats().y.plot(max_individuals=20).get_ylabel()
        'Engine (20 of 41 shown)'
        """
        return boostr.plotting.plot_timeline(self, ax=ax, **options)

    def _take(self, index: OffsetArray) -> Self:
        """Return the individuals at some positions."""
        events, event_offsets = take_entries(self.event_offsets, index)
        windows, window_offsets = take_entries(self.window_offsets, index)
        return self._with(
            **self._take_events(events),
            event_offsets=event_offsets,
            window_start=self.window_start[windows],
            window_stop=self.window_stop[windows],
            window_offsets=window_offsets,
            ids=self.ids[index],
            origins=None if self.origins is None else self.origins[index],
            exposure=None if self.exposure is None else self.exposure[index],
            is_terminal=None if self.is_terminal is None else self.is_terminal[index],
        )

    def _take_events(self, events: Any) -> dict[str, AnyArray]:
        """Return the fields of some events, by positions or a mask."""
        fields = {name: getattr(self, name) for name in _EVENT_FIELDS}
        return {
            name: values[events] for name, values in fields.items() if values is not None
        }

    def _entries(self) -> Iterator[AnyArray]:
        """Return the event times of every individual."""
        bounds = pairwise(self.event_offsets.tolist())
        return (self.times[first:last] for first, last in bounds)

    @classmethod
    def from_long(  # noqa: PLR0913 - all but the first five are by name
        cls,
        df: Any,
        id: str,
        time: str,
        event: str | None = None,
        cost: str | None = None,
        *,
        start: Any = None,
        end: Any = None,
        unit: str | None = None,
        origin: Any = None,
        exposure: Any = None,
        terminal: Any = None,
        kind: str | None = None,
        duplicates: str = "warn",
    ) -> Self:
        """Read a table with one row per event and one row per end of follow-up.

        Individuals come out sorted by id, so the order of the rows does not matter.

        Parameters
        ----------
        df : DataFrame
            From pandas, polars or anything else that narwhals reads.
        id, time, event : str
            Names of the columns. ``event`` holds booleans, or 0 and 1: a row with 1 is
            an event, the one row with 0 of every individual is its end of follow-up. An
            event may happen at the very end. Without ``event`` every row is one, and
            ``end`` must be given. Times are numbers, durations or time stamps; time stamps
            are read to the microsecond, in UTC if they have a zone.
        cost : str, optional
            Column with what each event counts. In rows that are no event it must be
            0 or missing.
        start : str, scalar, mapping, Series or (n,) array-like, optional
            Entry into follow-up: a column that is constant for each individual, one value
            for all, or values by id (a mapping, or a pandas Series whose index has the
            ids; an array in ascending order of ids). By default follow-up starts at time
            0. A table of time stamps needs ``start`` or ``origin``, because its first event
            does not say since when events would have been seen.
        end : str, scalar, mapping, Series or (n,) array-like, optional
            End of follow-up of the individuals that have no row for it, given as `start`
            is; a text that is not a column name is a time stamp. Individuals whose ids are
            in `start` or `end` and that have no rows were observed without events: this
            is how to add machines that never failed to a table of work orders.
        unit : {"s", "min", "m", "h", "D", "W"}, optional
            Unit to which time stamps and durations are converted, days by default.
            Numbers stay as they are, and any text is kept as the name of their unit.
        origin : time stamp or "individual", optional
            Moment of time 0. By default the earliest time stamp of the table (starts
            included), one for all: time is calendar time, and who starts later enters
            late. With "individual" the time of each individual, numbers included, is
            measured from its own start: time is age.
        exposure : str, (n,) array-like, mapping or Trajectories, optional
            What the number of events is proportional to, such as the length of a pipe; see
            `with_exposure`. In a column it is the same in all rows of an individual.
        terminal : str, (n,) array-like or mapping, optional
            Whether follow-up ended by a terminal event, such as death. A column holds
            booleans, or 0 and 1, with 1 in the one row at which an individual died (with
            event 0, or 1 if an event was fatal, which needs no further row for the end);
            otherwise as in `with_terminal`.
        kind : str, optional
            Column with the kind of each event, such as its failure mode: texts or whole
            numbers. It is not read in rows that are no event.
        duplicates : {"warn", "keep", "drop", "error"}, default="warn"
            What to do with rows that repeat another row in all columns of the table: count
            each of them, with or without a warning, keep one of each, or refuse them.

        Returns
        -------
        RecurrentEvents
            One entry per id.

        Raises
        ------
        InvalidEventsError
            If a rule is broken; the message names the individuals.

        Examples
        --------
        >>> import pandas as pd
        >>> from boostr.data import RecurrentEvents
        >>> df = pd.DataFrame(
        ...     {
        ...         "well": ["W1", "W1", "W1", "W2"],
        ...         "day": [3.0, 8.5, 10.0, 7.0],
        ...         "failed": [1, 1, 0, 0],
        ...     }
        ... )
        >>> y = RecurrentEvents.from_long(df, id="well", time="day", event="failed")
        >>> y.n_events
        array([2, 0])

        Work orders have no ends, and no rows of machines that never failed:

        >>> orders = pd.DataFrame({"well": ["W1", "W1"], "day": [3.0, 8.5]})
        >>> until = {"W1": 10.0, "W2": 7.0}
        >>> RecurrentEvents.from_long(orders, id="well", time="day", end=until).equals(y)
        True
        """
        columns = {"id": id, "time": time, "event": event, "cost": cost, "kind": kind}
        is_column = isinstance(terminal, str)
        columns["terminal"] = terminal if is_column else None
        if duplicates != "warn":
            df = settle_duplicates(df, columns.values(), id, duplicates)
        y = cls(
            **assemble(
                read_long(df, columns, start=start, end=end, unit=unit, origin=origin)
            )
        )
        if duplicates == "warn" and find_tied(y).size:
            settle_duplicates(df, columns.values(), id, duplicates)
        if isinstance(exposure, str):
            exposure = read_exposure_column(df, id, exposure)
        y = y.with_exposure(exposure)
        return y if is_column else y.with_terminal(terminal)

    @classmethod
    def from_start_stop(  # noqa: PLR0913 - all but the first six are by name
        cls,
        df: Any,
        id: str,
        start: str,
        stop: str,
        event: str,
        cost: str | None = None,
        *,
        unit: str | None = None,
        origin: Any = None,
        exposure: Any = None,
        terminal: Any = None,
        kind: str | None = None,
        duplicates: str = "warn",
    ) -> Self:
        """Read a table of windows, each with or without an event at its stop.

        A row says that the individual was observed on ``(start, stop]``. Rows may leave
        gaps and begin late; rows that touch are one window. Individuals come out sorted
        by id, so the order of the rows does not matter.

        Parameters
        ----------
        df : DataFrame
            From pandas, polars or anything else that narwhals reads.
        id, start, stop, event : str
            Names of the columns. ``event`` holds booleans, or 0 and 1, for an event at
            the stop. Times are numbers, durations or time stamps; time stamps are read
            to the microsecond, in UTC if they have a zone.
        cost : str, optional
            Column with what each event counts. In rows that are no event it must be
            0 or missing.
        unit : {"s", "min", "m", "h", "D", "W"}, optional
            Unit to which time stamps and durations are converted, days by default.
            Numbers stay as they are, and any text is kept as the name of their unit.
        origin : time stamp or "individual", optional
            Moment of time 0. By default the earliest time stamp of the table, one for
            all: time is calendar time, and who starts later enters late. With
            "individual" the time of each individual, numbers included, is measured
            from its own first start: time is age.
        exposure : str, (n,) array-like, mapping or Trajectories, optional
            What the number of events is proportional to, such as the length of a pipe; see
            `with_exposure`. In a column it may differ from window to window.
        terminal : str, (n,) array-like or mapping, optional
            Whether follow-up ended by a terminal event, such as death. A column holds
            booleans, or 0 and 1, with 1 in the last row of an individual that died at its
            stop; otherwise as in `with_terminal`.
        kind : str, optional
            Column with the kind of each event, such as its failure mode, as in `from_long`.
        duplicates : {"warn", "keep", "drop", "error"}, default="warn"
            What to do with rows that repeat another row in all columns of the table.
            "drop" keeps one of each; otherwise they are refused, by "error" before anything
            else, because their windows overlap.

        Returns
        -------
        RecurrentEvents
            One entry per id.

        Raises
        ------
        InvalidEventsError
            If a rule is broken; the message names the individuals.

        Examples
        --------
        >>> import pandas as pd
        >>> from boostr.data import RecurrentEvents
        >>> df = pd.DataFrame(
        ...     {
        ...         "well": ["W1", "W1", "W2"],
        ...         "start": ["2024-01-01", "2024-01-04", "2024-02-01"],
        ...         "stop": ["2024-01-04", "2024-01-11", "2024-02-08"],
        ...         "failed": [True, False, False],
        ...     }
        ... ).astype({"start": "datetime64[us]", "stop": "datetime64[us]"})
        >>> y = RecurrentEvents.from_start_stop(df, "well", "start", "stop", "failed")
        >>> y
        RecurrentEvents(2 individuals, 1 event, follow-up 17 days)
        >>> y.start
        array([ 0., 31.])
        """
        columns = {"id": id, "start": start, "stop": stop, "event": event, "cost": cost}
        is_column = isinstance(terminal, str)
        columns |= {"terminal": terminal if is_column else None, "kind": kind}
        if duplicates != "warn":
            df = settle_duplicates(df, columns.values(), id, duplicates)
        records = read_start_stop(df, columns, unit=unit, origin=origin)
        y = cls(**assemble(records))
        if not is_column:
            y = y.with_terminal(terminal)
        if isinstance(exposure, str):
            start_of_row = records.window_start
            return y._expose(read_exposure_column(df, id, exposure, start_of_row))
        return y.with_exposure(exposure)

    @classmethod
    def from_counts(  # noqa: PLR0913 - all but the first five are by name
        cls,
        df: Any,
        id: str,
        start: str,
        stop: str,
        count: str,
        *,
        unit: str | None = None,
        origin: Any = None,
        exposure: Any = None,
        terminal: Any = None,
    ) -> Self:
        """Read a table of intervals with the number of events in each.

        Inspections and meter readings tell how many events there were since the last one,
        but not when. Models, mean cumulative functions and metrics of counts take such
        histories like any others; methods that need event times raise an error.

        Parameters
        ----------
        df : DataFrame
            From pandas, polars or anything else that narwhals reads.
        id, start, stop, count : str
            Names of the columns: the individual had ``count`` events in
            ``(start, stop]``. Intervals without events are rows, too, with count 0; time
            between intervals was not observed. Times are numbers, durations or time
            stamps.
        unit, origin
            As in `from_start_stop`.
        exposure : str, (n,) array-like, mapping or Trajectories, optional
            As in `from_start_stop`.
        terminal : str, (n,) array-like or mapping, optional
            As in `from_start_stop`.

        Returns
        -------
        RecurrentEvents
            One entry per id, with ``intervals``. Until a model or an estimate of the pooled
            rate spreads them better, events are spread evenly over their intervals.

        Raises
        ------
        InvalidEventsError
            If counts are negative or not whole, or intervals overlap; the message names
            the individuals.

        Examples
        --------
        >>> import pandas as pd
        >>> from boostr.data import RecurrentEvents
        >>> df = pd.DataFrame(
        ...     {
        ...         "pump": ["P1", "P1", "P2"],
        ...         "since": [0.0, 30.0, 0.0],
        ...         "day": [30.0, 60.0, 45.0],
        ...         "leaks": [2, 0, 1],
        ...     }
        ... )
        >>> y = RecurrentEvents.from_counts(df, "pump", "since", "day", "leaks")
        >>> y.n_events, y.follow_up
        (array([2, 1]), array([60., 45.]))
        """
        is_column = isinstance(terminal, str)
        columns: dict[str, str | None] = {"id": id, "start": start, "stop": stop}
        columns |= {"count": count, "terminal": terminal if is_column else None}
        records, begins = read_counts(df, columns, unit=unit, origin=origin)
        y = cls(**assemble(records))
        if not is_column:
            y = y.with_terminal(terminal)
        if isinstance(exposure, str):
            return y._expose(read_exposure_column(df, id, exposure, begins))
        return y.with_exposure(exposure)

    @classmethod
    def from_lists(
        cls,
        events: Sequence[ArrayLike],
        end: ArrayLike,
        start: ArrayLike | None = None,
        cost: Sequence[ArrayLike] | None = None,
        ids: ArrayLike | None = None,
        *,
        exposure: Any = None,
        terminal: Any = None,
        kind: Sequence[Sequence[Any]] | None = None,
    ) -> Self:
        """Read one list of event times per individual.

        Parameters
        ----------
        events : sequence of array-like
            Event times of every individual in any order; an empty list for none.
        end : scalar or (n,) array-like
            End of follow-up.
        start : scalar or (n,) array-like, optional
            Entry into follow-up, 0 by default.
        cost : sequence of array-like, optional
            Costs of the events, in lists of the same lengths.
        ids : (n,) array-like, optional
            Id of every individual, its position by default.
        exposure : (n,) array-like, mapping or Trajectories, optional
            What the number of events is proportional to, such as the length of a pipe; see
            `with_exposure`.
        terminal : (n,) array-like or mapping, optional
            Whether the end of follow-up is a terminal event, such as death; see
            `with_terminal`.
        kind : sequence of sequences, optional
            Kinds of the events, such as failure modes, in lists of the same lengths.

        Returns
        -------
        RecurrentEvents
            One entry per list, in the order given.

        Examples
        --------
        >>> from boostr.data import RecurrentEvents
        >>> y = RecurrentEvents.from_lists([[3.0, 8.5], []], end=[10.0, 7.0])
        >>> y.follow_up
        array([10.,  7.])
        """
        records = read_lists(events, start=start, end=end, cost=cost, ids=ids, kind=kind)
        y = cls(**assemble(records)).with_exposure(exposure)
        return y.with_terminal(terminal)

    @classmethod
    def from_wide(
        cls,
        values: Any,
        *,
        start: ArrayLike | None = None,
        ids: ArrayLike | None = None,
        exposure: Any = None,
        terminal: Any = None,
    ) -> Self:
        """Read rows of event times followed by the end of follow-up.

        Parameters
        ----------
        values : (n, m) array-like or DataFrame
            In each row the event times, then the end of follow-up, then NaN or negative
            numbers up to the width of the array. The index of a DataFrame is not read.
        start : scalar or (n,) array-like, optional
            Entry into follow-up, 0 by default.
        ids : (n,) array-like, optional
            Id of every individual, its position by default.
        exposure : (n,) array-like, mapping or Trajectories, optional
            What the number of events is proportional to, such as the length of a pipe; see
            `with_exposure`.
        terminal : (n,) array-like or mapping, optional
            Whether the end of follow-up is a terminal event, such as death; see
            `with_terminal`.

        Returns
        -------
        RecurrentEvents
            One entry per row.

        Examples
        --------
        >>> from boostr.data import RecurrentEvents
        >>> y = RecurrentEvents.from_wide([[3.0, 8.5, 10.0], [7.0, -1.0, -1.0]])
        >>> y.n_events
        array([2, 0])
        """
        records = read_wide(values, start=start, ids=ids)
        y = cls(**assemble(records)).with_exposure(exposure)
        return y.with_terminal(terminal)

    @classmethod
    def from_flat(
        cls,
        times: ArrayLike,
        event_offsets: ArrayLike,
        *,
        start: ArrayLike | None = None,
        end: ArrayLike,
        costs: ArrayLike | None = None,
        ids: ArrayLike | None = None,
        exposure: Any = None,
        terminal: Any = None,
    ) -> Self:
        """Read the event times of all individuals from one array.

        Parameters
        ----------
        times : (n_events,) array-like
            Event times, individual after individual.
        event_offsets : (n + 1,) array-like of int
            Individual ``i`` has ``times[event_offsets[i]:event_offsets[i + 1]]``.
        start : scalar or (n,) array-like, optional
            Entry into follow-up, 0 by default.
        end : scalar or (n,) array-like
            End of follow-up.
        costs : (n_events,) array-like, optional
            What each event counts.
        ids : (n,) array-like, optional
            Id of every individual, its position by default.
        exposure : (n,) array-like, mapping or Trajectories, optional
            What the number of events is proportional to, such as the length of a pipe; see
            `with_exposure`.
        terminal : (n,) array-like or mapping, optional
            Whether the end of follow-up is a terminal event, such as death; see
            `with_terminal`.

        Returns
        -------
        RecurrentEvents
            One entry per individual; the arrays are copies.

        Examples
        --------
        >>> from boostr.data import RecurrentEvents
        >>> RecurrentEvents.from_flat([3.0, 8.5], [0, 2, 2], end=[10.0, 7.0]).n_events
        array([2, 0])
        """
        records = read_flat(
            times, event_offsets, start=start, end=end, costs=costs, ids=ids
        )
        y = cls(**assemble(records)).with_exposure(exposure)
        return y.with_terminal(terminal)

    @classmethod
    def scan_parquet(  # noqa: PLR0913 - all but the first are by name
        cls,
        path: Paths,
        *,
        id: str,
        event: str,
        time: str | None = None,
        stop: str | None = None,
        start: Any = None,
        cost: str | None = None,
        terminal: str | None = None,
        kind: str | None = None,
        unit: str | None = None,
        origin: Any = None,
        exposure: Any = None,
        cache: str | PathLike[str] | None = None,
        sort_memory: str = "1GB",
    ) -> ScannedEvents:
        """Scan Parquet files with more events than fit into memory.

        `BoostR.fit` takes the result as ``y`` and goes through the files twice, a chunk at
        a time. Files that are sorted by id are read as they stand; so are those that each
        hold a range of ids, in any order. Others are sorted once, on disk. Only the columns
        that are named are read, so rows that repeat another one are not found: each counts.

        Parameters
        ----------
        path : str, Path or sequence of them
            A file, a folder, a pattern such as ``"events/*.parquet"``, or several.
        id, event : str
            Names of the columns, as in `from_long`.
        time : str, optional
            Column of times, for rows that are events and ends of follow-up as in
            `from_long`.
        stop : str, optional
            The alternative: with the column ``start``, rows are windows as in
            `from_start_stop`, which can have gaps.
        start, cost, terminal, kind, unit : optional
            As in `from_long` and `from_start_stop`; a start is a column or one for all,
            terminal events are a column.
        origin : time stamp or "individual", optional
            As there; by default the earliest time stamp of all files.
        exposure : float, (n,) array-like, mapping, Series or Trajectories, optional
            What the number of events is proportional to, in memory: numbers in ascending
            order of ids, or by id; see `with_exposure`.
        cache : str or Path, optional
            Folder for sorted rows, to find them there the next time; by default they are
            deleted with the object.
        sort_memory : str, default="1GB"
            Memory for sorting; what does not fit is sorted on disk.

        Returns
        -------
        ScannedEvents
            Histories that are read when they are needed.

        Examples
        --------
        >>> import pathlib, tempfile
        >>> from boostr.data import RecurrentEvents
        >>> y = RecurrentEvents.from_lists([[3.0, 8.5], []], end=[10.0, 7.0])
        >>> file = pathlib.Path(tempfile.mkdtemp()) / "events.parquet"
        >>> y.to_long(backend="pandas").to_parquet(file)
        >>> scan = RecurrentEvents.scan_parquet(file, id="id", time="time", event="event")
        >>> scan.collect().times
        array([3. , 8.5])
        """
        return scan_events(
            cls,
            path,
            id=id,
            event=event,
            time=time,
            stop=stop,
            start=start,
            cost=cost,
            terminal=terminal,
            kind=kind,
            unit=unit,
            origin=origin,
            exposure=exposure,
            cache=cache,
            sort_memory=sort_memory,
        )

    def with_exposure(self, exposure: Any) -> Self:
        """Return the histories with exposures, to which counts of events are proportional.

        A water main fails in proportion to its length, an aircraft to its flights. With an
        exposure :math:`e_i(t)` the rate of events of an individual is :math:`e_i(t)` times
        that of a unit, which estimators learn. It stays with the histories when these are
        sliced, joined or cut at a time.

        Parameters
        ----------
        exposure : float, (n,) array-like, mapping, Series or Trajectories
            One positive number per individual, in the order of `ids` or by id; or a series
            that changes in time, `Trajectories` of one sensor that is never negative,
            matched by id. A value holds up to the next sample, the first one also before
            it and the last one for ever; what a series shows after the end of follow-up is
            used in forecasts. None takes exposures away.

        Returns
        -------
        RecurrentEvents
            The same histories with exposures.

        Examples
        --------
        >>> from boostr.data import RecurrentEvents
        >>> y = RecurrentEvents.from_lists([[3.0], []], end=9.0, ids=["main", "branch"])
        >>> y.with_exposure({"main": 4.5, "branch": 0.2}).exposure.values
        array([4.5, 0.2])
        """
        return self._expose(None if exposure is None else match_exposure(self, exposure))

    def _expose(self, exposure: Exposure | None) -> Self:
        """Return the histories with exposures, which must be above zero at some time."""
        if exposure is None and self.exposure is None:
            return self
        exposed = self._with(exposure=exposure)
        check_exposed(exposed)
        return exposed

    def with_terminal(self, terminal: Any) -> Self:
        """Return the histories with terminal events, after which there are no events.

        Patients die and machines are scrapped. An individual that was still there at its
        end of follow-up could have had further events, one with a terminal event could not.

        Parameters
        ----------
        terminal : bool, (n,) array-like, mapping or Series
            Whether the end of follow-up of each individual is a terminal event: booleans,
            or 0 and 1, in the order of `ids` or by id. None takes terminal events away.

        Returns
        -------
        RecurrentEvents
            The same histories with terminal events.

        Examples
        --------
        >>> from boostr.data import RecurrentEvents
        >>> y = RecurrentEvents.from_lists([[3.0], []], end=[9.0, 4.0], ids=["P1", "P2"])
        >>> y.with_terminal({"P1": False, "P2": True}).is_terminal
        array([False,  True])
        """
        if terminal is None and self.is_terminal is None:
            return self
        flags = None if terminal is None else match_terminal(self, terminal)
        return self._with(is_terminal=flags)

    def of_kind(self, kind: Any) -> Self:
        """Return the same individuals with the events of one kind only.

        Parameters
        ----------
        kind : object
            One of ``kinds``.

        Returns
        -------
        RecurrentEvents
            Follow-up is the same; other events are left out.

        Examples
        --------
        >>> from boostr.data import RecurrentEvents
        >>> y = RecurrentEvents.from_lists(
        ...     [[3.0, 8.5], []], end=9.0, kind=[["seal", "motor"], []]
        ... )
        >>> y.kinds, y.of_kind("seal").times
        (['motor', 'seal'], array([3.]))
        """
        return keep_kinds(self, [find_kind(kind, self.kinds)])

    def in_calendar_time(self, since: ArrayLike | None = None) -> Self:
        """Count the time of all individuals from one date.

        Individuals that start later enter late, as in a table read with a common origin.

        Parameters
        ----------
        since : array-like of shape (n,), optional
            When time 0 of each individual was: time stamps, or numbers in the unit of the
            histories. By default `origins`, which histories have that were read with
            ``origin="individual"``.

        Returns
        -------
        RecurrentEvents
            The same events, counted from the first entry of all where `since` are time
            stamps. Histories with a common `origin` are returned as they are.

        See Also
        --------
        in_age : The way back.

        Examples
        --------
        >>> from boostr.data import RecurrentEvents
        >>> y = RecurrentEvents.from_lists([[3.0], [1.0]], end=[10.0, 7.0])
        >>> calendar = y.in_calendar_time(since=[0.0, 100.0])
        >>> calendar.start, calendar.end, calendar.times
        (array([  0., 100.]), array([ 10., 107.]), array([  3., 101.]))
        """
        return to_calendar_time(self, since)

    def in_age(self, since: ArrayLike | None = None) -> Self:
        """Count the time of each individual from a moment of its own.

        Parameters
        ----------
        since : array-like of shape (n,), optional
            When each individual has age 0, not after its entry: time stamps, or numbers on
            the time axis of the histories. By default the entry itself.

        Returns
        -------
        RecurrentEvents
            The same events; `origins` has the dates of age 0 if they are known. Histories
            that count from each one's own date already are returned as they are, unless
            `since` is given.

        See Also
        --------
        in_calendar_time : The way back.

        Examples
        --------
        >>> from boostr.data import RecurrentEvents
        >>> y = RecurrentEvents.from_lists(
        ...     [[3.0], [101.0]], start=[0.0, 100.0], end=[10.0, 107.0]
        ... )
        >>> y.in_age().end, y.in_age(since=[0.0, 50.0]).start
        (array([10.,  7.]), array([ 0., 50.]))
        """
        return to_age(self, since)

    def in_periods(self, at: Literal["end", "start"] = "end") -> Self:
        """Take events as booked by period, such as at the end of each month.

        Where events have the date of their booking, these dates are few and the same for
        all individuals. How many events the last tenth of the time has then depends on
        how many dates are in it. This method says instead that each event came at some
        time in its period, as `from_counts` does. Periods meet at the dates of events.

        Parameters
        ----------
        at : {"end", "start"}, default="end"
            Whether dates are those of the ends of periods, or of their starts.

        Returns
        -------
        RecurrentEvents
            The same histories with events in intervals. Counts over intervals are
            returned as they are.

        See Also
        --------
        from_counts : Reads the number of events of each period.

        Examples
        --------
        >>> from boostr.data import RecurrentEvents
        >>> y = RecurrentEvents.from_lists([[30.0, 60.0], [60.0]], start=[0, 40], end=90.0)
        >>> y.in_periods().intervals[:, :2]
        array([[ 0., 30.],
               [30., 60.],
               [40., 60.]])
        """
        check_choice(at, ("end", "start"), "at")
        return to_periods(self, at_start=at == "start")

    def equals(self, other: object) -> bool:
        """Return whether two containers hold the same histories in the same order.

        Parameters
        ----------
        other : object
            Anything; only another container can be equal.

        Returns
        -------
        bool
            Whether ids, events, costs, kinds, windows, terminal events, unit, origins and
            exposures all agree.
            The name of the id column does not count.

        Examples
        --------
        >>> from boostr.data import RecurrentEvents
        >>> y = RecurrentEvents.from_lists([[1.0], []], end=2.0)
        >>> y.equals(y[[0, 1]]), y.equals(y[[1, 0]])
        (True, False)
        """
        if not isinstance(other, RecurrentEvents):
            return False
        if self.exposure is None or other.exposure is None:
            is_same = self.exposure is other.exposure
        else:
            is_same = self.exposure.equals(other.exposure)
        arrays = ("ids", "event_offsets", "origins", "is_terminal", *_EVENT_FIELDS)
        windows = ("window_offsets", "window_start", "window_stop")
        clocks = (self.time_unit, self.origin), (other.time_unit, other.origin)
        return (
            is_same
            and self.kinds == other.kinds
            and clocks[0] == clocks[1]
            and all(
                np.array_equal(getattr(self, name), getattr(other, name))
                for name in arrays + windows
            )
        )

    @classmethod
    def concatenate(cls, parts: Sequence[Self]) -> Self:
        """Return the individuals of several containers in one.

        Parameters
        ----------
        parts : sequence of RecurrentEvents
            At least one; all in the same unit and from the same origin, and all with
            exposures or none, likewise with terminal events, kinds and intervals.
            Origins of the individuals' own are kept if all parts have them.

        Returns
        -------
        RecurrentEvents
            All individuals, with the ids they had. An id that stands in two parts is
            kept twice, as after slicing with repeats.

        Examples
        --------
        >>> from boostr.data import RecurrentEvents
        >>> y = RecurrentEvents.from_lists([[1.0], []], end=2.0)
        >>> RecurrentEvents.concatenate([y[1:], y[:1]]).n_events
        array([0, 1])
        """
        parts = list(parts)
        check_parts(parts, RecurrentEvents)
        _check_clocks(parts)
        names = ("times", "costs", "window_start", "window_stop")
        joined = {name: np.concatenate([getattr(p, name) for p in parts]) for name in names}
        for name in ("event_offsets", "window_offsets"):
            counts = [np.diff(getattr(part, name)) for part in parts]
            joined[name] = offsets_of(np.concatenate(counts))
        return parts[0]._with(
            **joined,
            **join_ids(parts),
            has_costs=any(part.has_costs for part in parts),
            intervals=_join_intervals(parts),
            **join_kinds(parts),
            origins=join_origins([part.origins for part in parts]),
            exposure=_join_exposures(parts),
            is_terminal=join_terminal(parts),
        )

    def to_long(self, *, backend: str | None = None) -> Any:
        """Write a table with one row per event and one row per end of follow-up.

        Parameters
        ----------
        backend : {"pandas", "polars"}, optional
            Which table to make; by default pandas if it is installed, else polars.

        Returns
        -------
        DataFrame
            Columns ``id_name`` (or "id"), "start", "time", "event" and, if they were
            given, "cost", "terminal" and "kind". Times are time stamps if origins are
            known. ``from_long`` with these columns and the same ``unit`` and ``origin``
            gives the same histories, sorted by id; ``duplicates="keep"`` says that events
            at the same time are right.

        Raises
        ------
        InvalidEventsError
            If there are gaps, which this form cannot express.

        Examples
        --------
        >>> from boostr.data import RecurrentEvents
        >>> y = RecurrentEvents.from_lists([[3.0], []], end=[10.0, 7.0])
        >>> y.to_long(backend="pandas")
           id  start  time  event
        0   0    0.0   3.0   True
        1   0    0.0  10.0  False
        2   1    0.0   7.0  False
        """
        return write_long(self, backend)

    def to_start_stop(self, *, backend: str | None = None) -> Any:
        """Write a table of windows, cut at the events.

        Parameters
        ----------
        backend : {"pandas", "polars"}, optional
            Which table to make; by default pandas if it is installed, else polars.

        Returns
        -------
        DataFrame
            Columns ``id_name`` (or "id"), "start", "stop", "event" and, if they were
            given, "cost", "terminal" and "kind". Times are time stamps if origins are
            known. ``from_start_stop`` with these columns and the same ``unit`` and
            ``origin`` gives the same histories, sorted by id.

        Raises
        ------
        InvalidEventsError
            If events of one individual are tied, which this form cannot express.

        Examples
        --------
        >>> from boostr.data import RecurrentEvents
        >>> y = RecurrentEvents.from_lists([[3.0], []], end=[10.0, 7.0])
        >>> y.to_start_stop(backend="pandas")
           id  start  stop  event
        0   0    0.0   3.0   True
        1   0    3.0  10.0  False
        2   1    0.0   7.0  False
        """
        return write_start_stop(self, backend)


def _check_clocks(parts: Sequence[RecurrentEvents]) -> None:
    """Refuse parts that count time in different units or from different origins."""
    clocks = {(part.time_unit, part.origin) for part in parts}
    if len(clocks) > 1:
        raise InvalidEventsError(
            "Parts must count time in the same unit from the same origin, but there are "
            f"{len(clocks)} different clocks.\n\n"
            "Hint: read all parts with the same `unit=` and `origin=`."
        )


def _join_exposures(parts: Sequence[RecurrentEvents]) -> Exposure | None:
    """Return the exposures of all parts, or None if no part has any."""
    some = [part.exposure for part in parts if part.exposure is not None]
    if some and len(some) < len(parts):
        raise InvalidEventsError(
            "Either all parts must have exposures or none, but "
            f"{len(some)} of {len(parts)} have some.\n\n"
            "Hint: part.with_exposure(1.0) says that one unit was exposed."
        )
    return Exposure.concatenate(some) if some else None


def _join_intervals(parts: Sequence[RecurrentEvents]) -> FloatArray | None:
    """Return the intervals of the events of all parts, or None if no part has any."""
    some = [part.intervals for part in parts if part.intervals is not None]
    if some and len(some) < len(parts):
        raise InvalidEventsError(
            "Either all parts must have counts over intervals or none, but "
            f"{len(some)} of {len(parts)} have some.\n\n"
            "Hint: count the events of the others over intervals, too, with from_counts."
        )
    return np.concatenate(some) if some else None

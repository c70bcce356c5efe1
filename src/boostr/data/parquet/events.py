"""Event histories in Parquet files, read in chunks."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from boostr._typing import AnyArray, OffsetArray
from boostr.data.events.assemble import Records, assemble
from boostr.data.events.exposure import Exposure
from boostr.data.events.kinds import count_kinds, find_kind, keep_kinds
from boostr.data.events.read import Columns, check_common, read_long, read_start_stop
from boostr.data.events.read_exposure import match_exposure
from boostr.data.events.terminal import as_terminal_events
from boostr.data.individuals import count_of
from boostr.data.parquet.files import Paths
from boostr.data.parquet.row_groups import open_files
from boostr.data.parquet.rows import (
    CHANGED,
    Inventory,
    ScannedRows,
    find_scanned,
    map_ahead,
)
from boostr.data.times import as_stamp
from boostr.exceptions import InvalidEventsError, InvalidParameterError

if TYPE_CHECKING:
    from boostr.data.events.recurrent_events import RecurrentEvents

__all__ = ["ScannedEvents", "scan_events"]


class ScannedEvents:
    """Event histories in Parquet files, too many for memory: the ``y`` of `BoostR.fit`.

    Made by `RecurrentEvents.scan_parquet`, which reads no row. Individuals are in
    ascending order of their ids, whatever the order of files and rows. The first question
    looks at the column of ids; rows that are not sorted by id are sorted once, on disk.

    Parameters
    ----------
    rows : ScannedRows
        Rows of the files.
    read : callable
        Turns a table of rows, and the origin if it was found, into records.
    make : type
        Class of the chunks.
    moments : sequence
        Columns of times, and a common start, whose earliest is the origin of time stamps.

    Attributes
    ----------
    n_rows : int
        Rows of the files.
    id_name : str
        Name of the column of ids.
    time_unit : str or None
        Unit of the times, as in `RecurrentEvents`.
    has_costs : bool
        Whether costs were given.
    has_terminal : bool
        Whether terminal events were given.
    has_kinds : bool
        Whether kinds of events were given.

    See Also
    --------
    RecurrentEvents.scan_parquet : Makes it.
    ScannedTrajectories : The same for sensors.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import pandas as pd
    >>> from boostr.data import RecurrentEvents
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> rows = {"well": [1, 1, 2], "day": [3.0, 9.0, 7.0], "failed": [1, 0, 0]}
    >>> pd.DataFrame(rows).to_parquet(folder / "part-0.parquet")
    >>> y = RecurrentEvents.scan_parquet(folder, id="well", time="day", event="failed")
    >>> y
    ScannedEvents(1 file, 3 rows)
    >>> len(y), [chunk.times.tolist() for chunk in y.chunks()]
    (2, [[3.0]])
    """

    has_ids = True

    def __init__(
        self,
        rows: ScannedRows,
        read: Callable[[Any, Any], Records],
        make: type[RecurrentEvents],
        moments: Sequence[Any],
    ) -> None:
        self._rows = rows
        self._read_records = read
        self._make = make
        self._columns = rows.given.schema.names
        empty = read(rows.given.schema.empty_table(), None)  # whether roles and types fit
        self.id_name = empty.id_name
        self.time_unit = empty.time_unit
        self.has_costs = empty.costs is not None
        self.has_terminal = empty.is_terminal is not None
        self.has_kinds = empty.labels is not None
        self._only_kinds: tuple[Any, ...] | None = None
        self._only_terminal = False
        self._origin = empty.origin
        # The earliest of all time stamps is their origin, unless it was given.
        self._stamps: tuple[Any, ...] = tuple(moments) if empty.origin is not None else ()
        self._given_exposure: Any = None

    @property
    def n_rows(self) -> int:
        """Rows of the files: events and ends of follow-up, or windows."""
        return self._rows.n_rows

    @cached_property
    def _inventory(self) -> Inventory:
        columns = [moment for moment in self._stamps if isinstance(moment, str)]
        inventory = self._rows.take_inventory(moments=columns)
        if inventory.ids.size == 0:
            raise InvalidEventsError(
                "There must be at least one individual, but the files have no rows."
            )
        return inventory

    @property
    def ids(self) -> AnyArray:
        """Ids of all individuals, ascending."""
        return self._inventory.ids

    @property
    def origin(self) -> np.datetime64 | None:
        """Moment of time 0, if times are time stamps with a common origin."""
        if not self._stamps:
            return self._origin
        common = [as_stamp(m, "start") for m in self._stamps if not isinstance(m, str)]
        earliest = self._inventory.earliest
        return min(common if earliest is None else [earliest, *common], default=None)

    @cached_property
    def n_events(self) -> OffsetArray:
        """Number of events of every individual."""
        return np.concatenate([chunk.n_events for chunk in self.chunks()])

    def __len__(self) -> int:
        return len(self.ids)

    def __repr__(self) -> str:
        return (
            f"{type(self).__name__}({count_of(len(self._rows.given.files), 'file')}, "
            f"{count_of(self.n_rows, 'row')})"
        )

    def chunks(
        self, n_rows: int | None = None, *, n_threads: int = 1
    ) -> Iterator[RecurrentEvents]:
        """Yield the histories in chunks of complete individuals.

        Parameters
        ----------
        n_rows : int, optional
            Rows of a chunk at most, unless one individual has more; half a million by
            default.
        n_threads : int, default=1
            With more, chunks are read ahead, so that as many are in memory.

        Yields
        ------
        RecurrentEvents
            Individuals in ascending order of their ids, every rule checked.
        """
        first = 0
        ids = self.ids  # rows are in order now
        tables = self._rows.chunks(self._columns, n_rows)
        for chunk in map_ahead(self._read, tables, n_threads):
            last = first + len(chunk)
            if not np.array_equal(chunk.ids, ids[first:last]):
                raise InvalidEventsError(CHANGED)
            exposure = self._exposure
            yield chunk if exposure is None else chunk._expose(exposure[first:last])
            first = last
        if first < len(ids):
            raise InvalidEventsError(CHANGED)

    def _read(self, table: Any) -> RecurrentEvents:
        with self._rows.named_errors():
            y = self._make(**assemble(self._read_records(table, self.origin)))
        if self._only_kinds is not None:
            kinds = y.kinds or []
            y = keep_kinds(y, [kinds.index(k) for k in self._only_kinds if k in kinds])
        return as_terminal_events(y) if self._only_terminal else y

    @cached_property
    def kind_counts(self) -> dict[Any, int]:
        """Number of events of every kind, for which all files are read; empty without."""
        counts: dict[Any, int] = {}
        for chunk in self.chunks() if self.has_kinds else ():
            for kind, count in count_kinds(chunk).items():
                counts[kind] = counts.get(kind, 0) + count
        return dict(sorted(counts.items()))

    @property
    def kinds(self) -> list[Any] | None:
        """Labels of the kinds of events, sorted; None without kinds."""
        return list(self.kind_counts) if self.has_kinds else None

    def of_kind(self, kind: Any) -> ScannedEvents:
        """Return the same individuals with the events of one kind only.

        Parameters
        ----------
        kind : object
            One of ``kinds``.

        Returns
        -------
        ScannedEvents
            The same files.
        """
        find_kind(kind, self.kinds)
        return self._keep_kinds([kind])

    def _keep_kinds(self, kinds: Sequence[Any]) -> ScannedEvents:
        part = copy.copy(self)
        part.__dict__.pop("n_events", None)
        part._only_kinds = tuple(kinds)
        return part

    def as_terminal_events(self) -> ScannedEvents:
        """Return the same follow-up with the terminal events as the only events.

        Returns
        -------
        ScannedEvents
            The same files.
        """
        deaths = self.with_exposure(None)
        deaths.__dict__.pop("n_events", None)
        deaths.has_costs, deaths._only_terminal = False, True
        return deaths

    @cached_property
    def _exposure(self) -> Exposure | None:
        given = self._given_exposure
        return None if given is None else match_exposure(self, given)

    def with_exposure(self, exposure: Any) -> ScannedEvents:
        """Return the scan with exposures, to which counts of events are proportional.

        Parameters
        ----------
        exposure : float, (n,) array-like, mapping, Series or Trajectories
            As in `RecurrentEvents.with_exposure`: numbers in ascending order of ids, or by
            id. They stay in memory. None takes exposures away.

        Returns
        -------
        ScannedEvents
            The same files with exposures.
        """
        exposed = copy.copy(self)
        exposed.__dict__.pop("_exposure", None)
        exposed._given_exposure = exposure
        return exposed

    def collect(self) -> RecurrentEvents:
        """Read everything into memory.

        Returns
        -------
        RecurrentEvents
            As one of the constructors ``from_…`` gives it.
        """
        return self._make.concatenate(list(self.chunks()))


def scan_events(  # noqa: PLR0913 - all but the first two are by name
    make: type[RecurrentEvents],
    path: Paths,
    *,
    id: str,
    event: str,
    time: str | None,
    stop: str | None,
    start: Any,
    cost: str | None,
    terminal: str | None,
    kind: str | None,
    unit: str | None,
    origin: Any,
    exposure: Any,
    cache: str | PathLike[str] | None,
    sort_memory: str,
) -> ScannedEvents:
    """Return the scan of Parquet files; see `RecurrentEvents.scan_parquet`."""
    check_common(start)
    columns: Columns = {"id": id, "event": event, "cost": cost, "terminal": terminal}
    columns |= {"kind": kind} | _time_columns(time, start, stop)
    names = [name for name in columns.values() if name is not None]
    if isinstance(start, str):
        names.append(start)
    kept = None if cache is None else Path(cache)
    files = open_files(find_scanned(path, kept), list(dict.fromkeys(names)), id)
    rows = ScannedRows(
        files,
        [id, str(time or start)],
        kept,
        sort_memory,
        InvalidEventsError,
    )

    def read(table: Any, found: Any) -> Records:
        since = origin if found is None else found
        if stop is not None:
            return read_start_stop(table, columns, unit=unit, origin=since)
        return read_long(table, columns, start=start, unit=unit, origin=since)

    moments = [] if origin is not None else [time, stop, start]
    scan = ScannedEvents(rows, read, make, [m for m in moments if m is not None])
    return scan.with_exposure(exposure)


def _time_columns(time: str | None, start: Any, stop: str | None) -> Columns:
    """Return the columns of time by role, for rows of events or rows of windows."""
    if (time is None) == (stop is None):
        raise InvalidParameterError(
            "Either `time` or `stop` must be the name of a column, but "
            f"{'neither is' if time is None else 'both are'}.\n\n"
            "Hint: time=… where rows are events and ends of follow-up, start=… and stop=… "
            "where they are windows."
        )
    if stop is None:
        return {"time": time}
    if not isinstance(start, str):
        raise InvalidParameterError(
            f"`start` must be the name of a column if `stop` is given, but it is {start!r}."
        )
    return {"start": start, "stop": stop}

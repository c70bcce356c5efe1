"""Tables of events as histories."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from datetime import UTC
from pathlib import Path
from typing import Any

import numpy as np

from boostr.cli._files import TableFile, list_names, load_polars, open_table
from boostr.cli._guess import NOT, EventColumns, find_column, guess_event_columns
from boostr.cli._matching import as_keys, restore_numbers, warn_of_lookalikes
from boostr.cli._moments import read_flags, read_moment, read_moments
from boostr.cli._output import say
from boostr.data import RecurrentEvents
from boostr.data._times import INDIVIDUAL
from boostr.exceptions import InvalidEventsError, InvalidParameterError

__all__ = ["ENTRY", "KEY", "Histories", "Reading", "read_events"]

# Names that no column of a file has.
KEY = "\x00key"
ENTRY = "\x00entry"

Reading = dict[str, str | None]  # columns by role; and entry, unit and origin


@dataclass(frozen=True, eq=False)
class Histories:
    """Histories, and what other tables are matched with."""

    y: RecurrentEvents
    columns: EventColumns
    entries: Any | None  # by key, where time is counted from each one's own
    reading: Reading

    @property
    def keys(self) -> list[str]:
        """Ids as texts."""
        return [str(one) for one in self.y.ids.tolist()]


def read_events(path: Path, given: Reading, usual: Reading) -> Histories:
    """Read a table of events, and say which column was taken for what.

    Parameters
    ----------
    path : Path
        The file.
    given : dict
        What the user has said: columns by role, unit and origin.
    usual : dict
        What holds otherwise, as it was in training.

    Returns
    -------
    Histories
        Sorted by id.
    """
    file = open_table(path, "events")
    named, entry = _split_start(file, {role: given.get(role) for role in _ROLES})
    columns = guess_event_columns(file, _remember(file, named, usual))
    _check_cost(file, columns, usual)
    if not {"id", "event"} <= named.keys() or not {"time", "stop"} & named.keys():
        say(columns.describe(file))
    table = _read_table(file, columns)
    entry = entry or usual.get("entry")
    reading: Reading = {**asdict(columns), "entry": None}
    if columns.start is None and entry is not None:
        reading["entry"] = entry
        table = table.with_columns(load_polars().lit(_as_entry(entry)).alias(ENTRY))
        columns = replace(columns, start=ENTRY)
    unit = given.get("unit") or usual.get("unit")
    origin = given.get("origin") or usual.get("origin")
    options = {"unit": unit, "origin": origin}
    y = _make_events(
        table, columns, duplicates=given.get("duplicates") or "warn", **options
    )
    _tell_counts(y, table.height, columns)
    reading |= {"unit": unit, "origin": origin if y.origin is None else str(y.origin)}
    return Histories(y, columns, _first_starts(table, columns, origin), reading)


_ROLES = ("id", "time", "event", "start", "stop", "cost")


def _split_start(
    file: TableFile, columns: Mapping[str, str | None]
) -> tuple[dict[str, str], str | None]:
    """Return names of columns, and the start of all where it is no column."""
    named = {role: name for role, name in columns.items() if name is not None}
    start = named.get("start")
    if start is None or start in file.names or "stop" in named:
        return named, None
    try:
        read_moment(start, "--start")
    except InvalidParameterError as error:
        raise InvalidParameterError(
            f"--start must be a column, a number or a date, but it is {start!r}.\n\n"
            f"Hint: the columns are {list_names(file.names)}."
        ) from error
    return {role: name for role, name in named.items() if role != "start"}, start


def _remember(file: TableFile, named: dict[str, str], usual: Reading) -> dict[str, str]:
    """Return the columns that were named, and those of training where they are there."""
    known = {role: usual.get(role) for role in _ROLES}
    if "time" in named:
        known |= {"stop": None}
    if "stop" in named:
        known |= {"time": None}
    same = {
        role: name
        for role, name in known.items()
        if name and find_column(name, file.names) in file.names
    }
    return same | named


def _check_cost(file: TableFile, columns: EventColumns, usual: Reading) -> None:
    """Refuse to count events where the model was trained on their costs."""
    cost = usual.get("cost")
    if cost is not None and columns.cost is None:
        raise InvalidParameterError(
            f"The model was fitted to the costs of events in column `{cost}`, which "
            f"{file.path.name!r} does not have.\n\n"
            f"Hint: --cost COLUMN names it; there are {list_names(file.names)}."
        )


def _as_entry(text: str) -> Any:
    """Return the entry of all as a column may hold it."""
    moment = read_moment(text, "--start")
    if isinstance(moment, float) or moment.tzinfo is None:
        return moment
    return moment.astimezone(UTC).replace(tzinfo=None)


def _read_table(file: TableFile, columns: EventColumns) -> Any:
    names = {role: name for role, name in asdict(columns).items() if name is not None}
    event = find_column(columns.event, file.names)
    table = file.read([*names.values(), event], as_text=[columns.id])
    if table.is_duplicated().any():  # in these columns; it may not be in all
        table = file.read(file.names, as_text=[columns.id])
    keys = as_keys(table[columns.id])
    warn_of_lookalikes(keys, file)
    ids = restore_numbers(keys) if file.is_text else table[columns.id]
    if not ids.dtype.is_integer():
        ids = keys
    times = [names[role] for role in ("time", "start", "stop") if role in names]
    return table.with_columns(
        ids.alias(columns.id),
        _read_events(table[event], columns.event),
        *(read_moments(table[name]) for name in times),
    )


def _read_events(column: Any, name: str) -> Any:
    """Return which rows are events; what is neither 0 nor 1 is left to the library."""
    flags = read_flags(column)
    if name != column.name:  # it has a `NOT`
        flags = 1 - flags if flags.dtype.is_numeric() else ~flags
    return flags.alias(name)


def _make_events(table: Any, columns: EventColumns, **options: Any) -> RecurrentEvents:
    roles = {role: name for role, name in asdict(columns).items() if name is not None}
    if columns.stop is not None:
        return RecurrentEvents.from_start_stop(table, **roles, **options)
    is_stamped = table[columns.time].dtype.is_temporal()
    if is_stamped and columns.start is None and options["origin"] in {None, INDIVIDUAL}:
        raise InvalidEventsError(
            "The start of follow-up must be known to count time from it, but the table has "
            "only dates of events and ends.\n\n"
            "Hint: --start COLUMN where each individual has its own, or --start 2024-01-31 "
            "for all."
        )
    return RecurrentEvents.from_long(table, **roles, **options)


def _first_starts(table: Any, columns: EventColumns, origin: str | None) -> Any | None:
    """Return everybody's first start, where time counts from it."""
    if origin != INDIVIDUAL or columns.start is None:
        return None
    polars = load_polars()
    keyed = table.select(
        as_keys(table[columns.id]).alias(KEY), polars.col(columns.start).alias(ENTRY)
    )
    return keyed.group_by(KEY).agg(polars.col(ENTRY).min())


def _tell_counts(y: RecurrentEvents, n_rows: int, columns: EventColumns) -> None:
    """Say how many events and individuals there are, and whether events look inverted.

    They do where most rows of intervals have an event and most follow-ups end with one.
    In the other form of the table the rows of ends tell 0 from 1.
    """
    n_events = y.times.size
    say(f"{n_events} events of {len(y)} individuals in {n_rows} rows")
    n_last = np.unique(y.event_owner[y.times == y.end[y.event_owner]]).size
    if columns.stop is None or n_events <= n_rows - n_events or 2 * n_last <= len(y):
        return
    name = columns.event
    other = name.removeprefix(NOT) if name.startswith(NOT) else NOT + name
    say(
        f"warning: events look inverted: {n_events} of {n_rows} rows have one, and {n_last}"
        f" of {len(y)} individuals at the end of follow-up (say --event {other!r} if it is "
        "the other rows that have one)"
    )

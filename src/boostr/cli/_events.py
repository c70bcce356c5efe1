"""Event histories from tables."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from boostr.cli._files import TableFile, load_polars, open_file, quote_names
from boostr.cli._guess import (
    NOT,
    EventColumns,
    find_column,
    guess_event_columns,
    guess_id,
)
from boostr.cli._matching import (
    as_keys,
    check_known,
    restore_numbers,
    warn_of_lookalikes,
)
from boostr.cli._moments import is_date, parse_flags, parse_time, parse_times
from boostr.cli._output import echo
from boostr.data import RecurrentEvents
from boostr.data.individuals import count_of
from boostr.data.times import INDIVIDUAL, name_unit
from boostr.exceptions import InvalidEventsError, InvalidParameterError

__all__ = ["ENTRY", "KEY", "EventTable", "Reading", "read_event_table"]

# Names that no column of a file has.
KEY = "\x00key"
ENTRY = "\x00entry"
END = "\x00end"
EVENT = "\x00event"
_OUTSIDE = {"start": ENTRY, "end": END}
_MOST_KINDS = 6  # that are listed

Reading = dict[str, str | None]  # columns by role; and entry, unit and origin


@dataclass(frozen=True, eq=False)
class EventTable:
    """EventTable with the columns that other tables are matched by."""

    y: RecurrentEvents
    columns: EventColumns
    entries: Any | None  # by key, where time is counted from each one's own
    reading: Reading
    outside: frozenset[str] = frozenset()  # starts and ends that are not in the events

    @property
    def keys(self) -> list[str]:
        """Ids as texts."""
        return [str(one) for one in self.y.ids.tolist()]


def read_event_table(
    path: Path, given: Reading, usual: Reading, static: Path | None = None
) -> EventTable:
    """Return the histories in a table, sorted by id; print the column roles.

    ``given`` (by the user) precedes ``usual`` (of training). ``static`` may have starts
    and ends; with an end, its individuals without events count too.
    """
    file = open_file(path, "events")
    features = None if static is None else open_file(static, "features")
    named, outside = _split_given(file, features, given, usual)
    columns = guess_event_columns(file, _remember(file, named, usual), outside)
    _check_cost(file, columns, usual)
    _check_distinct(columns)
    if not {"id", "event"} <= named.keys() or not {"time", "stop"} & named.keys():
        echo(columns.describe(file))
    table = _read_table(file, columns)
    n_rows = table.height
    unit = given.get("unit") or usual.get("unit")
    if name_unit(unit) == name_unit(usual.get("unit")):
        unit = usual.get("unit")
    origin = given.get("origin") or usual.get("origin")
    reading: Reading = {**asdict(columns), "entry": outside.get("start"), "end": None}
    if features is not None and outside.get("end") in features.names:
        reading["end"] = outside["end"]  # a date would not be that of later tables
    if columns.time is not None and outside:
        table, columns = _add_outside(table, columns, features, outside)
    options = {"unit": unit, "origin": origin}
    options["duplicates"] = given.get("duplicates") or "warn"
    y = _make_events(_restore_ids(table, columns.id, file), columns, options)
    _tell_counts(y, n_rows, columns)
    reading |= {"unit": unit, "origin": origin if y.origin is None else str(y.origin)}
    starts = _first_starts(table, columns, origin)
    return EventTable(y, columns, starts, reading, frozenset(outside.values()))


_TIMES = ("time", "start", "stop")
_ROLES = ("id", "time", "event", "start", "stop", "cost", "terminal", "kind")


def _split_given(
    file: TableFile, features: TableFile | None, given: Reading, usual: Reading
) -> tuple[dict[str, str], dict[str, str]]:
    """Return the event columns by role, and starts and ends from elsewhere.

    The latter are columns of the features, or one time for all.
    """
    named = {role: name for role in _ROLES if (name := given.get(role)) is not None}
    outside = {"start": usual.get("entry"), "end": given.get("end") or usual.get("end")}
    if named.get("start") in file.names or "stop" in named:
        outside["start"] = None
    elif "start" in named:
        outside["start"] = named.pop("start")
    others = () if features is None else features.names
    for role, text in outside.items():
        if text is None or text in others:
            continue
        try:
            parse_time(text, f"--{role}")
        except InvalidParameterError as error:
            columns = (*file.names, *others) if role == "start" else others
            raise InvalidParameterError(
                f"--{role} must be a column{' of --static' if role == 'end' else ''}, a "
                f"number or a date, but it is {text!r}.\n\nHint: "
                f"{f'the columns are {quote_names(columns)}; ' if columns else ''}"
                "dates are like 2024-01-31."
            ) from error
    return named, {role: text for role, text in outside.items() if text is not None}


def _add_outside(
    table: Any,
    columns: EventColumns,
    features: TableFile | None,
    outside: Mapping[str, str],
) -> tuple[Any, EventColumns]:
    """Add starts and end rows that are not in the table of events.

    With an end, individuals of the features without events are added.
    """
    polars = load_polars()
    individuals = table.select(columns.id).unique(maintain_order=True)
    if features is not None:
        join = "full" if "end" in outside else "left"
        others = _read_others(features, columns, outside)
        individuals = individuals.join(others, on=columns.id, how=join, coalesce=True)
    is_stamped = table[columns.time].dtype.is_temporal()
    for role, text in outside.items():
        if _OUTSIDE[role] not in individuals.columns:
            moment = _parse_option(text, f"--{role}", is_stamped=is_stamped)
            individuals = individuals.with_columns(polars.lit(moment).alias(_OUTSIDE[role]))
        if individuals[_OUTSIDE[role]].dtype.is_temporal() != is_stamped:
            raise InvalidEventsError(
                "Times must all be numbers or all be dates, but those of events are "
                f"{'dates' if is_stamped else 'numbers'} and --{role} is not."
            )
    if "start" in outside:
        starts = individuals.select(columns.id, ENTRY)
        table = table.join(starts, on=columns.id, how="left", maintain_order="left")
        columns = replace(columns, start=ENTRY)
    if "end" not in outside:
        return table, columns
    if columns.event is None:
        columns = replace(columns, event=EVENT)
        table = table.with_columns(polars.lit(True).alias(EVENT))
    is_end = table[columns.event].cast(polars.Float64) == 0.0
    if columns.terminal is not None:
        is_end |= table[columns.terminal].cast(polars.Float64) == 1.0
    individuals = individuals.filter(
        ~polars.col(columns.id).is_in(table[columns.id].filter(is_end))
    )
    ends = individuals.drop_nulls(END).select(
        columns.id,
        polars.col(END).alias(columns.time),
        polars.lit(0).cast(table[columns.event].dtype).alias(columns.event),
        *([ENTRY] if "start" in outside else []),
    )
    if columns.terminal is not None:
        kind = table[columns.terminal].dtype
        ends = ends.with_columns(polars.lit(0).cast(kind).alias(columns.terminal))
    return polars.concat([table, ends], how="diagonal_relaxed"), columns


def _read_others(
    features: TableFile, columns: EventColumns, outside: Mapping[str, str]
) -> Any:
    """Return the individuals of the features, with their starts and ends."""
    id_name = guess_id(features, columns)
    here = {role: name for role, name in outside.items() if name in features.names}
    table = features.read([id_name, *here.values()], as_text=[id_name])
    found = table.select(
        as_keys(table[id_name]).alias(columns.id),
        *(
            _parse_stamps(table[name], features).alias(_OUTSIDE[role])
            for role, name in here.items()
        ),
    )
    # Who stands twice is refused when the features are read.
    return found.drop_nulls(columns.id).unique(columns.id, keep="first")


def _remember(file: TableFile, named: dict[str, str], usual: Reading) -> dict[str, str]:
    """Return the given columns, and those of training that the table has."""
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
    """Refuse to count events if the model was trained on costs."""
    cost = usual.get("cost")
    if cost is not None and columns.cost is None:
        raise InvalidParameterError(
            f"The model was fitted to the costs of events in column `{cost}`, which "
            f"{file.path.name!r} does not have.\n\n"
            f"Hint: --cost COLUMN names it; there are {quote_names(file.names)}."
        )


def _check_distinct(columns: EventColumns) -> None:
    """Refuse one column for two of the roles that need a column each."""
    names = asdict(columns)
    roles = [role for role in (*_TIMES, "id", "event", "terminal") if names[role]]
    for place, role in enumerate(roles):
        for other in roles[:place]:
            if names[role] == names[other]:
                raise InvalidParameterError(
                    f"--{other} and --{role} must be two columns, but both are "
                    f"`{names[role]}`.\n\nHint: name another column, or leave one out."
                )


def _parse_option(text: str, option: str, *, is_stamped: bool) -> Any:
    """Return one time for all, in a form that a column may hold."""
    is_stamp = is_stamped and is_date(text)  # 20240131 may be a number, too
    moment = datetime.fromisoformat(text) if is_stamp else parse_time(text, option)
    if isinstance(moment, float) or moment.tzinfo is None:
        return moment
    return moment.astimezone(UTC).replace(tzinfo=None)


def _parse_stamps(column: Any, file: TableFile) -> Any:
    """Return times as numbers, or as dates without a zone, in microseconds."""
    found = parse_times(column, file)
    if found.dtype.is_numeric() or found.dtype == load_polars().Duration:
        return found
    if getattr(found.dtype, "time_zone", None) is not None:
        found = found.dt.convert_time_zone("UTC").dt.replace_time_zone(None)
    return found.cast(load_polars().Datetime("us"))


def _read_table(file: TableFile, columns: EventColumns) -> Any:
    """Return the columns of events, ids as texts."""
    names = {role: name for role, name in asdict(columns).items() if name is not None}
    if columns.event is not None:
        names["event"] = find_column(columns.event, file.names)
    table = file.read(names.values(), as_text=[columns.id])
    if table.is_duplicated().any():  # in these columns; it may not be in all
        table = file.read(file.names, as_text=[columns.id])
    keys = as_keys(table[columns.id])
    check_known(keys, file, InvalidEventsError)
    warn_of_lookalikes(keys, file)
    times = [names[role] for role in _TIMES if role in names]
    found = [keys.alias(columns.id), *(_parse_stamps(table[name], file) for name in times)]
    if columns.event is not None:
        found.append(_read_events(table[names["event"]], columns.event, file))
    if columns.terminal is not None:
        found.append(parse_flags(table[columns.terminal], file))
    return table.with_columns(found)


def _restore_ids(table: Any, name: str, file: TableFile) -> Any:
    """Return ids as numbers if they are numbers in the file."""
    if file.is_text or file.head()[name].dtype.is_integer():
        return table.with_columns(restore_numbers(table[name]))
    return table


def _read_events(column: Any, name: str, file: TableFile) -> Any:
    """Return which rows are events; the library refuses values other than 0 and 1."""
    flags = parse_flags(column, file)
    if name != column.name:  # it has a `NOT`
        flags = 1 - flags if flags.dtype.is_numeric() else ~flags
    return flags.alias(name)


def _make_events(
    table: Any, columns: EventColumns, options: Mapping[str, Any]
) -> RecurrentEvents:
    roles = {role: name for role, name in asdict(columns).items() if name is not None}
    if columns.stop is not None:
        return RecurrentEvents.from_start_stop(table, **roles, **options)
    is_stamped = table[columns.time].dtype.is_temporal()
    if is_stamped and columns.start is None and options["origin"] in {None, INDIVIDUAL}:
        raise InvalidEventsError(
            "The start of follow-up must be known to count time from it, but the table has "
            "only dates of events and ends.\n\n"
            "Hint: --start COLUMN, of the events or of --static, where each individual has "
            "its own, or --start 2024-01-31 for all."
        )
    try:
        return RecurrentEvents.from_long(table, **roles, **options)
    except InvalidEventsError as error:
        if not _look_inverted(table, columns):
            raise
        other = _invert(str(columns.event))
        raise InvalidEventsError(
            f"Column `{columns.event}` must have 1 for an event, but all individuals "
            "have 1 in their last row and 0 before.\n\n"
            f"Hint: --event {other!r} if 0 stands for an event."
        ) from error


def _look_inverted(table: Any, columns: EventColumns) -> bool:
    """Return whether the last row of each individual, and no other, is an event."""
    polars = load_polars()
    time = polars.col(columns.time)
    is_event = polars.col(columns.event).cast(polars.Float64) == 1.0
    each = table.group_by(columns.id).agg(
        is_event.sum().alias("n_events"),
        (time.filter(~is_event).max() < time.filter(is_event).max()).alias("is_last"),
    )
    is_last = each["is_last"]  # missing where there is but one row
    return bool((each["n_events"] == 1).all() and is_last.any() and is_last.all())


def _invert(name: str) -> str:
    """Return the option for the opposite of a column of events."""
    return name.removeprefix(NOT) if name.startswith(NOT) else NOT + name


def _first_starts(table: Any, columns: EventColumns, origin: str | None) -> Any | None:
    """Return the first start of each individual, if time counts from it."""
    if origin != INDIVIDUAL or columns.start is None:
        return None
    polars = load_polars()
    keyed = table.select(
        as_keys(table[columns.id]).alias(KEY), polars.col(columns.start).alias(ENTRY)
    )
    return keyed.group_by(KEY).agg(polars.col(ENTRY).min())


def _tell_marks(y: RecurrentEvents) -> str:
    """Return the numbers of events by kind, most frequent first, and of terminal events."""
    parts = []
    if y.kinds is not None and y.event_kind is not None:
        counts = np.bincount(y.event_kind, minlength=len(y.kinds))
        order = np.argsort(-counts, kind="stable")
        listed = [f"{y.kinds[k]} {counts[k]}" for k in order[:_MOST_KINDS]]
        more = ", …" if len(order) > _MOST_KINDS else ""
        parts.append(f"{count_of(len(y.kinds), 'kind')} ({', '.join(listed)}{more})")
    if y.is_terminal is not None:
        parts.append(count_of(int(y.is_terminal.sum()), "terminal event"))
    return "; " + ", ".join(parts) if parts else ""


def _tell_counts(y: RecurrentEvents, n_rows: int, columns: EventColumns) -> None:
    """Print the numbers of events and individuals; warn if events look inverted.

    They do if most rows of intervals are events and most follow-ups end with one. Tables
    of times have end rows that tell 0 from 1.
    """
    n_events = y.times.size
    echo(f"{n_events} events of {len(y)} individuals in {n_rows} rows{_tell_marks(y)}")
    n_last = np.unique(y.event_owner[y.times == y.end[y.event_owner]]).size
    if columns.stop is None or n_events <= n_rows - n_events or 2 * n_last <= len(y):
        return
    other = _invert(str(columns.event))
    echo(
        f"warning: events look inverted: {n_events} of {n_rows} rows have one, and {n_last}"
        f" of {len(y)} individuals have one at the end of follow-up (use --event {other!r} "
        "if the other rows are the events)"
    )

"""Roles of the columns of a table, from their names and contents."""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from boostr.cli._files import TableFile, load_polars, quote_names
from boostr.cli._moments import could_be_flags, could_be_times
from boostr.exceptions import InvalidParameterError

__all__ = [
    "NOT",
    "EventColumns",
    "SampleColumns",
    "find_column",
    "guess_event_columns",
    "guess_id",
    "guess_sample_columns",
    "guess_time",
]


NOT = "not "  # before the column of events where 0 stands for an event


def find_column(name: str, names: Sequence[str]) -> str:
    """Return the named column, whose name may have a `NOT` before it."""
    return name if name in names else name.removeprefix(NOT).strip()


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


def could_be_ids(column: Any) -> bool:
    """Return whether a column may hold ids: texts or whole numbers."""
    polars = load_polars()
    if column.dtype.is_float():  # as pandas writes whole numbers next to missing ones
        known = column.drop_nulls()
        return bool((known == known.round()).all())
    is_text = column.dtype in {polars.String, polars.Categorical}
    return bool(is_text or column.dtype.is_integer())


def _could_be_events(column: Any) -> bool:
    return could_be_flags(column) and _is_no_opposite(column)


def _could_be_kinds(column: Any) -> bool:
    return not column.dtype.is_float() and not column.dtype.is_temporal()


# Words in the name of a column that say that 1 may stand for no event.
_OPPOSITE = _words(
    "censored censor censoring cens alive ok okay survived survivor survivors surviving "
    "unfailed healthy working works running operational operating functional functioning "
    "intact good active passed pass success successful normal no not non without free"
)


def _is_no_opposite(column: Any) -> bool:
    return not _has_word(column.name, _OPPOSITE)


@dataclass(frozen=True)
class _Role:
    """What a column is called and holds that plays a role."""

    names: str  # words in the names of such columns
    fits: Callable[[Any], bool]
    advice: str = "."  # after "says which one it is"

    @property
    def words(self) -> frozenset[str]:
        """Words in the names of such columns."""
        return _words(self.names)


_ROLES = {
    "id": _Role(
        "id ids asset unit machine customer patient subject individual well pump vehicle "
        "device equipment engine bus truck valve turbine serial user client account member "
        "item name tag person",
        could_be_ids,
    ),
    "time": _Role(
        "time date day days timestamp datetime when ts t age hour hours week weeks month "
        "months year years moment mileage km miles cycle cycles",
        could_be_times,
        "; or --start COLUMN --stop COLUMN for rows that are intervals.",
    ),
    "start": _Role(
        "start starts started tstart begin from entry enter entered t0 install installed "
        "installation commissioned born birth since",
        could_be_times,
    ),
    "stop": _Role("stop stops stopped tstop end ended until to exit t1", could_be_times),
    "event": _Role(
        "event events failed failure fail failing status observed occurred happened "
        "relapse recurrence repair repaired replaced purchase bought outcome died death",
        _could_be_events,
        "; it has 1 in rows with an event and 0 in the row of each individual's end of "
        "follow-up. Where all rows are events, --end DATE says until when they were seen.",
    ),
    "cost": _Role("", could_be_times),
    "terminal": _Role("", _could_be_events),
    "kind": _Role("", _could_be_kinds),
}
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+\d*|\d+")


def _has_word(name: str, words: frozenset[str]) -> bool:
    return any(word.lower() in words for word in _WORD.findall(name))


@dataclass(frozen=True, kw_only=True)
class EventColumns:
    """Columns of a table of events: with times, or with starts and stops."""

    id: str
    event: str | None = None  # after `NOT` where 0 is an event; without it every row is
    time: str | None = None
    start: str | None = None
    stop: str | None = None
    cost: str | None = None
    terminal: str | None = None
    kind: str | None = None

    def describe(self, file: TableFile) -> str:
        """Return words for the roles of the columns, and for unused columns."""
        roles = {role: name for role in _ROLES if (name := getattr(self, role))}
        taken = [f"`{name}` as the {role}" for role, name in roles.items()]
        taken += [] if self.event else ["every row as an event"]
        used = {find_column(name, file.names) for name in roles.values()}
        unused = [name for name in file.names if name not in used]
        rest = f", and not using {quote_names(unused)}" if unused else ""
        return (
            f"{file.path.name}: using {', '.join(taken)}{rest} (choose others by --id, "
            "--time, --event, --start, --stop)"
        )


@dataclass(frozen=True, kw_only=True)
class SampleColumns:
    """Id and time columns of a table of sensors; all others are sensors."""

    id: str
    time: str

    def describe(self, file: TableFile, sensors: Sequence[str]) -> str:
        """Return words for the roles of the columns."""
        return (
            f"{file.path.name}: using `{self.id}` as the id, `{self.time}` as the time "
            f"and {quote_names(sensors)} as sensors"
        )


def guess_event_columns(
    file: TableFile, given: Mapping[str, str | None], outside: Container[str] = ()
) -> EventColumns:
    """Return the columns of a table of events by role; roles in ``given`` are fixed.

    ``outside`` tells which of "start" and "end" are known from elsewhere. With an end,
    rows are at event times, and all are events unless a column says otherwise.
    """
    columns = _Columns(file)
    roles = {role: name for role, name in given.items() if name is not None}
    columns.check(roles)
    if {"time", "stop"} <= roles.keys():
        raise InvalidParameterError(
            "A table has times of events or else intervals, but --time and --stop are both "
            "given.\n\nHint: --time for events and ends, --start and --stop otherwise."
        )
    if "stop" in roles and "end" in outside:
        raise InvalidParameterError(
            "Rows that are intervals say how long each individual was observed, but --stop "
            "and --end are both given.\n\nHint: --time and --end for rows that are events."
        )
    _find_id(columns, roles)
    _find_times(columns, roles, outside)
    _find_event(columns, roles, outside)
    roles.pop("end", None)
    return EventColumns(**roles)


def _find_event(columns: _Columns, roles: dict[str, str], outside: Container[str]) -> None:
    """Find the column of events, never one whose name means the opposite."""
    if "event" in roles:
        return
    clear = columns.find("event", roles)
    opposites = columns.find_by_content(_could_be_opposite, roles)
    if opposites and clear is None:
        name = opposites[0]
        raise InvalidParameterError(
            f"There must be a column with 1 for an event, but the name `{name}` in "
            f"{columns.file_name!r} suggests that 1 means no event.\n\n"
            f"Hint: --event '{NOT}{name}' takes the rows with 0 for events, --event {name} "
            "those with 1."
        )
    if "end" not in outside:
        roles["event"] = columns.need("event", roles)
    elif clear is not None:
        roles["event"] = clear


def _find_times(columns: _Columns, roles: dict[str, str], outside: Container[str]) -> None:
    """Find starts and stops, or else times and, if any, starts."""
    if "start" not in roles and "start" not in outside:
        start = columns.find("start", roles)
        roles |= {} if start is None else {"start": start}
    if "time" in roles:
        return
    stop = roles.get("stop")
    if stop is None and "end" not in outside:
        stop = columns.find("stop", roles)
    if stop is not None and "start" in roles:
        roles["stop"] = stop
    elif "stop" in roles:
        roles["start"] = columns.need("start", roles)
    else:
        roles["time"] = columns.need("time", roles, also=_ROLES["stop"].words)


def guess_sample_columns(
    file: TableFile, given: Mapping[str, str | None], like: EventColumns
) -> SampleColumns:
    """Return id and time columns of a table of sensors; names as in the events first."""
    columns = _Columns(file)
    usual = {"id": like.id, "time": like.time or like.stop}
    named = {role: given.get(role) or usual[role] for role in usual}
    roles = {role: name for role, name in named.items() if name in file.names and name}
    _find_id(columns, roles)
    if "time" not in roles:
        roles["time"] = columns.need("time", roles)
    return SampleColumns(**roles)


def guess_time(file: TableFile, given: Mapping[str, str | None], like: EventColumns) -> str:
    """Return the time column of shared sensors; the name as in the events first."""
    for name in (given.get("time"), like.time or like.stop):
        if name and name in file.names:
            return name
    return _Columns(file).need("time", {})


def guess_id(file: TableFile, like: EventColumns) -> str:
    """Return the id column of a table with one row per individual."""
    return like.id if like.id in file.names else _Columns(file).need("id", {})


class _Columns:
    """First rows of a table, searched by name and content for columns of a role."""

    def __init__(self, file: TableFile) -> None:
        self._names = file.names
        self._head = file.head()
        self.file_name = file.path.name

    def check(self, roles: Mapping[str, str]) -> None:
        """Refuse given names that are not in the table."""
        named = {
            role: find_column(name, self._names) if role == "event" else name
            for role, name in roles.items()
        }
        wrong = [f"--{role} {n}" for role, n in named.items() if n not in self._names]
        if wrong:
            raise InvalidParameterError(
                f"{self.file_name!r} must have the columns that are named, but it lacks "
                f"{', '.join(wrong)}.\n\nHint: it has {quote_names(self._names)}."
            )

    def find(
        self,
        role: str,
        taken: Mapping[str, str],
        fits: Callable[[Any], bool] | None = None,
        also: frozenset[str] = frozenset(),
    ) -> str | None:
        """Return the first column named by a word of the role, or with one in its name."""
        words = _ROLES[role].words | also
        free = self.find_by_content(fits or _ROLES[role].fits, taken)
        called = [name for name in free if name.strip().lower() in words]
        called += [name for name in free if _has_word(name, words)]
        return next(iter(called), None)

    def find_by_content(
        self, fits: Callable[[Any], bool], taken: Mapping[str, str]
    ) -> list[str]:
        """Return the columns without a role whose content passes a test."""
        free = [name for name in self._names if name not in taken.values()]
        return [name for name in free if fits(self._head[name])]

    def need(
        self, role: str, taken: Mapping[str, str], also: frozenset[str] = frozenset()
    ) -> str:
        """Return the column of a role; an error lists the columns."""
        found = self.find(role, taken, also=also)
        if found is not None:
            return found
        rest = self.find_by_content(_ROLES[role].fits, taken)
        if role in {"time", "start"}:  # a number may be anything, a date is a time
            rest = [name for name in rest if not self._head[name].dtype.is_numeric()]
        if len(rest) == 1:
            return rest[0]
        if role != "id":  # a clear name; reading the column tells what is wrong inside
            found = self.find(role, taken, _is_no_opposite, also)
        if found is not None:
            return found
        raise InvalidParameterError(
            f"There must be a column for the {role}, but none of "
            f"{quote_names(self._names)} in {self.file_name!r} is clearly one."
            f"\n\nHint: --{role} COLUMN says which one it is{_ROLES[role].advice}"
        )


def _find_id(columns: _Columns, roles: dict[str, str]) -> None:
    """Find the id by name, or else the first column of texts or numbers that repeat."""
    if "id" not in roles:
        repeating = columns.find_by_content(_repeats, roles)
        found = columns.find("id", roles) or next(iter(repeating), None)
        roles["id"] = found or columns.need("id", roles)


def _repeats(column: Any) -> bool:
    """Return whether a column may be ids: it repeats, and is no time or flag."""
    times = frozenset[str]().union(*(_ROLES[role].words for role in _TIME_ROLES))
    is_other = could_be_flags(column) or _has_word(column.name, times)
    is_distinct = column.n_unique() == column.len()
    return could_be_ids(column) and not (is_other or is_distinct)


_TIME_ROLES = ("time", "start", "stop")


def _could_be_opposite(column: Any) -> bool:
    return could_be_flags(column) and not _is_no_opposite(column)

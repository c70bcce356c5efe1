"""Checked histories, features and sensors of one part of the individuals."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from boostr._checks.numbers import first_few
from boostr._typing import AnyArray, BoolArray, FloatArray
from boostr.dask._rows import FILE, RowRules, add_files, name_files
from boostr.data import RecurrentEvents, Trajectories
from boostr.data.columns import as_frame, factor
from boostr.data.events.kinds import keep_kinds
from boostr.data.events.read import check_common
from boostr.data.events.terminal import as_terminal_events
from boostr.data.times import INDIVIDUAL
from boostr.exceptions import BoostrError, InvalidFeaturesError

__all__ = [
    "Files",
    "Part",
    "Roles",
    "load_part",
    "read_exposure",
    "read_histories",
    "read_paths",
    "read_static",
]

Files = Mapping[str, Sequence[str]]  # Parquet files by table


@dataclass(frozen=True, slots=True)
class Roles:
    """Names of columns by role, and the unit and origin of times."""

    id: str
    time: str = ""
    event: str = ""
    cost: str | None = None
    weight: str | None = None
    start: Any = None
    unit: str | None = None
    origin: Any = None
    sensor_options: Mapping[str, Any] = field(default_factory=dict)
    exposure: str | None = None
    terminal: str | None = None
    only_terminal: bool = False  # whether terminal events are the only events
    kind: str | None = None
    without_kinds: tuple[Any, ...] = ()  # kinds whose events are left out
    only_kinds: tuple[Any, ...] = ()  # kinds whose events alone are kept, if any

    def rules(self, table: str) -> RowRules:
        """Return the rules that every row of a table must meet."""
        if table == "events":
            times = (self.time, self.start) if self._has_start else (self.time,)
            positive = () if self.origin == INDIVIDUAL else times
            costs = () if self.cost is None else (self.cost,)
            return RowRules(table, self.id, times, positive, self.event, costs)
        if table == "sensors":
            return RowRules(table, self.id, (self.time,))
        return RowRules(table, self.id)

    @property
    def _has_start(self) -> bool:
        return isinstance(self.start, str)

    @property
    def event_columns(self) -> list[str]:
        """Columns of events that are read, besides the id."""
        names = [self.time, self.event, self.cost, self.terminal, self.kind]
        names += [self.start] if self._has_start else []
        return [name for name in dict.fromkeys(names) if name is not None]

    def read_events(self, frame: Any) -> RecurrentEvents:
        """Return the histories in a table."""
        check_common(self.start)
        y = RecurrentEvents.from_long(
            frame,
            self.id,
            self.time,
            self.event,
            self.cost,
            start=self.start,
            unit=self.unit,
            origin=self.origin,
            terminal=self.terminal,
            kind=self.kind,
            duplicates="keep",  # other columns, which would tell, are not here
        )
        if self.only_kinds or self.without_kinds:
            y = keep_kinds(
                y, [k for k, one in enumerate(y.kinds or ()) if self._keeps(one)]
            )
        return as_terminal_events(y) if self.only_terminal else y

    def _keeps(self, kind: Any) -> bool:
        """Return whether events of a kind are kept."""
        return (
            kind in self.only_kinds if self.only_kinds else kind not in self.without_kinds
        )

    def read_sensors(self, frame: Any, ids: AnyArray) -> Trajectories:
        """Return the sensors of individuals, missing for those without rows."""
        options = {"unit": self.unit, "origin": self.origin} | dict(self.sensor_options)
        names = [name for name in frame.columns if name != FILE]
        return Trajectories.from_long(frame[names], self.id, self.time, ids=ids, **options)


@dataclass(frozen=True, slots=True, eq=False)
class Part:
    """Individuals of one range of ids, in ascending order, without weights of zero."""

    table: Any  # features as they come, of all
    features: Any  # of those used
    events: RecurrentEvents
    weights: FloatArray
    sensors: Trajectories | None
    is_used: BoolArray
    categories: Mapping[str, tuple[Any, ...] | None]  # of the sensors of all

    def __len__(self) -> int:
        return len(self.weights)


def load_part(
    roles: Roles, files: Files, static: Any, events: Any, sensors: Any = None
) -> Part | None:
    """Return the individuals of one part; None if there are none.

    Errors name the individuals that break a rule and their Parquet files.
    """
    if not len(static) and not len(events) and (sensors is None or not len(sensors)):
        return None
    ids, table, weights = read_static(roles, files.get("X", ()), static)
    histories = read_histories(roles, files.get("events", ()), events, ids)
    if not roles.only_terminal:
        histories = histories.with_exposure(read_exposure(roles, static))
    paths, categories = None, {}
    if sensors is not None:
        paths = read_paths(roles, files.get("sensors", ()), sensors, ids)
        categories = dict(zip(paths.names, paths.categories, strict=True))
    is_used = weights > 0.0
    if is_used.all():
        return Part(table, table, histories, weights, paths, is_used, categories)
    return Part(
        table,
        table[is_used],
        histories[is_used],
        weights[is_used],
        None if paths is None else paths[is_used],
        is_used,
        categories,
    )


def read_histories(
    roles: Roles, files: Sequence[str], frame: Any, ids: AnyArray
) -> RecurrentEvents:
    """Return the histories of individuals, each of whom must have one."""
    if not len(frame):
        _check_same_ids(ids, ids[:0])
    histories: RecurrentEvents = _read(roles.read_events, frame, roles.id, files)
    _check_same_ids(ids, histories.ids)
    return histories


def read_paths(
    roles: Roles, files: Sequence[str], frame: Any, ids: AnyArray
) -> Trajectories:
    """Return the sensors of individuals, missing for those without rows."""

    def read(some: Any) -> Trajectories:
        return roles.read_sensors(some, ids)

    paths: Trajectories = _read(read, frame, roles.id, files)
    return paths


def read_static(
    roles: Roles, files: Sequence[str], frame: Any
) -> tuple[AnyArray, Any, FloatArray]:
    """Return ids in ascending order, with their features and weights."""
    ids, owner = factor(as_frame(frame[[roles.id]]).get_column(roles.id))
    repeated = np.bincount(owner, minlength=len(ids)) > 1
    if repeated.any():
        rows = frame[repeated[owner]]
        raise InvalidFeaturesError(
            f"`X` must have one row per individual, but {repeated.sum()} ids have several "
            f"({first_few(ids[repeated])}){name_files(rows, files)}.\n\n"
            "Hint: static features are one row each; what changes with time is a sensor."
        )
    frame = frame.iloc[np.argsort(owner)]
    weights = np.ones(len(ids))
    if roles.weight is not None:
        weights = _read_weights(frame, roles, ids, files)
    left_out = [roles.id, roles.weight, roles.exposure, FILE]
    kept = [name for name in frame.columns if name not in left_out]
    return ids, frame[kept].reset_index(drop=True), weights


def read_exposure(roles: Roles, frame: Any) -> dict[Any, Any] | None:
    """Return exposures by id, None without such a column."""
    if roles.exposure is None or roles.exposure not in frame.columns:
        return None
    return dict(zip(frame[roles.id].tolist(), frame[roles.exposure].tolist(), strict=True))


def _read_weights(
    frame: Any, roles: Roles, ids: AnyArray, files: Sequence[str]
) -> FloatArray:
    try:
        weights = frame[roles.weight].to_numpy(dtype=np.float64, na_value=np.nan)
    except (TypeError, ValueError) as error:
        raise InvalidFeaturesError(
            f"Weights must be numbers, but column {roles.weight!r} of `X` holds others.\n\n"
            "Hint: convert it, or leave out `weight`."
        ) from error
    wrong = ~((weights >= 0.0) & np.isfinite(weights))
    if wrong.any():
        raise InvalidFeaturesError(
            f"Weights must be finite and not negative, but column {roles.weight!r} of `X` "
            f"is not for {wrong.sum()} individuals (ids {first_few(ids[wrong])})"
            f"{name_files(frame[wrong], files)}.\n\nHint: use 0 to leave an individual out."
        )
    return np.asarray(weights)


def _check_same_ids(static: AnyArray, events: AnyArray) -> None:
    """Refuse individuals that are in only one of the tables."""
    if np.array_equal(static, events):
        return
    ours, theirs = set(static.tolist()), set(events.tolist())
    lonely = sorted(theirs - ours)
    if lonely:
        raise InvalidFeaturesError(
            "Every individual with events must have a row of features, but "
            f"{len(lonely)} have none in `X` (ids {first_few(lonely)}).\n\n"
            "Hint: add their rows, or drop their events."
        )
    lonely = sorted(ours - theirs)
    raise InvalidFeaturesError(
        "Every individual with features must have a history, but "
        f"{len(lonely)} have no row in `events` (ids {first_few(lonely)}).\n\n"
        "Hint: one without events has a row for the end of its follow-up; drop those that "
        "were never observed from `X`."
    )


def _read(read: Callable[[Any], Any], frame: Any, id: str, files: Sequence[str]) -> Any:
    """Return the rows as read; errors name the file of the rows that break a rule."""
    try:
        return read(frame)
    except BoostrError as error:
        if not files or not len(frame):
            raise
        culprit = _find_culprit(read, frame, id)
        where = name_files(culprit, files)
        who = first_few(culprit[id].unique())
        raise add_files(error, f"The rows of {who} are{where}.") from error


def _find_culprit(read: Callable[[Any], Any], frame: Any, id: str) -> Any:
    """Return the rows of one individual that cannot be read, found by bisection."""
    while True:
        ids = np.sort(frame[id].unique())
        if len(ids) <= 1:
            return frame
        is_low = np.asarray(frame[id] < ids[len(ids) // 2], dtype=bool)
        low, high = frame[is_low], frame[~is_low]
        try:
            read(low)
        except BoostrError:
            frame = low
        else:
            frame = high

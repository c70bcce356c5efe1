"""Sensors from tables: of individuals, shared by all, or seasons."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from boostr.cli._events import ENTRY, KEY, EventTable, Reading
from boostr.cli._files import TableFile, load_polars, open_file, quote_names
from boostr.cli._guess import guess_sample_columns, guess_time
from boostr.cli._inputs import FleetFiles, Known, select_columns
from boostr.cli._matching import match_rows
from boostr.cli._moments import parse_times
from boostr.cli._output import echo
from boostr.data import RecurrentEvents, SharedSensors, Trajectories
from boostr.exceptions import InvalidSensorsError

__all__ = ["join_sensors", "read_sensor_table", "read_shared", "restore_seasons"]


def read_sensor_table(
    path: Path,
    files: FleetFiles,
    histories: EventTable,
    known: Known | None,
    is_plan: bool,
    exposure: str | None,
) -> Trajectories:
    """Return the sensors of all individuals; in a plan some may have none.

    Exposures are included even if they are no sensor of the model.
    """
    file = open_file(path, "planned sensors" if is_plan else "sensors")
    columns = guess_sample_columns(file, files.given, histories.columns)
    left_out = {columns.id, columns.time, *files.left_out}
    names = [name for name in file.names if name not in left_out]
    as_text: list[str] = []
    if known is None or (known.sensors is None and exposure is None):
        echo(columns.describe(file, names))
    else:
        wanted = dict(known.sensors or {})
        if exposure is not None and exposure in names:
            wanted[exposure] = False
        if is_plan:
            wanted = {name: wanted[name] for name in wanted if name in names}
        names, as_text = select_columns(file, wanted, InvalidSensorsError)
    table = file.read([columns.id, columns.time, *names], as_text=[columns.id, *as_text])
    table, keys = match_rows(
        table,
        columns.id,
        histories.keys,
        file,
        InvalidSensorsError,
        skips=files.skips_unmatched,
        is_part=is_plan,
    )
    y = histories.y
    ids = keys.replace_strict(histories.keys, y.ids.tolist())
    times = parse_times(table[columns.time], file)
    _check_times(times, file, histories)
    polars = load_polars()
    table = table.with_columns(ids.alias(columns.id), times).with_columns(
        polars.col(name).cast(polars.String) for name in as_text
    )
    origin: Any = y.origin
    if histories.entries is not None:
        entries = table.select(keys.alias(KEY)).join(
            histories.entries, on=KEY, how="left", maintain_order="left"
        )
        table, origin = table.with_columns(entries[ENTRY]), ENTRY
    return Trajectories.from_long(
        table, columns.id, columns.time, names, ids=y.ids, unit=y.time_unit, origin=origin
    )


def read_shared(
    files: FleetFiles, histories: EventTable, known: Known | None
) -> SharedSensors | None:
    """Return the shared sensors, only those that a model needs if it is given."""
    path = files.shared
    if path is None:
        return None
    file = open_file(path, "shared sensors")
    time = guess_time(file, files.given, histories.columns)
    names = [name for name in file.names if name not in {time, *files.left_out}]
    as_text: list[str] = []
    if known is None or known.sensors is None:
        echo(f"{path.name}: using `{time}` as the time, {quote_names(names)} as sensors")
    else:
        names = [name for name in names if name in known.sensors]
        as_text = [name for name in names if known.sensors[name]]
        if not names:
            return None
    table = file.read([time, *names], as_text=as_text)
    times = parse_times(table[time], file)
    _check_times(times, file, histories)
    return Trajectories.shared(table.with_columns(times), time, names)


def restore_seasons(y: RecurrentEvents, reading: Reading) -> SharedSensors | None:
    """Return the seasonal sensors of training for other histories."""
    names = reading.get("season")
    if not names:
        return None
    season = Trajectories.seasonal(y, names.split(","), min_cycles=0)
    return replace(season, resolution=int(reading.get("resolution") or 0))


def join_sensors(one: Any, other: SharedSensors | None) -> Any:
    """Return the sensors of two sources, either of which may be None."""
    return one if other is None else other if one is None else one.merge(other)


def _check_times(times: Any, file: TableFile, histories: EventTable) -> None:
    """Refuse dates of sensors with numeric event times, and the reverse."""
    is_stamped = times.dtype.is_temporal()
    entries = histories.entries
    events_are = (
        histories.y.origin is not None
        if entries is None
        else entries[ENTRY].dtype.is_temporal()
    )
    if is_stamped != events_are:
        words = {True: "dates", False: "numbers"}
        raise InvalidSensorsError(
            f"Times of sensors and events must be of one kind, but `{times.name}` in "
            f"{file.path.name!r} holds {words[is_stamped]} and events have "
            f"{words[events_are]}.\n\nHint: --time COLUMN names another column."
        )

"""Features, events and sensors partitioned at the same ids."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from distributed import Client

from boostr.dask._collections import FILE, Table, open_table
from boostr.dask._partition import Parts, choose_cuts, count_parts, know_ranges, partition
from boostr.dask._parts import Files, Roles
from boostr.dask._survey import Headcount, count_heads
from boostr.exceptions import InvalidParameterError

__all__ = ["Together", "bring_together", "has_stamps", "open_tables"]


@dataclass(frozen=True, slots=True, eq=False)
class Together:
    """Rows of all individuals in parts by ranges of ids, in ascending order."""

    context: tuple[Roles, Files]
    tasks: list[tuple[Any, ...]]  # rows of X, events and sensors of every part
    heads: Headcount
    meta: Any  # features as columns, no rows


def open_tables(roles: Roles, sources: Mapping[str, Any]) -> dict[str, Table]:
    """Return the given tables; refuse missing columns."""
    tables = {
        name: open_table(source, roles.id, name)
        for name, source in sources.items()
        if source is not None
    }
    wanted: dict[str, list[Any]] = {
        "X": [roles.weight, roles.exposure],
        "events": roles.event_columns,
        "sensors": [roles.time],
    }
    for name, table in tables.items():
        missing = [one for one in wanted[name] if one and one not in table.names]
        if missing:
            raise InvalidParameterError(
                f"`{name}` must have the columns that are named, but it lacks "
                f"{', '.join(map(repr, missing))}.\n\n"
                f"Hint: its columns are {', '.join(map(repr, table.names))}."
            )
    _check_origin(roles, tables)
    if "events" in tables:
        tables["events"] = tables["events"].select(roles.event_columns)
    kinds = {name: _kind_of(table.meta[roles.id]) for name, table in tables.items()}
    if len(set(kinds.values())) > 1:
        described = ", ".join(f"{kind} in `{name}`" for name, kind in kinds.items())
        raise InvalidParameterError(
            f"Ids must be of one kind in all tables, but they are {described}.\n\n"
            "Hint: convert them, for instance with df[id].astype(str)."
        )
    return tables


def has_stamps(table: Table, time: str) -> bool:
    """Return whether a column of times holds time stamps, not numbers or durations."""
    return getattr(table.meta[time].dtype, "kind", "O") == "M"


def _check_origin(roles: Roles, tables: Mapping[str, Table]) -> None:
    """Refuse time stamps without an origin, which would differ between parts."""
    origins = {
        "events": roles.origin,
        "sensors": roles.sensor_options.get("origin", roles.origin),
    }
    for name, origin in origins.items():
        if origin is None and name in tables and has_stamps(tables[name], roles.time):
            raise InvalidParameterError(
                f"Time stamps need `origin` where tables are read in parts, but column "
                f"{roles.time!r} of `{name}` holds some and it is not given.\n\n"
                "Hint: origin='2024-01-01' counts from that day for all, "
                "origin='individual' for each from its own first `start`."
            )


def _kind_of(ids: Any) -> str:
    kind = getattr(ids.dtype, "kind", "O")
    return {"i": "numbers", "u": "numbers", "f": "numbers", "M": "dates"}.get(kind, "texts")


def bring_together(client: Client, roles: Roles, sources: Mapping[str, Any]) -> Together:
    """Partition all tables at the same ids, and count individuals."""
    tables = open_tables(roles, sources)
    tables = {name: know_ranges(table, client) for name, table in tables.items()}
    n_threads = max(1, sum(client.nthreads().values()))
    n_parts = count_parts(list(tables.values()), n_threads)
    cuts = choose_cuts(list(tables.values()), n_parts, client)
    parts = {
        name: partition(table, cuts, roles.rules(name), client)
        for name, table in tables.items()
    }
    static = tables["X"]
    files = {name: table.files for name, table in tables.items()}
    heads = count_heads(client, roles, files["X"], _narrow(static, parts["X"], roles, cuts))
    rows = zip(*(part.tasks for part in parts.values()), strict=True)
    left_out = {roles.weight, roles.exposure, FILE}
    names = [name for name in static.names if name not in left_out]
    return Together((roles, files), list(rows), heads, static.meta[names])


def _narrow(table: Table, parts: Parts, roles: Roles, cuts: list[Any]) -> list[Any]:
    """Return rows for counting; of files only the columns needed."""
    if parts.is_moved or not table.files:
        return parts.tasks
    names = [name for name in table.names if table.meta[name].dtype == object]
    names += [roles.weight] if roles.weight is not None else []
    return partition(table.select(names), cuts, roles.rules("X"), None).tasks

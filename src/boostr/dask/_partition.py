"""Partition of tables by ranges of ids, features, events and sensors at the same ids."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import dask.dataframe as dd
import numpy as np
import pandas as pd
from dask.delayed import delayed
from distributed import Client

from boostr._typing import AnyArray
from boostr.dask._cluster import gather, share
from boostr.dask._parts import Files, Roles
from boostr.dask._rows import (
    FILE,
    Interval,
    Piece,
    RowRules,
    Table,
    check_each_row,
    open_table,
)
from boostr.dask._survey import Headcount, count_heads
from boostr.exceptions import InvalidParameterError

__all__ = [
    "Parts",
    "Together",
    "bring_together",
    "choose_cuts",
    "count_parts",
    "has_stamps",
    "know_ranges",
    "open_tables",
    "partition",
]

PART_BYTES = 128 << 20  # of the rows of a part, all tables together
_FEW_BYTES = 32 << 20  # that a part may read besides its own without moving rows pays
_N_SAMPLED = 512  # ids that are kept of a piece
_PART = "part of the row"


@dataclass(frozen=True, slots=True, eq=False)
class _Ids:
    """Ids of one piece: number of rows, range and an evenly spaced subsample."""

    n: int
    low: Any
    high: Any
    sample: AnyArray


@dataclass(frozen=True, slots=True, eq=False)
class Parts:
    """Tasks that give the rows of a table by ranges of ids, one DataFrame each."""

    tasks: list[Any]
    is_moved: bool  # whether the cluster keeps the rows; else they are read when needed


@dataclass(frozen=True, slots=True, eq=False)
class _Context:
    """Columns, rules and files that all pieces of a table share."""

    meta: Any
    rules: RowRules
    files: Sequence[str]


def know_ranges(table: Table, client: Client | None) -> Table:
    """Return the table with the range of ids of every piece.

    Only ids are read, and only if neither files nor divisions have their range.
    """
    if all(piece.is_known for piece in table.pieces):
        return table
    found = _look_at_ids(table, client)
    pieces = [
        replace(piece, low=ids.low, high=ids.high)
        for piece, ids in zip(table.pieces, found, strict=True)
        if ids.n
    ]
    return replace(table, pieces=tuple(pieces))


def count_parts(tables: Sequence[Table], n_threads: int) -> int:
    """Return the number of parts: at least one per thread, each small enough."""
    n_bytes = sum(table.n_bytes for table in tables)
    frames = [len(table.pieces) for table in tables if not table.files]
    return max(n_threads, -(-n_bytes // PART_BYTES), *frames, 1)


def choose_cuts(tables: Sequence[Table], n_parts: int, client: Client | None) -> list[Any]:
    """Return the first ids of all parts but the first.

    If the largest table is sorted by id, cuts lie between its pieces, so hardly any row
    is read twice; otherwise the ids of the first table are cut into equal numbers.
    """
    largest = max(tables, key=lambda table: (table.n_bytes, len(table.pieces)))
    pieces = sorted(largest.pieces, key=lambda piece: piece.low)
    is_sorted = all(one.high <= other.low for one, other in pairwise(pieces))
    if is_sorted and len(pieces) >= n_parts:
        weights = np.array([piece.n_bytes or 1 for piece in pieces])
        begins = np.cumsum(weights) - weights
        part = begins * n_parts // weights.sum()
        firsts = np.flatnonzero(np.diff(part, prepend=0))
        cuts = [pieces[first].low for first in firsts]
        return [cut for cut in dict.fromkeys(cuts) if cut > pieces[0].low]
    found = [ids for ids in _look_at_ids(tables[0].select([]), client) if ids.n]
    # Every piece has its sample: a value stands for as many rows as the piece has for it.
    values = np.concatenate([ids.sample for ids in found])
    weights = np.concatenate([np.full(len(i.sample), i.n / len(i.sample)) for i in found])
    order = np.argsort(values, kind="stable")
    ends = np.cumsum(weights[order])
    places = np.searchsorted(ends, np.arange(1, n_parts) * ends[-1] / n_parts)
    quantiles = dict.fromkeys(values[order][places].tolist())
    return [cut for cut in quantiles if cut > min(ids.low for ids in found)]


def partition(
    table: Table, cuts: Sequence[Any], rules: RowRules, client: Client | None
) -> Parts:
    """Return the rows of a table in parts that begin at given ids, each row checked.

    If pieces hold ranges of ids, parts read the pieces they overlap; otherwise rows are
    moved once and the cluster keeps them.
    """
    intervals = [Interval(*pair) for pair in pairwise([None, *cuts, None])]
    met = [[p for p in table.pieces if p.meets(ids)] for ids in intervals]
    context = share(_Context(table.meta, rules, table.files), "table")
    if _reads_little(table, met):
        tasks = [
            delayed(_join)([table.read(piece, ids) for piece in pieces], context)
            for pieces, ids in zip(met, intervals, strict=True)
        ]
        return Parts(tasks, is_moved=False)
    checked = [delayed(_join)([table.read(piece)], context) for piece in table.pieces]
    frame = dd.from_delayed(checked, meta=table.meta, verify_meta=False)
    meta = table.meta.assign(**{_PART: np.zeros(0, dtype=np.int64)})
    frame = frame.map_partitions(_number_parts, table.id, list(cuts), meta=meta)
    limits = list(range(len(intervals) + 1))
    frame = frame.set_index(_PART, divisions=limits)
    frame = frame.map_partitions(_drop_index, meta=table.meta)
    if client is not None:
        frame = client.persist(frame)
    return Parts(list(frame.to_delayed()), is_moved=True)


def _reads_little(table: Table, met: Sequence[Sequence[Piece]]) -> bool:
    """Return whether parts read at most about twice their own rows."""
    if not table.files:  # a piece is made once for all parts that it meets
        return sum(map(len, met)) <= 2 * (len(met) + len(table.pieces))
    n_read = sum(piece.n_bytes for pieces in met for piece in pieces)
    return n_read <= 2 * table.n_bytes + _FEW_BYTES * len(met)


def _join(frames: Sequence[Any], context: _Context) -> Any:
    """Return the rows of several pieces as one table, checked."""
    some = [frame for frame in frames if len(frame)] or [context.meta]
    joined = some[0] if len(some) == 1 else pd.concat(some, ignore_index=True)
    return check_each_row(joined, context.rules, context.files)


def _drop_index(frame: Any) -> Any:
    return frame.reset_index(drop=True)


def _number_parts(frame: Any, id: str, cuts: Sequence[Any]) -> Any:
    """Add the number of its part to every row."""
    limits = pd.Series(list(cuts)).to_numpy()
    ids = frame[id].to_numpy()
    parts = (
        np.searchsorted(limits, ids, side="right") if len(limits) else np.zeros(len(ids))
    )
    return frame.assign(**{_PART: np.asarray(parts, dtype=np.int64)})


def _look_at_ids(table: Table, client: Client | None) -> list[_Ids]:
    alone = table.select([])
    rules = RowRules("table", table.id, bounded=())
    context = share(_Context(alone.meta, rules, table.files), "ids")
    tasks = [delayed(_describe_ids)(alone.read(piece), context) for piece in alone.pieces]
    return gather(client, tasks)


def _describe_ids(frame: Any, context: _Context) -> _Ids:
    check_each_row(frame, context.rules, context.files)
    ids = np.sort(frame[context.rules.id].to_numpy())
    if not len(ids):
        return _Ids(0, None, None, ids)
    places = np.linspace(0, len(ids) - 1, min(len(ids), _N_SAMPLED)).astype(np.int64)
    sample = ids[places]
    low, high = sample[[0, -1]].tolist()
    return _Ids(len(ids), low, high, sample)


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

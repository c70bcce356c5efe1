"""Tables in pieces, and checks of their rows on the workers that read them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import dask.dataframe as dd
import fsspec
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from dask.delayed import delayed

from boostr._checks.numbers import first_few
from boostr._typing import BoolArray
from boostr.data.parquet.files import SUFFIXES, RowGroup, file_errors, read_footer
from boostr.exceptions import (
    BoostrError,
    InvalidEventsError,
    InvalidFeaturesError,
    InvalidParameterError,
    InvalidSensorsError,
)

__all__ = [
    "FILE",
    "Interval",
    "Piece",
    "RowRules",
    "Table",
    "add_files",
    "check_each_row",
    "name_files",
    "open_table",
    "read_piece",
]

FILE = "file of the row"  # column with the number of the Parquet file a row was read from
_FIRST_PIECE = 32 << 20  # bytes of row groups that are read together


@dataclass(frozen=True, slots=True)
class Interval:
    """Ids from ``low`` on and below ``high``; None means no limit."""

    low: Any = None
    high: Any = None


@dataclass(frozen=True, slots=True, eq=False)
class Piece:
    """Rows that are read together, with their range of ids if it is known."""

    n_bytes: int = 0  # 0 where it is unknown
    low: Any = None  # the smallest id
    high: Any = None  # the largest one
    file: int = -1  # number of the Parquet file
    groups: tuple[int, ...] = ()  # its row groups
    delayed: Any = None  # or the partition of a Dask DataFrame

    @property
    def is_known(self) -> bool:
        """Whether the range of ids is known."""
        return self.low is not None and self.high is not None

    def meets(self, ids: Interval) -> bool:
        """Return whether there may be rows with ids of an interval."""
        if not self.is_known:
            return True
        is_above = ids.low is None or self.high >= ids.low
        return bool(is_above and (ids.high is None or self.low < ids.high))


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """A long table in pieces; ``meta`` has its columns and no rows.

    If it is of Parquet ``files``, its rows carry the number of their file in column
    `FILE`.
    """

    meta: Any
    id: str
    pieces: tuple[Piece, ...]
    files: tuple[str, ...] = ()

    @property
    def names(self) -> list[str]:
        """Names of the columns, without the id."""
        return [name for name in self.meta.columns if name not in {self.id, FILE}]

    @property
    def n_bytes(self) -> int:
        """Bytes of all rows in memory; 0 if unknown."""
        return sum(piece.n_bytes for piece in self.pieces)

    def select(self, names: Sequence[str]) -> Table:
        """Return the table with the id and some of the other columns."""
        extra = [FILE] if self.files else []
        meta = self.meta[[self.id, *names, *extra]]
        if self.files:
            return replace(self, meta=meta)
        chosen = [self.id, *names]
        pieces = tuple(
            replace(piece, delayed=delayed(_choose)(piece.delayed, chosen))
            for piece in self.pieces
        )
        return replace(self, meta=meta, pieces=pieces)

    def read(self, piece: Piece, ids: Interval | None = None) -> Any:
        """Return a task that reads one piece, all rows or those of some ids."""
        if self.files:
            url = self.files[piece.file]
            return delayed(read_piece)(url, piece, list(self.meta.columns), self.id, ids)
        frame = piece.delayed
        return frame if ids is None else delayed(_restrict)(frame, self.id, ids)


def open_table(source: Any, id: str, name: str) -> Table:
    """Return a Dask DataFrame or Parquet files as a table, without reading rows.

    ``source`` may be a path, folder or pattern, or a list of these; ``id`` is a column or
    the index; ``name`` is for messages.
    """
    if isinstance(source, dd.DataFrame):
        return _open_frame(source, id, name)
    if isinstance(source, str | Path):
        source = [source]
    if isinstance(source, list | tuple) and all(isinstance(s, str | Path) for s in source):
        return _open_files(_find_files([str(path) for path in source], name), id, name)
    raise InvalidParameterError(
        f"`{name}` must be a Dask DataFrame or the path of Parquet files, but it is a "
        f"{type(source).__name__}.\n\n"
        "Hint: dask.dataframe.from_pandas(df, npartitions=8) spreads a table in memory; "
        "for data that fit there, boostr.BoostR needs no cluster."
    )


def _check_id(columns: Sequence[Any], id: str, name: str) -> None:
    if id not in columns:
        raise InvalidParameterError(
            f"`{name}` must have the id {id!r} as a column or as its index, but it has not."
            f"\n\nHint: its columns are {', '.join(map(repr, columns))}."
        )


def _check_texts(columns: Sequence[Any], name: str) -> None:
    strange = [column for column in columns if not isinstance(column, str)]
    if strange:
        raise InvalidParameterError(
            f"Columns of `{name}` must have texts as names, but {len(strange)} have not "
            f"({first_few(map(repr, strange))}).\n\nHint: df.rename(columns=str)."
        )


def _check_id_type(ids: Any, name: str) -> None:
    """Refuse categorical ids, whose order may differ between pieces."""
    dtype = ids.dtype
    arrow = dtype.pyarrow_dtype if isinstance(dtype, pd.ArrowDtype) else None
    is_coded = arrow is not None and pa.types.is_dictionary(arrow)
    if is_coded or isinstance(dtype, pd.CategoricalDtype):
        raise InvalidParameterError(
            f"Ids must be numbers, texts or dates, but {ids.name!r} of `{name}` holds "
            "categories.\n\n"
            f"Hint: df.astype({{{ids.name!r}: str}}), in all tables."
        )


def _open_frame(frame: Any, id: str, name: str) -> Table:
    _check_texts(frame.columns, name)
    is_indexed = frame.index.name == id and id not in frame.columns
    divisions = frame.divisions if is_indexed else (None,)
    if is_indexed:
        frame = frame.map_partitions(_index_to_column, meta=_index_to_column(frame._meta))
    _check_id(list(frame.columns), id, name)
    _check_id_type(frame._meta[id], name)
    is_known = divisions[0] is not None
    pieces = tuple(
        Piece(
            low=divisions[place] if is_known else None,
            high=divisions[place + 1] if is_known else None,
            delayed=part,
        )
        for place, part in enumerate(frame.to_delayed())
    )
    return Table(frame._meta, id, pieces)


def _index_to_column(frame: Any) -> Any:
    return frame.reset_index()


def _choose(frame: Any, names: list[str]) -> Any:
    return frame[names]


def _restrict(frame: Any, id: str, ids: Interval) -> Any:
    is_ours = frame[id].notna()
    if ids.low is not None:
        is_ours &= frame[id] >= ids.low
    if ids.high is not None:
        is_ours &= frame[id] < ids.high
    return frame[is_ours.to_numpy(dtype=bool, na_value=False)]


def _find_files(paths: Sequence[str], name: str) -> tuple[str, ...]:
    """Return the Parquet files of the paths, in the order of the paths, then by name."""
    found: list[str] = []
    for path in paths:
        system, root = fsspec.core.url_to_fs(path)
        names = system.glob(root) if "*" in root else [root]
        files = [file for one in names for file in sorted(system.find(one))]
        files = [file for file in files if file.endswith(SUFFIXES)]
        is_local = "file" in system.protocol
        found += files if is_local else [system.unstrip_protocol(file) for file in files]
    if not found:
        raise InvalidParameterError(
            f"`{name}` must lead to Parquet files, but there is none at "
            f"{first_few(map(repr, paths))}.\n\n"
            "Hint: their names must end in .parquet or .pq; all workers must reach them."
        )
    return tuple(dict.fromkeys(found))


def _open_files(files: tuple[str, ...], id: str, name: str) -> Table:
    pieces: list[Piece] = []
    schema = None
    for place, url in enumerate(files):
        with file_errors(url), fsspec.open(url) as opened:
            own, groups = read_footer(opened, place, id)
        own = own.remove_metadata()
        schema = own if schema is None else schema
        _check_same(own, schema, url, files[0])
        _check_id(own.names, id, name)
        pieces += _join_groups(groups)
    assert schema is not None  # noqa: S101 - there is a file
    meta = _as_pandas(schema.empty_table(), 0)
    _check_id_type(meta[id], name)
    return Table(meta, id, tuple(pieces), files)


def _check_same(own: Any, schema: Any, url: str, first: str) -> None:
    if own.equals(schema):
        return
    differing = [field.name for field in schema if field.name not in own.names]
    differing += [field.name for field in own if field.name not in schema.names]
    differing += [
        field.name
        for field in own
        if field.name in schema.names and field.type != schema.field(field.name).type
    ]
    if differing:
        raise InvalidParameterError(
            "All Parquet files of a table must have the same columns of the same types, "
            f"but {url!r} differs from {first!r} in {first_few(differing)}.\n\n"
            "Hint: write them again with one schema."
        )


def _join_groups(groups: Sequence[RowGroup]) -> list[Piece]:
    """Return the row groups of a file, joined until they are worth one read."""
    pieces: list[Piece] = []
    for group in groups:
        last = pieces[-1] if pieces else None
        if last is None or last.n_bytes + group.n_bytes > _FIRST_PIECE:
            ids = (group.first, group.last)
            pieces.append(Piece(group.n_bytes, *ids, group.file, (group.number,)))
            continue
        is_known = last.is_known and group.first is not None
        pieces[-1] = Piece(
            last.n_bytes + group.n_bytes,
            min(last.low, group.first) if is_known else None,
            max(last.high, group.last) if is_known else None,
            group.file,
            (*last.groups, group.number),
        )
    return pieces


def read_piece(
    url: str, piece: Piece, names: Sequence[str], id: str, ids: Interval | None = None
) -> Any:
    """Read a run of row groups; each row carries the number of its file."""
    chosen = [name for name in names if name != FILE]
    with file_errors(url), fsspec.open(url) as opened:
        table = pq.ParquetFile(opened).read_row_groups(
            list(piece.groups), columns=chosen, use_threads=False
        )
    table = table.select(chosen)
    for limit, keeps in ((ids and ids.low, pc.greater_equal), (ids and ids.high, pc.less)):
        if limit is not None:
            table = table.filter(keeps(table[id], limit))
    return _as_pandas(table, piece.file)


def _as_pandas(table: Any, file: int) -> Any:
    """Return a pandas table of Arrow types, which missing values do not change."""
    frame = table.replace_schema_metadata(None).to_pandas(types_mapper=pd.ArrowDtype)
    frame[FILE] = pd.Series(file, index=frame.index, dtype="int32")
    return frame


_KINDS: dict[str, type[BoostrError]] = {
    "sensors": InvalidSensorsError,
    "X": InvalidFeaturesError,
}


@dataclass(frozen=True, slots=True)
class RowRules:
    """Rules that each row of a table must meet, whatever the other rows are."""

    table: str  # as the caller calls it
    id: str
    finite: tuple[str, ...] = ()  # columns of numbers that must be known and finite
    positive: tuple[str, ...] = ()  # and not negative
    flag: str | None = None  # column of 0 and 1
    bounded: tuple[str, ...] | None = None  # may be missing, not infinite; None: all others


def check_each_row(frame: Any, rules: RowRules, files: Sequence[str]) -> Any:
    """Return the rows; errors name the rows that break a rule, their ids and files."""
    ids = frame[rules.id]
    _refuse(frame, rules, files, ids.isna().to_numpy(), "must have an id", "id")
    for name in rules.finite:
        if _is_number(frame[name]):
            numbers = frame[name].to_numpy(dtype=np.float64, na_value=np.nan)
            bad = ~np.isfinite(numbers)
            if name in rules.positive:
                bad |= numbers < 0
            limit = " and not negative" if name in rules.positive else ""
            rule = f"must have a known, finite{limit} {name!r}"
            _refuse(frame, rules, files, bad, rule, name)
    if rules.flag is not None and _is_number(frame[rules.flag]):
        flags = frame[rules.flag].to_numpy(dtype=np.float64, na_value=np.nan)
        bad = ~((flags == 0) | (flags == 1))
        rule = f"must have True or False, or 1 or 0, as {rules.flag!r}"
        _refuse(frame, rules, files, bad, rule, rules.flag)
    bounded = rules.bounded
    if bounded is None:
        others = {rules.id, rules.flag, *rules.finite, FILE}
        bounded = tuple(name for name in frame.columns if name not in others)
    for name in bounded:
        if _is_number(frame[name]):
            numbers = frame[name].to_numpy(dtype=np.float64, na_value=np.nan)
            rule = f"must have a finite or missing {name!r}"
            _refuse(frame, rules, files, np.isinf(numbers), rule, name)
    return frame


def _is_number(column: Any) -> bool:
    """Return whether a column can be checked here, unlike time stamps and texts."""
    return getattr(column.dtype, "kind", "O") in "biuf"


def _refuse(
    frame: Any,
    rules: RowRules,
    files: Sequence[str],
    is_bad: BoolArray,
    rule: str,
    column: str,
) -> None:
    if not is_bad.any():
        return
    bad = frame[is_bad]
    ids = dict.fromkeys(bad[rules.id].dropna().tolist())
    whom = f" (ids {first_few(ids)})" if ids else ""
    raise _KINDS.get(rules.table, InvalidEventsError)(
        f"Every row of `{rules.table}` {rule}, but {len(bad)} of {len(frame)} rows that "
        f"are read together have not{whom}{name_files(bad, files)}.\n\n"
        f"Hint: correct column {column!r} there, or drop those rows."
    )


def name_files(frame: Any, files: Sequence[str]) -> str:
    """Return words for the Parquet files of rows; empty if they are from none."""
    if not files or FILE not in frame.columns:
        return ""
    numbers = sorted(set(frame[FILE].tolist()))
    return f" in {first_few(files[number] for number in numbers)}"


def add_files(error: BoostrError, where: str) -> BoostrError:
    """Return the same error with a sentence on the files of the rows."""
    fact, _, hint = str(error).partition("\n\n")
    return type(error)(f"{fact} {where}" + (f"\n\n{hint}" if hint else ""))

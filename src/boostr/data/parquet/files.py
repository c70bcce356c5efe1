"""Parquet files on disk: their columns, their row groups and the order of these."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from glob import glob  # unlike those of Path, patterns may be absolute
from itertools import pairwise
from operator import attrgetter
from pathlib import Path
from typing import Any

from boostr._checks.numbers import first_few
from boostr._optional import require
from boostr.data.parquet.footers import FEATURE, file_errors, read_ranges
from boostr.data.parquet.source import find_files
from boostr.exceptions import InvalidParameterError

__all__ = ["SORTED", "SPILL", "FileSet", "RowGroup", "find_parquet", "open_files"]

Paths = str | os.PathLike[str] | Iterable[str | os.PathLike[str]]
_BUFFER = 2**20  # bytes of a column that are read at once, and not its whole row group
SORTED = "sorted-"  # how names of sorted files begin in a folder that keeps them
SPILL = "spill-"  # and folders of sorts on their way


@dataclass(frozen=True, slots=True)
class RowGroup:
    """One row group of a file."""

    file: Path
    row_group: int
    n_rows: int
    first: Any  # smallest and largest id, None where the file does not say
    last: Any

    def may_hold(self, ids: Sequence[Any]) -> bool:
        """Return whether the piece may contain one of some ids."""
        if self.first is None:
            return True
        return any(self.first <= id_ <= self.last for id_ in ids)


@dataclass(frozen=True, slots=True)
class FileSet:
    """Files with the same columns, as pieces (row groups) in the order of their ids."""

    files: tuple[Path, ...]  # as they were given
    schema: Any  # pyarrow.Schema of the columns that are read
    pieces: tuple[RowGroup, ...]

    @property
    def n_rows(self) -> int:
        """Number of rows of all files."""
        return sum(piece.n_rows for piece in self.pieces)

    def batches(
        self, columns: Sequence[str], n_rows: int, pieces: Sequence[RowGroup] | None = None
    ) -> Iterator[Any]:
        """Yield columns of all (or some) pieces as tables of at most `n_rows` rows."""
        pyarrow = require("pyarrow", extra="scan", feature=FEATURE)
        parquet = require("pyarrow.parquet", extra="scan", feature=FEATURE)
        schema = pyarrow.schema([self.schema.field(name) for name in columns])
        names = list(dict.fromkeys(columns))
        opened: Any = None
        path = None
        try:
            for piece in self.pieces if pieces is None else pieces:
                if piece.file != path:
                    if opened is not None:
                        opened.close()
                    with file_errors(piece.file):
                        opened, path = _open_buffered(parquet, piece.file), piece.file
                if piece.row_group >= opened.num_row_groups:
                    continue  # the file is another one by now; whoever counts rows notices
                batches = opened.iter_batches(n_rows, [piece.row_group], names)
                while True:
                    with file_errors(piece.file):
                        batch = next(batches, None)
                    if batch is None:
                        break
                    table = pyarrow.Table.from_batches([batch]).select(names)
                    yield _cast(pyarrow, table, schema, piece.file)
        finally:
            if opened is not None:
                opened.close()


def _open_buffered(parquet: Any, file: Path) -> Any:
    return parquet.ParquetFile(file, buffer_size=_BUFFER, pre_buffer=False)


def _cast(pyarrow: Any, table: Any, schema: Any, file: Path) -> Any:
    """Return rows of a file in the common types of all files."""
    if table.schema.equals(schema):
        return table
    try:
        return table.cast(schema)
    except pyarrow.ArrowException as error:
        raise InvalidParameterError(
            f"All files must hold the same kinds of values, but those of {str(file)!r} "
            f"do not fit with the others: {error}.\n\n"
            "Hint: write it again with their types."
        ) from error


def find_parquet(paths: Paths, cache: Path | None = None) -> tuple[Path, ...]:
    """Return the Parquet files of paths, folders (searched recursively) or patterns.

    Each file is listed once; sorted copies in the folder `cache` are left out.
    """
    if isinstance(paths, (str, os.PathLike)):
        paths = [paths]
    files: list[Path] = []
    for path in paths:
        text = os.fspath(path)
        found = [] if Path(text).exists() else sorted(glob(text, recursive=True))  # noqa: PTH207
        for name in found or [text]:
            files += find_files(Path(name))
    if cache is not None:
        files = [file for file in files if not _is_cached(file, cache)]
    if not files:
        raise InvalidParameterError(
            "There must be at least one Parquet file, but the list of paths is empty."
        )
    return tuple(dict.fromkeys(files))


def _is_cached(file: Path, cache: Path) -> bool:
    """Return whether a file is a sorted copy in the cache."""
    full, home = file.resolve(), cache.resolve()
    if home not in full.parents:
        return False
    return full.relative_to(home).parts[0].startswith((SORTED, SPILL))


def open_files(
    files: Sequence[Path],
    columns: Sequence[str] | None,
    id: str,
    *,
    later_wins: bool = False,
) -> FileSet:
    """Return files with schema and pieces sorted by id, from their metadata alone.

    With `later_wins`, pieces that share an individual keep the order of the files.
    """
    pyarrow = require("pyarrow", extra="scan", feature=FEATURE)
    parquet = require("pyarrow.parquet", extra="scan", feature=FEATURE)
    schemas, pieces = [], []
    for file in files:
        with file_errors(file), parquet.ParquetFile(file) as opened:
            schema, metadata = opened.schema_arrow, opened.metadata
        if columns is None:
            # pandas writes an index without a name as a column that nobody named either.
            columns = [n for n in schema.names if not n.startswith("__index_level_")]
        schemas.append(_plain_schema(pyarrow, schema, columns, file))
        kind = schema.field(id).type if id in schema.names else None
        with file_errors(file):
            pieces += _list_pieces(metadata, file, id, kind)
    schema = _unite(pyarrow, schemas, files, id)
    return FileSet(tuple(files), schema, tuple(_in_order(pieces, later_wins=later_wins)))


def _plain_schema(pyarrow: Any, schema: Any, columns: Sequence[str], file: Path) -> Any:
    """Return the schema of the needed columns, with categories as their values."""
    missing = [name for name in columns if name not in schema.names]
    if missing:
        raise InvalidParameterError(
            f"All files must have the columns that are named, but {str(file)!r} lacks "
            f"{first_few(map(repr, missing))}.\n\n"
            f"Hint: its columns are {', '.join(map(repr, schema.names))}."
        )
    fields = []
    for name in columns:
        kind = schema.field(name).type
        is_coded = pyarrow.types.is_dictionary(kind)
        fields.append(pyarrow.field(name, kind.value_type if is_coded else kind))
    return pyarrow.schema(fields)


def _unite(pyarrow: Any, schemas: Sequence[Any], files: Sequence[Path], id: str) -> Any:
    """Return the schema that all files can be cast to."""
    united = schemas[0]
    for schema, file in zip(schemas[1:], files[1:], strict=True):
        if schema.equals(united):
            continue
        for name in schema.names:
            _check_exact(pyarrow, united.field(name), schema.field(name), file, name == id)
        try:
            united = pyarrow.unify_schemas([united, schema], promote_options="permissive")
        except pyarrow.ArrowException as error:
            raise InvalidParameterError(
                f"All files must hold the same kinds of values, but {str(file)!r} differs "
                f"from those before it: {error}.\n\nHint: write it again with their types."
            ) from error
    return united


def _check_exact(pyarrow: Any, one: Any, other: Any, file: Path, is_id: bool) -> None:
    """Refuse types whose common type would change some values."""
    types = pyarrow.types
    pair = (one.type, other.type)
    # Beyond 2**53 different integers are the same float, and so the same individual. A
    # sort sees durations as integers, whatever their unit.
    is_mixed = is_id and len({types.is_integer(kind) for kind in pair}) == 2
    if is_mixed or (any(map(types.is_duration, pair)) and one.type != other.type):
        raise InvalidParameterError(
            f"All files must hold the same kinds of values, but {str(file)!r} differs from "
            f"those before it: {one.name!r} is {other.type} in it and {one.type} in them."
            "\n\nHint: write it again with their types."
        )


def _list_pieces(metadata: Any, file: Path, id: str, kind: Any) -> list[RowGroup]:
    """Return the row groups of a file with the range of their ids."""
    # Columns are counted with their parts: its place among the columns may be another.
    paths = [metadata.schema.column(place).path for place in range(metadata.num_columns)]
    n_groups = metadata.num_row_groups
    ranges = [(None, None)] * n_groups
    if id in paths:
        with file.open("rb") as opened:
            ranges = read_ranges(opened, paths.index(id), kind, n_groups)
    n_rows = [metadata.row_group(number).num_rows for number in range(n_groups)]
    return [
        RowGroup(file, number, n, *ranges[number])
        for number, n in enumerate(n_rows)
        if n > 0
    ]


def _in_order(pieces: list[RowGroup], *, later_wins: bool) -> list[RowGroup]:
    """Return the pieces sorted by id if the ranges of all are known."""
    if any(piece.first is None for piece in pieces):
        return pieces
    try:
        ordered = sorted(pieces, key=attrgetter("first", "last"))
    except TypeError:  # texts here and numbers there, which is refused when they are read
        return pieces
    if later_wins:
        place = {id(piece): number for number, piece in enumerate(pieces)}
        for one, next_ in pairwise(ordered):
            if one.last == next_.first and place[id(one)] > place[id(next_)]:
                return pieces  # not in the order of their ids: rows are going to be sorted
    return ordered

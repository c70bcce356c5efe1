"""Row groups of several Parquet files with the same columns, in the order of their ids."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise
from operator import attrgetter
from pathlib import Path
from typing import Any

from boostr._checks.numbers import first_few
from boostr.data.parquet.files import RowGroup, file_errors, load_pyarrow, read_footer
from boostr.exceptions import InvalidParameterError

__all__ = ["FileSet", "open_files"]

_BUFFER = 2**20  # bytes of a column that are read at once, and not its whole row group


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
        pyarrow = load_pyarrow()
        schema = pyarrow.schema([self.schema.field(name) for name in columns])
        names = list(dict.fromkeys(columns))
        wanted = self.pieces if pieces is None else pieces
        for file, groups in groupby(wanted, key=attrgetter("file")):
            with file_errors(file):
                opened = load_pyarrow("pyarrow.parquet").ParquetFile(
                    file, buffer_size=_BUFFER, pre_buffer=False
                )
            with opened:
                for group in groups:
                    if group.number >= opened.num_row_groups:
                        continue  # the file is another one by now; the row count differs
                    batches = opened.iter_batches(n_rows, [group.number], names)
                    while True:
                        with file_errors(file):
                            batch = next(batches, None)
                        if batch is None:
                            break
                        table = pyarrow.Table.from_batches([batch]).select(names)
                        yield _cast(pyarrow, table, schema, file)


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


def open_files(
    files: Sequence[Path],
    columns: Sequence[str] | None,
    id: str,
    *,
    later_wins: bool = False,
) -> FileSet:
    """Return files with schema and row groups sorted by id, from their metadata alone.

    With `later_wins`, row groups that share an individual keep the order of the files.
    """
    pyarrow = load_pyarrow()
    schemas: list[Any] = []
    groups: list[RowGroup] = []
    for file in files:
        with file_errors(file), file.open("rb") as opened:
            schema, found = read_footer(opened, file, id)
        if columns is None:
            # pandas writes an index without a name as a column.
            columns = [n for n in schema.names if not n.startswith("__index_level_")]
        schemas.append(_plain_schema(pyarrow, schema, columns, file))
        groups += [group for group in found if group.n_rows > 0]
    schema = _unite(pyarrow, schemas, files, id)
    return FileSet(tuple(files), schema, tuple(_in_order(groups, later_wins=later_wins)))


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

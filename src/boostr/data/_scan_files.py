"""Parquet files on disk: which there are, what they hold, and in which order."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from glob import glob  # unlike those of Path, patterns may be absolute
from operator import attrgetter
from pathlib import Path
from typing import Any

from boostr._optional import require
from boostr._validation import first_few
from boostr.data._path_source import find_files
from boostr.exceptions import InvalidParameterError

__all__ = ["FileSet", "Piece", "find_parquet", "open_files"]

Paths = str | os.PathLike[str] | Iterable[str | os.PathLike[str]]
_FEATURE = "Scanning Parquet files"


@dataclass(frozen=True, slots=True)
class Piece:
    """One row group of a file."""

    file: Path
    row_group: int
    n_rows: int
    first: Any  # smallest and largest id, None where the file does not say
    last: Any

    def may_hold(self, ids: Sequence[Any]) -> bool:
        """Tell whether one of some ids may stand in it."""
        if self.first is None:
            return True
        return any(self.first <= id_ <= self.last for id_ in ids)


@dataclass(frozen=True, slots=True)
class FileSet:
    """Files with the same columns, cut into pieces that stand in the order of their ids."""

    files: tuple[Path, ...]  # as they were given
    schema: Any  # pyarrow.Schema of the columns that are read
    pieces: tuple[Piece, ...]

    @property
    def n_rows(self) -> int:
        """Number of rows of all files."""
        return sum(piece.n_rows for piece in self.pieces)

    def batches(
        self, columns: Sequence[str], n_rows: int, pieces: Sequence[Piece] | None = None
    ) -> Iterator[Any]:
        """Read some columns of all pieces, at most so many rows at a time.

        Parameters
        ----------
        columns : sequence of str
            What is read.
        n_rows : int
            Rows of a batch at most.
        pieces : sequence of Piece, optional
            Which, by default all.

        Yields
        ------
        pyarrow.Table
            Rows of one piece each.
        """
        pyarrow = require("pyarrow", extra="scan", feature=_FEATURE)
        parquet = require("pyarrow.parquet", extra="scan", feature=_FEATURE)
        schema = pyarrow.schema([self.schema.field(name) for name in columns])
        names = list(dict.fromkeys(columns))
        opened: Any = None
        path = None
        try:
            for piece in self.pieces if pieces is None else pieces:
                if piece.file != path:
                    if opened is not None:
                        opened.close()
                    opened, path = parquet.ParquetFile(piece.file), piece.file
                for batch in opened.iter_batches(n_rows, [piece.row_group], names):
                    table = pyarrow.Table.from_batches([batch]).select(names)
                    yield table if table.schema.equals(schema) else table.cast(schema)
        finally:
            if opened is not None:
                opened.close()


def find_parquet(paths: Paths) -> tuple[Path, ...]:
    """List the Parquet files that a path, a pattern or several of them stand for.

    Parameters
    ----------
    paths : str, Path or iterable of them
        Files, folders (searched to the bottom) or patterns such as ``"data/2024-*/*.pq"``.

    Returns
    -------
    tuple of Path
        Files, each once.

    Examples
    --------
    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> (folder / "part-0.parquet").touch()
    >>> [file.name for file in find_parquet(str(folder / "part-*.parquet"))]
    ['part-0.parquet']
    """
    if isinstance(paths, (str, os.PathLike)):
        paths = [paths]
    files: list[Path] = []
    for path in paths:
        text = os.fspath(path)
        found = [] if Path(text).exists() else sorted(glob(text, recursive=True))  # noqa: PTH207
        for name in found or [text]:
            files += find_files(Path(name))
    if not files:
        raise InvalidParameterError(
            "There must be at least one Parquet file, but the list of paths is empty."
        )
    return tuple(dict.fromkeys(files))


def open_files(files: Sequence[Path], columns: Sequence[str] | None, id: str) -> FileSet:
    """Read what the files say about themselves, and no row.

    Parameters
    ----------
    files : sequence of Path
        Parquet files.
    columns : sequence of str or None
        Columns that are needed, which all files must have; None for all of the first file.
    id : str
        Name of the column of ids, by whose ranges pieces are put in order.

    Returns
    -------
    FileSet
        Ready to be read.
    """
    pyarrow = require("pyarrow", extra="scan", feature=_FEATURE)
    parquet = require("pyarrow.parquet", extra="scan", feature=_FEATURE)
    schemas, pieces = [], []
    for file in files:
        try:
            with parquet.ParquetFile(file) as opened:
                schema, metadata = opened.schema_arrow, opened.metadata
        except (pyarrow.ArrowException, OSError) as error:
            raise InvalidParameterError(
                f"Parquet files must be whole, but {str(file)!r} cannot be read: {error}."
                "\n\nHint: write it again, or leave it out."
            ) from error
        if columns is None:
            # pandas writes an index without a name as a column that nobody named either.
            columns = [n for n in schema.names if not n.startswith("__index_level_")]
        schemas.append(_plain_schema(pyarrow, schema, columns, file))
        pieces += _list_pieces(metadata, file, id)
    return FileSet(tuple(files), _unite(pyarrow, schemas, files), tuple(_in_order(pieces)))


def _plain_schema(pyarrow: Any, schema: Any, columns: Sequence[str], file: Path) -> Any:
    """Return the columns that are needed, categories as what they stand for."""
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


def _unite(pyarrow: Any, schemas: Sequence[Any], files: Sequence[Path]) -> Any:
    """Find the types that hold what all files hold."""
    united = schemas[0]
    for schema, file in zip(schemas[1:], files[1:], strict=True):
        if schema.equals(united):
            continue
        try:
            united = pyarrow.unify_schemas([united, schema], promote_options="permissive")
        except pyarrow.ArrowException as error:
            raise InvalidParameterError(
                f"All files must hold the same kinds of values, but {str(file)!r} differs "
                f"from those before it: {error}.\n\nHint: write it again with their types."
            ) from error
    return united


def _list_pieces(metadata: Any, file: Path, id: str) -> list[Piece]:
    """List the row groups of a file with the range of their ids."""
    pieces = []
    for number in range(metadata.num_row_groups):
        group = metadata.row_group(number)
        if group.num_rows == 0:
            continue
        first, last = None, None
        for place in range(group.num_columns):
            column = group.column(place)
            if column.path_in_schema == id and column.statistics is not None:
                if column.statistics.has_min_max:
                    first, last = column.statistics.min, column.statistics.max
                break
        pieces.append(Piece(file, number, group.num_rows, first, last))
    return pieces


def _in_order(pieces: list[Piece]) -> list[Piece]:
    """Sort the pieces by their ids, where all files say which they hold."""
    if any(piece.first is None for piece in pieces):
        return pieces
    try:
        return sorted(pieces, key=attrgetter("first", "last"))
    except TypeError:  # texts here and numbers there, which is refused when they are read
        return pieces

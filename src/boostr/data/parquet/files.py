"""Opening of Parquet files: where they are, their row groups, and single columns."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from glob import glob  # unlike those of Path, patterns may be absolute
from importlib.util import find_spec
from pathlib import Path
from typing import Any, BinaryIO

from boostr._optional import require
from boostr.data.columns import Column, Frame, as_frame
from boostr.data.parquet.footers import read_ranges
from boostr.exceptions import (
    InvalidParameterError,
    InvalidSensorsError,
    SensorTypeError,
    TargetTypeError,
)

__all__ = [
    "SUFFIXES",
    "Paths",
    "RowGroup",
    "TableSource",
    "file_errors",
    "find_files",
    "find_parquet",
    "load_pyarrow",
    "open_source",
    "read_footer",
]

Paths = str | os.PathLike[str] | Iterable[str | os.PathLike[str]]
SUFFIXES = (".parquet", ".pq")


def find_files(path: Path) -> list[Path]:
    """Return the Parquet files at a path, sorted; folders are searched recursively."""
    if not path.exists():
        raise InvalidParameterError(
            f"The Parquet file must exist, but there is nothing at {str(path)!r}.\n\n"
            f"Hint: relative paths start from {str(Path.cwd())!r}."
        )
    if path.is_dir():
        files = sorted(file for file in path.rglob("*") if _is_parquet(file))
        if files:
            return files
        raise InvalidParameterError(
            f"The folder must hold Parquet files, but there is none in {str(path)!r}.\n\n"
            "Hint: their names must end in .parquet or .pq."
        )
    if not _is_parquet(path):
        raise InvalidParameterError(
            "Only Parquet files can be read by path (.parquet or .pq), but this is "
            f"{path.name!r}.\n\n"
            "Hint: read it first, for instance with pandas.read_csv, and pass the table."
        )
    return [path]


def _is_parquet(file: Path) -> bool:
    """Return whether a path is that of a Parquet file; folders may have such names."""
    return file.suffix.lower() in SUFFIXES and file.is_file()


def find_parquet(paths: Paths) -> tuple[Path, ...]:
    """Return the Parquet files of paths, folders or patterns, each once."""
    if isinstance(paths, (str, os.PathLike)):
        paths = [paths]
    files: list[Path] = []
    for path in paths:
        text = os.fspath(path)
        found = [] if Path(text).exists() else sorted(glob(text, recursive=True))  # noqa: PTH207
        for name in found or [text]:
            files += find_files(Path(name))
    return tuple(dict.fromkeys(files))


def load_pyarrow(module: str = "pyarrow") -> Any:
    """Import pyarrow or one of its modules."""
    return require(module, extra="scan", feature="Scanning Parquet files")


@contextmanager
def file_errors(file: object) -> Iterator[None]:
    """Raise errors of pyarrow as ours, with the name of the file and the reason."""
    try:
        yield
    except (load_pyarrow().ArrowException, OSError, UnicodeDecodeError) as error:
        raise InvalidParameterError(
            f"Parquet files must be whole, but {str(file)!r} cannot be read: {error}.\n\n"
            "Hint: write it again, or leave it out."
        ) from error


@dataclass(frozen=True, slots=True)
class RowGroup:
    """One row group of a file."""

    file: Any  # path, or number in a list
    number: int
    n_rows: int
    n_bytes: int
    first: Any  # smallest and largest id, None where the file does not say
    last: Any

    def may_hold(self, ids: Sequence[Any]) -> bool:
        """Return whether there may be rows of one of some ids."""
        if self.first is None:
            return True
        return any(self.first <= id_ <= self.last for id_ in ids)


def read_footer(opened: BinaryIO, file: Any, id: str) -> tuple[Any, list[RowGroup]]:
    """Return the Arrow schema and the row groups of an open file, without reading rows."""
    whole = load_pyarrow("pyarrow.parquet").ParquetFile(opened)
    schema, metadata = whole.schema_arrow, whole.metadata
    # Columns are counted with their parts: its place among the columns may be another.
    leaves = [metadata.schema.column(place).path for place in range(metadata.num_columns)]
    ranges = [(None, None)] * metadata.num_row_groups
    if id in leaves:
        kind = schema.field(id).type
        ranges = read_ranges(opened, leaves.index(id), kind, metadata.num_row_groups)
    groups = []
    for number, (first, last) in enumerate(ranges):
        group = metadata.row_group(number)
        n_rows, n_bytes = group.num_rows, group.total_byte_size
        groups.append(RowGroup(file, number, n_rows, n_bytes, first, last))
    return schema, groups


@dataclass(frozen=True, kw_only=True)
class TableSource:
    """A table that is read one column at a time if it comes from a file."""

    frame: Frame  # the table, or one without rows that has its columns
    native: Any  # as the user gave it
    read: Callable[[str], Column]

    @property
    def names(self) -> list[str]:
        """Names of the columns."""
        return self.frame.columns

    def column(self, name: str) -> Column:
        """Return one column."""
        return self.read(name)


def open_source(source: Any) -> TableSource:
    """Return a table, or a path to one or several Parquet files, as a `TableSource`."""
    if isinstance(source, (str, Path)):
        return _open_columns(find_files(Path(source)), source)
    try:
        frame = as_frame(source)
    except TargetTypeError:
        raise SensorTypeError(
            "Sensors must come in a pandas or polars DataFrame or as the path of a Parquet "
            f"file, but they come in a {type(source).__name__}.\n\n"
            "Hint: pandas.DataFrame(…) of it, .collect() for a lazy table, or `from_flat` "
            "for arrays."
        ) from None
    return TableSource(frame=frame, native=source, read=frame.get_column)


def _open_columns(files: Sequence[Path], native: Any) -> TableSource:
    """Return Parquet files as a source, without reading any rows."""
    paths = [str(file) for file in files]
    options = {"extra": "polars", "feature": "Reading Parquet"}
    empty: Callable[[], Any]
    load: Callable[[list[str]], Any]
    if find_spec("polars") is None and find_spec("pyarrow") is not None:
        parquet = require("pyarrow.parquet", **options)
        errors = require("pyarrow", **options).ArrowException
        empty = lambda: parquet.read_schema(paths[0]).empty_table()  # noqa: E731
        load = lambda names: parquet.read_table(paths, columns=names)  # noqa: E731
    else:
        polars = require("polars", **options)
        errors = polars.exceptions.PolarsError
        empty = lambda: polars.DataFrame(schema=polars.read_parquet_schema(paths[0]))  # noqa: E731
        load = lambda names: polars.read_parquet(paths, columns=names)  # noqa: E731

    def read(name: str) -> Column:
        with _column_errors(errors, native):
            return as_frame(load([name])).get_column(name)

    with _column_errors(errors, native):
        return TableSource(frame=as_frame(empty()), native=native, read=read)


@contextmanager
def _column_errors(kind: type[Exception], native: Any) -> Iterator[None]:
    """Raise errors of the reader as ours, with the name of the file."""
    try:
        yield
    except kind as error:
        raise InvalidSensorsError(
            f"The Parquet files at {str(native)!r} must all have the same columns and be "
            f"whole, but they cannot be read: {error}.\n\n"
            "Hint: write them again, or read them yourself and pass the table."
        ) from error

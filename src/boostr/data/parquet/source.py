"""Where a table of samples comes from: memory, or Parquet read column by column."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import narwhals as nw

from boostr._optional import require
from boostr.data.columns import Column, Frame
from boostr.exceptions import InvalidParameterError, InvalidSensorsError, SensorTypeError

SUFFIXES = {".parquet", ".pq"}


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
        return _open_parquet(find_files(Path(source)), source)
    try:
        frame = nw.from_native(source, eager_only=True, pass_through=True)
    except nw.exceptions.DuplicateError as error:
        raise InvalidParameterError(
            "The columns of a table must have different names, but some share one.\n\n"
            "Hint: df.loc[:, ~df.columns.duplicated()] keeps the first of each."
        ) from error
    if isinstance(frame, nw.DataFrame):
        return TableSource(frame=frame, native=source, read=frame.get_column)
    raise SensorTypeError(
        "Sensors must come in a pandas or polars DataFrame or as the path of a Parquet "
        f"file, but they come in a {type(source).__name__}.\n\n"
        "Hint: pandas.DataFrame(…) of it, .collect() for a lazy table, or `from_flat` "
        "for arrays."
    )


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
    if path.suffix.lower() not in SUFFIXES:
        raise InvalidParameterError(
            "Only Parquet files can be read by path (.parquet or .pq), but this is "
            f"{path.name!r}.\n\n"
            "Hint: read it first, for instance with pandas.read_csv, and pass the table."
        )
    return [path]


def _is_parquet(file: Path) -> bool:
    """Return whether a path in a folder is a Parquet file; folders may have such names."""
    return file.suffix.lower() in SUFFIXES and file.is_file()


@contextmanager
def _parquet_errors(kind: type[Exception], native: Any) -> Iterator[None]:
    """Raise errors of the reader as ours, with the name of the file."""
    try:
        yield
    except kind as error:
        raise InvalidSensorsError(
            f"The Parquet files at {str(native)!r} must all have the same columns and be "
            f"whole, but they cannot be read: {error}.\n\n"
            "Hint: write them again, or read them yourself and pass the table."
        ) from error


def _open_parquet(files: Sequence[Path], native: Any) -> TableSource:
    """Return Parquet files as a source, without reading any rows."""
    if find_spec("polars") is None and find_spec("pyarrow") is not None:
        return _open_with_pyarrow(files, native)
    polars = require("polars", extra="polars", feature="Reading Parquet")
    kind = polars.exceptions.PolarsError

    def read(name: str) -> Column:
        with _parquet_errors(kind, native):
            table = polars.read_parquet(list(files), columns=[name])
        return nw.from_native(table[name], series_only=True)

    with _parquet_errors(kind, native):
        empty = polars.DataFrame(schema=polars.read_parquet_schema(files[0]))
    return TableSource(frame=nw.from_native(empty), native=native, read=read)


def _open_with_pyarrow(files: Sequence[Path], native: Any) -> TableSource:
    """Return Parquet files as a source if polars is not installed."""
    parquet = require("pyarrow.parquet", extra="polars", feature="Reading Parquet")
    kind = require("pyarrow", extra="polars", feature="Reading Parquet").ArrowException

    def read(name: str) -> Column:
        with _parquet_errors(kind, native):
            table = parquet.read_table([str(file) for file in files], columns=[name])
        return nw.from_native(table, eager_only=True).get_column(name)

    with _parquet_errors(kind, native):
        empty = parquet.read_schema(files[0]).empty_table()
    return TableSource(frame=nw.from_native(empty), native=native, read=read)

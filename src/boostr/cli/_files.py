"""Tables in files, read by column."""

from __future__ import annotations

import codecs
import csv
import gzip
import re
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from boostr._checks.numbers import first_few, repeats
from boostr._optional import require
from boostr.cli._output import echo
from boostr.data.parquet.files import find_files
from boostr.exceptions import InvalidParameterError

__all__ = ["TableFile", "load_polars", "open_file", "quote_names"]

MISSING = ("", "NA", "N/A", "#N/A", "NaN", "nan", "NULL", "null")
_HEAD = 1_000  # rows that are looked at to tell what columns hold
_INFERENCE = 10_000  # rows that tell the types of a CSV file's columns
_BEGINNING = 65_536  # bytes that tell what kind of file it is
_SEPARATORS = ",;\t|"
_GZIP = b"\x1f\x8b"
_PACKED = {b"PK\x03\x04", b"\xd0\xcf\x11\xe0"}  # as spreadsheets of all ages begin
_SPREADSHEETS = {".xlsx", ".xlsm", ".xlsb", ".xls", ".ods"}
_UNNAMED = "__UNNAMED__"  # columns without a name
_COMMA_NUMBER = re.compile(r"-?\d+,\d+")
_POINT_NUMBER = re.compile(r"-?\d+\.\d+")


@dataclass(frozen=True, kw_only=True, eq=False)
class TableFile:
    """A table in a file; only the needed columns are read."""

    path: Path
    names: tuple[str, ...]  # of columns; those without a name are left out
    is_text: bool  # whether types were guessed from text
    scan: Callable[[Mapping[str, Any], int | None], Any]
    first_line: int = 2  # of the file with a row; the names of the columns are before it

    def lines(self, rows: Iterable[int]) -> str:
        """Return the lines of some rows in the file, for a message."""
        return first_few(row + self.first_line for row in rows)

    def head(self) -> Any:
        """Return the first rows."""
        with table_errors(self.path):
            found: Any = self.scan({}, _INFERENCE).select(self.names).head(_HEAD).collect()
        return found

    def read(self, names: Iterable[str], *, as_text: Sequence[str] = ()) -> Any:
        """Return some columns; those `as_text` of CSV files exactly as written."""
        polars = load_polars()
        wanted = [name for name in dict.fromkeys(names) if name in self.names]
        types = dict.fromkeys(as_text, polars.String) if self.is_text else {}
        try:
            with table_errors(self.path):
                table = self._collect(types, wanted)
        except MemoryError as error:
            raise InvalidParameterError(
                f"{str(self.path)!r} must fit into memory, but it does not.\n\n"
                "Hint: Parquet with the needed columns alone takes the least."
            ) from error
        table = self._without_blank_end(table, wanted)
        if table.height == 0:
            raise InvalidParameterError(
                f"The table must have rows, but {str(self.path)!r} has none.\n\n"
                f"Hint: it has the columns {quote_names(self.names)} and nothing below."
            )
        return table

    def _without_blank_end(self, table: Any, wanted: Sequence[str]) -> Any:
        """Return the table without empty rows at its end."""
        n_blank = _count_blank_end(table)
        if n_blank and len(wanted) < len(self.names):
            n_blank = min(n_blank, _count_blank_end(self._collect({}, self.names)))
        return table.head(table.height - n_blank)

    def _collect(self, types: Mapping[str, Any], wanted: Sequence[str]) -> Any:
        polars = load_polars()
        try:
            return self.scan(types, _INFERENCE).select(wanted).collect()
        except polars.exceptions.ComputeError:
            if not self.is_text:
                raise
            # Types that the first rows suggest may not fit the others: look at all.
            return self.scan(types, None).select(wanted).collect()


def _count_blank_end(table: Any) -> int:
    polars = load_polars()
    is_blank = table.select(polars.all_horizontal(polars.all().is_null())).to_series()
    filled = (~is_blank).arg_true()
    return int(table.height - (filled[-1] + 1 if filled.len() else 0))


def quote_names(names: Iterable[str]) -> str:
    """Return column names in backticks, for a message."""
    return ", ".join(f"`{name}`" for name in names)


def load_polars() -> Any:
    """Import polars, which reads and writes all tables of the commands."""
    return require("polars", extra="cli", feature="Reading and writing tables")


@contextmanager
def table_errors(path: Path) -> Iterator[None]:
    """Turn errors of polars into errors that name the file."""
    polars = load_polars()
    try:
        yield
    except polars.exceptions.NoDataError as error:
        raise InvalidParameterError(
            f"The table must have columns, but {str(path)!r} is empty.\n\n"
            "Hint: the first line has the names of the columns."
        ) from error
    except polars.exceptions.PolarsError as error:
        reason = str(error).strip().split("\n", maxsplit=1)[0].rstrip(".")
        hint = "look for rows with more fields than the first line, or a stray quote."
        if "utf-8" in reason or "utf8" in reason:
            hint = "save it as UTF-8; iconv -f latin1 -t utf-8 converts."
        raise InvalidParameterError(
            f"{str(path)!r} must be a table, but it cannot be read: {reason}.\n\n"
            f"Hint: {hint}"
        ) from error


def open_file(path: Path, what: str) -> TableFile:
    """Return a table with its column names, not yet read; ``what`` is for messages.

    CSV (also gzipped), Parquet or spreadsheet, recognized by content, or a folder of
    Parquet files.
    """
    if path.is_dir():
        return _open_parquet(path, find_files(path))
    if not path.exists():
        raise InvalidParameterError(
            f"The file of the {what} must exist, but there is nothing at {str(path)!r}.\n\n"
            f"Hint: relative paths start from {str(Path.cwd())!r}."
        )
    with path.open("rb") as file:
        beginning = file.read(_BEGINNING)
    if beginning[:4] == b"PAR1":
        return _open_parquet(path, [path])
    if _is_spreadsheet(path, beginning):
        return _open_spreadsheet(path)
    content = None
    if beginning[:2] == _GZIP:
        content = _unpack(path)
        beginning = content[:_BEGINNING]
    return _open_csv(path, _decode(path, beginning), content)


def _is_spreadsheet(path: Path, beginning: bytes) -> bool:
    is_packed = beginning[:4] in _PACKED
    return is_packed and path.suffix.lower() in _SPREADSHEETS


def _open_spreadsheet(path: Path) -> TableFile:
    """Read the whole first sheet, since spreadsheets cannot be read in part."""
    fastexcel = require("fastexcel", extra="excel", feature="Reading spreadsheets")
    polars = load_polars()
    try:
        with table_errors(path):
            sheets = fastexcel.read_excel(path).sheet_names
            table = polars.read_excel(path, engine="calamine", drop_empty_rows=False)
    except fastexcel.FastExcelError as error:
        reason = str(error).split("\n", maxsplit=1)[0]
        raise InvalidParameterError(
            f"{str(path)!r} must be a spreadsheet, but it cannot be read: {reason}.\n\n"
            "Hint: save it as CSV UTF-8."
        ) from error
    if len(sheets) > 1:
        echo(f"{path.name}: read the first of {len(sheets)} sheets, {sheets[0]!r}")
    names = [name for name in table.columns if not name.startswith(_UNNAMED)]

    def scan(_types: Mapping[str, Any], _length: int | None) -> Any:
        return table.lazy()

    return TableFile(path=path, names=tuple(names), is_text=False, scan=scan)


def _unpack(path: Path) -> bytes:
    try:
        with gzip.open(path) as file:
            return file.read()
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise InvalidParameterError(
            f"{str(path)!r} must be a whole file, but it cannot be unpacked: {error}.\n\n"
            "Hint: gzip -t tests it; copy it again."
        ) from error


def _open_parquet(path: Path, files: Sequence[Path]) -> TableFile:
    polars = load_polars()

    def scan(_types: Mapping[str, Any], _length: int | None) -> Any:
        return polars.scan_parquet(list(files))

    with table_errors(path):
        names = scan({}, None).collect_schema().names()
    return TableFile(path=path, names=tuple(names), is_text=False, scan=scan, first_line=1)


def _decode(path: Path, beginning: bytes) -> str:
    """Return the beginning of a text file; refuse other kinds of file by name."""
    if beginning[:2] == b"PK":
        instead = "it is an archive, or a spreadsheet whose name does not end in .xlsx"
    elif beginning[:2] in {b"\xff\xfe", b"\xfe\xff"}:
        instead = "it is in UTF-16"
    elif b"\x00" in beginning:
        instead = "it is not text"
    elif b"\r" in beginning and b"\n" not in beginning:
        instead = "its lines end in carriage returns alone"
    else:
        try:
            return codecs.getincrementaldecoder("utf-8-sig")().decode(beginning)
        except UnicodeDecodeError as error:
            instead = f"it is not in UTF-8 (byte {error.start})"
    raise InvalidParameterError(
        f"{str(path)!r} must be a Parquet file, a spreadsheet or a text file in UTF-8 with "
        f"lines of comma separated values, but {instead}.\n\n"
        "Hint: save it as 'CSV UTF-8'; iconv -f latin1 -t utf-8 converts text files."
    )


def _open_csv(path: Path, beginning: str, content: bytes | None) -> TableFile:
    polars = load_polars()
    header = next((line for line in beginning.splitlines() if line.strip()), "")
    separator = max(_SEPARATORS, key=header.count)
    fields = next(csv.reader([header], delimiter=separator), [])
    twice = repeats(np.array([field.strip() for field in fields if field.strip()], object))
    if twice:
        raise InvalidParameterError(
            f"The columns of a table must have different names, but in {str(path)!r} "
            f"{first_few(f'`{name}`' for name in twice)} stands twice.\n\n"
            "Hint: rename one of them in the first line."
        )

    # Not by a function of names for polars: one that is interrupted there would panic.
    spelled = {field: field.strip() for field in fields if field != field.strip()}
    raw = {name: field for field, name in spelled.items()}

    def scan(types: Mapping[str, Any], length: int | None) -> Any:
        options = {
            "separator": separator,
            "decimal_comma": separator != "," and _has_decimal_commas(beginning, separator),
            "null_values": list(MISSING),
            "infer_schema_length": length,
            "schema_overrides": {raw.get(name, name): types[name] for name in types},
        }
        if content is None:
            table = polars.scan_csv(path, **options)
        else:
            table = polars.read_csv(content, **options).lazy()
        return table.rename(spelled, strict=False) if spelled else table

    with table_errors(path):
        names = scan({}, _INFERENCE).collect_schema().names()
    # pandas writes its index without a name.
    known = {field.strip() for field in fields} - {""}
    names = tuple(name for name in names if name in known)
    return TableFile(path=path, names=names, is_text=True, scan=scan)


def _has_decimal_commas(beginning: str, separator: str) -> bool:
    fields = [
        field for line in beginning.splitlines()[1:101] for field in line.split(separator)
    ]
    has_commas = any(_COMMA_NUMBER.fullmatch(field.strip()) for field in fields)
    return has_commas and not any(
        _POINT_NUMBER.fullmatch(field.strip()) for field in fields
    )

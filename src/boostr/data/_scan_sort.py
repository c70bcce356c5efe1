"""Rows sorted by id once, on disk, in a bounded amount of memory."""

from __future__ import annotations

import hashlib
import logging
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from boostr._optional import require
from boostr.data._indexing import count_of
from boostr.data._scan_files import FileSet, open_files

__all__ = ["LOGGER", "sort_files"]

LOGGER = logging.getLogger("boostr")
_ROWS = 500_000  # of a row group of the sorted file


def sort_files(
    files: FileSet, keys: Sequence[str], folder: Path, memory: str, reason: str
) -> FileSet:
    """Write the rows of all files into one file that is sorted, unless it is there.

    Parameters
    ----------
    files : FileSet
        What is to be sorted; its order of files decides among rows with equal keys.
    keys : sequence of str
        Columns to sort by, the id first.
    folder : Path
        Where the sorted file is kept and the sort spills to.
    memory : str
        Memory of the sort at most, as "1GB".
    reason : str
        Why sorting is needed, for the message.

    Returns
    -------
    FileSet
        The sorted rows.
    """
    folder.mkdir(parents=True, exist_ok=True)
    target = folder / f"sorted-{_fingerprint(files, keys)}.parquet"
    names = files.schema.names
    if target.exists():
        LOGGER.info("Rows sorted by %r are read from %s.", keys[0], target)
        return open_files([target], names, keys[0])
    LOGGER.warning(
        "Rows are not sorted by %r (%s): sorting %s of %s once, into %s.",
        keys[0],
        reason,
        count_of(files.n_rows, "row"),
        count_of(len(files.files), "file"),
        folder,
    )
    started = time.perf_counter()
    partial = target.with_suffix(".partial")
    _sort(files, keys, partial, memory)
    partial.replace(target)
    LOGGER.info("Sorted in %.1f s.", time.perf_counter() - started)
    return open_files([target], names, keys[0])


def _sort(files: FileSet, keys: Sequence[str], target: Path, memory: str) -> None:
    duckdb = require("duckdb", extra="scan", feature="Sorting Parquet files by id")
    columns = ", ".join(_quote(name) for name in files.schema.names)
    order = ", ".join(_quote(name) for name in keys)
    with (
        tempfile.TemporaryDirectory(dir=target.parent, prefix="spill-") as spill,
        duckdb.connect(config={"memory_limit": memory, "temp_directory": spill}) as base,
    ):
        # Equal keys keep the order of the rows, in which the later sample wins.
        base.execute(
            f"COPY (SELECT {columns} FROM read_parquet($files, union_by_name = true, "  # noqa: S608 - quoted
            f"file_row_number = true) ORDER BY {order}, file_index, file_row_number) "
            f"TO {_quote_text(str(target))} (FORMAT parquet, ROW_GROUP_SIZE {_ROWS})",
            {"files": [str(file) for file in files.files]},
        )


def _quote(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _quote_text(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _fingerprint(files: FileSet, keys: Sequence[str]) -> str:
    """Tell files apart by where they are, how long, how old, and what is read of them."""
    facts: list[Any] = [list(keys), str(files.schema)]
    for file in files.files:
        about = file.stat()
        facts.append((str(file.resolve()), about.st_size, about.st_mtime_ns))
    return hashlib.sha256(repr(facts).encode()).hexdigest()[:16]

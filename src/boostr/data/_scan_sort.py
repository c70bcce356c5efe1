"""Rows sorted by id once, on disk, in a bounded amount of memory."""

from __future__ import annotations

import hashlib
import logging
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from boostr._optional import require
from boostr.data._indexing import count_of
from boostr.data._scan_files import SORTED, SPILL, FileSet, open_files
from boostr.exceptions import InvalidParameterError

__all__ = ["LOGGER", "sort_files"]

LOGGER = logging.getLogger("boostr")
_ROWS = 500_000  # of a row group of the sorted file


def sort_files(
    files: FileSet, keys: Sequence[str], folder: Path, memory: str, reason: str
) -> FileSet:
    """Return the rows sorted by `keys`, from one file in `folder`, written if missing.

    Ties keep the order of the files; `reason` tells in the log why sorting is needed.
    """
    folder.mkdir(parents=True, exist_ok=True)
    target = folder / f"{SORTED}{_fingerprint(files, keys)}.parquet"
    if target.exists():
        LOGGER.info("Rows sorted by %r are read from %s.", keys[0], target)
        return _open_sorted(target, files, keys)
    LOGGER.warning(
        "Rows are not sorted by %r (%s): sorting %s of %s once, into %s.",
        keys[0],
        reason,
        count_of(files.n_rows, "row"),
        count_of(len(files.files), "file"),
        folder,
    )
    started = time.perf_counter()
    _sort(files, keys, target, memory)
    LOGGER.info("Sorted in %.1f s.", time.perf_counter() - started)
    return _open_sorted(target, files, keys)


def _open_sorted(target: Path, files: FileSet, keys: Sequence[str]) -> FileSet:
    """Return sorted rows in the types of the files; DuckDB writes durations as integers."""
    found = open_files([target], files.schema.names, keys[0])
    return replace(found, schema=files.schema)


def _sort(files: FileSet, keys: Sequence[str], target: Path, memory: str) -> None:
    duckdb = require("duckdb", extra="scan", feature="Sorting Parquet files by id")
    columns = ", ".join(_quote(name) for name in files.schema.names)
    order = ", ".join(_quote(name) for name in keys)
    # Nobody else writes into the folder of the spill, and nothing is left of it.
    with tempfile.TemporaryDirectory(dir=target.parent, prefix=SPILL) as spill:
        partial = Path(spill) / target.name
        settings = {"memory_limit": memory, "temp_directory": spill}
        # Equal keys keep the order of the rows, in which the later sample wins. Names of
        # folders such as day=2024-01-01 are no columns.
        with _sort_errors(duckdb, memory), duckdb.connect(config=settings) as base:
            base.execute(
                f"COPY (SELECT {columns} FROM read_parquet($files, union_by_name = true, "  # noqa: S608 - quoted
                "file_row_number = true, hive_partitioning = false) "
                f"ORDER BY {order}, file_index, file_row_number) "
                f"TO {_quote_text(str(partial))} (FORMAT parquet, ROW_GROUP_SIZE {_ROWS})",
                {"files": [str(file) for file in files.files]},
            )
        partial.replace(target)


@contextmanager
def _sort_errors(duckdb: Any, memory: str) -> Iterator[None]:
    """Raise errors of DuckDB as ours."""
    try:
        yield
    except duckdb.InterruptException as error:
        raise KeyboardInterrupt from error
    except duckdb.Error as error:
        raise InvalidParameterError(
            f"Rows must be sorted by id, but sorting them failed: {error}\n\n"
            f"Hint: give it more memory, which `sort_memory` limits to {memory!r}, or "
            "more room on disk, with `cache` in a folder that has some; or write the files "
            "sorted by id."
        ) from error
    except RuntimeError as error:  # how DuckDB passes on the key that interrupts
        if "interrupt" not in str(error).lower():
            raise
        raise KeyboardInterrupt from error


def _quote(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _quote_text(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _fingerprint(files: FileSet, keys: Sequence[str]) -> str:
    """Return a hash of the paths, sizes and dates of the files, and the columns read."""
    facts: list[Any] = [list(keys), str(files.schema)]
    for file in files.files:
        about = file.stat()
        facts.append((str(file.resolve()), about.st_size, about.st_mtime_ns))
    return hashlib.sha256(repr(facts).encode()).hexdigest()[:16]

"""Rows of Parquet files in the order of their ids, streamed in bounded pieces."""

from __future__ import annotations

import logging
import shutil
import tempfile
import time
import weakref
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeVar

import joblib
import narwhals as nw
import numpy as np

from boostr._checks.numbers import first_few
from boostr._optional import require
from boostr._typing import AnyArray
from boostr.data.columns import factor, find_runs, read_moments
from boostr.data.individuals import concatenate_ids, count_of
from boostr.data.parquet.files import Paths, find_parquet, load_pyarrow
from boostr.data.parquet.row_groups import FileSet, open_files
from boostr.exceptions import (
    BoostrError,
    InvalidEventsError,
    InvalidParameterError,
    InvalidSensorsError,
)

__all__ = [
    "CHANGED",
    "LOGGER",
    "Inventory",
    "ScannedRows",
    "find_scanned",
    "map_ahead",
    "sort_files",
]

LOGGER = logging.getLogger("boostr")
_ROWS = 500_000  # of a row group of the sorted file
_SORTED = "sorted-"  # how names of sorted files begin in a folder that keeps them
_SPILL = "spill-"  # and folders of sorts on their way


def find_scanned(paths: Paths, cache: Path | None) -> list[Path]:
    """Return the Parquet files of a scan, without sorted copies in the folder `cache`."""
    files = [f for f in find_parquet(paths) if cache is None or not _is_cached(f, cache)]
    if not files:
        raise InvalidParameterError(
            "There must be at least one Parquet file, but the list of paths is empty."
        )
    return files


def _is_cached(file: Path, cache: Path) -> bool:
    """Return whether a file is a sorted copy in the cache."""
    full, home = file.resolve(), cache.resolve()
    if home not in full.parents:
        return False
    return full.relative_to(home).parts[0].startswith((_SORTED, _SPILL))


def sort_files(
    files: FileSet, keys: Sequence[str], folder: Path, memory: str, reason: str
) -> FileSet:
    """Return the rows sorted by `keys`, from one file in `folder`, written if missing.

    Ties keep the order of the files; `reason` tells in the log why sorting is needed.
    """
    folder.mkdir(parents=True, exist_ok=True)
    target = folder / f"{_SORTED}{_fingerprint(files, keys)}.parquet"
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
    with tempfile.TemporaryDirectory(dir=target.parent, prefix=_SPILL) as spill:
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
    return str(joblib.hash(facts))[:16]


Item = TypeVar("Item")
Result = TypeVar("Result")
_VALUES = 2_000_000  # of a chunk, all columns together
_MOST_ROWS = 500_000  # of a chunk
CHANGED = (
    "Files must not change while they are scanned, but these have other individuals or "
    "another number of rows than at first.\n\nHint: scan them again."
)


@dataclass(slots=True)
class Inventory:
    """Ids, earliest time stamp and texts, found in one pass over all rows."""

    ids: AnyArray  # (n,) ascending
    earliest: Any = None  # the first of all time stamps that were looked at
    texts: dict[str, set[str]] = field(default_factory=dict)  # different ones by column


class _UnsortedError(Exception):
    """Rows are not in the order of their ids."""


class ScannedRows:
    """Rows of Parquet files, read lazily in chunks of complete individuals.

    Unsorted rows are sorted by `keys` on disk, once, in `cache` or a temporary folder.
    """

    def __init__(
        self,
        files: FileSet,
        keys: Sequence[str],
        cache: Path | None,
        memory: str,
        error: type[BoostrError],
    ) -> None:
        self.given = files
        self._sorted = files
        self._keys = keys
        self._cache = cache
        self._memory = memory
        self._error = error

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return self.given.n_rows

    def take_inventory(
        self, moments: Sequence[str] = (), texts: Sequence[str] = ()
    ) -> Inventory:
        """Return the individuals, sorting the rows first if needed.

        The earliest of the time stamps `moments` and all values of `texts` are included.
        """
        try:
            return self._look(moments, texts)
        except _UnsortedError as reason:
            folder = self._cache
            if folder is None:
                folder = Path(tempfile.mkdtemp(prefix="boostr-"))
                weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)
            self._sorted = sort_files(
                self.given, self._keys, folder, self._memory, str(reason)
            )
            return self._look(moments, texts)

    def _look(self, moments: Sequence[str], texts: Sequence[str]) -> Inventory:
        columns = list(dict.fromkeys([self._keys[0], *moments, *texts]))
        found: list[AnyArray] = []
        inventory = Inventory(np.empty(0, dtype=np.int64), texts={n: set() for n in texts})
        for piece in self._sorted.pieces:
            for table in self._sorted.batches(columns, _MOST_ROWS, [piece]):
                frame = nw.from_native(table, eager_only=True)
                ids = self._read_ids(frame.get_column(self._keys[0]), piece.file)
                if found and ids[0] < found[-1][-1]:
                    before, after = found[-1][-1], ids[0]
                    raise _UnsortedError(
                        f"{after} comes after {before} in {piece.file.name}"
                    )
                goes_on = bool(found) and ids[0] == found[-1][-1]
                if ids.size > goes_on:
                    found.append(ids[int(goes_on) :])
                for name in moments:
                    _keep_earliest(inventory, frame.get_column(name))
                for name in texts:
                    different = frame.get_column(name).drop_nulls().unique().to_list()
                    inventory.texts[name].update(map(str, different))
        if found:
            inventory.ids = concatenate_ids(found)
        return inventory

    def _read_ids(self, column: nw.Series[Any], file: Path) -> AnyArray:
        """Return the distinct ids of some rows, which must be in ascending order."""
        try:
            runs = find_runs(column, factor)
        except InvalidEventsError as error:
            raise self._error(f"In {str(file)!r}: {error}") from None
        falls = np.flatnonzero(runs.owner[1:] <= runs.owner[:-1])
        if falls.size:
            before, after = runs.ids[runs.owner[falls[0] : falls[0] + 2]]
            raise _UnsortedError(f"{after} comes after {before} in {file.name}")
        return runs.ids

    def chunks(self, columns: Sequence[str], n_rows: int | None = None) -> Iterator[Any]:
        """Yield tables of complete individuals, in the order of their ids.

        A chunk has at most `n_rows` rows, unless a single individual has more.
        """
        pyarrow = load_pyarrow()
        columns = list(dict.fromkeys(columns))
        if n_rows is None:
            n_rows = min(_MOST_ROWS, max(_VALUES // len(columns), 1))
        waiting, n_left = None, self._sorted.n_rows
        for batch in self._sorted.batches(columns, n_rows):
            n_left -= batch.num_rows
            tables = [batch] if waiting is None else [waiting, batch]
            waiting = pyarrow.concat_tables(tables)
            while n := _count_complete(waiting.column(self._keys[0]), n_rows):
                yield waiting.slice(0, n)
                waiting = waiting.slice(n)
        if n_left:
            raise self._error(CHANGED)
        if waiting is not None:
            yield waiting

    def last_id(self, table: Any) -> AnyArray:
        """Return the id of the last row, as an array of the type of all ids."""
        column = nw.from_native(table.slice(len(table) - 1), eager_only=True)
        ids: AnyArray = find_runs(column.get_column(self._keys[0]), factor).ids
        return ids

    @contextmanager
    def named_errors(self) -> Iterator[None]:
        """Add the names of the files to errors about individuals."""
        try:
            yield
        except (InvalidEventsError, InvalidSensorsError) as error:
            if error.ids is None:
                raise
            files = self._find_files(np.asarray(error.ids).tolist())
            raise type(error)(f"In {first_few(map(repr, files))}: {error}") from None

    def _find_files(self, ids: list[Any]) -> list[str]:
        """Return the files with rows of some individuals."""
        name = self._keys[0]
        found: dict[str, None] = {}
        for piece in self.given.pieces:
            if str(piece.file) in found or not piece.may_hold(ids):
                continue
            for table in self.given.batches([name], _MOST_ROWS, [piece]):
                column = nw.from_native(table, eager_only=True).get_column(name)
                if column.is_in(ids).any():
                    found[str(piece.file)] = None
                    break
        return sorted(found)


def _count_complete(ids: Any, n_rows: int) -> int:
    """Return the number of rows of complete individuals within a limit; 0 if more may come.

    A single individual may exceed the limit.
    """
    compute = load_pyarrow("pyarrow.compute")
    if len(ids) <= n_rows:
        return 0
    n: int = compute.index(ids, ids[n_rows]).as_py()
    if n == 0:
        n = compute.sum(compute.equal(ids, ids[0])).as_py()
    return n if n < len(ids) else 0


def _keep_earliest(inventory: Inventory, column: nw.Series[Any]) -> None:
    stamps = read_moments(column)
    known = stamps[~np.isnat(stamps)]
    if known.size and (inventory.earliest is None or known.min() < inventory.earliest):
        inventory.earliest = known.min()


def map_ahead(
    function: Callable[[Item], Result],
    items: Iterable[Item],
    n_threads: int,
    *,
    in_turn: bool = False,
) -> Iterator[Result]:
    """Yield the results in order, computed in threads ahead of the consumer.

    At most ``n_threads + 1`` wait. With `in_turn`, one thread takes the items, and 2 wait.
    """
    if n_threads == 1:
        yield from map(function, items)
        return
    coming: deque[Future[Result]] = deque()
    n_workers = 1 if in_turn else n_threads
    with ThreadPoolExecutor(n_workers) as pool:
        try:
            for item in items:
                coming.append(pool.submit(function, item))
                if len(coming) > n_workers:
                    yield coming.popleft().result()
            while coming:
                yield coming.popleft().result()
        finally:
            for waiting in coming:
                waiting.cancel()

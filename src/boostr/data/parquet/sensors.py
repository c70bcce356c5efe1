"""Sensors in Parquet files, read in chunks."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from boostr._checks.ids import as_ids, check_unique
from boostr._typing import AnyArray
from boostr.data.individuals import count_of
from boostr.data.parquet.files import Paths, open_source
from boostr.data.parquet.row_groups import open_files
from boostr.data.parquet.rows import Inventory, ScannedRows, find_scanned, map_ahead
from boostr.data.sensors.build import Filling
from boostr.data.sensors.checks import check_names
from boostr.data.sensors.read import read_samples
from boostr.exceptions import InvalidParameterError, InvalidSensorsError

if TYPE_CHECKING:
    from boostr.data.sensors.trajectories import Trajectories

__all__ = ["ScannedTrajectories", "scan_sensors"]


class ScannedTrajectories:
    """Sensor series in Parquet files, too many for memory: the ``Z`` of `BoostR.fit`.

    Made by `Trajectories.scan_parquet`, which reads no row. Individuals are in ascending
    order of their ids, whatever the order of files and rows. The first question looks at
    the column of ids; rows that are not sorted by id are sorted once, on disk.

    Parameters
    ----------
    rows : ScannedRows
        Rows of the files.
    read : callable
        Turns a table of rows, and those who should be in it, into fields of a container.
    make : type
        Class of the chunks.
    ids : (n,) array or None
        All individuals that there should be; None for those that have rows.

    Attributes
    ----------
    n_rows : int
        Rows of the files.
    names : tuple of str
        Names of the sensors.
    id_name : str
        Name of the column of ids.
    time_unit, origin
        Unit and moment of time 0, as in `Trajectories`.
    before : {"unknown", "first"}
        What holds before the first sample.

    See Also
    --------
    Trajectories.scan_parquet : Makes it.
    ScannedEvents : The same for events.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import pandas as pd
    >>> from boostr.data import Trajectories
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> rows = {"well": [1, 1, 2], "day": [0.0, 4.0, 1.0], "torque": [5.0, 6.0, 7.0]}
    >>> pd.DataFrame(rows).to_parquet(folder / "part-0.parquet")
    >>> Z = Trajectories.scan_parquet(folder, id="well", time="day")
    >>> Z
    ScannedTrajectories(1 file, 3 rows, 1 sensor)
    >>> [chunk.values.tolist() for chunk in Z.chunks()]
    [[[5.0, 6.0, 7.0]]]
    """

    has_ids = True

    def __init__(
        self,
        rows: ScannedRows,
        read: Callable[[Any, Any], dict[str, Any]],
        make: type[Trajectories],
        ids: AnyArray | None,
    ) -> None:
        self._rows = rows
        self._read_fields = read
        self._make = make
        self._given_ids = ids
        self._columns = rows.given.schema.names
        # Nobody's rows: whether roles and types fit, and which sensors hold texts.
        empty = make(**read(rows.given.schema.empty_table(), np.zeros(1)))
        self._empty = empty
        self.names = empty.names
        self.id_name = empty.id_name
        self.time_unit = empty.time_unit
        self.origin = empty.origin
        self.before = empty.before

    @property
    def n_rows(self) -> int:
        """Rows of the files."""
        return self._rows.n_rows

    @cached_property
    def _inventory(self) -> Inventory:
        pairs = zip(self.names, self._empty.categories, strict=True)
        texts = [name for name, categories in pairs if categories is not None]
        inventory = self._rows.take_inventory(texts=texts)
        if inventory.ids.size == 0 and self._given_ids is None:
            raise InvalidSensorsError(
                "There must be at least one individual, but the files have no rows."
            )
        return inventory

    @property
    def ids(self) -> AnyArray:
        """Ids of all individuals, ascending."""
        found = self._inventory.ids
        return found if self._given_ids is None else self._given_ids

    @property
    def categories(self) -> tuple[Any, ...]:
        """For each sensor the categories in the order of their codes; None for numbers."""
        texts = self._inventory.texts
        return tuple(
            tuple(sorted(texts[name])) if name in texts else None for name in self.names
        )

    def __len__(self) -> int:
        return len(self.ids)

    def __repr__(self) -> str:
        return (
            f"{type(self).__name__}({count_of(len(self._rows.given.files), 'file')}, "
            f"{count_of(self.n_rows, 'row')}, {count_of(len(self.names), 'sensor')})"
        )

    def chunks(
        self, n_rows: int | None = None, *, n_threads: int = 1
    ) -> Iterator[Trajectories]:
        """Yield the sensors in chunks of complete individuals.

        Parameters
        ----------
        n_rows : int, optional
            Rows of a chunk at most, unless one individual has more; by default as many as
            hold a few million values.
        n_threads : int, default=1
            With more, chunks are read ahead, so that as many are in memory.

        Yields
        ------
        Trajectories
            Individuals in ascending order of their ids, every rule checked; all chunks
            with the same categories.
        """
        pairs = zip(self.names, self.categories, strict=True)
        categories = {name: known for name, known in pairs if known is not None}

        def read(part: tuple[Any, AnyArray]) -> Trajectories:
            with self._rows.named_errors():
                return self._make(**self._read_fields(*part)).encode(categories)

        yield from map_ahead(read, self._parts(n_rows), n_threads)

    def _parts(self, n_rows: int | None) -> Iterator[tuple[Any, AnyArray]]:
        """Yield rows with the ids of their individuals, including those without rows."""
        ids, first = self.ids, 0
        for table in self._rows.chunks(self._columns, n_rows):
            last = _count_until(ids, self._rows.last_id(table))
            yield table, ids[first:last]
            first = last
        if first < len(ids):
            yield self._rows.given.schema.empty_table(), ids[first:]

    def collect(self) -> Trajectories:
        """Read everything into memory.

        Returns
        -------
        Trajectories
            As `Trajectories.from_long` gives it.
        """
        return self._make.concatenate(list(self.chunks()))


def scan_sensors(  # noqa: PLR0913 - all but the first three are by name
    make: type[Trajectories],
    path: Paths,
    roles: Mapping[str, Any],
    *,
    ids: ArrayLike | None,
    filling: Filling,
    unit: str | None,
    origin: Any,
    cache: str | PathLike[str] | None,
    sort_memory: str,
) -> ScannedTrajectories:
    """Return the scan of Parquet files; see `Trajectories.scan_parquet`."""
    if filling.interpolation == "linear" and filling.step is None:
        raise InvalidParameterError(
            "`step` must be given to draw lines in a scan, which never sees all of "
            "them at once.\n\nHint: a quarter of the usual time between samples."
        )
    id, time, columns = roles["id"], roles["time"], roles["sensors"]
    kept = None if cache is None else Path(cache)
    found = find_scanned(path, kept)
    names = None if columns is None else [id, time, *check_names(columns)]
    if names and isinstance(origin, str):
        known = open_files(found[:1], None, id).schema.names
        names += [origin] if origin in known else []
    files = open_files(found, names and list(dict.fromkeys(names)), id, later_wins=True)
    rows = ScannedRows(files, [id, time], kept, sort_memory, InvalidSensorsError)

    def read(table: Any, individuals: Any) -> dict[str, Any]:
        return read_samples(
            open_source(table),
            roles,
            ids=individuals,
            filling=filling,
            unit=unit,
            origin=origin,
        )

    return ScannedTrajectories(rows, read, make, None if ids is None else _sort_ids(ids))


def _sort_ids(given: ArrayLike) -> AnyArray:
    """Return ids in the order of a scan."""
    ids = as_ids(given, InvalidParameterError)
    check_unique(ids, InvalidSensorsError, "numpy.unique(ids).")
    try:
        return ids if bool(np.all(ids[1:] > ids[:-1])) else np.sort(ids)
    except TypeError:
        kinds = sorted({type(value).__name__ for value in ids.tolist()})
        raise InvalidParameterError(
            "`ids` must be of one kind to stand in an order, but they are of several "
            f"({', '.join(kinds)}).\n\nHint: those of the column in the files."
        ) from None


def _count_until(ids: AnyArray, until: AnyArray) -> int:
    """Return the number of ascending ids up to and including one."""
    if ids.dtype.kind in "iu" and until.dtype.kind in "iu":
        # NumPy compares signed with unsigned integers as floats, which confuses large ones.
        known, value = np.iinfo(ids.dtype), int(until[0])
        if not known.min <= value <= known.max:
            return len(ids) if value > 0 else 0
        until = np.array([value], dtype=ids.dtype)
    return int(np.searchsorted(ids, until, side="right")[0])

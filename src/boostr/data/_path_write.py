"""Sensors written to tables."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from boostr._typing import AnyArray
from boostr.data._flat import owners_of
from boostr.data._frames import make_table
from boostr.data._times import to_stamps

if TYPE_CHECKING:
    from boostr.data._path_container import PathContainer


def write_samples(paths: PathContainer, backend: str | None) -> Any:
    """Return a table with one row per piece."""
    time_name = "time" if "time" not in paths.names else "sample time"
    taken = {time_name, *paths.names}
    wanted = (paths.id_name or "id", "id", "id of series")
    id_name = next(name for name in wanted if name not in taken)
    ids = paths.ids[owners_of(paths.offsets)]
    # Lists let both libraries find the type of ids that NumPy calls objects.
    columns: dict[str, Any] = {id_name: ids.tolist() if ids.dtype.kind == "O" else ids}
    columns[time_name] = _times(paths)
    for name, row, categories in zip(
        paths.names, paths.values, paths.categories, strict=True
    ):
        columns[name] = row if categories is None else _texts(row, categories)
    return make_table(columns, backend)


def _times(paths: PathContainer) -> AnyArray:
    """Return times as dates if the sensors have an origin, else as numbers."""
    if paths.origin is None or paths.time_unit is None:
        return paths.times
    return to_stamps(paths.times, paths.origin, paths.time_unit)


def _texts(codes: AnyArray, categories: tuple[Any, ...]) -> list[Any]:
    """Return codes as categories, unknown ones as None."""
    known = [*categories, None]
    places = np.where(np.isnan(codes), len(categories), codes).astype(np.int64)
    return [known[place] for place in places.tolist()]

"""Sensors with other values, from functions, numbers or categories."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from boostr._typing import FloatArray
from boostr.exceptions import InvalidSensorsError

if TYPE_CHECKING:
    from boostr.data._path_container import PathContainer


def assign_sensors(paths: PathContainer, sensors: Mapping[str, Any]) -> dict[str, Any]:
    """Return new ``values``, ``names`` and ``categories`` after changes by sensor name.

    A change is a function, a number, a category or an array.
    """
    rows = dict(zip(paths.names, paths.values, strict=True))
    lists = dict(zip(paths.names, paths.categories, strict=True))
    size = paths.times.size
    for name, given in sensors.items():
        is_known = ~np.isnan(rows[name]) if name in rows else np.ones(size, dtype=bool)
        if isinstance(given, str):
            categories = _with_category(name, given, lists)
            lists[name] = categories
            given = float(categories.index(given))  # noqa: PLW2901 - its code
        elif lists.get(name) is not None:
            raise InvalidSensorsError(
                f"Sensor {name!r} must get one of its categories, because it has "
                f"categories, but it gets {type(given).__name__}.\n\n"
                f"Hint: for instance {name}={(lists[name] or ('…',))[0]!r}."
            )
        else:
            lists[name] = None
        if callable(given):
            source = rows[name][is_known] if name in rows else _copies(rows)
            given = given(source)  # noqa: PLW2901 - what the function gives
        rows[name] = _as_row(name, given, is_known)
    return {
        "values": np.array(list(rows.values())).reshape(len(rows), size),
        "names": tuple(rows),
        "categories": tuple(lists.values()),
    }


def _with_category(name: str, category: str, lists: Mapping[str, Any]) -> tuple[Any, ...]:
    """Return the categories of a sensor, with a new one added if needed."""
    known = lists.get(name, ())
    if known is None:
        raise InvalidSensorsError(
            f"Sensor {name!r} must get numbers, because it holds numbers, but it gets "
            f"{category!r}.\n\nHint: give the sensor of categories another name."
        )
    return known if category in known else (*known, category)


def _copies(rows: Mapping[str, FloatArray]) -> dict[str, FloatArray]:
    """Return copies of the arrays, so that a user's function may change them."""
    return {name: row.copy() for name, row in rows.items()}


def _as_row(name: str, given: Any, is_known: Any) -> FloatArray:
    """Return a row with values at the known pieces, or at all of them."""
    values = np.asarray(given)
    if values.dtype.kind not in "biuf" or np.isinf(values).any():
        raise InvalidSensorsError(
            f"Sensor {name!r} must get finite numbers, but it gets {values.dtype} or "
            "infinite values.\n\nHint: NaN means unknown."
        )
    if values.shape == is_known.shape:
        return values.astype(np.float64)
    if values.shape not in {(), (int(is_known.sum()),)}:
        raise InvalidSensorsError(
            f"Sensor {name!r} must get one value, or one per known piece "
            f"({is_known.sum()}) or per piece ({is_known.size}), but the shape is "
            f"{values.shape}.\n\nHint: a function must return as many as it gets."
        )
    row = np.full(is_known.shape, np.nan)
    row[is_known] = values
    return row

"""Categories of sensors: codes under one list, or under another."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from boostr._categories import number_categories
from boostr._typing import FloatArray
from boostr.exceptions import InvalidSensorsError

Categories = dict[str, tuple[Any, ...] | None]


def _check_categorical(own: Categories, wanted: Mapping[str, Sequence[Any]]) -> None:
    """Refuse lists of categories for sensors that have none."""
    for name in wanted:
        if own.get(name) is None:
            what = "numbers" if name in own else "not there"
            raise InvalidSensorsError(
                f"Sensor {name!r} must be categorical to have categories, but it is "
                f"{what}.\n\nHint: convert its column to text, or leave it out."
            )


def _new_codes(name: str, own: Sequence[Any], wanted: Sequence[Any]) -> FloatArray:
    """Return the new code of every old one; NaN for unknown ones and as the last entry."""
    codes = number_categories(own, wanted, f"Sensor {name!r}", InvalidSensorsError)
    return np.array([*(codes.get(category, np.nan) for category in own), np.nan])


def _as_positions(codes: FloatArray, n_categories: int) -> Any:
    """Return codes as positions; unknown ones point after the last category."""
    return np.where(np.isnan(codes), n_categories, codes).astype(np.int64)


def _kind_first(category: Any) -> tuple[str, Any]:
    """Return a sort key with the type first, as different types do not compare."""
    return type(category).__name__, category


def recode(
    own: Categories, values: FloatArray, wanted: Mapping[str, Sequence[Any]]
) -> dict[str, Any]:
    """Return ``values`` and ``categories`` for new lists of categories, if any changes.

    `own` has the categories by sensor, None for numbers; `values` one row per sensor.
    """
    _check_categorical(own, wanted)
    new = {name: tuple(wanted[name]) for name in wanted if tuple(wanted[name]) != own[name]}
    if not new:
        return {}
    changed = values.copy()
    for row, (name, categories) in enumerate(own.items()):
        if name in new and categories is not None:
            codes = _new_codes(name, categories, new[name])
            changed[row] = codes[_as_positions(values[row], len(categories))]
    return {"values": changed, "categories": tuple((own | new).values())}


def count_unseen(
    own: Categories, values: FloatArray, wanted: Mapping[str, Sequence[Any]]
) -> dict[str, int]:
    """Return by sensor the number of values that are in no wanted category."""
    _check_categorical(own, wanted)
    counts = {}
    for row, (name, categories) in enumerate(own.items()):
        if name in wanted and categories is not None:
            known = values[row][~np.isnan(values[row])]
            codes = _new_codes(name, categories, wanted[name])
            counts[name] = int(np.isnan(codes[known.astype(np.int64)]).sum())
    return counts


def unite_categories(parts: Sequence[Categories]) -> dict[str, tuple[Any, ...]]:
    """Return lists of categories that hold those of all parts; sorted if they differ."""
    united: dict[str, tuple[Any, ...]] = {}
    for name, first in parts[0].items():
        lists = [part[name] for part in parts]
        kinds = {one is None for one in lists}
        if len(kinds) > 1:
            raise InvalidSensorsError(
                f"Sensor {name!r} must be of one kind, but it holds numbers in one part "
                "and categories in another.\n\nHint: convert its column in all parts."
            )
        if first is None:
            continue
        same = all(one == first for one in lists)
        all_of_them = {category for one in lists for category in one or ()}
        united[name] = first if same else tuple(sorted(all_of_them, key=_kind_first))
    return united

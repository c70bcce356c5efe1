"""Checks of sensors and of their categories, and matching of their ids."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from boostr._checks.categories import number_categories
from boostr._checks.ids import check_unique
from boostr._checks.numbers import Identified, first_few, repeats
from boostr._typing import AnyArray, FloatArray, OffsetArray
from boostr.exceptions import InvalidEventsError, InvalidSensorsError

if TYPE_CHECKING:
    from boostr.data.sensors.trajectories import Trajectories


class Clocked(Protocol):
    """Anything whose times have a unit and an origin."""

    @property
    def time_unit(self) -> str | None:
        """Unit of the times."""

    @property
    def origin(self) -> np.datetime64 | None:
        """Moment of time 0."""


def align_with(Z: Trajectories, y: Identified) -> Trajectories:
    """Return sensors in the order of histories: by id, by position where these have none.

    Histories without ids of their own are numbered, also after slicing. Sensors with these
    numbers in another order are refused: nothing tells which are meant.
    """
    if not Z.has_ids or np.array_equal(Z.ids, y.ids):
        return Z
    if y.has_ids:
        return Z.align(y.ids)
    ours, theirs = (list(map(str, ids.tolist())) for ids in (y.ids, Z.ids))
    if ours != theirs and set(ours) <= set(theirs):
        raise InvalidSensorsError(
            "`Z` must be in the order of `y`, whose individuals are numbered, but "
            f"it is in another one (numbers of y: {first_few(ours)}; ids of Z: "
            f"{first_few(theirs)}).\n\n"
            "Hint: give the histories the ids of the sensors, as in "
            "RecurrentEvents.from_lists(…, ids=…)."
        )
    return Z


@contextmanager
def sensor_errors() -> Iterator[None]:
    """Raise errors about event histories as errors about sensors."""
    try:
        yield
    except InvalidEventsError as error:
        raise InvalidSensorsError(*error.args) from None


def check_names(names: Sequence[str]) -> tuple[str, ...]:
    """Return the names of sensors as a tuple; refuse repeated ones."""
    given = (names,) if isinstance(names, str) else tuple(str(name) for name in names)
    twice = repeats(np.array(given, dtype=object))
    if twice:
        raise InvalidSensorsError(
            f"Every sensor must have its own name, but {len(twice)} names are repeated "
            f"({first_few(twice)}).\n\nHint: rename them, or name each column once."
        )
    return given


def check_own_names(names: Sequence[str], others: Sequence[str]) -> None:
    """Refuse to merge sensors with the same name."""
    twice = [name for name in others if name in names]
    if twice:
        raise InvalidSensorsError(
            f"Every sensor must have its own name, but {len(twice)} stand in both "
            f"({first_few(twice)}).\n\n"
            "Hint: name=… gives a new sensor another name, select(…) leaves one out."
        )


def check_clocks(one: Clocked, other: Clocked) -> None:
    """Refuse different units of time or origins; unknown ones match any."""
    for name in ("time_unit", "origin"):
        mine, theirs = getattr(one, name), getattr(other, name)
        if mine is not None and theirs is not None and mine != theirs:
            raise InvalidSensorsError(
                "Times must be counted in the same unit from the same origin, but "
                f"`{name}` is {mine} here and {theirs} there.\n\n"
                "Hint: read both with the same `unit=` and `origin=`, for instance "
                "origin=y.origin for the sensors."
            )


def match_ids(own: AnyArray, wanted: AnyArray) -> OffsetArray | None:
    """Return the position in `own` of every wanted id; None if both are the same.

    Wanted ids may repeat, but must include all of `own`.
    """
    if np.array_equal(own, wanted):
        return None
    check_unique(own, InvalidSensorsError, "align before taking individuals twice.")
    position = {id_: i for i, id_ in enumerate(own.tolist())}
    listed = wanted.tolist()
    different = set(listed)
    missing = list(dict.fromkeys(id_ for id_ in listed if id_ not in position))
    if missing:
        raise InvalidSensorsError(
            f"Every individual must have sensors, but {len(missing)} of "
            f"{len(different)} individuals have no sensors (ids {first_few(missing)}).\n\n"
            "Hint: pass ids=y.ids where the sensors are read, which keeps individuals "
            "without any sample; or leave these individuals out."
        )
    surplus = [id_ for id_ in position if id_ not in different]
    if surplus:
        raise InvalidSensorsError(
            f"Sensors must be of the given individuals, but {len(surplus)} of "
            f"{own.size} individuals with sensors are none of them "
            f"(ids {first_few(surplus)}).\n\nHint: Z[numpy.isin(Z.ids, y.ids)]."
        )
    return np.fromiter((position[id_] for id_ in listed), np.int64, count=len(listed))


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

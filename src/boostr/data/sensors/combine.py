"""Sensors combined: merged, changed, continued with a future, or of more individuals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from boostr._checks.numbers import first_few
from boostr._kernels.segments import Runs
from boostr._typing import FloatArray
from boostr.data.flat import offsets_of, owners_of
from boostr.data.individuals import check_parts, join_ids
from boostr.data.sensors.build import hold, keep_times, one_each, unite
from boostr.data.sensors.checks import check_clocks, check_own_names, unite_categories
from boostr.exceptions import InvalidParameterError, InvalidSensorsError

if TYPE_CHECKING:
    from boostr.data.sensors.trajectories import Trajectories

Sensors = TypeVar("Sensors", bound="Trajectories")


def merge_sensors(one: Sensors, other: Trajectories) -> Sensors:
    """Return the sensors of both; the individuals are the same, in the same order."""
    check_own_names(one.names, other.names)
    grid = unite(one._samples(), other._samples())
    if one.before != other.before:
        unknown, first = (one, other) if one.before == "unknown" else (other, one)
        grid = unite(grid, _just_before(unknown, first))
    values = np.empty((len(one.names) + len(other.names), grid.times.size))
    hold(one, grid, values[: len(one.names)])
    hold(other, grid, values[len(one.names) :])
    identity = other if other.has_ids and not one.has_ids else one
    return one._with(
        **grid._asdict(),
        values=values,
        names=one.names + other.names,
        categories=one.categories + other.categories,
        before=one.before if one.before == other.before else "first",
        ids=identity.ids,
        has_ids=identity.has_ids,
        id_name=identity.id_name,
        time_unit=one.time_unit or other.time_unit,
        origin=other.origin if one.origin is None else one.origin,
        known_ahead=one._known_ahead() + other._known_ahead(),
    )


def continue_sensors(past: Sensors, future: Trajectories, at: ArrayLike | None) -> Sensors:
    """Return the sensors up to ``at``, then those of a future of the same individuals."""
    unknown = [name for name in future.names if name not in past.names]
    if unknown:
        raise InvalidSensorsError(
            f"The future must be of the same sensors, but {len(unknown)} of its "
            f"sensors are not there ({first_few(unknown)}).\n\n"
            "Hint: future.select(Z.names)."
        )
    same = past.select(future.names)
    lists = unite_categories([same._categorical(), future._categorical()])
    moment = _moments(past, at)
    grid = _past_and_future(past, future, moment)
    past, future = past.encode(lists), future.encode(lists)
    since = moment[owners_of(grid.offsets)]
    values = hold(past, Runs(np.minimum(grid.times, since), grid.offsets))
    for name, row in zip(future.names, hold(future, grid), strict=True):
        row[grid.times < since] = np.nan
        has_begun = _has_been_known(row, grid)
        values[past._index(name), has_begun] = row[has_begun]
    return past._with(**grid._asdict(), values=values)


def join_individuals(parts: Sequence[Sensors], kind: type[Trajectories]) -> Sensors:
    """Return the individuals of several containers in one."""
    check_parts(parts, kind)
    _check_alike(parts)
    if len({(part.names, part.categories) for part in parts}) > 1:
        parts = [part.select(parts[0].names) for part in parts]
        united = unite_categories([part._categorical() for part in parts])
        parts = [part.encode(united) for part in parts]
    return parts[0]._with(
        times=np.concatenate([part.times for part in parts]),
        values=np.concatenate([part.values for part in parts], axis=1),
        offsets=offsets_of(np.concatenate([np.diff(part.offsets) for part in parts])),
        **join_ids(parts),
    )


def _check_alike(parts: Sequence[Trajectories]) -> None:
    """Refuse parts with different sensors or clocks."""
    for part in parts[1:]:
        check_clocks(parts[0], part)
        if set(part.names) != set(parts[0].names) or part.before != parts[0].before:
            raise InvalidSensorsError(
                "Parts must have the same sensors and the same `before`, but one has "
                f"{', '.join(part.names)} ({part.before}) and the first "
                f"{', '.join(parts[0].names)} ({parts[0].before}).\n\n"
                "Hint: Z.select(names) keeps the sensors that all of them have."
            )


def _first_times(sensors: Trajectories) -> FloatArray:
    """Return the first sample time of every individual, infinity without samples."""
    first = np.full(len(sensors), np.inf)
    some = np.diff(sensors.offsets) > 0
    first[some] = sensors.times[sensors.offsets[:-1][some]]
    return first


def _just_before(unknown: Trajectories, first: Trajectories) -> Runs:
    """Return the last moment at which sensors are unknown while others never are."""
    begin = _first_times(unknown)
    leads = np.isfinite(begin) & (begin <= _first_times(first))
    return one_each(np.nextafter(begin, -np.inf), leads)


def _moments(sensors: Trajectories, at: ArrayLike | None) -> FloatArray:
    """Return the time up to which each individual's own values hold."""
    if at is None:
        return sensors.last_times
    given = np.asarray(at, dtype=np.float64)
    if given.shape not in {(), (len(sensors),)} or not np.isfinite(given).all():
        raise InvalidParameterError(
            "`at` must be one finite time, or one per individual, but it is "
            f"{at!r} for {len(sensors)} individuals."
        )
    return np.broadcast_to(given, (len(sensors),)).copy()


def _past_and_future(past: Trajectories, future: Trajectories, moment: FloatArray) -> Runs:
    """Return a grid of own times before each moment, the moment, and later future times."""
    is_past = past.times < moment[owners_of(past.offsets)]
    grid = keep_times(past._samples(), is_past)
    is_known = np.isfinite(moment)
    if past.before == "first":  # what held before the first sample needs a piece
        cut = is_known & (np.diff(grid.offsets) == 0) & (np.diff(past.offsets) > 0)
        grid = unite(grid, one_each(np.nextafter(moment, -np.inf), cut))
    grid = unite(grid, one_each(moment, is_known))
    is_future = future.times > moment[owners_of(future.offsets)]
    return unite(grid, keep_times(future._samples(), is_future))


def _has_been_known(row: FloatArray, grid: Runs) -> Any:
    """Return where a sensor is known, or was at an earlier time of the grid."""
    places = np.where(np.isnan(row), -1, np.arange(row.size))
    begin = grid.offsets[owners_of(grid.offsets)]
    return np.maximum.accumulate(places) >= begin


def assign_sensors(old: Trajectories, changes: Mapping[str, Any]) -> dict[str, Any]:
    """Return new ``values``, ``names`` and ``categories`` after changes by sensor name.

    A change is a function, a number, a category or an array.
    """
    rows = dict(zip(old.names, old.values, strict=True))
    lists = dict(zip(old.names, old.categories, strict=True))
    size = old.times.size
    for name, given in changes.items():
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
            source = (
                rows[name][is_known]
                if name in rows
                else {key: row.copy() for key, row in rows.items()}
            )
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

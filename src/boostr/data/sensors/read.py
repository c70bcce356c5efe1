"""Tables and flat arrays of samples, read column by column, checked and sorted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import ArrayLike

from boostr._checks.ids import as_ids, check_ids, check_offsets, check_unique
from boostr._checks.numbers import blame, first_few
from boostr._typing import AnyArray, FloatArray, OffsetArray
from boostr.data.columns import (
    Column,
    RowRuns,
    check_columns,
    factor,
    find_runs,
    order_rows,
    read_moments,
)
from boostr.data.parquet.files import TableSource
from boostr.data.sensors.build import Filling, fill_sensors
from boostr.data.sensors.checks import check_names, sensor_errors
from boostr.data.times import (
    EPOCH,
    INDIVIDUAL,
    as_stamp,
    common_kind,
    resolve_unit,
    to_numbers,
)
from boostr.exceptions import InvalidParameterError, InvalidSensorsError

SLICE = 1_000_000  # rows of text that are in memory as Python objects at a time


def read_samples(
    source: TableSource,
    columns: Mapping[str, Any],
    *,
    ids: Any,
    filling: Filling,
    unit: str | None,
    origin: Any,
) -> dict[str, Any]:
    """Return the fields of a ``Trajectories`` from a long table of samples.

    `columns` has id (None if all share the rows), time, and sensors (None for the rest).
    """
    filling.check()
    own_origin = origin if isinstance(origin, str) and origin in source.names else None
    used = {"id": columns["id"], "time": columns["time"]}
    check_columns(source.frame, used, source.native)
    names = _sensor_columns(source, columns["sensors"], {*used.values(), own_origin})
    runs = (
        _one_run(source.column(columns["time"]))
        if columns["id"] is None
        else _read_ids(source.column(columns["id"]), ids)
    )
    times, clock = _read_times(source, columns["time"], runs, unit, origin, own_origin)
    order, offsets = order_rows(times, runs)
    times = times if order is None else times[order]
    values = np.empty((len(names), times.size))
    categories = []
    for name, row in zip(names, values, strict=True):
        found, read = _read_sensor(source.column(name))
        row[:] = read if order is None else read[order]
        del read
        categories.append(found)
        _check_finite(name, row, offsets, runs.ids)
    is_numeric = tuple(found is None for found in categories)
    return clock | {
        **fill_sensors(times, offsets, values, is_numeric, filling),
        "names": check_names(names),
        "categories": tuple(categories),
        "ids": runs.ids,
        "has_ids": columns["id"] is not None,
        "id_name": columns["id"],
    }


def _check_finite(name: str, row: FloatArray, offsets: OffsetArray, ids: AnyArray) -> None:
    """Refuse infinite values of a sensor; NaN is allowed."""
    bad = np.flatnonzero(np.isinf(row))
    if bad.size:
        raise blame(
            f"Values of sensor {name!r} must be finite or missing",
            ids,
            np.searchsorted(offsets, bad, side="right") - 1,
            "set infinite values to missing, or to a bound that means something.",
            InvalidSensorsError,
        )


def _sensor_columns(
    source: TableSource, given: Sequence[str] | str | None, others: set[str | None]
) -> tuple[str, ...]:
    """Return the names of the sensor columns."""
    if given is None:
        names: tuple[str, ...] = tuple(n for n in source.names if n not in others)
    else:
        names = check_names(given)
        check_columns(source.frame, {name: name for name in names}, source.native)
    wrong = [name for name in names if name in others]
    if wrong:
        raise InvalidParameterError(
            f"Id, time and origin must not be sensors, but `columns` has {wrong[0]!r}.\n\n"
            "Hint: leave it out of `columns`."
        )
    if not names:
        raise InvalidSensorsError(
            "There must be at least one sensor, but the table has only the columns "
            f"{', '.join(map(repr, source.names))}.\n\nHint: name the sensors in `columns`."
        )
    return names


def _one_run(column: Column) -> RowRuns:
    """Return all rows as those of one individual."""
    if len(column) == 0:
        raise InvalidSensorsError(
            "There must be at least one sample, but the table has no rows.\n\n"
            "Hint: look at what was filtered out before."
        )
    starts = np.array([0, len(column)], dtype=np.int64)
    return RowRuns(starts=starts, owner=np.zeros(1, dtype=np.int64), ids=np.arange(1))


def _read_ids(column: Column, ids: Any) -> RowRuns:
    """Return the runs of rows by individual, including individuals without rows."""
    with sensor_errors():
        runs = find_runs(column, factor)
    if ids is not None:
        wanted = as_ids(ids, InvalidParameterError)
        hint = "read the sensors first, then Z.align(ids)."
        check_unique(wanted, InvalidSensorsError, hint)
        position = {id_: i for i, id_ in enumerate(wanted.tolist())}
        unknown = [id_ for id_ in runs.ids.tolist() if id_ not in position]
        if unknown:
            error = InvalidSensorsError(
                f"Samples must be of individuals in `ids`, but {len(unknown)} of "
                f"{runs.ids.size} individuals of the table are not (ids "
                f"{first_few(unknown)}).\n\n"
                "Hint: drop their rows, for instance df[df[id].isin(y.ids)]."
            )
            error.ids = unknown[:5]
            raise error
        places = np.array([position[id_] for id_ in runs.ids.tolist()], dtype=np.int64)
        runs = RowRuns(starts=runs.starts, owner=places[runs.owner], ids=wanted)
    if runs.ids.size == 0:
        raise InvalidSensorsError(
            "There must be at least one individual, but the table has no rows.\n\n"
            "Hint: look at what was filtered out before; ids=y.ids names individuals "
            "without samples."
        )
    return runs


def _read_times(
    source: TableSource,
    name: str,
    runs: RowRuns,
    unit: str | None,
    origin: Any,
    own_origin: str | None,
) -> tuple[FloatArray, dict[str, Any]]:
    """Return the time of every row as a number since the origin, and the time fields."""
    with sensor_errors():
        moments = {name: read_moments(source.column(name))}
        if own_origin is not None:
            moments[own_origin] = read_moments(source.column(own_origin))
    kind = common_kind({column: v.dtype.kind for column, v in moments.items()})
    time_unit = resolve_unit(unit, kind)
    since = moments.pop(own_origin) if own_origin else _common_origin(kind, origin)
    times = to_numbers(moments.pop(name), since, time_unit)
    _check_times(times, runs)
    common = since if kind == "M" and own_origin is None else None
    return times, {"time_unit": time_unit, "origin": common}


def _common_origin(kind: str, origin: Any) -> Any:
    """Return the moment of time 0 that all individuals share."""
    if origin is EPOCH:
        return EPOCH if kind == "M" else None
    if kind == "M" and origin is not None and origin != INDIVIDUAL:
        return as_stamp(origin, "origin")
    if kind == "M" or origin == INDIVIDUAL:
        raise InvalidSensorsError(
            "Time stamps of sensors must be counted from the origin of the events, but "
            f"`origin` is {origin!r}.\n\n"
            "Hint: origin=y.origin; or the name of a column that holds in each row the "
            "individual's own start, where the events count from that."
        )
    if origin is not None:
        raise InvalidParameterError(
            "`origin` must be None or the name of a column unless times are time stamps, "
            f"but it is {origin!r}.\n\n"
            f"Hint: subtract the origin from the times in the table."
        )
    return None


def _read_sensor(column: Column) -> tuple[tuple[Any, ...] | None, FloatArray]:
    """Return categories (None for numbers) and values of a column."""
    dtype = column.dtype
    if dtype.is_numeric() or dtype == nw.Boolean:
        return None, column.cast(nw.Float64).to_numpy()
    if dtype in {nw.String, nw.Categorical} or isinstance(dtype, nw.Enum):
        return _read_categories(column)
    if column.is_null().all():
        return None, np.full(len(column), np.nan)
    raise InvalidSensorsError(
        f"Sensor {column.name!r} must hold numbers, booleans or texts, but it holds "
        f"{dtype}.\n\n"
        "Hint: convert the column, or name those that are sensors in `columns`."
    )


def _read_categories(column: Column) -> tuple[tuple[Any, ...], FloatArray]:
    """Return the sorted categories, and the position of every value among them."""
    found = column.drop_nulls().unique().to_list()
    categories = tuple(sorted({str(value) for value in found}))
    code = {value: float(categories.index(str(value))) for value in found}
    codes = np.empty(len(column))
    for start in range(0, len(column), SLICE):
        texts = column[start : start + SLICE].to_list()
        codes[start : start + SLICE] = [code.get(text, np.nan) for text in texts]
    return categories, codes


Given = Mapping[str, Sequence[Any]] | Sequence[Sequence[Any] | None] | None


def read_arrays(
    times: ArrayLike,
    offsets: ArrayLike,
    values: ArrayLike,
    names: Sequence[str],
    *,
    categories: Given,
    ids: Any,
    filling: Filling,
) -> dict[str, Any]:
    """Return the fields of a ``Trajectories`` from flat arrays, checked and sorted."""
    filling.check()
    labels = check_names(names)
    flat = _as_numbers(times, "times", 1)
    rows = np.atleast_2d(_as_numbers(values, "values", 2))
    if rows.shape != (len(labels), flat.size):
        raise InvalidSensorsError(
            "`values` must have one row per sensor and one column per sample, but its "
            f"shape is {rows.shape} for {len(labels)} sensors and {flat.size} samples.\n\n"
            "Hint: transpose it if samples are its rows."
        )
    begin = check_offsets(offsets, flat.size, "offsets", InvalidSensorsError)
    who = check_ids(ids, begin.size - 1, InvalidSensorsError)
    runs = RowRuns(starts=begin, owner=np.arange(begin.size - 1), ids=who)
    _check_times(flat, runs)
    order, begin = order_rows(flat, runs)
    if order is not None:
        flat, rows = flat[order], rows.take(order, axis=1)
    lists = _as_categories(categories, labels)
    for name, row, one in zip(labels, rows, lists, strict=True):
        _check_finite(name, row, begin, who)
        _check_codes(name, row, one)
    is_numeric = tuple(one is None for one in lists)
    return {
        **fill_sensors(flat, begin, rows, is_numeric, filling),
        "names": labels,
        "categories": lists,
        "ids": who,
        "has_ids": ids is not None,
    }


def _as_numbers(given: ArrayLike, name: str, max_dims: int) -> FloatArray:
    """Return a float copy with at most the given number of dimensions."""
    array = np.asarray(given)
    if array.dtype.kind not in "biuf" or not 1 <= array.ndim <= max_dims:
        raise InvalidSensorsError(
            f"`{name}` must be numbers in {max_dims} dimensions, but it holds "
            f"{array.dtype} in {array.ndim}.\n\n"
            "Hint: for texts and time stamps use `from_long`, which reads a table."
        )
    return np.array(array, dtype=np.float64, order="C")


def _check_times(times: FloatArray, runs: RowRuns) -> None:
    """Refuse times that are missing or infinite."""
    bad = np.flatnonzero(~np.isfinite(times))
    if bad.size:
        raise blame(
            "Times of samples must be finite numbers, not missing or infinite",
            runs.ids,
            runs.owner_of(bad),
            "drop the samples whose time is unknown, or fill it in.",
            InvalidSensorsError,
        )


def _as_categories(
    given: Given, names: tuple[str, ...]
) -> tuple[tuple[Any, ...] | None, ...]:
    """Return the categories of every sensor, None for numbers."""
    if given is None:
        return (None,) * len(names)
    if isinstance(given, Mapping):
        if set(given) <= set(names):
            return tuple(tuple(given[n]) if n in given else None for n in names)
    elif len(given) == len(names):
        return tuple(None if one is None else tuple(one) for one in given)
    raise InvalidSensorsError(
        "`categories` must be by name of the sensor, or one entry per sensor, but they do "
        f"not fit the sensors {', '.join(names)}.\n\n"
        "Hint: {'mode': ('idle', 'run')} makes one sensor categorical."
    )


def _check_codes(name: str, row: FloatArray, categories: tuple[Any, ...] | None) -> None:
    """Refuse codes without a category."""
    if categories is None:
        return
    known = row[~np.isnan(row)]
    wrong = known[~((known >= 0) & (known < len(categories)) & (known == np.rint(known)))]
    if wrong.size:
        raise InvalidSensorsError(
            f"Sensor {name!r} must hold the codes 0 to {len(categories) - 1} of its "
            f"categories, but it holds {wrong[0]:g}.\n\n"
            "Hint: code k stands for the category at position k."
        )

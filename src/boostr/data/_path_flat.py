"""Flat arrays of samples, checked and sorted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from boostr._typing import AnyArray, FloatArray, OffsetArray
from boostr.data._path_build import Filling, build_paths
from boostr.data._path_order import Runs, order_rows
from boostr.data._path_read import check_sensor
from boostr.data._sensor_checks import as_ids, check_names, refuse
from boostr.exceptions import InvalidSensorsError

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
    begin = _as_offsets(offsets, flat.size)
    who = np.arange(begin.size - 1) if ids is None else _check_ids(ids, begin.size - 1)
    runs = Runs(starts=begin, owner=np.arange(begin.size - 1), ids=who)
    _check_times(flat, runs)
    order, begin = order_rows(flat, runs)
    if order is not None:
        flat, rows = flat[order], rows.take(order, axis=1)
    lists = _as_categories(categories, labels)
    for name, row, one in zip(labels, rows, lists, strict=True):
        check_sensor(name, row, begin, who)
        _check_codes(name, row, one)
    is_numeric = tuple(one is None for one in lists)
    return {
        **build_paths(flat, begin, rows, is_numeric, filling),
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


def _as_offsets(given: ArrayLike, n_samples: int) -> OffsetArray:
    """Return offsets after checking that they split the samples by individual."""
    offsets = np.array(given)
    if offsets.ndim == 1 and offsets.size and offsets.dtype.kind in "iu":
        offsets = offsets.astype(np.int64)
        rises = bool((np.diff(offsets) >= 0).all())
        if rises and offsets[0] == 0 and offsets[-1] == n_samples:
            return offsets
    raise InvalidSensorsError(
        "`offsets` must be integers that rise from 0 to the number of samples "
        f"({n_samples}), one more than there are individuals.\n\n"
        "Hint: np.concatenate([[0], np.cumsum(n_samples_of_each)])."
    )


def _check_ids(given: Any, n: int) -> AnyArray:
    """Return ids after checking that there is one per individual."""
    ids = as_ids(given)
    if ids.size != n or len(set(ids.tolist())) != n:
        raise InvalidSensorsError(
            f"`ids` must be one id of its own per individual, but there are {ids.size} "
            f"({len(set(ids.tolist()))} different) for {n} individuals.\n\n"
            "Hint: leave out `ids` to number the individuals."
        )
    return ids.copy()


def _check_times(times: FloatArray, runs: Runs) -> None:
    """Refuse times that are missing or infinite."""
    bad = np.flatnonzero(~np.isfinite(times))
    if bad.size:
        raise refuse(
            "Times of samples must be finite numbers, not missing or infinite",
            runs.ids,
            runs.owner_of(bad),
            "drop the samples whose time is unknown, or fill it in.",
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

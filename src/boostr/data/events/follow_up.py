"""Starts and ends of follow-up that are given beside a table: one for all, or by id."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import timedelta
from typing import Any

import numpy as np

from boostr._checks.numbers import first_few, is_missing, repeats
from boostr._typing import AnyArray, BoolArray, OffsetArray
from boostr.data.events.assemble import check_length
from boostr.data.individuals import concatenate_ids
from boostr.data.times import as_stamp, common_kind
from boostr.exceptions import InvalidEventsError, InvalidParameterError

__all__ = ["by_id", "check_common", "is_unknown", "join_ids", "spread"]

_TYPES = {"f": "float64", "M": "datetime64[us]", "m": "timedelta64[us]"}


def by_id(given: Any, name: str) -> Any:
    """Return a pandas Series as a mapping from ids; pass anything else through."""
    index = getattr(given, "index", None)
    if index is None or callable(index):
        return given
    labels = np.asarray(index)
    twice = repeats(labels)
    if twice:
        raise InvalidEventsError(
            f"`{name}` must have one entry per individual, but {len(twice)} ids are "
            f"repeated in its index ({first_few(twice)})."
        )
    return dict(zip(labels.tolist(), given, strict=True))


def check_common(start: Any) -> None:
    """Refuse starts by id where rows are read in parts."""
    if isinstance(by_id(start, "start"), Mapping) or np.ndim(start):
        raise InvalidParameterError(
            "`start` must be the name of a column or one time, but it is a "
            f"{type(start).__name__}.\n\n"
            "Hint: put the entry of every individual into a column of the table."
        )


def join_ids(
    ids: AnyArray, owner: OffsetArray, *given: Any
) -> tuple[AnyArray, OffsetArray]:
    """Return the sorted ids of table and mappings, and the position of each row's id."""
    known = set(ids.tolist())
    new = {key for each in given if isinstance(each, Mapping) for key in each} - known
    if not new:
        return ids, owner
    added = np.array(list(new))
    if added.dtype.kind != ids.dtype.kind:
        added = np.empty(len(new), dtype=object)
        added[:] = list(new)
    joined = concatenate_ids([ids, added])
    try:
        order = np.argsort(joined, kind="stable")
    except TypeError:
        raise InvalidEventsError(
            "Ids must be all numbers or all texts, but those of the table are like "
            f"{ids[0]!r} and others like {added[0]!r}.\n\n"
            "Hint: make them alike, for instance with df[id].astype(str)."
        ) from None
    place = np.empty_like(order)
    place[order] = np.arange(order.size)
    return joined[order], place[owner]


def spread(given: Any, ids: AnyArray, kind: str, name: str) -> AnyArray:
    """Return one moment per individual, of the same kind as the table's times.

    Individuals that a mapping does not list get a missing value.
    """
    if isinstance(given, Mapping):
        values: Sequence[Any] = [given.get(id_) for id_ in ids.tolist()]
    elif isinstance(given, str) or np.ndim(given) == 0:
        return np.full(ids.size, _as_moment(given, kind, name))
    else:
        check_length(len(given), ids.size, name)
        values = list(given)
    return _as_moments(values, kind, name)


def is_unknown(moments: AnyArray) -> BoolArray:
    """Return a mask of missing moments."""
    return np.isnat(moments) if moments.dtype.kind in "mM" else np.isnan(moments)


def _as_moments(values: Iterable[Any], kind: str, name: str) -> AnyArray:
    missing = np.array(np.nan).astype(_TYPES[kind])[()]
    found = [
        missing if is_missing(each) else _as_moment(each, kind, name) for each in values
    ]
    return np.array(found, dtype=_TYPES[kind])


def _as_moment(value: Any, kind: str, name: str) -> Any:
    """Return one time as a NumPy scalar."""
    if kind == "M":
        return as_stamp(value, name)
    scalar = np.asarray(np.timedelta64(value) if isinstance(value, timedelta) else value)
    if scalar.ndim or scalar.dtype.kind not in "iufm":
        raise InvalidParameterError(
            f"`{name}` must be the name of a column, one time, or times by id, but it has "
            f"{value!r}.\n\nHint: times of the table are "
            f"{'numbers' if kind == 'f' else 'durations'}; so must these be."
        )
    given = "m" if scalar.dtype.kind == "m" else "f"
    common_kind({"time": kind, name: given})
    return scalar.astype(_TYPES[kind])[()]

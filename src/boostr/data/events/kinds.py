"""Kinds of events, such as failure modes, products or diagnoses."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from boostr._checks.numbers import blame, first_few, is_missing
from boostr._typing import AnyArray, OffsetArray
from boostr.exceptions import InvalidEventsError, InvalidParameterError

if TYPE_CHECKING:
    from boostr.data.events.recurrent_events import RecurrentEvents

Events = TypeVar("Events", bound="RecurrentEvents")

__all__ = [
    "code_kinds",
    "count_kinds",
    "find_kind",
    "join_kinds",
    "keep_kinds",
    "name_kinds",
]


def code_kinds(
    labels: Sequence[Any], owner: OffsetArray, ids: AnyArray
) -> tuple[OffsetArray, list[Any]]:
    """Return the position of every event's kind, and the sorted kinds."""
    unknown = np.array([is_missing(label) for label in labels], dtype=bool)
    if unknown.any():
        raise blame(
            "Every event must have a kind",
            ids,
            owner[unknown],
            "fill in the missing kinds, for instance with 'unknown'.",
        )
    labels = [each.item() if isinstance(each, np.generic) else each for each in labels]
    kinds = _sort(labels)
    place = {kind: position for position, kind in enumerate(kinds)}
    codes = np.fromiter((place[label] for label in labels), np.int64, count=len(labels))
    return codes, kinds


def _sort(labels: Iterable[Any]) -> list[Any]:
    """Return different labels, sorted; they must be all texts or all whole numbers."""
    kinds = list(dict.fromkeys(labels))
    types = {str if isinstance(kind, str) else type(kind) for kind in kinds}
    if not (types <= {str} or types <= {int} or types <= {bool}):
        raise InvalidEventsError(
            "Kinds of events must be all texts or all whole numbers, but they are "
            f"{first_few(sorted(kind.__name__ for kind in types))}.\n\n"
            "Hint: make them texts, for instance with df[kind].astype(str)."
        )
    return sorted(kinds)


def find_kind(kind: Any, kinds: Sequence[Any] | None) -> int:
    """Return the position of a kind; refuse an unknown one."""
    if not kinds:
        raise InvalidParameterError(
            f"`kind` must be None where events have no kinds, but it is {kind!r}.\n\n"
            "Hint: RecurrentEvents.from_long(…, kind=…) reads them from a column."
        )
    if kind not in kinds:
        raise InvalidParameterError(
            f"`kind` must be one of the known kinds, but it is {kind!r}.\n\n"
            f"Hint: the kinds are {', '.join(map(repr, kinds))}."
        )
    return list(kinds).index(kind)


def keep_kinds(y: Events, places: Sequence[int]) -> Events:
    """Return the same individuals with the events of some kinds only."""
    assert y.event_kind is not None  # noqa: S101 - asked by the caller
    kept = np.isin(y.event_kind, places)
    before = np.concatenate([[0], np.cumsum(kept)])
    return y._with(**y._take_events(kept), event_offsets=before[y.event_offsets])


def count_kinds(y: RecurrentEvents) -> dict[Any, int]:
    """Return the number of events of every kind."""
    if y.event_kind is None or y.kinds is None:
        return {}
    counts = np.bincount(y.event_kind, minlength=len(y.kinds))
    return dict(zip(y.kinds, counts.tolist(), strict=True))


def name_kinds(kinds: Sequence[Any], codes: AnyArray) -> list[Any]:
    """Return the labels of codes, None for those below 0."""
    return [None if code < 0 else kinds[code] for code in codes.tolist()]


def join_kinds(parts: Sequence[RecurrentEvents]) -> dict[str, Any]:
    """Return the kinds of the events of all parts, none if no part has any."""
    some = [part for part in parts if part.event_kind is not None]
    if not some:
        return {"event_kind": None, "kinds": None}
    if len(some) < len(parts):
        raise InvalidEventsError(
            "Either the events of all parts must have kinds or none, but those of "
            f"{len(some)} of {len(parts)} have some.\n\n"
            "Hint: read all parts with the same `kind=`."
        )
    kinds = _sort(kind for part in some for kind in part.kinds or ())
    place = {kind: position for position, kind in enumerate(kinds)}
    codes = [
        np.array([place[kind] for kind in part.kinds or ()], dtype=np.int64)[
            part.event_kind
        ]
        for part in some
    ]
    return {"event_kind": np.concatenate(codes), "kinds": kinds}

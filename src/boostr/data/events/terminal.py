"""Terminal events: whether follow-up ended by death, scrapping or the like."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from boostr._checks.ids import check_one_each
from boostr._checks.numbers import blame, first_few, labels_are_ids
from boostr._typing import AnyArray, BoolArray, FloatArray, OffsetArray
from boostr.exceptions import InvalidEventsError, InvalidParameterError

if TYPE_CHECKING:
    from boostr.data.events.recurrent_events import RecurrentEvents

__all__ = [
    "as_terminal_events",
    "check_terminal_rows",
    "extend_dead",
    "join_terminal",
    "known_stops",
    "match_terminal",
]

_HINT = "write 1 (or True) where the individual's end was a terminal event, 0 elsewhere."


def check_terminal_rows(
    is_terminal: BoolArray,
    times: FloatArray,
    owner: OffsetArray,
    end: FloatArray,
    ids: AnyArray,
) -> BoolArray:
    """Return whose end is terminal, from flags of rows: at most one each, at the end."""
    counts = np.bincount(owner[is_terminal], minlength=ids.size)
    if (counts > 1).any():
        raise blame(
            "An individual must have one terminal event at most",
            ids,
            counts > 1,
            "write 1 only into the row at which its follow-up ended, 0 into the others.",
        )
    early = is_terminal & (times < end[owner])
    if early.any():
        raise blame(
            "Nothing must be observed after a terminal event, neither an event nor the end "
            "of follow-up",
            ids,
            owner[early],
            "let follow-up end at the terminal event; drop or correct what comes later.",
        )
    return np.asarray(counts == 1)


def match_terminal(y: RecurrentEvents, given: Any) -> BoolArray:
    """Return one flag per individual, from one for all, flags in order, or by id."""
    index = getattr(given, "index", None)  # of a Series from pandas
    if index is not None and not callable(index) and y.has_ids and labels_are_ids(index, y):
        given = dict(zip(np.asarray(index).tolist(), given, strict=True))
    if isinstance(given, Mapping):
        missing = [id_ for id_ in y.ids.tolist() if id_ not in given]
        if missing:
            raise InvalidEventsError(
                "`terminal` must say for every individual whether its end was terminal, "
                f"but it does not for {len(missing)} of {len(y)} individuals (ids "
                f"{first_few(missing)}).\n\nHint: {_HINT}"
            )
        given = [given[id_] for id_ in y.ids.tolist()]
    values: AnyArray = np.asarray(given)
    if values.ndim > 1 or values.dtype.kind not in "biufO":
        raise InvalidParameterError(
            "`terminal` must be True or False (or 1 or 0) for each of the "
            f"{len(y)} individuals, but it is {given!r}.\n\nHint: {_HINT}"
        )
    if values.ndim:
        check_one_each(values.size, len(y), "terminal", InvalidEventsError)
    flags = np.broadcast_to(values, len(y))
    wrong = ~np.array([flag in {0, 1} for flag in flags.tolist()], dtype=bool)
    if wrong.any():
        raise blame("`terminal` must be True or False, or 1 or 0", y.ids, wrong, _HINT)
    return flags.astype(bool)


def join_terminal(parts: Sequence[RecurrentEvents]) -> BoolArray | None:
    """Return the flags of all parts, or None if no part has any."""
    some = [part.is_terminal for part in parts if part.is_terminal is not None]
    if some and len(some) < len(parts):
        raise InvalidEventsError(
            "Either all parts must say whose end is a terminal event or none, but "
            f"{len(some)} of {len(parts)} do.\n\n"
            "Hint: part.with_terminal(False) says that no end is one."
        )
    return np.concatenate(some) if some else None


def as_terminal_events(y: RecurrentEvents) -> RecurrentEvents:
    """Return the same follow-up with the terminal events as the only events."""
    assert y.is_terminal is not None  # noqa: S101 - asked by the caller
    n_events = y.is_terminal.astype(np.int64)
    times = y.end[y.is_terminal]
    return y._with(
        times=times,
        costs=np.ones(times.size),
        has_costs=False,
        intervals=None,
        event_kind=None,
        kinds=None,
        event_offsets=np.concatenate([[0], np.cumsum(n_events)]),
        exposure=None,
        is_terminal=None,
    )


def known_stops(y: RecurrentEvents) -> FloatArray:
    """Return the stops of windows, infinity for the last ones of the dead.

    Death is not censoring: nothing happens after it, and that is known.
    """
    stops = y.window_stop.copy()
    if y.is_terminal is not None:
        stops[y.window_offsets[1:][y.is_terminal] - 1] = np.inf
    return stops


def extend_dead(y: RecurrentEvents, until: FloatArray) -> RecurrentEvents:
    """Return histories in which the dead are known to have no events up to a time."""
    if y.is_terminal is None:
        return y
    stops = y.window_stop.copy()
    last = y.window_offsets[1:][y.is_terminal] - 1
    stops[last] = np.maximum(stops[last], until[y.is_terminal])
    return y._with(window_stop=stops, is_terminal=None)

"""Individuals sorted by end and number of events, for fast comparison of pairs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from boostr._typing import AnyArray, OffsetArray
from boostr.data import RecurrentEvents

__all__ = ["Levels", "arrange_levels"]


@dataclass(frozen=True, slots=True, eq=False)
class Levels:
    """Individuals by number of events, numbered by the end of their follow-up.

    ``order`` lists individuals by that end; the other arrays use these numbers, see
    `boostr._kernels.concordance.sweep_levels`.
    """

    order: OffsetArray  # (n,)
    insert_offsets: OffsetArray  # (n_levels + 1,)
    insert_turn: OffsetArray  # (n + n_events,)
    insert_member: OffsetArray  # (n + n_events,)
    turn_offsets: OffsetArray  # (n_levels + 1,)
    turn_member: OffsetArray  # (n_turns,)
    n_events: OffsetArray  # (n,)


def arrange_levels(y: RecurrentEvents, horizon: float) -> Levels:
    """Return the levels of histories without gaps and with a common start.

    Events after the horizon do not count.
    """
    end = np.minimum(y.end, horizon)
    order = np.argsort(end, kind="stable")
    turn = np.empty_like(order)
    turn[order] = np.arange(order.size)
    counted = y.times <= horizon
    owner = y.event_owner[counted]
    n_events = np.bincount(owner, minlength=order.size)
    # Events are sorted within individuals: number them from 1 on.
    level = _count_within(n_events)[0] + 1
    first_turn = np.searchsorted(end[order], y.times[counted], side="left")
    by_level = np.lexsort((first_turn, level))
    n_levels = int(n_events.max()) + 1
    # At level 0 all individuals are members from the start; at other levels those with as
    # many events, or one event less, have a turn.
    members, zeros = np.arange(order.size), np.zeros(order.size, dtype=np.int64)
    n_turns = np.minimum(n_events[order] + 2, n_levels)
    turn_level, turn_member = _count_within(n_turns)
    return Levels(
        order=order,
        insert_offsets=_offsets(np.concatenate([zeros, level]), n_levels),
        insert_turn=np.concatenate([zeros, first_turn[by_level]]),
        insert_member=np.concatenate([members, turn[owner][by_level]]),
        turn_offsets=_offsets(turn_level, n_levels),
        turn_member=turn_member[np.argsort(turn_level, kind="stable")],
        n_events=n_events[order],
    )


def _count_within(sizes: AnyArray) -> tuple[OffsetArray, OffsetArray]:
    """Return the positions within groups of given sizes, and the groups."""
    group = np.repeat(np.arange(sizes.size), sizes)
    return np.arange(group.size) - (np.cumsum(sizes) - sizes)[group], group


def _offsets(level: OffsetArray, n_levels: int) -> OffsetArray:
    """Return the first position of each level after sorting."""
    sizes = np.bincount(level, minlength=n_levels)
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)

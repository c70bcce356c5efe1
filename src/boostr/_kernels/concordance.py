"""Pairs of individuals whose predictions stand in the order of their events."""

from __future__ import annotations

import numpy as np

from boostr._kernels._jit import allocating_kernel, inner_kernel, kernel
from boostr._typing import FloatArray, OffsetArray

__all__ = ["compare_pairs", "sweep_levels", "sweep_risk_sets", "sweep_totals"]

# Places of the results, all sums of products of weights.
CONCORDANT = 0
TIED = 1
COMPARABLE = 2


@inner_kernel
def _add(tree: FloatArray, rank: int, weight: float) -> None:
    """Add a weight at a rank of a binary indexed tree."""
    place = rank + 1
    while place < tree.shape[0]:
        tree[place] += weight
        place += place & -place


@inner_kernel
def _sum_below(tree: FloatArray, rank: int) -> float:
    """Sum the weights at all lower ranks."""
    total = 0.0
    place = rank
    while place > 0:
        total += tree[place]
        place -= place & -place
    return total


@inner_kernel
def _clear(tree: FloatArray, rank: int) -> None:
    """Set to zero what a weight at a rank has touched, so that no rounding is left."""
    place = rank + 1
    while place < tree.shape[0]:
        tree[place] = 0.0
        place += place & -place


@allocating_kernel
def sweep_totals(
    total: FloatArray, rank: OffsetArray, weight: FloatArray, out: FloatArray
) -> None:
    """Compare all pairs by one number each.

    Parameters
    ----------
    total : (n,) float64
        Number of events, or their cost, of every individual; ascending.
    rank : (n,) int64
        Rank of the predictions from 0 on; equal predictions have equal ranks.
    weight : (n,) float64
        Weights of individuals.
    out : (3,) float64
        Overwritten with the concordant, tied and comparable pairs.
    """
    out[:] = 0.0
    tree = np.zeros(rank.max() + 2)
    lower, first = 0.0, 0
    for i in range(total.shape[0]):
        if total[i] > total[first]:  # those before are lower now
            for j in range(first, i):
                _add(tree, rank[j], weight[j])
                lower += weight[j]
            first = i
        below = _sum_below(tree, rank[i])
        out[CONCORDANT] += weight[i] * below
        out[TIED] += weight[i] * (_sum_below(tree, rank[i] + 1) - below)
        out[COMPARABLE] += weight[i] * lower


@allocating_kernel
def sweep_levels(
    insert_offsets: OffsetArray,
    insert_turn: OffsetArray,
    insert_member: OffsetArray,
    turn_offsets: OffsetArray,
    turn_member: OffsetArray,
    n_events: OffsetArray,
    rank: OffsetArray,
    weight: FloatArray,
    out: FloatArray,
) -> None:
    """Compare all pairs by their numbers of events in their common follow-up.

    Individuals are numbered in the order of their ends, and each has its turn at its
    end: it is compared with all that are still observed. Those with ``k`` or more events
    by then are the members of level ``k``.

    Parameters
    ----------
    insert_offsets : (n_levels + 1,) int64
        Where the members of each level begin; level 0 holds everybody.
    insert_turn, insert_member : (n_inserts,) int64
        Members of each level by the first turn that finds them there, ascending.
    turn_offsets : (n_levels + 1,) int64
        Where the turns of each level begin.
    turn_member : (n_turns,) int64
        Who has a turn at each level: all with at least one event less, ascending.
    n_events : (n,) int64
        Number of events of every individual by its end.
    rank : (n,) int64
        Rank of the predictions from 0 on; equal predictions have equal ranks.
    weight : (n,) float64
        Weights of individuals.
    out : (3,) float64
        Overwritten with the concordant, tied and comparable pairs.

    Notes
    -----
    Who ends with ``k`` events needs two sets only: those with more, the members of level
    ``k + 1``, and those with fewer, all but the members of level ``k``. So level after
    level one tree over ranks is filled and emptied, and every event moves one individual
    once: the time is that of sorting.
    """
    out[:] = 0.0
    tree = np.zeros(rank.max() + 2)
    for level in range(insert_offsets.shape[0] - 1):
        total = 0.0
        insert = insert_offsets[level]
        for turn in range(turn_offsets[level], turn_offsets[level + 1]):
            i = turn_member[turn]
            while insert < insert_offsets[level + 1] and insert_turn[insert] <= i:
                member = insert_member[insert]
                _add(tree, rank[member], weight[member])
                total += weight[member]
                insert += 1
            below = _sum_below(tree, rank[i])
            equal = _sum_below(tree, rank[i] + 1) - below
            if n_events[i] == level - 1:  # the members have more events
                out[CONCORDANT] += weight[i] * (total - below - equal)
                out[TIED] += weight[i] * equal
                out[COMPARABLE] += weight[i] * total
            elif level == 0 and n_events[i] > 0:  # everybody, with more or fewer
                out[CONCORDANT] += weight[i] * below
                out[TIED] += weight[i] * equal
                out[COMPARABLE] += weight[i] * total
            elif n_events[i] == level and level > 0:  # less those with no fewer
                out[CONCORDANT] -= weight[i] * below
                out[TIED] -= weight[i] * equal
                out[COMPARABLE] -= weight[i] * total
            if n_events[i] >= level:
                _add(tree, rank[i], -weight[i])
                total -= weight[i]
        for insert in range(insert_offsets[level], insert_offsets[level + 1]):
            _clear(tree, rank[insert_member[insert]])


@inner_kernel
def _count_shared(
    times: FloatArray,
    costs: FloatArray,
    first: int,
    last: int,
    window_start: FloatArray,
    window_stop: FloatArray,
    window: int,
    last_window: int,
) -> float:
    """Sum the costs of some events that fall into some windows, both ascending."""
    total = 0.0
    for event in range(first, last):
        while window < last_window and window_stop[window] < times[event]:
            window += 1
        if window < last_window and window_start[window] < times[event]:
            total += costs[event]
    return total


@kernel
def compare_pairs(
    times: FloatArray,
    costs: FloatArray,
    event_offsets: OffsetArray,
    window_start: FloatArray,
    window_stop: FloatArray,
    window_offsets: OffsetArray,
    predicted: FloatArray,
    weight: FloatArray,
    out: FloatArray,
) -> None:
    """Compare all pairs by what was counted while both were observed, one by one.

    Parameters
    ----------
    times, costs : (n_events,) float64
        Events and what they count, individual after individual.
    event_offsets : (n + 1,) int64
        Where the events of each individual begin.
    window_start, window_stop : (n_windows,) float64
        Windows of observation, individual after individual.
    window_offsets : (n + 1,) int64
        Where the windows of each individual begin.
    predicted : (n,) float64
        Predictions.
    weight : (n,) float64
        Weights of individuals.
    out : (3,) float64
        Overwritten with the concordant, tied and comparable pairs.
    """
    out[:] = 0.0
    n = predicted.shape[0]
    for i in range(n):
        for j in range(i):
            own = _count_shared(
                times,
                costs,
                event_offsets[i],
                event_offsets[i + 1],
                window_start,
                window_stop,
                window_offsets[j],
                window_offsets[j + 1],
            )
            other = _count_shared(
                times,
                costs,
                event_offsets[j],
                event_offsets[j + 1],
                window_start,
                window_stop,
                window_offsets[i],
                window_offsets[i + 1],
            )
            if own == other:
                continue
            both = weight[i] * weight[j]
            out[COMPARABLE] += both
            if predicted[i] == predicted[j]:
                out[TIED] += both
            elif (predicted[i] > predicted[j]) == (own > other):
                out[CONCORDANT] += both


@allocating_kernel
def sweep_risk_sets(
    event_index: OffsetArray,
    event_owner: OffsetArray,
    event_weight: FloatArray,
    enter: OffsetArray,
    enter_owner: OffsetArray,
    leave: OffsetArray,
    leave_owner: OffsetArray,
    rank: OffsetArray,
    weight: FloatArray,
    out: FloatArray,
) -> None:
    """Compare the owner of every event with all others that are at risk then.

    Parameters
    ----------
    event_index : (n_events,) int64
        Event time of every event, ascending.
    event_owner : (n_events,) int64
        Individual that has the event.
    event_weight : (n_events,) float64
        What a comparison at the event counts, beside the weights of the two.
    enter, leave : (n_windows,) int64
        First event time in, and first event time after, every window; each ascending.
    enter_owner, leave_owner : (n_windows,) int64
        Individuals that enter and leave.
    rank : (n,) int64
        Rank of the predictions from 0 on; equal predictions have equal ranks.
    weight : (n,) float64
        Weights of individuals.
    out : (3,) float64
        Overwritten with the concordant, tied and comparable pairs.
    """
    out[:] = 0.0
    tree = np.zeros(rank.max() + 2)
    total = 0.0
    entered, left = 0, 0
    for event in range(event_index.shape[0]):
        now = event_index[event]
        while entered < enter.shape[0] and enter[entered] <= now:
            i = enter_owner[entered]
            _add(tree, rank[i], weight[i])
            total += weight[i]
            entered += 1
        while left < leave.shape[0] and leave[left] <= now:
            i = leave_owner[left]
            _add(tree, rank[i], -weight[i])
            total -= weight[i]
            left += 1
        i = event_owner[event]
        both = event_weight[event] * weight[i]
        below = _sum_below(tree, rank[i])
        equal = _sum_below(tree, rank[i] + 1) - below
        out[CONCORDANT] += both * below
        out[TIED] += both * (equal - weight[i])  # less the owner itself
        out[COMPARABLE] += both * (total - weight[i])

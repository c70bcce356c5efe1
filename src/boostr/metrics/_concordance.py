"""Concordance: whether individuals with higher predictions have more events."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from boostr._checks.numbers import check_weights
from boostr._checks.parameters import check_choice
from boostr._kernels.concordance import (
    compare_pairs,
    sweep_levels,
    sweep_risk_sets,
    sweep_totals,
)
from boostr._typing import AnyArray, FloatArray, OffsetArray
from boostr.data import RecurrentEvents, RiskTable, check_target
from boostr.data.events.terminal import extend_dead
from boostr.exceptions import InvalidEventsError
from boostr.metrics._observation import (
    check_horizon,
    check_values,
    count_events,
    covers,
    observed_share,
)

__all__ = [
    "Levels",
    "arrange_levels",
    "event_concordance",
    "paper_concordance",
    "recurrent_concordance",
]


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


Tied = Literal["half", "drop", "zero"]
Weights = Literal["ipcw"] | None

ROUNDING = 1e-13


def recurrent_concordance(
    y: RecurrentEvents,
    predicted: ArrayLike,
    horizon: float | None = None,
    *,
    tied: Tied = "half",
    weights: Weights = None,
    sample_weight: ArrayLike | None = None,
) -> float:
    r"""Return how often the individual with more events of two has the higher prediction.

    Two individuals are compared over their common follow-up, which a terminal event does
    not end, as nothing can happen after it. With :math:`N_{ij}` the events that ``i`` has
    up to the horizon while ``j`` is observed too, and the predictions :math:`p_i`,

    .. math::

        C = \frac{\sum_{i<j} w_i w_j \left[ 1\{(N_{ij} - N_{ji})(p_i - p_j) > 0\}
        + \tfrac12\, 1\{N_{ij} \ne N_{ji}, p_i = p_j\} \right]}
        {\sum_{i<j} w_i w_j\, 1\{N_{ij} \ne N_{ji}\}}.

    Pairs with the same number of events say nothing and are left out. A constant
    prediction has 0.5, a perfect order 1.

    Parameters
    ----------
    y : RecurrentEvents
        Event histories. Where events have costs, their sums are compared.
    predicted : array-like of shape (n,)
        Predictions; only their order counts. Expected counts by a common time, not by the
        own end of follow-up: that end may depend on the events.
    horizon : float, default=None
        Last time at which events count; None for all.
    tied : {"half", "drop", "zero"}, default="half"
        What a pair with equal predictions counts: half, nothing (it is left out), or as
        wrong.
    weights : {None, "ipcw"}, default=None
        None compares pairs over their common follow-up. "ipcw" compares those who are
        observed from the first start to the horizon, weighted by the inverse of the chance
        of being observed that far; see Notes.
    sample_weight : array-like of shape (n,), default=None
        Weights of individuals.

    Returns
    -------
    float
        Between 0 and 1; higher is better.

    Raises
    ------
    InvalidEventsError
        If no two individuals can be compared.

    See Also
    --------
    event_concordance : Compares at every event, and is as quick with late entry and gaps.
    paper_concordance : The definition of the Boost-R paper.
    scorer : Makes a scorer for scikit-learn.

    Notes
    -----
    The moment at which the common follow-up of two individuals ends depends on their past
    only, also where individuals leave after some number of events. So of two individuals
    the one whose rate is always higher is expected to be ahead, and the comparison is fair
    whatever stops the observation, as long as it does not know the future. What *C* tends
    to depends on how long individuals are observed. With "ipcw" it tends to the probability
    for two individuals that are both observed up to the horizon; this needs ends that do
    not depend on the events. As every end is seen, the chance of being observed up to the
    horizon is estimated by the share of those who are: it is the same for all of them and
    cancels. Chances that differ, by a model of the ends, belong into `sample_weight`.

    The time is that of sorting individuals and events where all are observed from the same
    start to their end and events have no costs. With late entry, gaps or costs all pairs
    are gone through.

    References
    ----------
    Harrell, F. E. et al. (1982). Evaluating the yield of medical tests. JAMA 247,
    2543-2546.

    Kim, S., Schaubel, D. E. and McCullough, K. P. (2018). A C-index for recurrent event
    data. Biometrics 74, 734-743.

    Examples
    --------
    The second machine has two events, the first one; the third left before its first.

    >>> from boostr.data import RecurrentEvents
    >>> from boostr.metrics import recurrent_concordance
    >>> y = RecurrentEvents.from_lists([[5.0], [2.0, 6.0], []], end=[10.0, 10.0, 3.0])
    >>> recurrent_concordance(y, [1.5, 2.0, 0.5])
    1.0
    >>> recurrent_concordance(y, [1.0, 1.0, 1.0])
    0.5
    """
    events, scores, weight = _check(y, predicted, sample_weight)
    check_choice(tied, ("half", "drop", "zero"), "tied")
    check_choice(weights, (None, "ipcw"), "weights")
    last = check_horizon(horizon)
    events = extend_dead(events, np.full(len(events), events.end.max()))
    compare = _compare_at if weights == "ipcw" else _compare_common
    return _share(compare(events, scores, weight, last), tied, weight.sum() ** 2)


def paper_concordance(
    y: RecurrentEvents,
    predicted: ArrayLike,
    horizon: float | None = None,
    *,
    sample_weight: ArrayLike | None = None,
) -> float:
    r"""Return how often two individuals are ranked correctly, as in the Boost-R paper.

    All pairs of individuals are ranked by their numbers of events up to a time, and by the
    predicted ones; a pair counts 1 if the ranks agree and else 0,

    .. math::

        C = \frac{\sum_{i<j} 1\{(N_i - N_j)(p_i - p_j) > 0\}}{\sum_{i<j} 1\{N_i \ne N_j\}}.

    Parameters
    ----------
    y : RecurrentEvents
        Event histories. Where events have costs, their sums are compared.
    predicted : array-like of shape (n,)
        Predicted numbers of events up to the horizon; only their order counts.
    horizon : float, default=None
        The time up to which events count, by default the last end of follow-up.
    sample_weight : array-like of shape (n,), default=None
        Weights of individuals.

    Returns
    -------
    float
        Between 0 and 1; higher is better. A constant has 0, as it ranks no pair.

    Raises
    ------
    InvalidEventsError
        If no two individuals can be compared.

    See Also
    --------
    recurrent_concordance : Uses all individuals, however long they were observed.

    Notes
    -----
    The paper leaves two things open. Pairs with the same number of events have no rank to
    predict: they are left out, as in Harrell's index (if they counted as wrong, a constant
    could beat the truth). Individuals that were not observed from the first start to the
    horizon have no known number: they are left out. Pairs with equal predictions count as
    wrong, as the paper has it, so noise that breaks such ties scores higher than a truth
    that is the same for many; `recurrent_concordance` counts them half.

    References
    ----------
    Liu, X. and Pan, R. Boost-R: Gradient Boosted Trees for Recurrence Data. Journal of
    Quality Technology. Section 3.

    Examples
    --------
    Of three pairs one has equal numbers of events, one is ranked correctly.

    >>> from boostr.data import RecurrentEvents
    >>> from boostr.metrics import paper_concordance
    >>> y = RecurrentEvents.from_lists([[5.0], [2.0, 6.0], [7.0]], end=10.0)
    >>> paper_concordance(y, [3.0, 2.0, 1.0])
    0.5
    """
    events, scores, weight = _check(y, predicted, sample_weight)
    pairs = _compare_at(events, scores, weight, check_horizon(horizon))
    return _share(pairs, "zero", weight.sum() ** 2)


def event_concordance(
    y: RecurrentEvents,
    predicted: ArrayLike,
    horizon: float | None = None,
    *,
    tied: Tied = "half",
    weights: Weights = None,
    sample_weight: ArrayLike | None = None,
) -> float:
    r"""Return how often an individual with an event has a higher prediction than others.

    It is compared with the individuals at risk at that moment.

    With :math:`Y_j(t)` = 1 while ``j`` is observed, and the predictions :math:`p_i`,

    .. math::

        C = \frac{\sum_i \int_0^\tau v(t) \sum_{j \ne i} w_i w_j Y_j(t) \left[
        1\{p_i > p_j\} + \tfrac12\, 1\{p_i = p_j\} \right] dN_i(t)}
        {\sum_i \int_0^\tau v(t) \sum_{j \ne i} w_i w_j Y_j(t)\, dN_i(t)}.

    Parameters
    ----------
    y : RecurrentEvents
        Event histories, with late entry and gaps if need be. Costs weight the events.
    predicted : array-like of shape (n,)
        Predictions; only their order counts.
    horizon : float, default=None
        Last time at which events count; None for all.
    tied : {"half", "drop", "zero"}, default="half"
        What a comparison with an equal prediction counts: half, nothing (it is left out),
        or as wrong.
    weights : {None, "ipcw"}, default=None
        ``v(t) = 1``, or the inverse square of the share of individuals observed at ``t``,
        so that the result does not depend on how long individuals are observed; the latter
        needs ends that do not depend on the events.
    sample_weight : array-like of shape (n,), default=None
        Weights of individuals.

    Returns
    -------
    float
        Between 0 and 1; a constant prediction has 0.5. Higher is better.

    Raises
    ------
    InvalidEventsError
        If there is no event with another individual at risk.

    See Also
    --------
    recurrent_concordance : Compares the numbers of events of two individuals.
    capture_curve : Its area says the same where all are observed equally long.

    Notes
    -----
    Individuals with many events weigh more than in `recurrent_concordance`, and even the
    truth is far below 1 because it does not know who is next. The time is that of sorting
    the events, with late entry and gaps too. Without weights, and apart from events at the
    same time, this is what the R package survival computes for counting processes.

    References
    ----------
    Uno, H. et al. (2011). On the C-statistics for evaluating overall adequacy of risk
    prediction procedures with censored survival data. Statistics in Medicine 30, 1105-1117.

    Therneau, T. and Atkinson, E. (2024). Concordance. Vignette of the R package survival.

    Examples
    --------
    At time 5 the first machine is compared with the second, at 6 the second with the first;
    the third is not yet observed.

    >>> from boostr.data import RecurrentEvents
    >>> from boostr.metrics import event_concordance
    >>> y = RecurrentEvents.from_lists([[5.0], [6.0], []], start=[0, 0, 7], end=[9, 9, 9])
    >>> event_concordance(y, [2.0, 1.0, 3.0])
    0.5
    """
    events, scores, weight = _check(y, predicted, sample_weight)
    check_choice(tied, ("half", "drop", "zero"), "tied")
    check_choice(weights, (None, "ipcw"), "weights")
    last = check_horizon(horizon)
    table = RiskTable.from_events(events, weight)
    time_weight = np.ones(table.times.size)
    if weights == "ipcw":
        time_weight = observed_share(events, weight, table.times) ** -2.0
    order = np.argsort(table.event_index, kind="stable")
    order = order[table.times[table.event_index[order]] <= last]
    event_weight = (table.cost * time_weight[table.event_index])[order]
    entering, leaving = np.argsort(table.enter), np.argsort(table.leave)
    pairs = np.empty(3)
    sweep_risk_sets(
        table.event_index[order],
        table.event_owner[order],
        event_weight,
        table.enter[entering],
        table.window_owner[entering],
        table.leave[leaving],
        table.window_owner[leaving],
        _rank(scores),
        weight,
        pairs,
    )
    owned = float(event_weight @ weight[table.event_owner[order]])
    return _share(pairs, tied, owned * weight.sum())


def _check(
    y: object, predicted: ArrayLike, sample_weight: ArrayLike | None
) -> tuple[RecurrentEvents, FloatArray, FloatArray]:
    events = check_target(y)
    scores = check_values(predicted, events, "predicted")
    return events, scores, check_weights(sample_weight, events)


def _rank(scores: FloatArray) -> OffsetArray:
    """Return the ranks of predictions from 0 on; ties have equal ranks."""
    return np.unique(scores, return_inverse=True)[1].astype(np.int64)


def _share(pairs: FloatArray, tied: Tied, possible: float) -> float:
    """Return concordant over comparable pairs; refuse if no pair is comparable."""
    concordant, equal, comparable = pairs
    if tied == "half":
        concordant += 0.5 * equal
    elif tied == "drop":
        comparable -= equal
    if comparable <= ROUNDING * possible:
        raise InvalidEventsError(
            "Two individuals must differ in their events to be compared, but no pair "
            "does.\n\nHint: check the horizon and how many individuals are observed up to "
            "it; in cross-validation use fewer folds."
        )
    return float(concordant / comparable)


def _compare_common(
    y: RecurrentEvents, scores: FloatArray, weight: FloatArray, horizon: float
) -> FloatArray:
    """Compare all pairs over their common follow-up."""
    pairs = np.empty(3)
    is_plain = y.window_start.size == len(y) and np.all(y.window_start == y.window_start[0])
    if is_plain and np.all(y.costs == 1.0):
        levels = arrange_levels(y, horizon)
        sweep_levels(
            levels.insert_offsets,
            levels.insert_turn,
            levels.insert_member,
            levels.turn_offsets,
            levels.turn_member,
            levels.n_events,
            _rank(scores)[levels.order],
            weight[levels.order],
            pairs,
        )
        return pairs
    early = y.times <= horizon
    compare_pairs(
        y.times,
        np.where(early, y.costs, 0.0),
        y.event_offsets,
        y.window_start,
        y.window_stop,
        y.window_offsets,
        scores,
        weight,
        pairs,
    )
    return pairs


def _compare_at(
    y: RecurrentEvents, scores: FloatArray, weight: FloatArray, horizon: float
) -> FloatArray:
    """Compare pairs that were observed from the first start to the horizon."""
    first = np.full(len(y), y.window_start.min())
    last = np.full(len(y), min(horizon, y.window_stop.max()))
    known = np.flatnonzero(covers(y, first, last))
    if known.size < 2:
        raise InvalidEventsError(
            f"Two individuals must be observed from {first[0]:g} to {last[0]:g} to be "
            f"compared, but only {known.size} of {len(y)} are.\n\n"
            "Hint: choose an earlier horizon, or recurrent_concordance without weights, "
            "which compares pairs over their common follow-up."
        )
    totals = count_events(y, first, last)
    order = known[np.argsort(totals[known], kind="stable")]
    pairs = np.empty(3)
    sweep_totals(totals[order], _rank(scores)[order], weight[order], pairs)
    return pairs

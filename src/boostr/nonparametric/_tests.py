"""Tests for trends and for differences between groups."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from scipy.special import chdtr, chdtrc, ndtr

from boostr._typing import FloatArray, OffsetArray, PositionArray
from boostr.data import RecurrentEvents, RiskTable, check_target
from boostr.data.events.intervals import refuse_intervals
from boostr.data.target import refuse_exposure
from boostr.exceptions import InvalidEventsError, InvalidParameterError
from boostr.nonparametric._mcf import read_groups

__all__ = ["McfComparison", "TrendTest", "compare_mcf", "laplace_test", "mil_hdbk_189_test"]

Truncation = Literal["auto", "time", "failure"]


@dataclass(frozen=True, slots=True, eq=False)
class TrendTest:
    """Result of a test whether the rate of events changes with time.

    Parameters
    ----------
    statistic : float
        Standard normal (Laplace) or chi-squared (MIL-HDBK-189) if there is no trend.
    df : int or None
        Degrees of freedom of a chi-squared statistic; None for a normal one.
    pvalue : float
        Two-sided probability of a statistic as extreme if there is no trend.
    trend : {"rising", "falling"}
        Which way the rate of events seems to go.
    n_events : int
        Number of events that the test used; where follow-up ended with an event, that
        event is not among them.

    See Also
    --------
    laplace_test : Most power against rates that change in a straight line.
    mil_hdbk_189_test : Most power against power laws.

    Examples
    --------
    >>> from boostr.nonparametric import laplace_test
    >>> from boostr.data import RecurrentEvents
    >>> laplace_test(RecurrentEvents.from_lists([[6.0, 7.0, 8.0]], end=[10.0])).trend
    'rising'
    """

    statistic: float
    df: int | None
    pvalue: float
    trend: str
    n_events: int


def laplace_test(y: RecurrentEvents, *, truncation: Truncation = "auto") -> TrendTest:
    r"""Test for a trend by the mean time of the events.

    Without a trend the events of an individual, given their number, are spread evenly
    over its follow-up. With :math:`t_{ij}` the time that individual ``i`` has been
    observed until its event ``j``, and :math:`\tau_i` in all,

    .. math::

        L = \frac{\sum_i \sum_{j \le n_i} (t_{ij} - \tau_i / 2)}
        {\sqrt{\sum_i n_i \tau_i^2 / 12}}

    is then close to standard normal. It is above zero if events come late.

    Parameters
    ----------
    y : RecurrentEvents
        Event histories. Rates may differ between individuals; costs are not used.
    truncation : {"auto", "time", "failure"}, default="auto"
        What ended the follow-up. "failure": it was stopped at the last event of each
        individual that had any, so that event tells nothing of its own and only sets
        :math:`\tau_i`. "time": all events count. "auto": stopped by an event where the
        last event is at the very end, individual by individual.

    Returns
    -------
    TrendTest
        Statistic, two-sided p-value and direction.

    See Also
    --------
    mil_hdbk_189_test : More power against power laws.

    Notes
    -----
    The null hypothesis is a homogeneous Poisson process for each individual. The test
    also reacts to events that come in clusters, so a small p-value is evidence of a trend
    only where the events of an individual are otherwise independent. Gaps in observation
    are cut out of the time scale.

    References
    ----------
    Cox, D. R. and Lewis, P. A. W. (1966). The Statistical Analysis of Series of Events.
    Methuen.

    Kvaloy, J. T. and Lindqvist, B. H. (1998). TTT-based tests for trend in repairable
    systems data. Reliability Engineering and System Safety 60, 13-28.

    Examples
    --------
    Three events at 6, 7 and 8 of 10 are 6 later than the middle in all, and
    6 / (10 sqrt(3 / 12)) = 1.2.

    >>> from boostr.nonparametric import laplace_test
    >>> from boostr.data import RecurrentEvents
    >>> result = laplace_test(RecurrentEvents.from_lists([[6.0, 7.0, 8.0]], end=[10.0]))
    >>> round(result.statistic, 6), round(result.pvalue, 3)
    (1.2, 0.23)
    """
    times, length = _place_events(y, truncation)
    statistic = float((times - 0.5 * length).sum() / np.sqrt((length**2).sum() / 12.0))
    return TrendTest(
        statistic=statistic,
        df=None,
        pvalue=float(2.0 * ndtr(-abs(statistic))),
        trend="rising" if statistic > 0.0 else "falling",
        n_events=times.size,
    )


def mil_hdbk_189_test(y: RecurrentEvents, *, truncation: Truncation = "auto") -> TrendTest:
    r"""Test for a trend by the logarithms of the event times.

    Without a trend the events of an individual, given their number, are spread evenly
    over its follow-up. With :math:`t_{ij}` the time that individual ``i`` has been
    observed until its event ``j``, and :math:`\tau_i` in all,

    .. math::

        M = 2 \sum_i \sum_{j \le n_i} \ln \frac{\tau_i}{t_{ij}}

    is then exactly chi-squared with :math:`2 \sum_i n_i` degrees of freedom. It is small
    if events come late.

    Parameters
    ----------
    y : RecurrentEvents
        Event histories. Rates may differ between individuals; costs are not used.
    truncation : {"auto", "time", "failure"}, default="auto"
        What ended the follow-up. "failure": it was stopped at the last event of each
        individual that had any, so that event tells nothing of its own and only sets
        :math:`\tau_i`. "time": all events count. "auto": stopped by an event where the
        last event is at the very end, individual by individual.

    Returns
    -------
    TrendTest
        Statistic, degrees of freedom, two-sided p-value and direction.

    See Also
    --------
    laplace_test : More power against rates that change in a straight line.

    Notes
    -----
    The null hypothesis is a homogeneous Poisson process for each individual, and the
    test has the most power against intensities proportional to a power of the time since
    the start of observation; ``df / statistic`` estimates the exponent of the cumulative
    intensity. Gaps in observation are cut out of the time scale.

    References
    ----------
    MIL-HDBK-189 (1981). Reliability Growth Management. U.S. Department of Defense.

    Crow, L. H. (1974). Reliability analysis for complex, repairable systems. In:
    Reliability and Biometry. SIAM, 379-410.

    Kvaloy, J. T. and Lindqvist, B. H. (1998). TTT-based tests for trend in repairable
    systems data. Reliability Engineering and System Safety 60, 13-28.

    Examples
    --------
    Two events at 1 and 5 of 10 give 2 (ln 10 + ln 2) = 5.99.

    >>> from boostr.nonparametric import mil_hdbk_189_test
    >>> from boostr.data import RecurrentEvents
    >>> result = mil_hdbk_189_test(RecurrentEvents.from_lists([[1.0, 5.0]], end=[10.0]))
    >>> round(result.statistic, 2), result.df, round(result.pvalue, 2), result.trend
    (5.99, 4, 0.4, 'falling')
    """
    times, length = _place_events(y, truncation)
    statistic = float(2.0 * np.log(length / times).sum())
    df = 2 * times.size
    below, above = float(chdtr(df, statistic)), float(chdtrc(df, statistic))
    return TrendTest(
        statistic=statistic,
        df=df,
        pvalue=min(1.0, 2.0 * min(below, above)),
        trend="rising" if below < above else "falling",
        n_events=times.size,
    )


def _place_events(y: RecurrentEvents, truncation: str) -> tuple[FloatArray, FloatArray]:
    """Return the time of every counted event and the length of its follow-up.

    Both are measured in time under observation.
    """
    check_target(y)
    refuse_exposure(y, "A test of trend")
    refuse_intervals(y, "A test of trend")
    owner, times = y.event_owner, _observed_time(y)
    length = y.follow_up.copy()
    last = y.event_offsets[1:][y.n_events > 0] - 1
    if truncation == "auto":
        last = last[y.times[last] == y.end[owner[last]]]
    elif truncation == "time":
        last = last[:0]
    elif truncation != "failure":
        raise InvalidParameterError(
            f"`truncation` must be 'auto', 'time' or 'failure', but it is {truncation!r}."
        )
    length[owner[last]] = times[last]
    counts = np.ones(times.size, dtype=bool)
    counts[last] = False
    if not counts.any():
        raise InvalidEventsError(
            "A test for trend needs at least one event that did not end the follow-up, "
            "but there is none."
        )
    return times[counts], length[owner[counts]]


def _observed_time(y: RecurrentEvents) -> FloatArray:
    """Return the time under observation before each event."""
    passed = np.cumsum(y.window_stop - y.window_start)
    window = _find_windows(y)
    first = y.window_offsets[:-1][y.event_owner]
    before = np.append(0.0, passed)[window] - np.append(0.0, passed)[first]
    return np.asarray(before + y.times - y.window_start[window])


def _find_windows(y: RecurrentEvents) -> OffsetArray:
    """Return the window of each event."""
    n_windows = np.diff(y.window_offsets)
    window_owner = np.repeat(np.arange(len(y)), n_windows)
    # Sort starts and events together; at equal times an event belongs to the window that
    # stops there, so it comes before the start of the next one.
    owner = np.concatenate([y.event_owner, window_owner])
    time = np.concatenate([y.times, y.window_start])
    is_start = np.arange(owner.size) >= y.times.size
    order = np.lexsort((is_start, time, owner))
    n_started: OffsetArray = np.cumsum(is_start[order])
    window = np.empty(owner.size, dtype=np.int64)
    window[order] = n_started - 1
    return window[: y.times.size]


Weight = Literal["constant", "at_risk", "linear"]
_NO_SPREAD = 1e-9  # share of the events' own squares below which a variance is rounding


@dataclass(frozen=True, slots=True, eq=False)
class McfComparison:
    """Result of a test whether groups have the same mean cumulative function.

    Parameters
    ----------
    statistic : float
        The quadratic form of the scores; chi-squared if the groups do not differ.
    df : int
        Its degrees of freedom, one less than the number of groups.
    pvalue : float
        Probability of a statistic at least as large if the groups do not differ.
    weight : {"constant", "at_risk", "linear"}
        How much differences at each time counted.
    groups : tuple
        Labels of the groups, sorted.
    n_individuals : ndarray of shape (k,)
        Number of individuals in each group.
    observed : ndarray of shape (k,)
        Weighted number (or cost) of events in each group.
    expected : ndarray of shape (k,)
        What it would be on average if the groups did not differ.
    covariance : ndarray of shape (k, k)
        Robust covariance of ``observed - expected``.

    See Also
    --------
    compare_mcf : Makes this result.

    Examples
    --------
    >>> from boostr.nonparametric import compare_mcf
    >>> from boostr.datasets import load_bladder
    >>> data = load_bladder()
    >>> print(compare_mcf(data.y, data.X["treatment"]))
    Test of equal mean cumulative functions (constant weight)
    group           n  observed  expected
    placebo        47     87.00     77.84
    pyridoxine     31     57.00     50.62
    thiotepa       38     45.00     60.54
    chi-squared = 2.59 on 2 degrees of freedom, p = 0.273
    """

    statistic: float
    df: int
    pvalue: float
    weight: str
    groups: tuple[Any, ...]
    n_individuals: PositionArray  # (k,)
    observed: FloatArray  # (k,)
    expected: FloatArray  # (k,)
    covariance: FloatArray  # (k, k)

    def __str__(self) -> str:
        names = [str(name) for name in self.groups]
        width = max(10, *map(len, names))
        rows = zip(names, self.n_individuals, self.observed, self.expected, strict=True)
        return "\n".join(
            [
                f"Test of equal mean cumulative functions ({self.weight} weight)",
                f"{'group':<{width}} {'n':>6} {'observed':>9} {'expected':>9}",
                *(f"{g:<{width}} {n:>6} {o:>9.2f} {e:>9.2f}" for g, n, o, e in rows),
                f"chi-squared = {self.statistic:.2f} on {self.df} degree"
                f"{'' if self.df == 1 else 's'} of freedom, p = {self.pvalue:.3g}",
            ]
        )


def compare_mcf(
    y: RecurrentEvents, group: Any, *, weight: Weight = "constant"
) -> McfComparison:
    r"""Test whether groups have the same mean cumulative function.

    The pseudo-score test of Cook, Lawless and Nadeau, for any number of groups. With
    :math:`Y_k(t)` individuals of group ``k`` at risk and :math:`d_k(t)` events (or their
    costs), the score of a group is what it had beyond its share of all events,

    .. math::

        U_k = \sum_j a(t_j) \left[ d_k(t_j) -
        \frac{Y_k(t_j)}{Y_\cdot(t_j)} d_\cdot(t_j) \right].

    Its covariance is the sum over individuals of the squares of their own part in it,
    which holds whether or not the events of an individual depend on each other.

    Parameters
    ----------
    y : RecurrentEvents
        Event histories; late entry, gaps and costs are taken into account.
    group : array-like of shape (n,)
        The group of each individual; at least two groups of two individuals each.
    weight : {"constant", "at_risk", "linear"}, default="constant"
        How much a difference at time ``t`` counts, the ``a(t)`` above. "constant" has the
        most power where the functions are proportional; "at_risk", the share of
        individuals still observed, and "linear", which falls to zero at the last event
        time that is compared, look more at early times.

    Returns
    -------
    McfComparison
        Statistic, degrees of freedom and p-value, with observed and expected events.

    Raises
    ------
    InvalidParameterError
        If groups are missing, too few or too small.
    InvalidEventsError
        If the events do not tell anything about a difference.

    See Also
    --------
    mcf_difference : How large the difference of two groups is, over time.
    MeanCumulativeFunction : The estimate for one group.

    Notes
    -----
    The p-value holds for large samples. At a level of 5 percent, two groups of 10
    individuals that do not differ are told apart in about 9 percent of cases, two groups
    of 50 in about 6. With weight "constant" and at most one event per individual, the
    score is that of the log-rank test.

    References
    ----------
    Cook, R. J., Lawless, J. F. and Nadeau, C. (1996). Robust tests for treatment
    comparisons based on recurrent event responses. Biometrics 52, 557-571.

    Cook, R. J. and Lawless, J. F. (2007). The Statistical Analysis of Recurrent Events,
    section 3.7.5. Springer.

    Examples
    --------
    Gamma interferon prevents infections.

    >>> from boostr.nonparametric import compare_mcf
    >>> from boostr.datasets import load_cgd
    >>> data = load_cgd()
    >>> result = compare_mcf(data.y, data.X["treatment"])
    >>> round(result.statistic, 2), result.df, round(result.pvalue, 4)
    (11.42, 1, 0.0007)
    >>> result.groups, result.observed, result.expected.round(1)
    (('placebo', 'rIFN-g'), array([56., 20.]), array([36.8, 39.2]))
    """
    check_target(y)
    refuse_exposure(y, "compare_mcf")
    names, member = read_groups(y, group)
    table = RiskTable.from_events(y, np.ones(len(y)))
    counts = _count_groups(table, member, len(names))
    importance = _weigh(table.times - y.start.min(), counts, weight)
    observed = (importance * counts.jumps).sum(axis=1)
    expected = (importance * counts.share * counts.jumps.sum(axis=0)).sum(axis=1)
    parts, scale = _find_parts(table, member, counts, importance)
    covariance = parts @ parts.T
    statistic = _quadratic_form(observed - expected, covariance, scale)
    df = len(names) - 1
    return McfComparison(
        statistic=statistic,
        df=df,
        pvalue=float(chdtrc(df, statistic)),
        weight=weight,
        groups=tuple(names.tolist()),
        n_individuals=np.bincount(member),
        observed=observed,
        expected=expected,
        covariance=covariance,
    )


@dataclass(frozen=True, slots=True, eq=False)
class _GroupCounts:
    """Individuals at risk and events of each group at each event time."""

    at_risk: FloatArray  # (k, m)
    jumps: FloatArray  # (k, m)

    @property
    def share(self) -> FloatArray:
        """Share of each group in those at risk, of shape (k, m)."""
        return np.asarray(self.at_risk / self.at_risk.sum(axis=0))

    @property
    def mean_jumps(self) -> FloatArray:
        """Events per individual at risk, of shape (k, m); 0 where nobody is."""
        means = np.zeros_like(self.jumps)
        np.divide(self.jumps, self.at_risk, out=means, where=self.at_risk > 0.0)
        return means


def _count_groups(table: RiskTable, member: PositionArray, n_groups: int) -> _GroupCounts:
    parts = [
        replace(table, weight=(member == k).astype(np.float64)) for k in range(n_groups)
    ]
    return _GroupCounts(
        at_risk=np.stack([part.at_risk() for part in parts]),
        jumps=np.stack([part.totals(part.cost) for part in parts]),
    )


def _weigh(times: FloatArray, counts: _GroupCounts, weight: str) -> FloatArray:
    """Return the weight of each event time since the first start."""
    if weight == "constant":
        return np.ones(times.size)
    if weight == "at_risk":
        total = counts.at_risk.sum(axis=0)
        return np.asarray(total / total.max(initial=1.0))
    if weight == "linear":
        is_compared = np.count_nonzero(counts.at_risk, axis=0) > 1
        last = times[is_compared].max(initial=np.finfo(float).tiny)
        return np.asarray(np.where(is_compared, 1.0 - times / last, 0.0))
    raise InvalidParameterError(
        f"`weight` must be 'constant', 'at_risk' or 'linear', but it is {weight!r}."
    )


def _find_parts(
    table: RiskTable, member: PositionArray, counts: _GroupCounts, importance: FloatArray
) -> tuple[FloatArray, float]:
    """Return each individual's contribution to each group's score, (k, n).

    For one in group ``g`` at risk: ``a (1[g = k] - share_k) (d_i - d_g / Y_g)`` per event
    time. Also returns the sum of the events' squared terms, the scale of a variance.
    """
    share, mean_jumps = counts.share, counts.mean_jumps
    n, scale = member.size, 0.0
    parts = np.empty((len(share), n))
    in_event = member[table.event_owner]
    in_window = member[table.window_owner]
    for k in range(len(share)):
        factor = importance * (np.eye(len(share))[:, [k]] - share[k])  # (g, m)
        rise = factor[in_event, table.event_index] * table.cost
        fall = np.zeros((len(share), table.times.size + 1))
        np.cumsum(factor * mean_jumps, axis=1, out=fall[:, 1:])
        lost = fall[in_window, table.leave] - fall[in_window, table.enter]
        parts[k] = np.bincount(table.event_owner, rise, n)
        parts[k] -= np.bincount(table.window_owner, lost, n)
        scale += float(rise @ rise)
    return parts, scale


def _quadratic_form(score: FloatArray, covariance: FloatArray, scale: float) -> float:
    """Return ``score' covariance^-1 score`` without the last group, which is redundant."""
    reduced = covariance[:-1, :-1]
    if np.linalg.eigvalsh(reduced)[0] <= _NO_SPREAD * scale:
        raise InvalidEventsError(
            "The groups cannot be compared: some of them have no events while others are "
            "observed, or no differences between their individuals.\n\n"
            "Hint: merge small groups, or compare fewer of them."
        )
    return float(score[:-1] @ np.linalg.solve(reduced, score[:-1]))

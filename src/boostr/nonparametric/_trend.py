"""Tests whether events become more or less frequent with time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy.special import chdtr, chdtrc, ndtr

from boostr._typing import FloatArray, OffsetArray
from boostr.data import RecurrentEvents, check_target
from boostr.data.target import refuse_exposure
from boostr.exceptions import InvalidEventsError, InvalidParameterError

__all__ = ["TrendTest", "laplace_test", "mil_hdbk_189_test"]

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

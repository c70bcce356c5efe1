"""The recent rate of events, and how a falling rate goes on."""

from __future__ import annotations

from collections.abc import Iterator
from operator import attrgetter
from typing import NamedTuple

import numpy as np

from boostr._typing import FloatArray

__all__ = [
    "RECENT_EVENTS",
    "ROUNDING",
    "TREND_FROM",
    "end_exponent",
    "find_recent",
    "fit_fall",
    "follow_trend",
    "pool_recent",
]

_RECENT_SHARE = 0.1  # of the time axis, at whose end the recent rate is read
RECENT_EVENTS = 30  # that tell a rate
TREND_FROM = 0.2  # share of the time axis before which rates do not tell it
_CLEAR = 2.0  # standard errors by which a rate must fall to be taken as falling
_SLOWED = 3.0  # standard errors by which a fall must have slowed down
_CHANGES = (0.4, 0.5, 0.6, 0.7, 0.8)  # shares of the time axis after which a fall may slow
_STEEPEST = -3.0  # exponent of a falling rate
_STEEPEST_AHEAD = -0.9  # the same after the end; at -1 the count would hardly go on
ROUNDING = 1e-9  # of times


def find_recent(times: FloatArray, weights: FloatArray, start: float, end: float) -> float:
    """Return since when events tell the recent rate.

    That is in the last tenth of the time axis, or since so many events as tell a rate.
    """
    since = end - _RECENT_SHARE * (end - start)
    if weights[times > since].sum() >= RECENT_EVENTS:
        return since
    at, place = np.unique(times, return_inverse=True)
    numbers = np.append(0.0, np.cumsum(np.bincount(place, weights)))
    enough = np.flatnonzero(numbers[-1] - numbers[1:] >= RECENT_EVENTS)
    return float(at[enough[-1]]) if enough.size else start


def pool_recent(
    edges: FloatArray, counts: FloatArray, costs: FloatArray, exposure: FloatArray
) -> float:
    """Return the recent rate, from as much time before the end as rates are alike.

    Between the edges there were ``counts`` of events, with ``costs``, in time under
    observation ``exposure``. The last tenth counts, or as much as has enough events; then
    as much time again, as long as its rate does not differ clearly from that so far.
    """
    span, before = edges[-1] - edges[0], edges[-1] - edges[:-1]
    n_late = np.cumsum(counts[::-1])[::-1]
    is_first = before <= _RECENT_SHARE * span * (1.0 + ROUNDING)
    is_first[-1] = True  # also where the last cell is longer
    enough = np.flatnonzero(n_late >= RECENT_EVENTS)
    first = min(int(np.argmax(is_first)), int(enough[-1]) if enough.size else 0)
    slack = 10.0 * ROUNDING * span  # more than that of edges just after knots
    while first > 0:
        far = edges[-1] - 2.0 * (edges[-1] - edges[first]) - slack
        cells = slice(min(int(np.searchsorted(edges[:first], far)), first - 1), first)
        n, x = counts[first:].sum(), exposure[first:].sum()
        if x > 0.0:
            expected = exposure[cells].sum() * n / x
            spread = np.sqrt(expected * (1.0 + exposure[cells].sum() / x))
            if abs(counts[cells].sum() - expected) > _CLEAR * spread:
                break
        first = cells.start
    return float(costs[first:].sum() / exposure[first:].sum())


def follow_trend(edges: FloatArray, slope: float) -> FloatArray:
    """Return a power of the times in the middle between edges, which is 1 at the end."""
    middle = 0.5 * (edges[1:] + edges[:-1])
    return np.asarray((middle / edges[-1]) ** slope)


def fit_fall(edges: FloatArray, rates: FloatArray, counts: FloatArray) -> float:
    """Return the exponent with which a clearly falling rate ends, 0 of others.

    ``edges`` are times from the origin, between which there were ``counts`` of events at
    ``rates``. The rate falls as a power of time, exponentially, exponentially until it
    slows down, or at once; the last two must fit clearly better. The exponent is that of a
    power which falls as fast at the end, less steep by a standard error. A rise is not
    taken as a trend: it would go on for ever.
    """
    passed = 0.5 * (edges[1:] + edges[:-1]) / edges[-1]
    some = (counts > 0.0) & (rates > 0.0) & (passed > TREND_FROM)
    if some.sum() < 3:
        return 0.0
    passed, log_rates, counts = passed[some], np.log(rates[some]), counts[some]
    one, end = np.ones(len(passed)), np.array([0.0, 1.0])
    trends = [
        _fit_trend(np.column_stack([one, times]), log_rates, counts, end)
        for times in (np.log(passed), passed)
    ]
    best = min(trends, key=attrgetter("rest"))
    changes = [
        _fit_trend(design, log_rates, counts, gradient)
        for design, gradient in _list_changes(passed)
    ]
    slower = [change for change in changes if change.last >= 0.0 or not change.slope]
    if slower:
        changed = min(slower, key=attrgetter("rest"))
        if best.rest - changed.rest > _SLOWED**2 * changed.spread:
            best = changed
    is_clear = best.slope < -_CLEAR * best.error
    return max(best.slope + best.error, _STEEPEST) if is_clear else 0.0


class _Trend(NamedTuple):
    """Logarithms of rates as a function of time."""

    slope: float  # at the end
    error: float
    last: float  # coefficient
    rest: float  # squared residuals
    spread: float  # of them, 1 for Poisson counts


def _fit_trend(
    design: FloatArray, log_rates: FloatArray, counts: FloatArray, gradient: FloatArray
) -> _Trend:
    """Fit a trend whose slope at the end is the gradient times its coefficients."""
    information = design.T @ (counts[:, None] * design)
    covariance = np.linalg.pinv(information, hermitian=True)  # one count may be all
    found = covariance @ (design.T @ (counts * log_rates))
    rest = float(counts @ (log_rates - design @ found) ** 2)
    spread = max(rest / (len(design) - len(found)), 1.0)
    error = float(np.sqrt(spread * (gradient @ covariance @ gradient)))
    return _Trend(float(gradient @ found), error, float(found[-1]), rest, spread)


def _list_changes(passed: FloatArray) -> Iterator[tuple[FloatArray, FloatArray]]:
    """Yield kinks and steps of trends, with what makes slopes at the end of them."""
    one, n = np.ones(len(passed)), len(passed)
    for share in _CHANGES:
        late = np.maximum(passed - share, 0.0)
        if n > 4 and 2 <= np.count_nonzero(late) <= n - 2:
            yield np.column_stack([one, passed, late]), np.array([0.0, 1.0, 1.0])
            yield np.column_stack([one, late > 0.0]), np.zeros(2)


def end_exponent(fall: float) -> float:
    """Return the exponent of a clock after its end, given that of a falling rate."""
    return 1.0 + max(fall, _STEEPEST_AHEAD)

"""Intervals of counts, and frailties as they were known over time."""

from __future__ import annotations

import math

import numpy as np

from boostr._kernels._jit import allocating_kernel, inner_kernel, kernel
from boostr._typing import FloatArray, OffsetArray

__all__ = ["follow_frailties"]


@kernel
def follow_frailties(
    start: FloatArray,
    stop: FloatArray,
    offsets: OffsetArray,
    expected: FloatArray,
    times: FloatArray,
    weights: FloatArray,
    event_offsets: OffsetArray,
    entry: FloatArray,
    variance: float,
    fading: float,
    least_prior: float,
    means: FloatArray,
) -> None:
    """Write the mean of the frailty in the middle of every piece, given all before it.

    Parameters
    ----------
    start, stop, expected : (k,) float64
        Pieces in the order of time, individual after individual, and expected events.
    offsets : (n + 1,) int64
        Where the pieces of every individual begin.
    times, weights : (m,) float64
        Events, which lie at borders of pieces.
    event_offsets : (n + 1,) int64
        Where the events of every individual begin.
    entry : (n,) float64
        When individuals entered, with the prior.
    variance, fading : float
        Variance of frailties, and the rate at which knowledge fades.
    least_prior : float
        What is left of the prior at least.
    means : (k,) float64
        Overwritten. Of what is expected in a piece half is before its middle.
    """
    for individual in range(len(entry)):
        event, last = event_offsets[individual], event_offsets[individual + 1]
        now = entry[individual]
        n_seen = n_expected = 0.0
        for piece in range(offsets[individual], offsets[individual + 1]):
            middle = 0.5 * (start[piece] + stop[piece])
            kept = math.exp(-fading * (middle - now))
            n_seen, n_expected, now = kept * n_seen, kept * n_expected, middle
            while event < last and times[event] <= start[piece]:
                n_seen += math.exp(-fading * (middle - times[event])) * weights[event]
                event += 1
            prior = max(math.exp(-fading * (middle - entry[individual])), least_prior)
            known = prior + variance * n_seen
            half = 0.5 * expected[piece]
            means[piece] = known / (prior + variance * (n_expected + half))
            n_expected += expected[piece]


_LEAST_PROBABILITY = 1e-20  # below it a count cannot be: sums do not notice it
_LEFT_OUT = 1e-3  # of the chance outside of an interval that no value is looked at for
_LEAST_DISPERSION = 1e-9  # below it a count is Poisson: log gamma would lose its digits


@kernel
def grow_intervals(
    mean: FloatArray,
    dispersion: FloatArray,
    level: float,
    lower: FloatArray,
    upper: FloatArray,
) -> None:
    """Grow each interval from its mode by the more probable neighbour.

    Parameters
    ----------
    mean : (n,) float64
        Means of negative binomial counts, not negative.
    dispersion : (n,) float64
        What the variance has over that of a Poisson count, over the squared mean; 0 is
        Poisson.
    level : float
        A value enters as long as what has entered before, and half of its own
        probability, are no more than this: the probability of the interval is then as
        near to the level as the counts allow. The mode always enters. A level of 1
        has no bounds.
    lower, upper : (n,) float64
        Overwritten with the smallest and the largest value of each interval.
    """
    if level >= 1.0:  # whatever happens is in it
        lower[:] = 0.0
        upper[:] = math.inf
        return
    for row in range(mean.shape[0]):
        low = _find_mode(mean[row], dispersion[row])
        high = low
        at_low = _probability(low, mean[row], dispersion[row])
        at_high = at_low
        covered = at_low
        while True:
            below = _step_down(at_low, low, mean[row], dispersion[row])
            above = _step_up(at_high, high, mean[row], dispersion[row])
            more = max(below, above)
            if _enter(covered, more) > level or more < _LEAST_PROBABILITY:
                break
            if below >= above:
                low, at_low = low - 1.0, below
                covered += below
            else:
                high, at_high = high + 1.0, above
                covered += above
        lower[row] = low
        upper[row] = high


@kernel
def score_counts(
    mean: FloatArray, dispersion: FloatArray, counts: FloatArray, out: FloatArray
) -> None:
    """Tell for which levels the intervals of `grow_intervals` hold given counts.

    Parameters
    ----------
    mean, dispersion : (n,) float64
        As in `grow_intervals`.
    counts : (n,) float64
        Whole numbers.
    out : (n,) float64
        Overwritten with the lowest level whose interval holds the count: the probability
        of all values that enter before it, and half of its own.
    """
    for row in range(mean.shape[0]):
        low = _find_mode(mean[row], dispersion[row])
        high = low
        at_low = _probability(low, mean[row], dispersion[row])
        at_high = at_low
        covered = at_low
        found = _enter(0.0, at_low)
        while not low <= counts[row] <= high:
            below = _step_down(at_low, low, mean[row], dispersion[row])
            above = _step_up(at_high, high, mean[row], dispersion[row])
            if max(below, above) < _LEAST_PROBABILITY:
                found = 1.0
                break
            found = _enter(covered, max(below, above))
            if below >= above:
                low, at_low = low - 1.0, below
                covered += below
            else:
                high, at_high = high + 1.0, above
                covered += above
        out[row] = found


@inner_kernel
def _enter(covered: float, probability: float) -> float:
    """Return the lowest level at which a count enters.

    Both kernels ask here, so that they round alike: the interval of a count's own score
    holds the count.
    """
    return min(covered + 0.5 * probability, 1.0)


@inner_kernel
def _find_mode(mean: float, dispersion: float) -> float:
    return float(math.floor(max(mean * (1.0 - dispersion), 0.0)))


@inner_kernel
def _probability(count: float, mean: float, dispersion: float) -> float:
    """Return the probability of a count."""
    if mean <= 0.0:
        return 1.0 if count == 0.0 else 0.0
    if dispersion < _LEAST_DISPERSION:
        return math.exp(count * math.log(mean) - mean - math.lgamma(count + 1.0))
    shape = 1.0 / dispersion
    log_ways = math.lgamma(count + shape) - math.lgamma(shape) - math.lgamma(count + 1.0)
    spread = mean * dispersion
    log_share = math.log(spread) - math.log1p(spread)
    return math.exp(log_ways + count * log_share - shape * math.log1p(spread))


@inner_kernel
def _step_up(at: float, count: float, mean: float, dispersion: float) -> float:
    """Return the probability of the next count from that of this one."""
    ratio = (count * dispersion + 1.0) / (count + 1.0) * mean / (1.0 + mean * dispersion)
    return at * ratio


@inner_kernel
def _step_down(at: float, count: float, mean: float, dispersion: float) -> float:
    """Return the probability of the count before from that of this one."""
    if count <= 0.0:
        return 0.0
    before = count - 1.0
    ratio = (before * dispersion + 1.0) / count * mean / (1.0 + mean * dispersion)
    return at / ratio if ratio > 0.0 else 0.0


@allocating_kernel
def mix_counts(
    mean: FloatArray,
    dispersion: FloatArray,
    shares: FloatArray,
    weights: FloatArray,
    level: float,
    lower: FloatArray,
    upper: FloatArray,
) -> None:
    """Grow the intervals of mixtures of negative binomial counts.

    Parameters
    ----------
    mean, dispersion : (n,) float64
        As in `grow_intervals`; means must be small enough for a chance of zero.
    shares, weights : (n, n_parts) float64
        Each part of a mixture has a share of the mean, and a weight; weights sum to 1.
    level : float
        As in `grow_intervals`.
    lower, upper : (n,) float64
        Overwritten with the smallest and the largest value of each interval.
    """
    if level >= 1.0:
        lower[:] = 0.0
        upper[:] = math.inf
        return
    n_parts = shares.shape[1]
    parts = np.empty(n_parts)
    for row in range(mean.shape[0]):
        chances = [0.0]
        chances.pop()
        total, count = 0.0, 0.0
        for part in range(n_parts):
            parts[part] = _probability(0.0, shares[row, part] * mean[row], dispersion[row])
        # Beyond the level, so that every value that may enter is there.
        while True:
            chance = 0.0
            for part in range(n_parts):
                chance += weights[row, part] * parts[part]
                own = shares[row, part] * mean[row]
                parts[part] = _step_up(parts[part], count, own, dispersion[row])
            chances.append(chance)
            total += chance
            count += 1.0
            is_past = count > mean[row] and chance < _LEAST_PROBABILITY
            if is_past or 1.0 - total < _LEFT_OUT * (1.0 - level):
                break
        lower[row], upper[row] = _grow(chances, level)


@allocating_kernel
def _grow(chances: list[float], level: float) -> tuple[float, float]:
    """Return the interval that grows from the most probable value."""
    low = 0
    for place in range(len(chances)):
        if chances[place] > chances[low]:
            low = place
    high, covered = low, chances[low]
    while True:
        below = chances[low - 1] if low > 0 else 0.0
        above = chances[high + 1] if high + 1 < len(chances) else 0.0
        more = max(below, above)
        if _enter(covered, more) > level or more < _LEAST_PROBABILITY:
            return float(low), float(high)
        covered += more
        if below >= above:
            low -= 1
        else:
            high += 1

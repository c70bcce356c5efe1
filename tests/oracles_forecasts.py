"""Obvious versions of what forecasts compute; must not import boostr._kernels."""

import math

import numpy as np
from scipy import stats


def count_probabilities(mean, dispersion, n):
    """Return the probabilities of 0, 1, ..., n - 1 events."""
    counts = np.arange(n)
    if dispersion == 0.0:
        return stats.poisson.pmf(counts, mean)
    shape = 1.0 / dispersion
    return stats.nbinom.pmf(counts, shape, shape / (shape + mean))


def growing_order(probabilities):
    """Return counts in the order in which an interval takes them up."""
    low = high = int(np.argmax(probabilities))
    order = [low]
    while low > 0 or high < len(probabilities) - 1:
        below = probabilities[low - 1] if low > 0 else -1.0
        above = probabilities[high + 1] if high < len(probabilities) - 1 else -1.0
        if below >= above:
            low -= 1
            order.append(low)
        else:
            high += 1
            order.append(high)
    return order


def count_scores(mean, dispersion, n=400):
    """Return by count the probability of those that enter before it and half its own."""
    probabilities = count_probabilities(mean, dispersion, n)
    scores = np.empty(n)
    covered = 0.0
    for count in growing_order(probabilities):
        scores[count] = covered + 0.5 * probabilities[count]
        covered += probabilities[count]
    return scores


def faded_frailty(events, expected, variance, fading, now, entry=None):
    """Return mean and relative variance of a frailty from lists of (time, amount).

    The prior fades from the entry on; without one it stays.
    """
    keep = lambda time: math.exp(-fading * (now - time))  # noqa: E731
    prior = (1.0 if entry is None else keep(entry)) / variance
    shape = prior + sum(amount * keep(time) for time, amount in events)
    rate = prior + sum(amount * keep(time) for time, amount in expected)
    return shape / rate, 1.0 / shape


def log_probability(n, mean, dispersion):
    """Return the log-probability of a count, but for the factor ``1 / n!``."""
    if dispersion == 0.0:
        return stats.poisson.logpmf(n, mean) + math.lgamma(n + 1.0)
    shape = 1.0 / dispersion
    return stats.nbinom.logpmf(n, shape, shape / (shape + mean)) + math.lgamma(n + 1.0)


def marginal_log_likelihood(n, expected, variance):
    """Return the log-probability of a count, over what no frailty changes."""
    return log_probability(n, expected, variance) - n * math.log(expected)


def stepwise_log_likelihood(times, expected, cell, variance, fading, least_prior):
    """Return the same for one history from time 0 on, cell after cell.

    ``expected`` are (middle, amount) of all cells. Every count is negative binomial, given
    the frailty that all cells before it tell in its middle.
    """
    total = 0.0
    for place, (middle, amount) in enumerate(expected):
        keep = lambda time, middle=middle: math.exp(-fading * (middle - time))  # noqa: E731
        prior = max(keep(0.0), least_prior) / variance
        before = [time for time in times if time <= place * cell]
        shape = prior + sum(keep(time) for time in before)
        mean = shape / (prior + sum(keep(m) * a for m, a in expected[:place]))
        n = sum(place * cell < time <= (place + 1) * cell for time in times)
        total += log_probability(n, amount * mean, 1.0 / shape) - n * math.log(amount)
    return total


def mixture_interval(mean, dispersion, shares, weights, level):
    """Return the interval of a mixture of counts, grown from its most probable value."""
    shape = 1.0 / dispersion
    values = np.arange(int(40 + 20 * mean * (1 + dispersion)))
    chances = sum(
        weight * stats.nbinom.pmf(values, shape, shape / (shape + max(share * mean, 1e-12)))
        for share, weight in zip(shares, weights, strict=True)
    )
    low = high = int(np.argmax(chances))
    covered = chances[low]
    while True:
        below = chances[low - 1] if low else 0.0
        above = chances[high + 1] if high + 1 < len(values) else 0.0
        if min(covered + 0.5 * max(below, above), 1.0) > level:
            return low, high
        covered += max(below, above)
        if below >= above:
            low -= 1
        else:
            high += 1

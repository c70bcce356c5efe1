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


def faded_frailty(events, expected, variance, fading, now, entry):
    """Return mean and relative variance of a frailty from lists of (time, amount)."""
    keep = lambda time: math.exp(-fading * (now - time))  # noqa: E731
    prior = keep(entry) / variance
    shape = prior + sum(amount * keep(time) for time, amount in events)
    rate = prior + sum(amount * keep(time) for time, amount in expected)
    return shape / rate, 1.0 / shape


def marginal_log_likelihood(n, expected, variance):
    """Return the log of the negative binomial probability, up to its constant."""
    shape = 1.0 / variance
    return stats.nbinom.logpmf(n, shape, shape / (shape + expected)) - (
        n * math.log(expected) - math.lgamma(n + 1.0)
    )

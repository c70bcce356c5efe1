"""Obvious versions of what the operational clock is made from."""

import numpy as np


def observed(windows, time):
    """Tell whether a time lies in one of the windows (start, stop]."""
    return any(start < time <= stop for start, stop in windows)


def weighted_mean(people, n_rounds):
    """Return event times, the weighted mean cumulative function and the frailties.

    ``people`` are tuples of windows, events as (time, cost), and a weight.
    """
    times = sorted({time for _, events, _ in people for time, _ in events})
    frailty = [1.0] * len(people)
    seen = [sum(cost for _, cost in events) for _, events, _ in people]
    weights = [weight for _, _, weight in people]
    costs = [(w, cost) for _, events, w in people for _, cost in events]
    unit = sum(w * cost**2 for w, cost in costs) / sum(w * cost for w, cost in costs)
    for done in range(n_rounds + 1):
        rises = []
        for time in times:
            happened = sum(
                w * c for _, events, w in people for when, c in events if when == time
            )
            at_risk = sum(
                w * u
                for (windows, _, w), u in zip(people, frailty, strict=True)
                if observed(windows, time)
            )
            rises.append(happened / at_risk)
        expected = [
            sum(
                rise
                for time, rise in zip(times, rises, strict=True)
                if observed(windows, time)
            )
            for windows, _, _ in people
        ]
        if done < n_rounds:
            triples = list(zip(weights, seen, expected, strict=True))
            excess = sum(w * ((n - m) ** 2 - unit * m) for w, n, m in triples)
            variance = max(excess / sum(w * m**2 for w, _, m in triples), 0.0) / unit
            frailty = [(1 + variance * n) / (1 + variance * m) for _, n, m in triples]
    level = np.dot(weights, seen) / np.dot(weights, expected)
    return times, level * np.cumsum(rises)

"""The mean cumulative function by its definition, one individual and time at a time."""

import numpy as np


def is_at_risk(windows, time):
    return any(start < time <= stop for start, stop in windows)


def mean_cumulative_function(windows, events, costs, weights):
    """Give times, at risk, estimate and robust variance; every argument is a list."""
    times = sorted({time for own in events for time in own})
    residuals = np.zeros(len(windows))
    rows, estimate = [], 0.0
    for time in times:
        at_risk = [is_at_risk(own, time) for own in windows]
        cost = [
            sum(c for t, c in zip(own, own_costs, strict=True) if t == time)
            for own, own_costs in zip(events, costs, strict=True)
        ]
        n_at_risk = np.dot(weights, at_risk)
        mean_cost = np.dot(weights, cost) / n_at_risk
        estimate += mean_cost
        for i, own_cost in enumerate(cost):
            residuals[i] += at_risk[i] * (own_cost - mean_cost) / n_at_risk
        rows.append((time, n_at_risk, estimate, np.dot(weights, residuals**2)))
    return tuple(np.array(rows).reshape(-1, 4).T)

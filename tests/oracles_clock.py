"""Obvious versions of what the operational clock is made from."""

import numpy as np


def expected_events(clock, events, edges):
    """Return how many events the clock expects of all individuals between edges."""
    starts, stops = events.window_start[:, None], events.window_stop[:, None]
    observed = np.clip(edges, starts, stops)  # the edges, moved into every window
    return np.diff(clock.read(observed), axis=1).sum(axis=0)


def rate_between(events, since, until):
    """Return events over the time under observation, between two times."""
    windows = zip(events.window_start, events.window_stop, strict=True)
    exposure = sum(
        max(min(stop, until) - max(start, since), 0.0) for start, stop in windows
    )
    return np.sum((events.times > since) & (events.times <= until)) / exposure


def nelson_aalen(events):
    """Return event times and the mean cumulative function after them."""
    times = np.unique(events.times)
    rises = [
        np.sum(events.times == time)
        / np.sum((events.window_start < time) & (time <= events.window_stop))
        for time in times
    ]
    return times, np.cumsum(rises)


def falling_rate(shares, rates, counts):
    """Return the exponent at the end of a falling rate, by fits of all its courses.

    A kink, at which the fall slows down, or a step after a share of the time must explain
    nine times the variance that it leaves.
    """
    plain = [log_line(own, rates, counts) for own in ([np.log(shares)], [shares])]
    best = min(plain, key=lambda fit: fit[2])
    n_after = {share: np.sum(shares > share) for share in (0.4, 0.5, 0.6, 0.7, 0.8)}
    changes = [share for share, n in n_after.items() if 2 <= n <= len(shares) - 2]
    kinks = [[shares, np.maximum(shares - share, 0.0)] for share in changes]
    slower = [log_line(own, rates, counts) for own in kinks]
    slower = [fit for fit in slower if fit[0][1] >= 0.0]
    steps = [log_line([shares > share], rates, counts) for share in changes]
    changed = min(slower + steps, key=lambda fit: fit[2])
    if best[2] - changed[2] > 9.0 * changed[3]:
        best = changed
        if len(changed[0]) == 1:
            return 0.0
    slope, error = best[0].sum(), np.sqrt(best[1].sum())
    return max(slope + error, -3.0) if slope < -2.0 * error else 0.0


def log_line(columns, rates, counts):
    """Return slopes of log rates, their covariance, squared residuals, and their scatter.

    The variance of a log rate is one over its count, or more where rates scatter more.
    """
    root = np.sqrt(counts)[:, None]
    design = root * np.column_stack([*columns, np.ones(len(rates))])
    found, *_ = np.linalg.lstsq(design, root[:, 0] * np.log(rates))
    squares = np.sum((root[:, 0] * np.log(rates) - design @ found) ** 2)
    scatter = max(squares / (len(rates) - len(found)), 1.0)
    covariance = scatter * np.linalg.inv(design.T @ design)
    return found[:-1], covariance[:-1, :-1], squares, scatter

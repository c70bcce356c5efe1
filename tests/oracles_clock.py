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


def log_log_line(times, rates, counts):
    """Return the slope of log rates over log times, and its standard error.

    The variance of a log rate is one over its count, or more where rates scatter more.
    """
    design = np.column_stack([np.log(times), np.ones(len(times))])
    information = design.T @ (counts[:, None] * design)
    slope, level = np.linalg.solve(information, design.T @ (counts * np.log(rates)))
    rest = np.log(rates) - slope * np.log(times) - level
    scatter = max(counts @ rest**2 / (len(times) - 2), 1.0)
    return slope, np.sqrt(scatter * np.linalg.inv(information)[0, 0])

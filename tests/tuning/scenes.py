"""Histories with late entry, gaps, ties and costs."""

import numpy as np

from boostr import RecurrentEvents


def gappy(rng, n=30):
    """Two windows each, the second after a gap; some events tied, some at a border."""
    first = rng.uniform(0.0, 30.0, n)
    edges = first[:, None] + np.cumsum(rng.uniform(5.0, 30.0, (n, 3)), axis=1)
    start = np.column_stack([first, edges[:, 1]])
    stop = edges[:, [0, 2]]
    events = []
    for i in range(n):
        pieces = [rng.uniform(start[i, w], stop[i, w], rng.integers(0, 4)) for w in (0, 1)]
        times = np.sort(np.concatenate([*pieces, stop[i, :1]]))
        events.append(np.repeat(times, rng.integers(1, 3, times.size)))
    counts = [times.size for times in events]
    flat = np.concatenate(events)
    return RecurrentEvents(
        times=flat,
        event_offsets=np.concatenate([[0], np.cumsum(counts)]).astype(np.int64),
        costs=rng.uniform(1.0, 3.0, flat.size),
        has_costs=True,
        window_start=start.ravel(),
        window_stop=stop.ravel(),
        window_offsets=np.arange(0, 2 * n + 1, 2, dtype=np.int64),
        ids=np.array([f"W{i}" for i in range(n)]),
        has_ids=True,
    )


def describe(y, rows=None):
    """Events with costs and windows of every individual, by position among all."""
    rows = range(len(y)) if rows is None else rows
    found = {}
    for row, one in zip(rows, y, strict=True):
        windows = list(zip(one.window_start, one.window_stop, strict=True))
        found[int(row)] = (list(zip(one.times, one.costs, strict=True)), windows)
    return found


def join(before, after):
    """Put the parts of histories together; windows that touch become one."""
    whole = {}
    for row in sorted({*before, *after}):
        events, windows = [], []
        for part in (before, after):
            more_events, more_windows = part.get(row, ([], []))
            events += more_events
            if windows and more_windows and windows[-1][1] == more_windows[0][0]:
                windows[-1] = (windows[-1][0], more_windows[0][1])
                more_windows = more_windows[1:]
            windows += more_windows
        whole[row] = (events, windows)
    return whole

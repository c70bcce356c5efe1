"""Histories with gaps in which nobody is observed."""

import numpy as np
import pandas as pd

from boostr import RecurrentEvents


def observe_in(windows, times):
    """Return histories of all with the same windows, and those of their events in them."""
    rows = []
    for owner, own in enumerate(times):
        for start, stop in windows:
            inside = own[(own > start) & (own <= stop)]
            begins, ends = np.append(start, inside), np.append(inside, stop)
            is_event = np.append(np.ones(len(inside)), 0)
            rows += [[owner, *row] for row in zip(begins, ends, is_event, strict=True)]
    table = pd.DataFrame(rows, columns=["id", "start", "stop", "event"])
    return RecurrentEvents.from_start_stop(table, "id", "start", "stop", "event")

"""Bands around cumulative curves."""

from __future__ import annotations

import numpy as np
import scipy  # its parts load when they are used, which keeps `import boostr` light

from boostr._forecasting.frailty import Histories, sum_by_owner
from boostr._typing import FloatArray
from boostr.data import RecurrentEvents
from boostr.estimators._forecast_results import CurveBand
from boostr.estimators._frailty import relative_variance
from boostr.estimators._outlook import Outlook, Present

__all__ = ["make_band"]


def make_band(
    outlook: Outlook, present: Present, times: FloatArray, level: float, of: str
) -> CurveBand:
    """Return expected numbers and their bands at each time."""
    histories = outlook.histories()
    columns = [_band_at(outlook, present, histories, time, level, of) for time in times]
    expected, lower, upper = (
        np.stack(parts, axis=1) for parts in zip(*columns, strict=True)
    )
    order = np.argsort(times, kind="stable")
    for bound in (lower, upper):  # numbers of events so far do not fall
        bound[:, order] = np.maximum.accumulate(bound[:, order], axis=1)
    return CurveBand(times, expected, lower, upper, level)


def _band_at(
    outlook: Outlook,
    present: Present,
    histories: Histories,
    time: float,
    level: float,
    of: str,
) -> tuple[FloatArray, FloatArray, FloatArray]:
    stop = np.maximum(outlook.now, time)
    so_far = _cost_so_far(present, time)
    frailties = outlook.frailties(stop, histories=histories)
    ahead = outlook.expect(stop)
    expected = so_far + ahead * frailties.mean
    if of == "mean":
        by_fold = outlook.expect_by_fold(stop)
        error = np.sqrt(np.log1p(relative_variance(outlook.curves, by_fold)))
        error *= scipy.special.ndtri(0.5 + 0.5 * level)
        moves = ahead * frailties.mean
        return expected, so_far + moves * np.exp(-error), so_far + moves * np.exp(error)
    counts = outlook.count(ahead, frailties, stop)
    lower, upper = outlook.costs.interval(counts, level)
    return expected, so_far + lower, so_far + upper


def _cost_so_far(present: Present, time: float) -> FloatArray:
    """Return the events or costs counted up to a time, at most up to now."""
    events: RecurrentEvents = present.events
    is_past = events.times <= time
    owner = present.rows[events.event_owner[is_past]]
    return sum_by_owner(owner, events.costs[is_past], len(present))

"""Event histories on the grid of event times: who is at risk, and what happens."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from boostr._typing import FloatArray, OffsetArray
from boostr.data._events import RecurrentEvents

__all__ = ["RiskTable"]


@dataclass(frozen=True, slots=True, eq=False)
class RiskTable:
    """Event histories on the grid of distinct event times.

    A window contains the event times ``enter <= j < leave``; an event happens at event
    time ``event_index``.
    """

    times: FloatArray  # (m,)
    weight: FloatArray  # (n,)
    event_index: OffsetArray  # (E,)
    event_owner: OffsetArray  # (E,)
    cost: FloatArray  # (E,)
    enter: OffsetArray  # (W,)
    leave: OffsetArray  # (W,)
    window_owner: OffsetArray  # (W,)

    @classmethod
    def from_events(cls, events: RecurrentEvents, weight: FloatArray) -> RiskTable:
        """Place windows and events on the grid of event times; leave out weight 0."""
        counted = weight[events.event_owner] > 0.0
        times, event_index = np.unique(events.times[counted], return_inverse=True)
        window_owner = np.repeat(np.arange(len(events)), np.diff(events.window_offsets))
        # At risk on (start, stop]: an event at the start of a window is not in it.
        enter = np.searchsorted(times, events.window_start, side="right")
        leave = np.searchsorted(times, events.window_stop, side="right")
        matters = (enter < leave) & (weight[window_owner] > 0.0)
        return cls(
            times=times,
            weight=weight,
            event_index=event_index.astype(np.int64),
            event_owner=np.asarray(events.event_owner[counted], dtype=np.int64),
            cost=events.costs[counted],
            enter=enter[matters].astype(np.int64),
            leave=leave[matters].astype(np.int64),
            window_owner=window_owner[matters].astype(np.int64),
        )

    def at_risk(self) -> FloatArray:
        """Sum the weights of the individuals that are observed at each event time."""
        n_cells = self.times.size + 1
        weight = self.weight[self.window_owner]
        arrivals = np.bincount(self.enter, weight, n_cells)
        departures = np.bincount(self.leave, weight, n_cells)
        return np.asarray(np.cumsum(arrivals - departures)[:-1], dtype=np.float64)

    def totals(self, values: FloatArray) -> FloatArray:
        """Sum weighted values of the events at each event time."""
        weighted = values * self.weight[self.event_owner]
        sums = np.bincount(self.event_index, weighted, self.times.size)
        return np.asarray(sums, dtype=np.float64)

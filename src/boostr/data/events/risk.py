"""Event histories on the grid of event times: individuals at risk, and events."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from boostr._typing import FloatArray, OffsetArray
from boostr.data.events.exposure import exposed_windows
from boostr.data.events.recurrent_events import RecurrentEvents

__all__ = ["RiskTable"]


@dataclass(frozen=True, slots=True, eq=False)
class RiskTable:
    """Event histories on the grid of distinct event times.

    A window contains the event times ``enter <= j < leave``; an event happens at event
    time ``event_index``. Windows are cut where exposures change, and count with these.
    """

    times: FloatArray  # (m,)
    weight: FloatArray  # (n,)
    event_index: OffsetArray  # (E,)
    event_owner: OffsetArray  # (E,)
    cost: FloatArray  # (E,)
    enter: OffsetArray  # (W,)
    leave: OffsetArray  # (W,)
    window_owner: OffsetArray  # (W,)
    exposure: FloatArray  # (W,) 1 by default

    @classmethod
    def from_events(
        cls, events: RecurrentEvents, weight: FloatArray, times: FloatArray | None = None
    ) -> RiskTable:
        """Place windows and events on the grid of event times; leave out weight 0.

        ``times`` are another grid, which has all event times.
        """
        counted = weight[events.event_owner] > 0.0
        if times is None:
            times, event_index = np.unique(events.times[counted], return_inverse=True)
        else:
            event_index = np.searchsorted(times, events.times[counted])
        windows = exposed_windows(events)
        # At risk on (start, stop]: an event at the start of a window is not in it.
        enter = np.searchsorted(times, windows.start, side="right")
        leave = np.searchsorted(times, windows.stop, side="right")
        matters = (enter < leave) & (weight[windows.owner] > 0.0)
        return cls(
            times=times,
            weight=weight,
            event_index=event_index.astype(np.int64),
            event_owner=np.asarray(events.event_owner[counted], dtype=np.int64),
            cost=events.costs[counted],
            enter=enter[matters].astype(np.int64),
            leave=leave[matters].astype(np.int64),
            window_owner=windows.owner[matters],
            exposure=windows.factor[matters],
        )

    def at_risk(self) -> FloatArray:
        """Sum the weights, times exposures, of those observed at each event time.

        If no individual is exposed at an event time, the smallest exposure is used.
        """
        n_cells = self.times.size + 1
        weight = self.weight[self.window_owner] * self.exposure
        arrivals = np.bincount(self.enter, weight, n_cells)
        departures = np.bincount(self.leave, weight, n_cells)
        sums = np.asarray(np.cumsum(arrivals - departures)[:-1], dtype=np.float64)
        if np.all(self.exposure == 1.0):
            return sums
        least = np.min(weight, initial=np.inf, where=weight > 0.0)
        return np.where(sums < 0.5 * least, least, sums)  # below is zero and rounding

    def expect(self, mean: FloatArray) -> FloatArray:
        """Return the expected total of each individual while it is observed.

        ``mean`` is the cumulative rate per unit of exposure at the event times.
        """
        so_far = np.concatenate([[0.0], mean])
        rises = so_far[self.leave] - so_far[self.enter]
        exposed = rises * self.exposure
        return np.bincount(self.window_owner, exposed, len(self.weight)).astype(np.float64)

    def totals(self, values: FloatArray) -> FloatArray:
        """Sum weighted values of the events at each event time."""
        weighted = values * self.weight[self.event_owner]
        sums = np.bincount(self.event_index, weighted, self.times.size)
        return np.asarray(sums, dtype=np.float64)

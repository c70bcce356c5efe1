"""Individuals expanded to one row per cell of time, with sensors as columns."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from boostr._typing import AnyArray, BoolArray, FloatArray, OffsetArray
from boostr.data import RecurrentEvents, Trajectories
from boostr.data.events.exposure import exposed_windows

__all__ = ["Rows", "TimeCells", "average_sensors", "cross"]


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """Rows that trees learn from; several may belong to one individual."""

    features: FloatArray  # (n_rows, q)
    counts: FloatArray  # (n_rows,) events, or their costs
    expected: FloatArray | None  # (n_rows,) counts of an average; None for squared errors
    weights: FloatArray  # (n_rows,)
    owner: OffsetArray  # (n_rows,) individual
    n_per_individual: int  # rows of an individual that is observed all the time

    def take(self, chosen: BoolArray) -> Rows:
        """Return some of the rows."""
        return replace(
            self,
            features=self.features[chosen],
            counts=self.counts[chosen],
            expected=None if self.expected is None else self.expected[chosen],
            weights=self.weights[chosen],
            owner=self.owner[chosen],
        )


@dataclass(frozen=True, slots=True, eq=False)
class TimeCells:
    """Cells of time, ``(edges[k], edges[k + 1]]``."""

    edges: FloatArray  # (n_cells + 1,)

    @classmethod
    def from_events(
        cls, events: RecurrentEvents, weights: FloatArray, n_cells: int
    ) -> TimeCells:
        """Return cells with about as many events in each, from 0 to the last end."""
        order = np.argsort(events.times, kind="stable")
        times, share = events.times[order], weights[events.event_owner[order]]
        gone = np.cumsum(share)
        wanted = gone[-1] * np.arange(1, n_cells) / n_cells
        inner = times[np.searchsorted(gone, wanted)]
        last = float(events.window_stop.max())
        inside = inner[(inner > 0.0) & (inner < last)]
        return cls(np.unique(np.concatenate([[0.0], inside, [last]])))

    @classmethod
    def even(cls, horizon: float, n_cells: int) -> TimeCells:
        """Return cells of the same length, from 0 to the horizon."""
        return cls(np.linspace(0.0, horizon, n_cells + 1))

    @property
    def middles(self) -> FloatArray:
        """Middles of the cells."""
        return np.asarray(0.5 * (self.edges[1:] + self.edges[:-1]))

    @property
    def lengths(self) -> FloatArray:
        """Lengths of the cells."""
        return np.diff(self.edges)

    def count(self, events: RecurrentEvents) -> FloatArray:
        """Return the events, or their costs, of each individual in each cell."""
        n_cells = len(self.lengths)
        cell = np.searchsorted(self.edges, events.times, side="left") - 1
        place = events.event_owner * n_cells + cell
        flat = np.bincount(place, events.costs, len(events) * n_cells)
        return np.asarray(flat, dtype=np.float64).reshape(len(events), n_cells)

    def observe(self, events: RecurrentEvents) -> FloatArray:
        """Return the exposure-weighted time under observation in each cell."""
        windows = exposed_windows(events)
        begins = np.maximum(windows.start[:, None], self.edges[:-1])
        ends = np.minimum(windows.stop[:, None], self.edges[1:])
        spells = windows.factor[:, None] * np.maximum(ends - begins, 0.0)
        first = np.searchsorted(windows.owner, np.arange(len(events)))
        return np.asarray(np.add.reduceat(spells, first, axis=0))

    def describe(
        self,
        features: FloatArray,
        sensors: Trajectories | None,
        events: RecurrentEvents | None = None,
    ) -> FloatArray:
        """Return the features, the middle and the sensors' means of every cell.

        The means are those from the start to the end of follow-up, where it is known.
        """
        rows = cross(features, self.middles)
        if sensors is None:
            return rows
        starts, stops = (
            np.broadcast_to(edges, (len(features), len(self.lengths)))
            for edges in (self.edges[:-1], self.edges[1:])
        )
        if events is not None:
            starts = np.maximum(starts, events.start[:, None])
            stops = np.maximum(starts, np.minimum(stops, events.end[:, None]))
        means = average_sensors(sensors, starts, stops)
        return np.column_stack([rows, means.reshape(len(rows), -1)])


def cross(features: FloatArray, times: AnyArray) -> FloatArray:
    """Return each row of features with each time; times vary fastest."""
    repeated = np.repeat(features, len(times), axis=0)
    return np.column_stack([repeated, np.tile(times, len(features))])


def average_sensors(
    sensors: Trajectories, starts: FloatArray, stops: FloatArray
) -> FloatArray:
    """Return the mean of every sensor in spells of time, (n, m, n_sensors).

    Time at which a sensor is unknown does not count. Of categories it is the code in the
    middle of the spell.
    """
    is_known = ~np.isnan(sensors.values)
    rates = np.concatenate([np.where(is_known, sensors.values, 0.0), is_known])
    areas = _integrate(sensors, rates, stops) - _integrate(sensors, rates, starts)
    totals, known = np.split(areas, 2, axis=2)
    means = np.divide(totals, known, out=np.full_like(totals, np.nan), where=known > 0.0)
    is_category = [known is not None for known in sensors.categories]
    if any(is_category):
        codes = sensors.read(0.5 * (starts + stops))
        means[:, :, is_category] = codes[:, :, is_category]
    return means


def _integrate(sensors: Trajectories, rates: FloatArray, times: FloatArray) -> FloatArray:
    """Return the integrals of step functions up to the times, (n, m, n_rates).

    Steps are where the sensors have samples; integrals begin at the first of these.
    """
    if not sensors.times.size:
        return np.zeros((*times.shape, len(rates)))
    lengths = np.diff(sensors.times, append=np.nan)
    lengths[sensors.offsets[1:] - 1] = 0.0
    before = np.cumsum(rates * lengths, axis=1) - rates * lengths
    first = np.repeat(sensors.offsets[:-1], np.diff(sensors.offsets))
    values = np.concatenate([before - before[:, first], rates, sensors.times[None]])
    steps = replace(
        sensors,
        values=values,
        names=tuple(map(str, range(len(values)))),
        categories=(None,) * len(values),
    )
    read = np.nan_to_num(steps.read(times))
    begun, rate, since = np.split(read, [len(rates), 2 * len(rates)], axis=2)
    return np.asarray(begun + rate * (times[:, :, None] - since))

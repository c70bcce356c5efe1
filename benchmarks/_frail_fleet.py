"""Fleets whose individuals differ by more than their features say."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import pandas as pd

from boostr import RecurrentEvents, Trajectories

Kind = Literal["plain", "gaps", "costs", "sensor", "drift"]
KINDS: tuple[Kind, ...] = ("plain", "gaps", "costs", "sensor", "drift")

EXPONENT = 1.2  # of the true curves: wear
FOLLOW_UP = (60.0, 100.0)  # ends of follow-up are spread between these
ENTRY = (0.0, 40.0)  # of late entries
GAP = (5.0, 15.0)  # length of the time in which nobody looked
COST_SHAPE, COST_SCALE = 2.0, 5.0  # of an event
SHIFT = 10.0  # for which a sensor shows the same
LOAD_EFFECT = 1.5  # on the log rate
DRIFT = 0.2  # standard deviation of what a log frailty moves by in the length of a shift


@dataclass(frozen=True)
class FrailFleet:
    """Individuals with a history up to now, and what happened in the time after it."""

    X: np.ndarray  # (n, 5), two of which matter
    y: RecurrentEvents
    frailty: np.ndarray  # (n,)
    expected: np.ndarray  # (n,) in the time ahead, for a frailty of 1
    ahead: np.ndarray  # (n,) events in it, or their costs
    Z: Trajectories | None = None  # past and future

    def __len__(self) -> int:
        return len(self.X)

    def part(self, rows: np.ndarray) -> FrailFleet:
        """Return some of the individuals."""
        sensors = None if self.Z is None else self.Z[rows]
        return FrailFleet(
            self.X[rows],
            self.y[rows],
            self.frailty[rows],
            self.expected[rows],
            self.ahead[rows],
            sensors,
        )

    @classmethod
    def draw(
        cls,
        n: int,
        mean_ahead: float,
        variance: float,
        horizon: float,
        rng: np.random.Generator,
        kind: Kind = "plain",
    ) -> FrailFleet:
        """Draw a fleet with so many events a head in the time ahead, on average."""
        X = rng.uniform(size=(n, 5))
        scale = np.exp(1.2 * X[:, 0]) * np.where(X[:, 1] > 0.5, 2.0, 0.7)
        now = rng.uniform(*FOLLOW_UP, size=n)
        law = scale / np.mean(scale)
        reach = (80.0 + horizon) ** EXPONENT - 80.0**EXPONENT
        law = law * mean_ahead / reach
        frailty = rng.gamma(1.0 / variance, variance, n) if variance > 0.0 else np.ones(n)
        wear = _Wear.draw(n, FOLLOW_UP[1] + horizon, rng, kind)
        counts = rng.poisson(frailty * law * wear.by(now))
        events = wear.draw_events(now, counts, rng)
        expected = law * (wear.by(now + horizon) - wear.by(now))
        ahead = rng.poisson(frailty * expected)
        if kind == "gaps":
            y = _observe_with_gaps(events, now, rng)
        elif kind == "costs":
            costs = [rng.gamma(COST_SHAPE, COST_SCALE, len(each)) for each in events]
            y = RecurrentEvents.from_lists(events, end=now, cost=costs)
            expected = expected * COST_SHAPE * COST_SCALE
            ahead = rng.gamma(COST_SHAPE * np.maximum(ahead, 1), COST_SCALE) * (ahead > 0)
        else:
            y = RecurrentEvents.from_lists(events, end=now)
        return cls(X, y, frailty, expected, ahead, wear.sensor)


@dataclass(frozen=True)
class _Wear:
    """Cumulative wear of individuals: straight lines in ``time ** EXPONENT``."""

    edges: np.ndarray  # (m,) times, between which the load is constant
    values: np.ndarray  # (n, m)
    sensor: Trajectories | None

    @classmethod
    def draw(cls, n: int, end: float, rng: np.random.Generator, kind: Kind) -> _Wear:
        """Draw loads that change with every shift, or frailties that do, or neither."""
        if kind not in {"sensor", "drift"}:
            edges = np.array([0.0, end])
            return cls(edges, np.tile(edges**EXPONENT, (n, 1)), None)
        edges = np.arange(0.0, end + SHIFT, SHIFT)
        shape = (n, len(edges) - 1)
        sensor = None
        # All kinds of loads, or of frailties, leave the rate as it is on average.
        if kind == "drift":
            moves = rng.normal(-0.5 * DRIFT**2, DRIFT, shape)
            effect = np.exp(np.cumsum(moves, axis=1))
        else:
            loads = rng.uniform(size=shape)
            effect = np.exp(LOAD_EFFECT * loads) * LOAD_EFFECT / np.expm1(LOAD_EFFECT)
            times, offsets = np.tile(edges[:-1], n), np.arange(n + 1) * shape[1]
            sensor = Trajectories.from_flat(times, offsets, loads.reshape(1, -1), ["load"])
        rises = effect * np.diff(edges**EXPONENT)
        values = np.concatenate([np.zeros((n, 1)), np.cumsum(rises, axis=1)], axis=1)
        return cls(edges, values, sensor)

    def by(self, times: np.ndarray) -> np.ndarray:
        """Return the wear of each individual by a time of its own."""
        warped = self.edges**EXPONENT
        pairs = zip(times**EXPONENT, self.values, strict=True)
        return np.array([np.interp(time, warped, values) for time, values in pairs])

    def draw_events(
        self, now: np.ndarray, counts: np.ndarray, rng: np.random.Generator
    ) -> list[np.ndarray]:
        """Draw where the events of every individual lie, given their numbers."""
        warped = self.edges**EXPONENT
        return [
            np.interp(total * rng.uniform(size=count), values, warped) ** (1.0 / EXPONENT)
            for total, count, values in zip(self.by(now), counts, self.values, strict=True)
        ]


def _observe_with_gaps(
    events: list[np.ndarray], now: np.ndarray, rng: np.random.Generator
) -> RecurrentEvents:
    """Observe everybody from a late entry to now, but for one gap."""
    n = len(now)
    entry = rng.uniform(*ENTRY, size=n)
    last_begin = now - GAP[1]
    begin = entry + rng.uniform(0.2, 0.8, size=n) * np.maximum(last_begin - entry, 1.0)
    end = begin + rng.uniform(*GAP, size=n)
    owners, starts, stops, flags = [], [], [], []
    for each, windows in enumerate(zip(entry, begin, end, now, strict=True)):
        for start, stop in (windows[:2], windows[2:]):
            inside = np.sort(events[each][(events[each] > start) & (events[each] < stop)])
            owners.append(np.full(len(inside) + 1, each))
            starts.append(np.concatenate([[start], inside]))
            stops.append(np.concatenate([inside, [stop]]))
            flags.append(np.arange(len(inside) + 1) < len(inside))
    columns = {"id": owners, "start": starts, "stop": stops, "event": flags}
    table = pd.DataFrame({name: np.concatenate(each) for name, each in columns.items()})
    return RecurrentEvents.from_start_stop(table, "id", "start", "stop", "event")

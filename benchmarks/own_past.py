"""Sensors that follow from the events: forecasts where these bring events, and where not.

    python -m benchmarks.own_past
    python -m benchmarks.own_past --clock calendar --kinds "contagion,soon again"
    python -m benchmarks.own_past --quick

Simulated individuals with a rate that depends on the time since the last event, or on the
events of the last 20 days, or on neither, times a gamma frailty or not. Forecasts of 50
days after histories of 100 to 150 days, with two sensors: the time since the last event,
and the events of the last 20 days. Three ways: own history alone; sensors passed as they
are, whose effects are learned before frailties; sensors passed as a function, whose effects
are learned beside them. Figures are root mean squared errors against what happened, and in
brackets the share of counts within their 90 % intervals; means over repetitions.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np
import pandas as pd

from benchmarks._timing import format_table, record
from boostr import BoostR, RecurrentEvents, Trajectories

AHEAD = 50.0
N_STEPS = 1000
STEP = 0.2  # days in which the rate is taken as constant
MEMORY = 20.0  # days
N_PATHS = 100
LEVEL = 0.9

Clock = Literal["operational", "calendar"]
CLOCKS: tuple[Clock, ...] = ("operational", "calendar")
Rate = Callable[[np.ndarray, np.ndarray], np.ndarray]  # of time since, events lately


@dataclass(frozen=True)
class Kind:
    """How events come about."""

    rate: Rate
    variance: float  # of frailties


KINDS = {
    "frailties": Kind(lambda since, lately: 0.05 + 0.0 * since, 1.0),
    "contagion": Kind(lambda since, lately: 0.02 + 0.03 * np.minimum(lately, 5), 0.0),
    "contagion and frailties": Kind(
        lambda since, lately: 0.02 + 0.02 * np.minimum(lately, 5), 0.5
    ),
    "soon again": Kind(lambda since, lately: 0.03 * (1 + 4 * np.exp(-since / 5)), 0.0),
    "soon again and frailties": Kind(
        lambda since, lately: 0.03 * (1 + 4 * np.exp(-since / 5)), 1.0
    ),
    "not so soon and frailties": Kind(
        lambda since, lately: 0.05 * np.minimum(since / 20, 2), 1.0
    ),
}


def memory(y: RecurrentEvents, until: np.ndarray) -> Trajectories:
    """Return both sensors of the own past."""
    since = Trajectories.from_events(y).time_since_event(y, step=2.0, until=until)
    return since.events_in_window(y, MEMORY)


def draw(kind: Kind, n: int, seed: int) -> tuple[RecurrentEvents, np.ndarray]:
    """Return histories, and how many events came after them."""
    rng = np.random.default_rng(seed)
    spread = kind.variance
    frailty = rng.gamma(1.0 / spread, spread, n) if spread else np.ones(n)
    happened = np.zeros((n, N_STEPS), dtype=bool)
    last = np.zeros(n)
    for step in range(N_STEPS):
        now = step * STEP
        lately = happened[:, max(0, step - round(MEMORY / STEP)) : step].sum(axis=1)
        rate = frailty * kind.rate(now - last, lately)
        happened[:, step] = rng.random(n) < -np.expm1(-rate * STEP)
        last = np.where(happened[:, step], now + STEP, last)
    ends = rng.uniform(0.5, 0.75, n) * N_STEPS * STEP
    times = [STEP * (np.flatnonzero(row) + rng.random(row.sum())) for row in happened]
    pairs = list(zip(times, ends, strict=True))
    later = [((own > end) & (own <= end + AHEAD)).sum() for own, end in pairs]
    known = [own[own <= end] for own, end in pairs]
    return RecurrentEvents.from_lists(known, end=ends), np.array(later)


def forecasts(y: RecurrentEvents, clock: Clock) -> Iterator[tuple[str, pd.DataFrame]]:
    """Give forecasts by name, in the order of the individuals."""
    X = np.zeros((len(y), 1))
    plain = BoostR(clock=clock, random_state=0).fit(X, y)
    yield "own history", plain.forecast(X, y, AHEAD, level=LEVEL).sort_values("id")
    for name, sensors in {"sensors first": memory(y, y.end), "beside": memory}.items():
        model = BoostR(clock=clock, random_state=0).fit(X, y, sensors)
        table = model.forecast(X, y, AHEAD, memory, level=LEVEL, n_paths=N_PATHS)
        yield name, table.sort_values("id")


def judge(table: pd.DataFrame, later: np.ndarray) -> tuple[float, float]:
    """Return the root mean squared error, and the share of counts that is covered."""
    error = table["expected"].to_numpy() - later
    is_covered = (table["lower"].to_numpy() <= later) & (later <= table["upper"].to_numpy())
    return float(np.sqrt(np.mean(error**2))), float(np.mean(is_covered))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--individuals", type=int, default=600)
    parser.add_argument("--repetitions", type=int, default=5)
    parser.add_argument("--clock", choices=CLOCKS, default=CLOCKS[0])
    parser.add_argument("--kinds", default=",".join(KINDS))
    parser.add_argument("--quick", action="store_true")
    asked = parser.parse_args()
    n, repetitions = (100, 1) if asked.quick else (asked.individuals, asked.repetitions)
    rows = []
    for name in asked.kinds.split(","):
        kind = KINDS[name]
        found: dict[str, list[tuple[float, float]]] = {}
        for seed in range(repetitions):
            y, later = draw(kind, n, seed)
            for way, table in forecasts(y, asked.clock):
                found.setdefault(way, []).append(judge(table, later))
        record("own_past.jsonl", kind=name, individuals=n, clock=asked.clock, found=found)
        means = [np.mean(figures, axis=0) for figures in found.values()]
        rows.append([name, *(f"{error:.3f} ({covered:.3f})" for error, covered in means)])
        print("; ".join(rows[-1]), flush=True)
    print(f"\n{format_table(['events', *found], rows)}")


if __name__ == "__main__":
    main()

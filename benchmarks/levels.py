"""Levels ahead of time where the rates of all individuals change together.

    python -m benchmarks.levels
    python -m benchmarks.levels --quick

Simulated fleets with gamma frailties and two features that act. Every line is a course of
the common rate. Forecasts of the next 90 days are made on day 1,200 with default settings.
The level is the mean logarithm of the forecast over the true expected total, 0 at best,
beside that of a peer, the events of the last 90 days carried on; then the shares of totals,
drawn anew from the truth, that lie in the intervals of 80 and 90 %.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks._timing import format_table, record
from boostr import BoostR, RecurrentEvents

LENGTH, NOW, AHEAD = 1500, 1200, 90  # days
MEAN_RATE = 0.006  # a day
VARIANCE = 0.3  # of frailties
N_DRAWS = 200  # of totals
LEVELS = (0.8, 0.9)

DAYS = np.arange(LENGTH) + 0.5
COURSES: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "constant": np.ones_like,
    "halved 150 days ago": lambda day: np.where(day < NOW - 150, 1.0, 0.5),
    "doubled 150 days ago": lambda day: np.where(day < NOW - 150, 1.0, 2.0),
    "falls by 30 % a year": lambda day: 0.7 ** (day / 365),
    "rises by 30 % a year": lambda day: 1.3 ** (day / 365),
    "burns in": lambda day: 0.5 + 2.0 * np.exp(-day / 120),
    "overhauls of all": lambda day: 0.4 + 2.5 * (day % 450 / 450) ** 2,
}


@dataclass(frozen=True)
class Fleet:
    """A fleet with its history up to now, and what is to be expected of it."""

    X: np.ndarray  # (n, 4)
    y: RecurrentEvents
    mean_ahead: np.ndarray  # (n,) true expected events of the time ahead
    recent: float  # events of the last days, as many as are forecast

    @classmethod
    def draw(cls, course: np.ndarray, n: int, rng: np.random.Generator) -> Fleet:
        X = rng.random((n, 4))
        factor = np.exp(0.8 * X[:, 0] + 0.8 * (X[:, 1] > 0.5))
        frailty = rng.gamma(1.0 / VARIANCE, VARIANCE, n)
        own = MEAN_RATE * frailty * factor / factor.mean()
        growth = np.append(0.0, np.cumsum(course))
        counts = rng.poisson(own * growth[NOW])
        times = [
            np.sort(np.interp(growth[NOW] * rng.random(k), growth, np.arange(LENGTH + 1)))
            for k in counts
        ]
        return cls(
            X,
            RecurrentEvents.from_lists(times, end=float(NOW)),
            own * (growth[NOW + AHEAD] - growth[NOW]),
            float(sum(np.sum(own_times > NOW - AHEAD) for own_times in times)),
        )


def run(course: np.ndarray, n: int, seed: int) -> list[float]:
    """Return the levels of the forecast and of the peer, and coverages."""
    rng = np.random.default_rng(seed)
    fleet = Fleet.draw(course, n, rng)
    model = BoostR(random_state=seed).fit(fleet.X, fleet.y)
    truth = fleet.mean_ahead.sum()
    drawn = rng.poisson(truth, N_DRAWS)
    shares = []
    for level in LEVELS:
        total = model.forecast_fleet(fleet.X, fleet.y, AHEAD, level=level)
        shares.append(float(np.mean((total.lower <= drawn) & (drawn <= total.upper))))
    levels = np.log(np.array([total.expected, fleet.recent]) / truth)
    return [*levels.tolist(), *shares]


def describe(found: np.ndarray) -> list[str]:
    """Return the cells of a line from the results of all repetitions, (n, 4)."""
    error = np.std(found[:, 0], ddof=1) / np.sqrt(len(found)) if len(found) > 1 else np.nan
    mean = found.mean(axis=0)
    return [
        f"{mean[0]:+.3f} ± {error:.3f}",
        f"{mean[1]:+.3f}",
        *(f"{share:.2f}" for share in mean[2:]),
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repetitions", type=int, default=12)
    parser.add_argument("--individuals", type=int, default=400)
    parser.add_argument("--quick", action="store_true")
    asked = parser.parse_args()
    if asked.quick:
        asked.repetitions, asked.individuals = 1, 100
    rows = []
    for name, course in COURSES.items():
        runs: list[Any] = [
            run(course(DAYS), asked.individuals, seed) for seed in range(asked.repetitions)
        ]
        found = np.array(runs)
        names = ("level", "last_days", "coverage_80", "coverage_90")
        record(
            "levels.jsonl",
            course=name,
            n_individuals=asked.individuals,
            repetitions=asked.repetitions,
            is_quick=asked.quick,
            **dict(zip(names, found.mean(axis=0).tolist(), strict=True)),
        )
        rows.append([name, *describe(found)])
        print("; ".join(rows[-1]), flush=True)
    header = ["course of the rate", "level", "last 90 days", "in 80 %", "in 90 %"]
    print(f"\n{format_table(header, rows)}")


if __name__ == "__main__":
    main()

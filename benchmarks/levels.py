"""Levels ahead of time where the rates of all individuals change together.

    python -m benchmarks.levels
    python -m benchmarks.levels --quick

Simulated fleets with gamma frailties and two features that act. Every line is a course of
the common rate; in fleets that grow, individuals enter on days 0 to 1,170. Forecasts of the
next 90 days are made on day 1,200 with default settings. The level is the mean logarithm of
the forecast over the true expected total, 0 at best, beside that of a peer, the events of
the last 90 days carried on; then the shares of totals, drawn anew from the truth, that lie
in the intervals of 80 and 90 %.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from benchmarks._timing import format_table, record
from boostr import BoostR, RecurrentEvents

LENGTH, NOW, AHEAD = 1500, 1200, 90  # days
MEAN_RATE = 0.006  # a day
VARIANCE = 0.3  # of frailties
N_DRAWS = 200  # of totals
LEVELS = (0.8, 0.9)
START = np.datetime64("2020-01-01")  # day 0

DAYS = np.arange(LENGTH) + 0.5
Factors = Callable[[np.ndarray], np.ndarray]


@dataclass(frozen=True)
class Course:
    """Factors of rates by the date and, in a fleet that grows, by age."""

    by_date: Factors = np.ones_like
    by_age: Factors | None = None  # None: all enter on day 0
    counts_age: bool = False  # the time scale of the histories
    gap: tuple[float, float] | None = None  # in which nobody is observed


def halve(day: np.ndarray) -> np.ndarray:
    return np.where(day < NOW - 150, 1.0, 0.5)


def double(day: np.ndarray) -> np.ndarray:
    return np.where(day < NOW - 150, 1.0, 2.0)


def burn_in(day: np.ndarray) -> np.ndarray:
    return 0.5 + 2.0 * np.exp(-day / 120)


COURSES = {
    "constant": Course(),
    "halved 150 days ago": Course(halve),
    "doubled 150 days ago": Course(double),
    "falls by 30 % a year": Course(lambda day: 0.7 ** (day / 365)),
    "rises by 30 % a year": Course(lambda day: 1.3 ** (day / 365)),
    "burns in": Course(burn_in),
    "overhauls of all": Course(lambda day: 0.4 + 2.5 * (day % 450 / 450) ** 2),
    "constant, nobody observed for a year": Course(gap=(NOW - 400.0, NOW - 35.0)),
    "burns in, nobody observed for a year": Course(burn_in, gap=(NOW - 400.0, NOW - 35.0)),
    "grows, constant": Course(by_age=np.ones_like),
    "grows, burns in": Course(by_age=burn_in),
    "grows, wears out": Course(by_age=lambda age: 0.4 + 1.6 * (age / NOW) ** 2),
    "grows, burns in and falls": Course(lambda day: 0.7 ** (day / 365), burn_in),
    "grows, by age, constant": Course(by_age=np.ones_like, counts_age=True),
    "grows, by age, halved": Course(halve, np.ones_like, counts_age=True),
    "grows, by age, doubled": Course(double, np.ones_like, counts_age=True),
}


@dataclass(frozen=True)
class Fleet:
    """A fleet with its history up to now, and what is to be expected of it."""

    X: np.ndarray  # (n, 4)
    y: RecurrentEvents
    mean_ahead: np.ndarray  # (n,) true expected events of the time ahead
    recent: float  # events of the last days, as many as are forecast

    @classmethod
    def draw(cls, course: Course, n: int, rng: np.random.Generator) -> Fleet:
        X = rng.random((n, 4))
        factor = np.exp(0.8 * X[:, 0] + 0.8 * (X[:, 1] > 0.5))
        frailty = rng.gamma(1.0 / VARIANCE, VARIANCE, n)
        own = MEAN_RATE * frailty * factor / factor.mean()
        entry, factors = np.zeros(n), np.tile(course.by_date(DAYS), (n, 1))
        if course.by_age is not None:
            entry = np.floor(rng.random(n) * (NOW - 30))
            age = DAYS - entry[:, None]
            factors *= course.by_age(np.maximum(age, 0.0)) * (age > 0.0)
        growth = np.hstack([np.zeros((n, 1)), np.cumsum(factors, axis=1)])
        counts = rng.poisson(own * growth[:, NOW])
        times = [
            np.sort(np.interp(mine[NOW] * rng.random(k), mine, np.arange(LENGTH + 1)))
            for mine, k in zip(growth, counts, strict=True)
        ]
        return cls(
            X,
            make_histories(times, entry, course),
            own * (growth[:, NOW + AHEAD] - growth[:, NOW]),
            float(sum(np.sum(own_times > NOW - AHEAD) for own_times in times)),
        )


def make_histories(
    times: list[np.ndarray], entry: np.ndarray, course: Course
) -> RecurrentEvents:
    """Return histories in calendar time, or in age with their dates."""
    if course.gap is not None:
        return leave_gap(times, *course.gap)
    if not course.counts_age:
        return RecurrentEvents.from_lists(times, start=entry, end=float(NOW))
    rows = [
        (machine, time - entry[machine], int(time < NOW))
        for machine, own in enumerate(times)
        for time in [*own, NOW]
    ]
    table = pd.DataFrame(rows, columns=["id", "age", "event"])
    age = RecurrentEvents.from_long(table, "id", "age", "event", unit="D")
    return age.in_calendar_time(START + entry.astype("timedelta64[D]")).in_age()


def leave_gap(times: list[np.ndarray], begin: float, end: float) -> RecurrentEvents:
    """Return histories without what happened in a gap, which is known to be missing."""
    rows = []
    for machine, own in enumerate(times):
        for start, stop in ((0.0, begin), (end, float(NOW))):
            seen = own[(own > start) & (own < stop)]
            ends, begins = np.append(seen, stop), np.insert(seen, 0, start)
            is_event = ends < stop
            rows += [[machine, *row] for row in zip(begins, ends, is_event, strict=True)]
    table = pd.DataFrame(rows, columns=["id", "start", "stop", "event"])
    return RecurrentEvents.from_start_stop(table, "id", "start", "stop", "event")


def run(course: Course, n: int, seed: int) -> list[float]:
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
            run(course, asked.individuals, seed) for seed in range(asked.repetitions)
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

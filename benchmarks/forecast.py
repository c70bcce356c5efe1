"""What the own history is worth, and how long a forecast takes.

    python -m benchmarks.forecast
    python -m benchmarks.forecast --quick

The own history must cut the mean squared error of the counts ahead by at least 80 % of what
knowing every frailty would; 100,000 individuals must take less than five seconds.
"""

from __future__ import annotations

import argparse
import time

import numpy as np

from benchmarks._frail_fleet import FrailFleet
from benchmarks._timing import format_table, record, time_repeatedly
from boostr import BoostR

HORIZON = 30.0
LEAST_SHARE = 0.8
MOST_SECONDS = 5.0
SETTINGS = ((2.0, 1.0), (5.0, 0.5), (5.0, 1.0), (20.0, 0.3))  # events ahead, variance


def measure_update(
    mean: float, variance: float, n_train: int, n_fresh: int, seed: int
) -> dict[str, float]:
    """Return squared errors without and with the history, and with the true frailty."""
    rng = np.random.default_rng([seed, int(mean), int(10 * variance)])
    train = FrailFleet.draw(n_train, mean, variance, HORIZON, rng)
    fresh = FrailFleet.draw(n_fresh, mean, variance, HORIZON, rng)
    model = BoostR(random_state=seed).fit(train.X, train.y)
    plain = model.forecast(fresh.X, fresh.y, HORIZON, own_history=False)
    plain = plain.sort_values("id")["expected"].to_numpy()
    updated = model.forecast(fresh.X, fresh.y, HORIZON)
    updated = updated.sort_values("id")["expected"].to_numpy()
    predictions = {
        "plain": plain,
        "updated": updated,
        "known frailty": plain * fresh.frailty,
    }
    return {
        name: float(np.mean((expected - fresh.ahead) ** 2))
        for name, expected in predictions.items()
    }


def report_updates(n_train: int, n_fresh: int, repetitions: int) -> None:
    rows = []
    for mean, variance in SETTINGS:
        runs = [
            measure_update(mean, variance, n_train, n_fresh, seed)
            for seed in range(repetitions)
        ]
        error = {name: float(np.mean([run[name] for run in runs])) for name in runs[0]}
        share = (error["plain"] - error["updated"]) / (
            error["plain"] - error["known frailty"]
        )
        record(
            "forecast.jsonl",
            name="update",
            mean=mean,
            variance=variance,
            error=error,
            share=share,
        )
        cells = [
            f"{mean:g}",
            f"{variance:g}",
            *(f"{value:.2f}" for value in error.values()),
        ]
        rows.append([*cells, f"{share:.1%}", "yes" if share >= LEAST_SHARE else "no"])
        print("; ".join(rows[-1]), flush=True)
    header = ["events ahead", "variance", "plain", "updated", "known frailty"]
    print(f"\n{format_table([*header, 'share of the cut', 'at least 80 %'], rows)}\n")


def report_speed(n_train: int, n_asked: int) -> None:
    rng = np.random.default_rng(0)
    train = FrailFleet.draw(n_train, 5.0, 0.5, HORIZON, rng)
    asked = FrailFleet.draw(n_asked, 5.0, 0.5, HORIZON, rng)
    model = BoostR(random_state=0).fit(train.X, train.y)
    n_trees = sum(len(member.trees) for member in model.ensemble_.members)
    times = time_repeatedly(lambda: model.forecast(asked.X, asked.y, HORIZON), 3)
    begin = time.process_time()
    model.forecast(asked.X, asked.y, HORIZON)
    cpu = time.process_time() - begin  # of all threads: a busy machine disturbs it less
    record("forecast.jsonl", name="speed", n=n_asked, n_trees=n_trees, cpu_s=cpu, **times)
    verdict = "yes" if times["median_s"] < MOST_SECONDS else "no"
    print(
        f"forecast of {n_asked} individuals by {n_trees} trees: {times['median_s']:.2f} s "
        f"(first {times['first_s']:.2f} s, CPU {cpu:.2f} s); under {MOST_SECONDS:g} s: "
        f"{verdict}\n"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repetitions", type=int, default=3)
    parser.add_argument("--quick", action="store_true")
    asked = parser.parse_args()
    if asked.quick:
        report_updates(100, 100, 1)
        report_speed(100, 1000)
        return
    report_speed(1000, 100_000)
    report_updates(1000, 5000, asked.repetitions)


if __name__ == "__main__":
    main()

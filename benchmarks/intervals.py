"""Counts over intervals against exact times: what not knowing the times costs.

    python -m benchmarks.intervals
    python -m benchmarks.intervals --quick

Simulated data sets A to D. The same histories are given with the times of their events, and
as counts over ten intervals a life: as long as each other for all (common), or cut at
times of each individual's own (own). Errors of cumulative curves of fresh individuals
against the truth, integrated and squared, means over repetitions.
"""

from __future__ import annotations

import argparse

import numpy as np
import pandas as pd

from benchmarks._timing import format_table, record
from benchmarks.problems import TARGETS
from boostr import BoostR, RecurrentEvents
from boostr.simulate import integrated_squared_error

N_INTERVALS = 10
N_TIMES = 201  # of the trapezoid rule


def count_events(y: RecurrentEvents, rng: np.random.Generator | None) -> RecurrentEvents:
    """Return counts over intervals, inspected at random times if ``rng`` is given."""
    n = len(y)
    shares = np.tile(np.linspace(0.0, 1.0, N_INTERVALS + 1), (n, 1))
    if rng is not None:
        shares[:, 1:-1] = np.sort(rng.uniform(size=(n, N_INTERVALS - 1)), axis=1)
    edges = y.start[:, None] + (y.end - y.start)[:, None] * shares
    edges[:, -1] = y.end
    counts = [
        np.histogram(each, cut)[0] for each, cut in zip(np.asarray(y), edges, strict=True)
    ]
    table = pd.DataFrame(
        {
            "id": np.repeat(np.arange(n), N_INTERVALS),
            "start": edges[:, :-1].ravel(),
            "stop": edges[:, 1:].ravel(),
            "count": np.concatenate(counts),
        }
    )
    return RecurrentEvents.from_counts(table, "id", "start", "stop", "count")


def run(name: str, seed: int) -> dict[str, float]:
    """Return the errors of one repetition."""
    train, fresh = TARGETS[name].problem.draw_pair(seed)
    times = np.linspace(0.0, fresh.horizon, N_TIMES)
    rng = np.random.default_rng(seed)
    targets = {
        "times": train.y,
        "common": count_events(train.y, None),
        "own": count_events(train.y, rng),
    }
    errors = {}
    for way, y in targets.items():
        model = BoostR(random_state=seed).fit(train.X, y)
        curves = model.predict_cumulative(fresh.X, times)
        errors[way] = integrated_squared_error(curves, fresh.truth(times), times).mean()
    return errors


def main() -> None:
    """Compare and print."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--repetitions", type=int, default=5)
    parser.add_argument("--problems", nargs="*", default=["A", "B", "C", "D"])
    parser.add_argument("--quick", action="store_true", help="one repetition")
    options = parser.parse_args()
    seeds = range(1 if options.quick else options.repetitions)
    rows = []
    for name in options.problems:
        found = [run(name, seed) for seed in seeds]
        means = {way: float(np.mean([each[way] for each in found])) for way in found[0]}
        record("intervals.jsonl", problem=name, n_repetitions=len(seeds), **means)
        ratios = [means[way] / means["times"] for way in ("common", "own")]
        rows.append([name, *(f"{each:.4g}" for each in (*means.values(), *ratios))])
    header = ["data", "times", "common", "own", "common / times", "own / times"]
    print(format_table(header, rows))


if __name__ == "__main__":
    main()

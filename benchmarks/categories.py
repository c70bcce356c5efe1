"""Errors with a column of many categories: ``python -m benchmarks.categories``.

A useless column must cost little, and one that carries an effect must help. The default
`BoostR` is fitted with and without the column on the same individuals, and predicts the
same fresh ones. Data are those of ``benchmarks.accuracy``.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from benchmarks._timing import format_table, record
from benchmarks.problems import TARGETS, Problem
from boostr import BoostR, RecurrentEvents
from boostr.simulate import Simulation, integrated_squared_error

RESULTS_FILE = "categories.jsonl"
N_TIMES = 201  # of the trapezoid rule
N_USELESS = 230  # categories of the useless column
N_LEVELS = 200  # categories of the column with an effect
N_GROUPS = 20  # groups that they belong to
SPREAD = 4.0  # largest rate of a group, in multiples of the smallest
MOST_LOST = 0.03  # share of the error that a useless column may add
N_TEST = 1000
_LEVEL_SEED = 30_000
QUICK_REPETITIONS = 1

FloatArray = np.ndarray[Any, np.dtype[np.float64]]


@dataclass(frozen=True, slots=True)
class Fleet:
    """Individuals with a column of categories, and their true curves."""

    table: pd.DataFrame
    y: RecurrentEvents
    truth: FloatArray  # (n, n_times)
    times: FloatArray

    def error(self, model: BoostR, columns: Sequence[str]) -> float:
        """Return the mean integrated squared error of a model that uses some columns."""
        predicted = model.predict_cumulative(self.table[list(columns)], self.times)
        errors = integrated_squared_error(predicted, self.truth, self.times)
        return float(errors.mean())


def add_useless(
    simulation: Simulation, rng: np.random.Generator, *, is_skewed: bool
) -> Fleet:
    """Add a column that has nothing to do with the events.

    Categories are equally frequent, or the k-th has a share proportional to 1 / k.
    """
    shares = 1.0 / np.arange(1, N_USELESS + 1) ** is_skewed
    codes = rng.choice(N_USELESS, len(simulation.y), p=shares / shares.sum())
    return _join(simulation, simulation.y, codes, np.ones(len(codes)))


def add_effect(simulation: Simulation, rng: np.random.Generator, seed: int) -> Fleet:
    """Add a column whose groups of categories have rates of their own, by thinning."""
    group = np.random.default_rng(seed).integers(0, N_GROUPS, N_LEVELS)
    shares = np.geomspace(1.0 / SPREAD, 1.0, N_GROUPS)[group]
    codes = rng.integers(0, N_LEVELS, len(simulation.y))
    factor = shares[codes]
    return _join(simulation, _thin(simulation.y, factor, rng), codes, factor)


def _thin(
    y: RecurrentEvents, shares: FloatArray, rng: np.random.Generator
) -> RecurrentEvents:
    """Keep every event with the probability of its individual."""
    is_kept = rng.random(len(y.times)) < shares[y.event_owner]
    counts = np.bincount(y.event_owner[is_kept], minlength=len(y))
    offsets = np.concatenate([[0], np.cumsum(counts)])
    return RecurrentEvents.from_flat(y.times[is_kept], offsets, start=y.start, end=y.end)


def _join(
    simulation: Simulation, y: RecurrentEvents, codes: Any, factor: FloatArray
) -> Fleet:
    times = np.linspace(0.0, simulation.horizon, N_TIMES)
    table = pd.DataFrame(simulation.X, columns=list(simulation.feature_names))
    table["place"] = [f"place {code}" for code in codes]
    return Fleet(table, y, simulation.truth(times) * factor[:, None], times)


def score_once(problem: Problem, kind: str, repetition: int) -> tuple[float, float, float]:
    """Return the errors without and with the column, and its share of the importance."""
    fleets = []
    for simulation in problem.draw_pair(repetition):
        rng = np.random.default_rng([_LEVEL_SEED, repetition, len(simulation.y)])
        fleets.append(
            add_effect(simulation, rng, _LEVEL_SEED + repetition)
            if kind == "effect"
            else add_useless(simulation, rng, is_skewed=kind == "skewed")
        )
    train, test = fleets
    everything = list(train.table.columns)
    without = BoostR(random_state=repetition).fit(train.table[everything[:-1]], train.y)
    model = BoostR(random_state=repetition).fit(train.table, train.y)
    return (
        test.error(without, everything[:-1]),
        test.error(model, everything),
        float(model.feature_importances_[-1]),
    )


def score(problem: Problem, kind: str, repetitions: int) -> list[str]:
    """Return a line of the table: mean errors, their ratio and its standard error."""
    runs = [score_once(problem, kind, repetition) for repetition in range(repetitions)]
    without, with_it, share = np.array(runs).T
    ratio = with_it.mean() / without.mean()
    noise = np.std(with_it - ratio * without, ddof=1) if repetitions > 1 else np.nan
    error = noise / np.sqrt(repetitions) / without.mean()
    record(
        RESULTS_FILE,
        name="categories",
        dataset=problem.name,
        kind=kind,
        n_train=problem.n_train,
        n_test=problem.n_test,
        without=without.tolist(),
        with_column=with_it.tolist(),
        ratio=float(ratio),
        standard_error=float(error),
        importance=share.tolist(),
    )
    verdict = "met" if ratio <= 1.0 + MOST_LOST else "missed"
    if kind == "effect":
        verdict = "helps" if ratio + 2.0 * error < 1.0 else "no clear help"
    numbers = [without.mean(), with_it.mean(), ratio, error, share.mean()]
    return [
        f"{problem.name} {kind}",
        str(problem.n_train),
        str(repetitions),
        *[f"{number:.3f}" for number in numbers],
        verdict,
    ]


def _parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--datasets", default="A,B,C,D", help="comma-separated")
    parser.add_argument("--kinds", default="useless,skewed,effect", help="comma-separated")
    parser.add_argument("--sizes", default="150,1000,2000,4000", help="comma-separated")
    parser.add_argument("--repetitions", type=int, default=5)
    parser.add_argument("--quick", action="store_true", help="one repetition of each")
    return parser.parse_args()


def main() -> None:
    """Run all combinations asked for and print a line for each."""
    arguments = _parse_arguments()
    repetitions = QUICK_REPETITIONS if arguments.quick else arguments.repetitions
    header = ["data", "n", "seeds", "without", "with", "ratio", "s.e.", "importance", ""]
    rows = []
    for kind in arguments.kinds.split(","):
        for size in map(int, arguments.sizes.split(",")):
            for name in arguments.datasets.split(","):
                problem = replace(TARGETS[name].problem, n_train=size, n_test=N_TEST)
                rows.append(score(problem, kind, repetitions))
                print("  ".join(rows[-1]), flush=True)
    print(format_table(header, rows))


if __name__ == "__main__":
    main()

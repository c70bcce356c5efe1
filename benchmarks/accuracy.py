"""Integrated squared error of predicted cumulative intensities: ``-m benchmarks.accuracy``.

Every model sees the same individuals in the same repetition and predicts the same fresh
ones. boostr runs with default settings; the baselines are tuned by cross-validation.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from benchmarks._timing import format_table, record
from benchmarks.models import MODELS, Fit, Model
from benchmarks.problems import TARGETS, Problem, Target
from boostr.simulate import Simulation, integrated_squared_error

RESULTS_FILE = "accuracy.jsonl"
N_TIMES = 201  # of the trapezoid rule
QUICK_REPETITIONS = 1


@dataclass(frozen=True, slots=True)
class Score:
    """Errors of one model on one data set, one per repetition."""

    errors: tuple[float, ...]
    seconds: float  # of all fits and predictions

    @property
    def mean(self) -> float:
        return float(np.mean(self.errors))

    @property
    def standard_error(self) -> float:
        n = len(self.errors)
        return float(np.std(self.errors, ddof=1) / np.sqrt(n)) if n > 1 else float("nan")

    def describe(self) -> str:
        return f"{self.mean:.2f} ± {self.standard_error:.2f}"


def score_once(
    fit: Fit, problem: Problem, repetition: int
) -> tuple[float, float, Model, Simulation]:
    """Return the mean error over fresh individuals, the seconds, the model and the test."""
    train, test = problem.draw_pair(repetition)
    times = np.linspace(0.0, test.horizon, N_TIMES)
    sensors = [] if test.Z is None else [test.Z]
    start = time.perf_counter()
    model = fit(problem, train, repetition)
    predicted = model.predict_cumulative(test.X, times, *sensors)
    seconds = time.perf_counter() - start
    errors = integrated_squared_error(predicted, test.truth(times), times)
    return float(errors.mean()), seconds, model, test


def score_target(
    target: Target, names: Sequence[str], repetitions: int
) -> dict[str, Score]:
    """Run all models on the same repetitions of a data set."""
    scores = {}
    for name in names:
        runs = [
            score_once(MODELS[name], target.problem, each)[:2]
            for each in range(repetitions)
        ]
        errors, seconds = zip(*runs, strict=True)
        scores[name] = Score(errors, sum(seconds))
        record_score(RESULTS_FILE, target, name, scores[name])
    return scores


def record_score(file_name: str, target: Target, model_name: str, score: Score) -> None:
    """Append the errors of one model on one data set to a file of results."""
    record(
        file_name,
        name="accuracy",
        dataset=target.problem.name,
        model=model_name,
        n_train=target.problem.n_train,
        n_test=target.problem.n_test,
        errors=score.errors,
        mean=score.mean,
        standard_error=score.standard_error,
        must_reach=target.must_reach,
        aim=target.aim,
        seconds=score.seconds,
    )


def describe_target(target: Target, scores: dict[str, Score]) -> str:
    """Return a table of the models on one data set."""
    problem = target.problem
    repetitions = len(next(iter(scores.values())).errors)
    rows = [
        [
            name,
            f"{score.mean:.2f}",
            f"{score.standard_error:.2f}",
            _judge(target, score) if name == "boostr" else "",
            f"{score.seconds / repetitions:.2f}",
        ]
        for name, score in scores.items()
    ]
    title = (
        f"{problem.name}: {problem.n_train} to train, {problem.n_test} to test, "
        f"{repetitions} repetitions; must reach {target.must_reach}, aim {target.aim}"
    )
    header = ["model", "mean ISE", "s.e.", "verdict", "s per repetition"]
    return f"{title}\n{format_table(header, rows)}\n"


def describe_all(results: dict[str, dict[str, Score]]) -> str:
    """Return models against data sets, with the targets below."""
    names = list(next(iter(results.values())))
    rows = [
        [name, *[scores[name].describe() for scores in results.values()]] for name in names
    ]
    rows.append(["must reach", *[f"{TARGETS[name].must_reach:.1f}" for name in results]])
    rows.append(["aim", *[f"{TARGETS[name].aim:.1f}" for name in results]])
    return format_table(["mean ISE ± s.e.", *results], rows)


def _judge(target: Target, score: Score) -> str:
    if score.mean <= target.aim:
        return "met (aim)"
    return "met" if score.mean <= target.must_reach else "missed"


def _parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--datasets", default=",".join(TARGETS), help="comma-separated")
    parser.add_argument("--models", default=",".join(MODELS), help="comma-separated")
    parser.add_argument("--repetitions", type=int, help="the same for every data set")
    parser.add_argument(
        "--quick", action="store_true", help="one repetition of each; proves that it runs"
    )
    arguments = parser.parse_args()
    for known, asked in ((TARGETS, "datasets"), (MODELS, "models")):
        unknown = set(getattr(arguments, asked).split(",")) - set(known)
        if unknown:
            parser.error(f"unknown {asked} {sorted(unknown)}; known: {', '.join(known)}")
    return arguments


def main() -> None:
    """Run the data sets asked for and print a table after each, then all in one."""
    arguments = _parse_arguments()
    results = {}
    for name in arguments.datasets.split(","):
        target = TARGETS[name]
        repetitions = QUICK_REPETITIONS if arguments.quick else target.repetitions
        repetitions = arguments.repetitions or repetitions
        scores = score_target(target, arguments.models.split(","), repetitions)
        results[name] = scores
        print(describe_target(target, scores), flush=True)
    print(describe_all(results))


if __name__ == "__main__":
    main()

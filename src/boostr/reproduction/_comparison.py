"""All models against the truth: integrated squared errors on fresh individuals."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from boostr._typing import FloatArray
from boostr.metrics import integrated_squared_error
from boostr.plotting import plot_comparison
from boostr.reproduction._learners import (
    DEFAULT,
    PAPER,
    POINTWISE,
    Kind,
    absent_baselines,
    make_learners,
)
from boostr.reproduction._numbers import say, say_mean, standard_error
from boostr.reproduction._page import Block, Picture, Table, draw
from boostr.reproduction._work import Job, Result, Scale, Work
from boostr.simulate import Simulation

__all__ = ["Comparison", "Problem", "build_error_block", "compare_learners"]

_N_TEST = 1000
_N_TIMES = 201  # of the trapezoid rule
# Far apart, so that no repetition is tested on what another one was trained on.
_FIRST_TRAINING_SEED = 10_000
_FIRST_TEST_SEED = 20_000
_FEWEST_BOXED = 5  # repetitions from which boxes say more than the table
_OWN = (DEFAULT, PAPER, POINTWISE)


@dataclass(frozen=True, slots=True)
class Problem:
    """A data set that is simulated repeatedly."""

    kind: Kind
    simulate: Callable[..., Simulation]
    n_train: int
    options: Mapping[str, Any]  # of the simulator

    def draw(self, n: int, seed: int) -> Simulation:
        """Simulate individuals."""
        return self.simulate(n=n, random_state=seed, **self.options)


@dataclass(frozen=True, slots=True, eq=False)
class Comparison:
    """Errors and importances of every model, one value or row per repetition."""

    errors: Mapping[str, FloatArray]  # (n_repetitions,) each
    importances: Mapping[str, FloatArray]  # (n_repetitions, p), of learners that have them

    @property
    def ranking(self) -> list[str]:
        """Models from the lowest mean error to the highest."""
        return sorted(self.errors, key=lambda name: float(self.errors[name].mean()))


def compare_learners(work: Work, problem: Problem) -> Comparison:
    """Fit all models to the same draws and predict the same fresh individuals."""
    names = list(make_learners(problem.kind, work.scale))
    repetitions = range(work.scale.n_repetitions)
    jobs = [{"learner": name, "repetition": r} for r in repetitions for name in names]
    results = work.run(
        f"{problem.kind}: learners against the truth",
        jobs,
        lambda job: _score(problem, work.scale, job),
        settings={"n_train": problem.n_train, "n_test": _N_TEST, **problem.options},
    )
    found: dict[str, list[Result]] = {name: [] for name in names}
    for job, result in zip(jobs, results, strict=True):
        found[str(job["learner"])].append(result)
    return Comparison(
        {name: np.array([each["error"] for each in runs]) for name, runs in found.items()},
        {
            name: np.array([each["importances"] for each in runs])
            for name, runs in found.items()
            if name in _OWN
        },
    )


def build_error_block(
    problem: Problem, scale: Scale, comparison: Comparison, paper: str
) -> Block:
    """Return the comparison of all models with the truth."""
    pictures: tuple[Picture, ...] = ()
    if scale.n_repetitions >= _FEWEST_BOXED:
        pictures = (_draw_boxes(problem, comparison),)
    return Block(
        title=f"{problem.kind}: distance from the truth",
        paper=paper,
        paper_settings=_describe_paper(comparison),
        default=_describe_default(problem, scale, comparison),
        caution=_find_caution(comparison),
        pictures=pictures,
        tables=(_tabulate(problem, comparison),),
    )


def _score(problem: Problem, scale: Scale, job: Job) -> Result:
    repetition = int(job["repetition"])
    train = problem.draw(problem.n_train, _FIRST_TRAINING_SEED + repetition)
    test = problem.draw(_N_TEST, _FIRST_TEST_SEED + repetition)
    learner = make_learners(problem.kind, scale, repetition)[job["learner"]]
    times = np.linspace(0.0, test.horizon, _N_TIMES)
    predicted = learner.fit(train.X, train.y).predict_cumulative(test.X, times)
    errors = integrated_squared_error(predicted, test.truth(times), times)
    result: Result = {"error": float(errors.mean())}
    if job["learner"] in _OWN:
        result["importances"] = learner.feature_importances_.tolist()
    return result


def _tabulate(problem: Problem, comparison: Comparison) -> Table:
    reference = comparison.errors[DEFAULT]
    rows = []
    for name in comparison.ranking:
        errors = comparison.errors[name]
        n_wins = int(np.count_nonzero(errors < reference))
        rows.append(
            (
                name,
                say(errors.mean()),
                say(standard_error(errors)),
                f"{errors.mean() / reference.mean():.2f}",
                "" if name == DEFAULT else f"{n_wins} of {len(errors)}",
            )
        )
    return Table(
        caption=(
            "Integrated squared error of the predicted against the true cumulative "
            f"intensity, mean over {_N_TEST} fresh individuals; {problem.n_train} "
            f"individuals to learn from, {len(reference)} repetitions."
        ),
        columns=(
            "Learner",
            "Mean",
            "Standard error",
            "Relative to default",
            "Beats default",
        ),
        rows=tuple(rows),
        marked=frozenset({0}),
    )


def _draw_boxes(problem: Problem, comparison: Comparison) -> Picture:
    scores = {name: comparison.errors[name] for name in comparison.ranking}
    axes = plot_comparison(scores, label="Integrated squared error", horizontal=True)
    axes.set_xscale("log")
    figure: Any = axes.figure
    return draw(
        figure,
        f"Integrated squared errors on data set {problem.kind}, one per repetition, from "
        "the lowest mean to the highest; the scale is logarithmic.",
        "Box plots of the integrated squared errors of all learners",
    )


def _describe_paper(comparison: Comparison) -> str:
    power, pointwise = (comparison.errors[name].mean() for name in (PAPER, POINTWISE))
    ratio = power / comparison.errors[DEFAULT].mean()
    return (
        f"Error {say(power)} with power functions in the leaves, {say(pointwise)} "
        f"with pointwise ones, as in the paper; the former is {ratio:.1f} times that of "
        "the default."
    )


def _describe_default(problem: Problem, scale: Scale, comparison: Comparison) -> str:
    errors = comparison.errors
    best = next(name for name in comparison.ranking if name not in _OWN)
    gap = errors[best] - errors[DEFAULT]
    text = (
        f"Error {say(errors[DEFAULT].mean())}. The best rival is {best} with "
        f"{say(errors[best].mean())}; the difference, {say_mean(gap)}, is the mean and its "
        "standard error over the same draws."
    )
    absent = absent_baselines(problem.kind, scale)
    if absent:
        reasons = "; ".join(f"{name} ({reason})" for name, reason in absent.items())
        text += f"\n\nLeft out: {reasons}."
    return text


def _find_caution(comparison: Comparison) -> str:
    """Return a sentence on the models that beat the default, if any."""
    better = comparison.ranking[: comparison.ranking.index(DEFAULT)]
    if not better:
        return ""
    parts = []
    for name in better:
        gap = comparison.errors[DEFAULT] - comparison.errors[name]
        parts.append(f"{name} by {say_mean(gap)}")
    return f"The default is not the best here. Better is {'; '.join(parts)}."

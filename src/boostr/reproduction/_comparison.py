"""All models against the truth: integrated squared errors on fresh individuals."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from boostr._typing import FloatArray
from boostr.metrics import integrated_squared_error
from boostr.plotting import plot_comparison
from boostr.reproduction._models import (
    DEFAULT,
    PAPER,
    POINTWISE,
    absent_baselines,
    make_models,
)
from boostr.reproduction._page import (
    Block,
    Picture,
    ResultTable,
    digits,
    draw,
    say_mean,
    standard_error,
)
from boostr.reproduction._work import Result, Results, Scale, Work, rank
from boostr.reproduction.problems import Problem
from boostr.simulate import Simulation

__all__ = ["build_error_block", "compare_models", "fit_pair"]

_N_TIMES = 201  # of the trapezoid rule
_FEWEST_BOXED = 5  # repetitions from which boxes say more than the table
_OWN = (DEFAULT, PAPER, POINTWISE)


def fit_pair(problem: Problem, scale: Scale, train: Simulation) -> dict[str, Any]:
    """Fit the paper's settings and the default, whose trees and maps are drawn."""
    models = make_models(problem.name, scale)
    return {name: models[name].fit(train.X, train.y) for name in (POINTWISE, DEFAULT)}


def compare_models(work: Work, problem: Problem) -> Results:
    """Fit all models to the same draws and predict the same fresh individuals."""
    return work.run(
        f"{problem.name}: models against the truth",
        _score,
        list(make_models(problem.name, work.scale)),
        work.scale.n_repetitions,
        problem=problem,
    )


def _score(
    case: str,
    repetition: int,
    scale: Scale,
    problem: Problem,
    n_times: int = _N_TIMES,
) -> Result:
    train, test = problem.draw_pair(repetition)
    model = make_models(problem.name, scale, repetition)[case]
    times = np.linspace(0.0, test.horizon, n_times)
    predicted = model.fit(train.X, train.y).predict_cumulative(test.X, times)
    errors = integrated_squared_error(predicted, test.truth(times), times)
    result: Result = {"error": float(errors.mean())}
    if case in _OWN:
        result["importances"] = model.feature_importances_
    return result


def build_error_block(
    problem: Problem, scale: Scale, errors: Mapping[str, FloatArray], paper: str
) -> Block:
    """Return the comparison of all models with the truth; ``errors`` by model."""
    ranking, own = rank(errors), errors[DEFAULT]
    power, pointwise = errors[PAPER].mean(), errors[POINTWISE].mean()
    baseline = next(name for name in ranking if name not in _OWN)
    absent = absent_baselines(problem.name, scale)
    reasons = "; ".join(f"{name} ({reason})" for name, reason in absent.items())
    left_out = f"\n\nLeft out: {reasons}." if absent else ""
    better = [
        f"{name} by {say_mean(own - errors[name])}"
        for name in ranking[: ranking.index(DEFAULT)]
    ]
    return Block(
        title=f"{problem.name}: distance from the truth",
        paper=paper,
        paper_settings=(
            f"Error {digits(power)} with power functions in the leaves, "
            f"{digits(pointwise)} with pointwise ones, as in the paper; the former is "
            f"{power / own.mean():.1f} times that of the default."
        ),
        default=(
            f"Error {digits(own.mean())}. The best baseline is {baseline} with "
            f"{digits(errors[baseline].mean())}; the difference, "
            f"{say_mean(errors[baseline] - own)}, is the mean and its standard error over "
            f"the same draws.{left_out}"
        ),
        caution=(
            f"The default is not the best here. Better is {'; '.join(better)}."
            if better
            else ""
        ),
        pictures=[_draw_boxes(problem, errors)] if len(own) >= _FEWEST_BOXED else [],
        tables=[_tabulate(problem, errors)],
    )


def _tabulate(problem: Problem, errors: Mapping[str, FloatArray]) -> ResultTable:
    reference = errors[DEFAULT]
    n = len(reference)
    return ResultTable(
        "Integrated squared error of the predicted against the true cumulative intensity, "
        f"mean over {problem.n_test} fresh individuals; {problem.n_train} individuals "
        f"to learn from, {n} repetitions.",
        ("Model", "Mean", "Standard error", "Relative to default", "Beats default"),
        [
            (
                name,
                digits(errors[name].mean()),
                digits(standard_error(errors[name])),
                f"{errors[name].mean() / reference.mean():.2f}",
                "" if name == DEFAULT else f"{np.sum(errors[name] < reference)} of {n}",
            )
            for name in rank(errors)
        ],
        best=0,
    )


def _draw_boxes(problem: Problem, errors: Mapping[str, FloatArray]) -> Picture:
    scores = {name: errors[name] for name in rank(errors)}
    axes = plot_comparison(scores, label="Integrated squared error", horizontal=True)
    axes.set_xscale("log")
    return draw(
        axes.figure,
        f"Integrated squared errors on data set {problem.name}, one per repetition, from "
        "the lowest mean to the highest; the scale is logarithmic.",
        "Box plots of the integrated squared errors of all models",
    )

"""Data set A: a maximum projection design over gamma1 and gamma2."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from boostr.estimators import BoostR
from boostr.inspection import leaf_counts
from boostr.metrics import integrated_squared_error
from boostr.plotting import plot_design, plot_setting_boxes
from boostr.reproduction._comparison import Problem
from boostr.reproduction._figures import open_figure
from boostr.reproduction._learners import PAPER_SETTINGS
from boostr.reproduction._page import Block, draw
from boostr.reproduction._work import Job, Result, Work
from boostr.simulate import Simulation
from boostr.tuning import max_pro_criterion, max_pro_design

__all__ = ["build_design", "find_best", "try_settings"]

_RANGES = {"gamma1": 600.0, "gamma2": 200.0}  # from 0, as in the paper
_SEED = 0
_N_BEST = 3  # as in the paper
_GOOD_SIZES = (4.0, 8.0)  # leaves of a tree that the paper looks for
_N_TEST = 1000
_N_TIMES = 201  # at which curves are compared
_N_RANDOM = 200  # Latin hypercubes to compare the design with

Settings = Sequence[Result]


def try_settings(work: Work, problem: Problem, seed: int) -> Settings:
    """Return the settings of the design with the leaves of their trees."""
    design = max_pro_design(work.scale.n_design, len(_RANGES), random_state=_SEED)
    jobs = [
        {
            name: round(float(share) * high, 3)
            for share, (name, high) in zip(point, _RANGES.items(), strict=True)
        }
        for point in design
    ]
    train = problem.draw(problem.n_train, seed)
    test = problem.draw(_N_TEST, seed + _N_TEST)
    return work.run(
        "A: settings of a design",
        jobs,
        lambda job: _try(train, test, job),
        settings={
            "n_train": problem.n_train,
            "n_test": _N_TEST,
            "n_times": _N_TIMES,
            "seed": seed,
            "paper": PAPER_SETTINGS["A"],
            **problem.options,
        },
    )


def _try(train: Simulation, test: Simulation, job: Job) -> Result:
    settings: dict[str, Any] = PAPER_SETTINGS["A"] | job
    model = BoostR.paper(**settings, leaf="step").fit(train.X, train.y)
    times = np.linspace(0.0, test.horizon, _N_TIMES)
    predicted = model.predict_cumulative(test.X, times)
    error = integrated_squared_error(predicted, test.truth(times), times).mean()
    counts = leaf_counts(model).counts[0].tolist()
    return {"params": job, "leaf_counts": counts, "error": float(error)}


def find_best(settings: Settings) -> list[int]:
    """Return the positions of the settings with tree sizes closest to the target."""
    means = np.array([np.mean(setting["leaf_counts"]) for setting in settings])
    low, high = _GOOD_SIZES
    distance = np.maximum(low - means, 0.0) + np.maximum(means - high, 0.0)
    best: list[int] = np.sort(np.argsort(distance, kind="stable")[:_N_BEST]).tolist()
    return best


def build_design(settings: Settings, best: Sequence[int]) -> Block:
    """Return the design and the tree sizes."""
    figure, panels = open_figure(1, 2, (13.0, 4.6), width_ratios=(1.0, 1.4))
    plot_design(settings, marked=best, ax=panels[0])
    plot_setting_boxes(settings, marked=best, ax=panels[1])
    panels[0].set(xlim=(0.0, _RANGES["gamma1"]), ylim=(0.0, _RANGES["gamma2"]))
    chosen = [settings[place]["params"] for place in best]
    means = [np.mean(settings[place]["leaf_counts"]) for place in best]
    numbers = ", ".join(str(place + 1) for place in best)
    return Block(
        title="A: a design of settings",
        paper=(
            "A maximum projection Latin hypercube of 15 runs over [0, 600] x [0, 200]. "
            "Settings 3, 4 and 6 have the 4 to 8 leaves per tree that are looked for; they "
            "are neighbours, with gamma1 in [75, 220] and gamma2 in [75, 175]."
        ),
        paper_settings=(
            f"Nearest to 4 to 8 leaves per tree are settings {numbers}, with "
            f"{', '.join(f'{mean:.1f}' for mean in means)} leaves on average; gamma1 is in "
            f"{_say_range(chosen, 'gamma1')}, gamma2 in {_say_range(chosen, 'gamma2')}."
        ),
        default=_compare_design(settings),
        caution=_judge(settings, best),
        pictures=(
            draw(
                figure,
                "The design (left), and the leaves of the trees of every setting (right): "
                "areas of dots are shares of trees. The three settings nearest to 4 to 8 "
                "leaves are orange.",
                "Scatter plot of fifteen settings, and box plots of leaves per tree",
            ),
        ),
    )


def _judge(settings: Settings, best: Sequence[int]) -> str:
    """Return a sentence on whether the number of leaves finds good settings."""
    errors = np.array([setting["error"] for setting in settings])
    ranks = np.argsort(np.argsort(errors)) + 1
    chosen_ranks = ", ".join(str(ranks[place]) for place in best)
    chosen_errors = ", ".join(f"{errors[place]:.0f}" for place in best)
    lowest = int(errors.argmin())
    return (
        "The number of leaves is no measure of how well a setting predicts. By the "
        f"distance from the truth on {_N_TEST} fresh individuals, the chosen settings "
        f"have ranks {chosen_ranks} of {len(settings)}, with errors {chosen_errors}; the "
        f"best is setting {lowest + 1} with {errors[lowest]:.0f} and a mean of "
        f"{np.mean(settings[lowest]['leaf_counts']):.1f} leaves. BoostRSearch scores "
        "settings on individuals that were held out."
    )


def _say_range(chosen: Sequence[Job], name: str) -> str:
    values = [float(setting[name]) for setting in chosen]
    return f"[{min(values):.0f}, {max(values):.0f}]"


def _compare_design(settings: Settings) -> str:
    """Return a sentence on the design compared with random ones."""
    points = np.array(
        [
            [each["params"][name] / high for name, high in _RANGES.items()]
            for each in settings
        ]
    )
    rng = np.random.default_rng(_SEED)
    levels = (np.arange(len(points)) + 0.5) / len(points)
    random = [
        max_pro_criterion(np.column_stack([rng.permutation(levels) for _ in _RANGES]))
        for _ in range(_N_RANDOM)
    ]
    return (
        f"Joseph's criterion, lower is better, is {max_pro_criterion(points):.1f} for this "
        f"design; the best of {_N_RANDOM} random Latin hypercubes has {min(random):.1f}, "
        f"the median one {np.median(random):.1f}."
    )

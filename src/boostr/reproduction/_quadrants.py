"""Data sets A and B: constant rates in the quadrants of two features."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from boostr.inspection import feature_importance
from boostr.plotting import plot_importance
from boostr.reproduction._comparison import (
    Comparison,
    Problem,
    build_error_block,
    compare_learners,
)
from boostr.reproduction._figures import draw_map, map_error, open_figure
from boostr.reproduction._leaf_counts import build_leaf_counts
from boostr.reproduction._learners import DEFAULT, POINTWISE, make_learners
from boostr.reproduction._page import Block, Chapter, Picture, draw
from boostr.reproduction._ranking import build_ranking
from boostr.reproduction._settings import build_design, find_best, try_settings
from boostr.reproduction._trees import build_convergence, build_trees
from boostr.reproduction._work import Work
from boostr.simulate import Simulation, dataset_a, dataset_b

__all__ = ["build_a", "build_b"]

_SEED = 0
_N = 200  # as in the paper
_ENDS = {"end": (171.0, 228.0)}  # of follow-up in the authors' own copy of A
A = Problem("A", dataset_a, _N, _ENDS)
B = Problem("B", dataset_b, _N, _ENDS)
_INFORMATIVE = 2  # features that matter, the first ones
_NO_DISTANCE = (
    "No distance from the truth is reported, although it is known: the paper compares the "
    "C-index, which only sees the order of individuals."
)

Models = Mapping[str, Any]


def build_a(work: Work) -> Chapter:
    """Return the chapter of data set A."""
    train = A.draw(_N, _SEED)
    models = _fit(work, A, train)
    settings = try_settings(work, A, _SEED)
    best = find_best(settings)
    return Chapter(
        key="A",
        title="Data set A: four quadrants",
        introduction=(
            f"{_N} individuals with two features on the unit interval; events come at a "
            "constant rate of 0.01, 0.05 or 0.10, depending on how many features are above "
            "one half. The paper does not state the end of follow-up; in the authors' own "
            "copy of the data it lies between 171 and 228, and ends are drawn from there."
            "\n\nWherever the paper's settings are drawn tree by tree, leaf functions are "
            "pointwise, as in its Algorithm 1."
        ),
        blocks=(
            build_trees(train, models),
            build_convergence(train, models),
            build_leaf_counts(work, A, train, models),
            _build_map(train, models),
            build_design(settings, best),
            build_ranking(
                work, A, {place + 1: settings[place]["params"] for place in best}
            ),
            build_error_block(A, work.scale, compare_learners(work, A), _NO_DISTANCE),
        ),
    )


def build_b(work: Work) -> Chapter:
    """Return the chapter of data set B."""
    train = B.draw(_N, _SEED)
    comparison = compare_learners(work, B)
    return Chapter(
        key="B",
        title="Data set B: four quadrants and eight useless features",
        introduction=(
            "The individuals of data set A with eight more features, uniform on the unit "
            "interval, on which nothing depends."
        ),
        blocks=(
            _build_importance(train, _fit(work, B, train), comparison),
            build_error_block(B, work.scale, comparison, _NO_DISTANCE),
        ),
    )


def _fit(work: Work, problem: Problem, train: Simulation) -> Models:
    learners = make_learners(problem.kind, work.scale)
    return {name: learners[name].fit(train.X, train.y) for name in (POINTWISE, DEFAULT)}


def _build_map(train: Simulation, models: Models) -> Block:
    horizon = _ENDS["end"][0]  # until then everybody is observed
    error = {
        name: map_error(train, model, horizon, per_time=True)
        for name, model in models.items()
    }
    return Block(
        title="A: the map of the intensity",
        paper=(
            "The true and the estimated intensity, averaged over time, over the feature "
            "space; the four quadrants are found."
        ),
        paper_settings=(
            f"The quadrants are found; the estimate is off by {error[POINTWISE]:.4f} "
            "events per unit of time, on average over the map."
        ),
        default=(
            f"Off by {error[DEFAULT]:.4f} events per unit of time on average over the map, "
            f"{error[DEFAULT] / error[POINTWISE]:.2f} times as much as with the paper's "
            "settings."
        ),
        pictures=tuple(
            draw_map(
                train,
                model,
                horizon,
                f"{name}: true (left), estimated (right).",
                per_time=True,
            )
            for name, model in models.items()
        ),
    )


def _build_importance(train: Simulation, models: Models, comparison: Comparison) -> Block:
    useless = {
        name: shares[:, _INFORMATIVE:].sum(axis=1)
        for name, shares in comparison.importances.items()
    }
    largest = {
        name: int(
            np.count_nonzero(
                shares[:, :_INFORMATIVE].min(axis=1) > shares[:, _INFORMATIVE:].max(axis=1)
            )
        )
        for name, shares in comparison.importances.items()
    }
    n = len(useless[DEFAULT])
    return Block(
        title="B: importance of the features",
        paper=(
            "The total gain of the splits on a feature, scaled to a largest of 1 and a "
            "smallest of 0: x1 and x2 stand out, the other eight are near 0."
        ),
        paper_settings=(
            f"Useless features take {useless[POINTWISE].mean():.1%} of the gain on "
            f"average; x1 and x2 are the two largest in {largest[POINTWISE]} of {n} draws."
        ),
        default=(
            f"Useless features take {useless[DEFAULT].mean():.1%} of the gain on average; "
            f"x1 and x2 are the two largest in {largest[DEFAULT]} of {n} draws."
        ),
        pictures=(_draw_importance(train, models),),
    )


def _draw_importance(train: Simulation, models: Models) -> Picture:
    figure, panels = open_figure(1, 2, (10.0, 4.0))
    for panel, (name, model) in zip(panels, models.items(), strict=True):
        found = feature_importance(model)
        plot_importance(replace(found, features=train.feature_names), ax=panel)
        panel.set_title(name, fontsize="medium")
    return draw(
        figure,
        "Share of the gain of all splits, by feature; x3 to x10 are useless.",
        "Bars of the importance of ten features, for the paper's settings and the default",
    )

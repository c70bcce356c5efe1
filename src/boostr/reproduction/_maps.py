"""Data sets C and D: maps of the cumulative intensity over two features."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from boostr.reproduction._comparison import Problem, build_error_block, compare_learners
from boostr.reproduction._figures import draw_map, map_error, map_ranges
from boostr.reproduction._learners import (
    DEFAULT,
    PAPER_SETTINGS,
    POINTWISE,
    make_learners,
)
from boostr.reproduction._page import Block, Chapter
from boostr.reproduction._work import Work
from boostr.simulate import Simulation, dataset_c, dataset_d

__all__ = ["build_c", "build_d"]

_SEED = 0
_TOLERATED = 0.1  # of the range of the truth, beyond which an estimate is called off


@dataclass(frozen=True, slots=True)
class _Scene:
    """Settings and claims of the paper for one of the two data sets."""

    problem: Problem
    title: str
    introduction: str
    time: float  # of the map
    claim: str


def build_c(work: Work) -> Chapter:
    """Return the chapter of falling rates in rings."""
    return _build(
        work,
        _Scene(
            Problem("C", dataset_c, work.scale.n_maps, {"end": 50.0}),
            "Data set C: rings, and rates that fall with time",
            "The intensity is 1.5, 1 or 0.5 times one over the root of time, depending on "
            "the distance from the middle of two features, with jumps at distances of 0.2 "
            "and 0.4.",
            50.0,
            "the estimated map shows the disc and the ring",
        ),
    )


def build_d(work: Work) -> Chapter:
    """Return the chapter of rising rates that vary smoothly."""
    return _build(
        work,
        _Scene(
            Problem("D", dataset_d, work.scale.n_maps, {"end": 100.0}),
            "Data set D: a smooth valley, and rates that rise with time",
            "The intensity is 0.01 times the root of time, times the exponential of a "
            "quadratic function of two features, the second of which counts four times as "
            "much as the first.",
            100.0,
            "the estimated map has the shape of the true one",
        ),
    )


def _build(work: Work, scene: _Scene) -> Chapter:
    problem = scene.problem
    comparison = compare_learners(work, problem)
    paper = (
        "No distance from the truth is reported; the paper judges by the map, and names no "
        "rival for this data set."
    )
    return Chapter(
        key=problem.kind,
        title=scene.title,
        introduction=f"{scene.introduction} {problem.n_train} individuals.",
        blocks=(
            _build_map(work, scene),
            build_error_block(problem, work.scale, comparison, paper),
        ),
    )


def _build_map(work: Work, scene: _Scene) -> Block:
    problem, time = scene.problem, scene.time
    train = problem.draw(problem.n_train, _SEED)
    learners = make_learners(problem.kind, work.scale)
    models = {name: learners[name].fit(train.X, train.y) for name in (POINTWISE, DEFAULT)}
    measure = partial(map_error, train, horizon=time, per_time=False)
    error = {name: measure(model) for name, model in models.items()}
    settings = PAPER_SETTINGS[problem.kind]
    return Block(
        title=f"{problem.kind}: cumulative intensity at time {time:g}",
        paper=(
            f"With K = {settings['n_estimators']}, gamma1 = {settings['gamma1']:g} and "
            f"gamma2 = {settings['gamma2']:g}, {scene.claim}. D.max is not stated; it is 4 "
            "here."
        ),
        paper_settings=(
            f"The estimate is off by {error[POINTWISE]:.2f} events on average over the map."
        ),
        default=(
            f"Off by {error[DEFAULT]:.2f} events, on average over the map, "
            f"{error[DEFAULT] / error[POINTWISE]:.2f} times as much as with the paper's "
            "settings."
        ),
        caution=_judge(train, models, time),
        pictures=tuple(
            draw_map(
                train,
                model,
                time,
                f"{name}: true (left), estimated (right).",
                per_time=False,
            )
            for name, model in models.items()
        ),
    )


def _judge(train: Simulation, models: Mapping[str, Any], time: float) -> str:
    """Return a sentence on how far the paper's settings leave the range of the true map."""
    true, plain = map_ranges(train, models[POINTWISE], time)
    _, own = map_ranges(train, models[DEFAULT], time)
    excess = max(plain[1] - true[1], true[0] - plain[0])
    if excess < _TOLERATED * (true[1] - true[0]):
        return ""
    return (
        f"The true map ranges from {true[0]:.1f} to {true[1]:.1f}; with the paper's "
        f"settings the estimate goes from {plain[0]:.1f} to {plain[1]:.1f}, which is noise "
        f"that was learned, and by default from {own[0]:.1f} to {own[1]:.1f}."
    )

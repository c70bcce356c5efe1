"""Data sets C and D: maps of the cumulative intensity over two features."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from boostr._typing import FloatArray
from boostr.plotting import plot_feature_map
from boostr.reproduction._comparison import (
    build_error_block,
    compare_models,
    fit_pair,
)
from boostr.reproduction._models import DEFAULT, PAPER_SETTINGS, POINTWISE
from boostr.reproduction._page import Block, Chapter, Picture, draw
from boostr.reproduction._work import Work, stack
from boostr.reproduction.problems import Problem
from boostr.simulate import Simulation, dataset_c, dataset_d

__all__ = ["IntensityMap", "build_c", "build_d"]

_N_GRID = 60  # values of each feature on a map
_SEED = 0
_TOLERATED = 0.1  # of the range of the truth, beyond which an estimate is called off


class IntensityMap:
    """True and estimated cumulative intensity at a time, over the first two features.

    With `per_time` it is divided by the time: the average intensity.
    """

    def __init__(
        self, simulation: Simulation, model: Any, time: float, *, per_time: bool
    ) -> None:
        self.grid = (np.arange(_N_GRID) + 0.5) / _N_GRID
        across, along = np.meshgrid(self.grid, self.grid)
        points = np.column_stack([across.ravel(), along.ravel()])
        unit = time if per_time else 1.0
        self.true: FloatArray = simulation.truth([time], X=points).reshape(across.shape)
        self.true = self.true / unit
        found = model.predict_cumulative(points, [time]).reshape(across.shape)
        self.estimated: FloatArray = found / unit
        quantity = "Average intensity up to" if per_time else "Cumulative intensity at"
        first, second, *_ = simulation.feature_names
        self.labels = (first, second, f"{quantity} time {time:g}")

    @property
    def error(self) -> float:
        """Mean absolute error over the map."""
        return float(np.abs(self.estimated - self.true).mean())

    def draw(self, name: str) -> Picture:
        """Draw the two maps beside each other."""
        first, second, quantity = self.labels
        axes = plot_feature_map(
            self.grid, self.grid, self.true, self.estimated, labels=self.labels
        )
        return draw(
            axes.figure,
            f"{name}: true (left), estimated (right).",
            f"{quantity} over {first} and {second}: true, estimated",
        )


def build_c(work: Work) -> Chapter:
    """Return the chapter of falling rates in rings."""
    return _build(
        work,
        Problem("C", dataset_c, work.scale.n_maps),
        "Data set C: rings, and rates that fall with time",
        "The intensity is 1.5, 1 or 0.5 times one over the root of time, depending on the "
        "distance from the middle of two features, with jumps at distances of 0.2 and 0.4.",
        "the estimated map shows the disc and the ring",
    )


def build_d(work: Work) -> Chapter:
    """Return the chapter of rising rates that vary smoothly."""
    return _build(
        work,
        Problem("D", dataset_d, work.scale.n_maps),
        "Data set D: a smooth valley, and rates that rise with time",
        "The intensity is 0.01 times the root of time, times the exponential of a "
        "quadratic function of two features, the second of which counts four times as much "
        "as the first.",
        "the estimated map has the shape of the true one",
    )


def _build(
    work: Work, problem: Problem, title: str, introduction: str, claim: str
) -> Chapter:
    errors = stack(compare_models(work, problem), "error")
    paper = (
        "No distance from the truth is reported; the paper judges by the map, and names no "
        "baseline for this data set."
    )
    return Chapter(
        problem.name,
        title,
        f"{introduction} {problem.n_train} individuals.",
        [
            _build_map(work, problem, claim),
            build_error_block(problem, work.scale, errors, paper),
        ],
    )


def _build_map(work: Work, problem: Problem, claim: str) -> Block:
    train = problem.draw(problem.n_train, _SEED)
    time = train.horizon
    maps = {
        name: IntensityMap(train, model, time, per_time=False)
        for name, model in fit_pair(problem, work.scale, train).items()
    }
    settings = PAPER_SETTINGS[problem.name]
    ratio = maps[DEFAULT].error / maps[POINTWISE].error
    return Block(
        title=f"{problem.name}: cumulative intensity at time {time:g}",
        paper=(
            f"With K = {settings['n_estimators']}, gamma1 = {settings['gamma1']:g} and "
            f"gamma2 = {settings['gamma2']:g}, {claim}. D.max is not stated; it is 4 here."
        ),
        paper_settings=(
            f"The estimate is off by {maps[POINTWISE].error:.2f} events on average over "
            "the map."
        ),
        default=(
            f"Off by {maps[DEFAULT].error:.2f} events, on average over the map, "
            f"{ratio:.2f} times as much as with the paper's settings."
        ),
        caution=_judge(maps),
        pictures=[each.draw(name) for name, each in maps.items()],
    )


def _judge(maps: Mapping[str, IntensityMap]) -> str:
    """Return a sentence on how far the paper's settings leave the range of the true map."""
    true, plain, own = (
        (float(values.min()), float(values.max()))
        for values in (
            maps[POINTWISE].true,
            maps[POINTWISE].estimated,
            maps[DEFAULT].estimated,
        )
    )
    excess = max(plain[1] - true[1], true[0] - plain[0])
    if excess < _TOLERATED * (true[1] - true[0]):
        return ""
    return (
        f"The true map ranges from {true[0]:.1f} to {true[1]:.1f}; with the paper's "
        f"settings the estimate goes from {plain[0]:.1f} to {plain[1]:.1f}, which is noise "
        f"that was learned, and by default from {own[0]:.1f} to {own[1]:.1f}."
    )

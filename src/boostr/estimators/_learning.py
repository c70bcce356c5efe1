"""Training of the trees from statistics in memory or on workers."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from boostr._engine.selection import Report, Task
from boostr._engine.training import JudgesTerms, Trained, train
from boostr._engine.training_set import Cohort
from boostr._engine.tree import LeafProblem
from boostr.basis import FittedSensorBasis
from boostr.estimators._resuming import EarlierTrees, open_log
from boostr.estimators._settings import (
    boosting_params,
    list_shapes,
    proportional_term,
    validation_scheme,
)
from boostr.estimators._statistics import Plan

__all__ = ["Pace", "learn_trees"]


@dataclass(frozen=True, slots=True)
class Pace:
    """Threads, progress callback and checkpoint; none changes the result."""

    n_threads: int
    report: Report
    checkpoint: str | os.PathLike[str] | None = None


def learn_trees(
    params: Mapping[str, Any],
    plan: Plan,
    problem: LeafProblem,
    cohort: Cohort,
    pace: Pace,
    earlier: EarlierTrees | None = None,
    judge: JudgesTerms | None = None,
) -> Trained:
    """Choose shapes and numbers of trees by validation, and grow them."""
    settings = boosting_params(params)
    task = Task(
        cohort, problem, settings, params["n_estimators"], pace.n_threads, pace.report
    )
    has_sensors = isinstance(plan.basis, FittedSensorBasis)
    shapes = list_shapes(params, has_sensors=has_sensors)
    term = proportional_term(plan.basis)
    with open_log(params, task, pace.checkpoint, earlier or EarlierTrees()) as log:
        task = replace(task, log=log)
        return train(task, shapes, validation_scheme(params), term, judge)

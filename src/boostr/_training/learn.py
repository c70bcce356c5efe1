"""Training of the trees, from the start, a checkpoint or a model with fewer trees."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from numbers import Integral
from typing import Any

from boostr._engine.binning import BinMapper
from boostr._engine.selection import Report, Round, Task, TreeLog
from boostr._engine.training import JudgesTerms, Trained, train
from boostr._engine.training_set import Cohort
from boostr._engine.tree import LeafProblem
from boostr._training.settings import (
    boosting_params,
    list_shapes,
    proportional_term,
    validation_scheme,
)
from boostr._training.statistics import Plan
from boostr.basis import FittedSensorBasis
from boostr.exceptions import InvalidParameterError
from boostr.io.checkpoint import CheckpointFile
from boostr.io.model import own_version
from boostr.io.trees import PackedTrees
from boostr.io.values import digest

__all__ = ["EarlierTrees", "Pace", "learn_trees", "open_log"]

_SILENT = {"monotone", "n_jobs", "verbose", "warm_start"}  # trees do not depend on them


@dataclass(frozen=True, slots=True, eq=False)
class EarlierTrees:
    """Trees of an earlier fit that a warm start continues; otherwise none."""

    rounds: tuple[Round, ...] = ()
    mark: str = ""  # of the clock, functions, bins and categories they were grown with

    @classmethod
    def take(cls, model: Any) -> EarlierTrees:
        """Return the trees of a model before it is fitted again."""
        if not model.warm_start or not hasattr(model, "ensemble_"):
            return cls()
        ensemble = model.ensemble_
        if len(ensemble.members) > 1:
            raise InvalidParameterError(
                "`warm_start` adds trees to one model, but the earlier fit has averaged "
                f"{len(ensemble.members)}.\n\nHint: validation=None in both fits."
            )
        trees = ensemble.members[0].trees
        if len(trees) > model.n_estimators:
            raise InvalidParameterError(
                "With `warm_start` there must be as many `n_estimators` as trees, or more, "
                f"but there are {model.n_estimators} for {len(trees)} trees.\n\n"
                "Hint: warm_start=False starts anew."
            )
        mark = _mark(model, ensemble.clock, ensemble.basis, ensemble.mapper)
        return cls(tuple((tree,) for tree in trees), mark)

    def check(self, model: Any, plan: Plan, mapper: BinMapper) -> None:
        """Refuse other data, whose bins and clock would change the meaning of the trees."""
        if self.rounds and self.mark != _mark(model, plan.clock, plan.basis, mapper):
            raise InvalidParameterError(
                "`warm_start` adds trees to a model of the same data, clock and leaf "
                "functions, but these are others.\n\nHint: warm_start=False starts anew."
            )


@contextmanager
def open_log(
    params: Mapping[str, Any],
    task: Task,
    checkpoint: str | os.PathLike[str] | None,
    earlier: EarlierTrees,
) -> Iterator[TreeLog]:
    """Yield the log of trees: those known already, and a place for new ones."""
    if checkpoint is None:
        yield TreeLog(earlier.rounds)
        return
    if not isinstance(params["random_state"], Integral):
        raise InvalidParameterError(
            "`checkpoint` needs a whole number as `random_state`, but it is "
            f"{params['random_state']!r}: other random numbers could not go on.\n\n"
            "Hint: random_state=0."
        )
    with CheckpointFile(checkpoint, _fingerprint(params, task, earlier)) as file:
        yield TreeLog([*earlier.rounds, *file.rounds], file.keep)


def _fingerprint(
    params: Mapping[str, Any], task: Task, earlier: EarlierTrees
) -> dict[str, str]:
    """Return the parts that identify a training, by the names used in messages."""
    names = [name for name in params if not name.endswith("_") and name not in _SILENT]
    parts = {name: _digest_param(params[name]) for name in sorted(names)}
    cohort = task.cohort
    layout = cohort.layout
    parts["data"] = digest(cohort.mark(), layout.n_values, layout.is_categorical)
    trees = [tree for same_round in earlier.rounds for tree in same_round]
    packed = PackedTrees.from_trees(trees, cohort.n_terms) if trees else None
    parts["earlier trees"] = digest(packed)
    # Other versions may ask for other trees, or for the same ones in another order.
    parts["version of boostr"] = own_version()
    return parts


def _digest_param(value: Any) -> str:
    try:
        return digest(value)
    except InvalidParameterError:  # an object of the user's: its effect is in the data
        return type(value).__name__


def _mark(model: Any, clock: Any, basis: Any, mapper: BinMapper) -> str:
    known = digest(clock, mapper, model.encoder_, model.sensor_layout_)
    return known + _digest_param(basis)


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

"""One fit: from settings, features, histories and sensors to a `Fitted`."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields, replace
from functools import partial
from numbers import Integral
from operator import length_hint
from typing import Any

from numpy.typing import ArrayLike

from boostr._engine.binning import BinMapper, BinnedFeatures
from boostr._engine.selection import Round, Task, TreeLog
from boostr._engine.training import JudgesTerms, Trained, train
from boostr._engine.training_set import LocalTrainingSet, TrainingSet
from boostr._engine.tree import PARALLEL_FROM, LeafProblem
from boostr._frailty.weighted_exposure import ExposedWindows
from boostr._kernels.threads import run_side_by_side
from boostr._training.features import FeatureEncoder
from boostr._training.finish import Grown, finish_fit
from boostr._training.first_use import compile_side_by_side
from boostr._training.fitted import Fitted
from boostr._training.inputs import TrainingData, check_training_data
from boostr._training.limits import read_limits
from boostr._training.run import Hooks, Progress, RunOptions, use_threads
from boostr._training.sensors import SensorLayout
from boostr._training.settings import Settings, find_bins, proportional_term
from boostr._training.statistics import Plan, Prepared, compute_statistics
from boostr._training.streamed import (
    ScannedData,
    check_scanned_data,
    is_scanned,
    stream_statistics,
)
from boostr._training.terms import TermJudge
from boostr.basis import Clock, FittedSensorBasis
from boostr.data import RecurrentEvents, ScannedEvents
from boostr.data.events.fingerprint import Fingerprint
from boostr.exceptions import InvalidParameterError
from boostr.io.checkpoint import CheckpointFile
from boostr.io.model import own_version
from boostr.io.trees import PackedTrees
from boostr.io.values import digest

__all__ = ["EarlierTrees", "fit_model", "learn_trees", "open_log"]

_SILENT = {
    "kinds",
    "monotone",
    "n_jobs",
    "verbose",
    "warm_start",
}  # trees do not depend on them


@dataclass(frozen=True, slots=True, eq=False)
class EarlierTrees:
    """Trees of an earlier fit that a warm start continues; otherwise none."""

    rounds: tuple[Round, ...] = ()
    mark: str = ""  # of the clock, functions, bins and categories they were grown with

    @classmethod
    def of(cls, settings: Settings, fitted: Fitted | None) -> EarlierTrees:
        """Return the trees of an earlier fit; none without a warm start."""
        if not settings.warm_start or fitted is None:
            return cls()
        ensemble = fitted.ensemble
        if len(ensemble.members) > 1:
            raise InvalidParameterError(
                "`warm_start` adds trees to one model, but the earlier fit has averaged "
                f"{len(ensemble.members)}.\n\nHint: validation=None in both fits."
            )
        trees = ensemble.members[0].trees
        if len(trees) > settings.n_estimators:
            raise InvalidParameterError(
                "With `warm_start` there must be as many `n_estimators` as trees, or more, "
                f"but there are {settings.n_estimators} for {len(trees)} trees.\n\n"
                "Hint: warm_start=False starts anew."
            )
        mark = _mark(
            ensemble.clock,
            ensemble.basis,
            ensemble.mapper,
            fitted.encoder,
            fitted.sensor_layout,
        )
        return cls(tuple((tree,) for tree in trees), mark)

    def check(
        self,
        plan: Plan,
        mapper: BinMapper,
        encoder: FeatureEncoder,
        layout: SensorLayout | None,
    ) -> None:
        """Refuse other data, whose bins and clock would change the meaning of the trees."""
        if not self.rounds:
            return
        if self.mark != _mark(plan.clock, plan.basis, mapper, encoder, layout):
            raise InvalidParameterError(
                "`warm_start` adds trees to a model of the same data, clock and leaf "
                "functions, but these are others.\n\nHint: warm_start=False starts anew."
            )


@contextmanager
def open_log(
    settings: Settings,
    task: Task,
    checkpoint: str | os.PathLike[str] | None,
    earlier: EarlierTrees,
) -> Iterator[TreeLog]:
    """Yield the log of trees: those known already, and a place for new ones."""
    if checkpoint is None:
        yield TreeLog(earlier.rounds)
        return
    if not isinstance(settings.random_state, Integral):
        raise InvalidParameterError(
            "`checkpoint` needs a whole number as `random_state`, but it is "
            f"{settings.random_state!r}: other random numbers could not go on.\n\n"
            "Hint: random_state=0."
        )
    with CheckpointFile(checkpoint, _fingerprint(settings, task, earlier)) as file:
        yield TreeLog([*earlier.rounds, *file.rounds], file.keep)


def _fingerprint(settings: Settings, task: Task, earlier: EarlierTrees) -> dict[str, str]:
    """Return the parts that identify a training, by the names used in messages."""
    names = sorted({field.name for field in fields(settings)} - _SILENT)
    parts = {name: _digest_param(getattr(settings, name)) for name in names}
    training_set = task.training_set
    layout = training_set.layout
    parts["data"] = digest(training_set.mark(), layout.n_values, layout.is_categorical)
    trees = [tree for same_round in earlier.rounds for tree in same_round]
    packed = PackedTrees.from_trees(trees, training_set.n_terms) if trees else None
    parts["earlier trees"] = digest(packed)
    # Other versions may ask for other trees, or for the same ones in another order.
    parts["version of boostr"] = own_version()
    return parts


def _digest_param(value: Any) -> str:
    try:
        return digest(value)
    except InvalidParameterError:  # an object of the user's: its effect is in the data
        return type(value).__name__


def _mark(
    clock: Clock,
    basis: Any,
    mapper: BinMapper,
    encoder: FeatureEncoder,
    layout: SensorLayout | None,
) -> str:
    return digest(clock, mapper, encoder, layout) + _digest_param(basis)


def learn_trees(
    settings: Settings,
    plan: Plan,
    problem: LeafProblem,
    training_set: TrainingSet,
    options: RunOptions,
    earlier: EarlierTrees | None = None,
    judge: JudgesTerms | None = None,
) -> Trained:
    """Choose shapes and numbers of trees by validation, and grow them."""
    task = Task(
        training_set,
        problem,
        settings.boosting(),
        settings.n_estimators,
        options.n_threads,
        options.report,
        chooses_steps=settings.learning_rate == "auto",
        stops=options.hooks.stops,
    )
    shapes = settings.shapes(has_sensors=isinstance(plan.basis, FittedSensorBasis))
    term = proportional_term(plan.basis)
    checkpoint = options.hooks.checkpoint
    with open_log(settings, task, checkpoint, earlier or EarlierTrees()) as log:
        task = replace(task, log=log)
        return train(task, shapes, settings.scheme(), term, judge)


def fit_model(
    settings: Settings,
    table: Any,
    y: RecurrentEvents | ScannedEvents,
    sensors: Any,
    sample_weight: ArrayLike | None,
    hooks: Hooks,
    earlier: Fitted | None = None,
    exposure: ExposedWindows | None = None,
) -> Fitted:
    """Fit trees and the level of rates; own histories are learned from later.

    ``earlier`` has the trees that a warm start continues; ``exposure`` is weighted by
    frailties.
    """
    known_trees = EarlierTrees.of(settings, earlier)
    with (
        use_threads(settings.n_jobs) as n_threads,
        Progress.of_fit(settings, has_sensors=sensors is not None) as progress,
    ):
        encoder = FeatureEncoder.learn(table, settings.categorical_features)
        layout = None if sensors is None else SensorLayout.learn(sensors)
        progress.announce("statistics")
        compile_side_by_side(
            settings,
            n_threads,
            length_hint(y),  # which is not checked yet
            encoder.is_categorical,
            has_sensors=sensors is not None,
        )
        data: TrainingData | ScannedData
        if is_scanned(y, sensors):
            data = check_scanned_data(table, encoder, y, sensors, sample_weight)
            prepare = partial(stream_statistics, settings, data, n_threads, progress)
        else:
            data = check_training_data(table, encoder, y, sensors, sample_weight)
            prepare = partial(compute_statistics, settings, data, exposure)
        options = RunOptions(n_threads, progress.report, hooks)
        grown, sample = _grow(
            settings, encoder, layout, data, prepare, options, known_trees
        )
        theta = data.spread(grown.trained.out_of_fold)
        progress.announce("level")
        known = None if theta is None else theta[sample.is_used]
        fitted, fingerprint = run_side_by_side(
            partial(finish_fit, settings, grown, encoder, layout, sample, known, theta),
            partial(_take_fingerprint, grown.plan, data),
            is_worth_it=len(data.features) >= PARALLEL_FROM,
        )
        return replace(fitted, fingerprint=fingerprint)


def _grow(
    settings: Settings,
    encoder: FeatureEncoder,
    layout: SensorLayout | None,
    data: TrainingData | ScannedData,
    prepare: Callable[[], Prepared],
    options: RunOptions,
    known_trees: EarlierTrees,
) -> tuple[Grown, TrainingData]:
    """Return trees, and the subsample that the rest of the fit looks at.

    Statistics and bins of all individuals, which take memory, go with this call.
    """
    n_threads = options.n_threads

    def put_into_bins() -> tuple[BinMapper, BinnedFeatures]:
        mapper = find_bins(data.features, settings.max_bins, encoder)
        return mapper, mapper.transform(data.features, n_threads)

    prepared, (mapper, binned) = run_side_by_side(
        prepare, put_into_bins, is_worth_it=len(data.features) >= PARALLEL_FROM
    )
    plan = prepared.plan
    training_set = LocalTrainingSet(prepared.stats, binned, data.weights)
    known_trees.check(plan, mapper, encoder, layout)
    limits = read_limits(settings, encoder, plan.basis)
    judge = TermJudge.of(settings, prepared.take_sample, mapper, n_threads, limits)
    problem = replace(prepared.problem, limits=limits)
    trained = learn_trees(
        settings, plan, problem, training_set, options, known_trees, judge
    )
    grown = Grown.of(plan, mapper, training_set, trained)
    return grown, prepared.take_sample()


def _take_fingerprint(plan: Plan, data: TrainingData | ScannedData) -> Fingerprint | None:
    """Return the fingerprint of all individuals."""
    if isinstance(data, ScannedData):  # it was taken while files were read
        return plan.fingerprint
    return Fingerprint.of(data.events, data.features)

"""One fit: from settings, features, histories and sensors to a `Fitted`."""

from __future__ import annotations

import os
from typing import Any

from numpy.typing import ArrayLike

from boostr._engine.training_set import LocalTrainingSet
from boostr._frailty.weighted_exposure import ExposedWindows
from boostr._training.features import FeatureEncoder
from boostr._training.finish import Grown, finish_fit
from boostr._training.fitted import Fitted
from boostr._training.inputs import TrainingData, check_training_data
from boostr._training.learn import EarlierTrees, learn_trees
from boostr._training.run import Progress, RunOptions, use_threads
from boostr._training.sensors import SensorLayout
from boostr._training.settings import Settings, find_bins
from boostr._training.statistics import compute_statistics
from boostr._training.streamed import (
    ScannedData,
    check_scanned_data,
    is_scanned,
    stream_statistics,
)
from boostr._training.terms import TermJudge
from boostr.data import RecurrentEvents, ScannedEvents

__all__ = ["fit_model"]


def fit_model(
    settings: Settings,
    table: Any,
    y: RecurrentEvents | ScannedEvents,
    sensors: Any,
    sample_weight: ArrayLike | None,
    checkpoint: str | os.PathLike[str] | None = None,
    earlier: Fitted | None = None,
    exposure: ExposedWindows | None = None,
) -> Fitted:
    """Fit trees, frailties and the forecast law.

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
        data: TrainingData | ScannedData
        if is_scanned(y, sensors):
            data = check_scanned_data(table, encoder, y, sensors, sample_weight)
            prepared = stream_statistics(settings, data, n_threads, progress)
        else:
            data = check_training_data(table, encoder, y, sensors, sample_weight)
            prepared = compute_statistics(settings, data, exposure)
        plan, sample = prepared.plan, prepared.sample
        progress.announce("bins")
        mapper = find_bins(data.features, settings.max_bins, encoder)
        binned = mapper.transform(data.features, n_threads)
        training_set = LocalTrainingSet(prepared.stats, binned, data.weights)
        known_trees.check(plan, mapper, encoder, layout)
        options = RunOptions(n_threads, progress.report, checkpoint)
        judge = TermJudge.of(settings, sample, mapper, n_threads)
        trained = learn_trees(
            settings, plan, prepared.problem, training_set, options, known_trees, judge
        )
        theta = data.spread(trained.out_of_fold)
        progress.announce("forecasts")
        grown = Grown(plan, mapper, training_set, trained)
        known = None if theta is None else theta[sample.is_used]
        return finish_fit(settings, grown, encoder, layout, sample, known, theta)

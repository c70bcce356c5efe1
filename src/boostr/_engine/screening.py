"""Which features and sensors are worth looking at, found on a first run.

Useless features and sensors cost accuracy: with many coefficients a leaf, noise makes
splits and effects that look good. A first run tells them apart. Features compete with
shuffled copies of themselves, every one of which is useless for sure; sensors must lower
the loss of individuals that were held out, and so must features of many categories.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise

import numpy as np

from boostr._engine.binning import FeatureLayout
from boostr._engine.ensemble import gain_importance
from boostr._engine.penalty import reprice
from boostr._engine.selection import (
    Columns,
    Task,
    ValidatedRun,
    compare_runs,
    validate,
)
from boostr._engine.statistics import SufficientStats
from boostr._engine.training_set import Rows, TrainingSet, sum_up
from boostr._engine.tree import GrowthParams
from boostr._typing import FloatArray, IndexArray

__all__ = [
    "Screening",
    "find_doubtful",
    "join",
    "keep_features",
    "rise_without",
    "screen",
    "screen_features",
]

_USEFUL = 2.0  # standard errors by which a sensor must lower the held-out loss
_PROHIBITIVE = 30.0  # times the price of a useful sensor
_CLEAR = 2.5  # times the gain of the best shuffled feature
_FEW_CATEGORIES = 10  # up to which a categorical feature is not doubted
_MOST_TRIED = 5  # features of many categories that are tried; a run each
_PAYS = 1.0  # standard errors by which such a feature must lower the held-out loss
_JUDGEMENT = "screening of categories"  # name of the runs
_LARGE_STEP = 0.2  # learning rate: a judgement needs no fine steps
_LITTLE_PATIENCE = 10  # rounds of large steps without a better held-out loss


@dataclass(frozen=True, slots=True, eq=False)
class Screening:
    """What a first run has found."""

    columns: Columns  # features that beat all shuffled ones
    price_factors: FloatArray  # (n_groups,) 1, or prohibitive for useless sensors

    def apply(self, task: Task) -> Task:
        """Return the task with the prices of useless sensors raised."""
        return replace(task, problem=reprice(task.problem, self.price_factors))


def screen(task: Task, growth: GrowthParams, folds: Sequence[IndexArray]) -> Screening:
    """Run once with shuffled copies of all features, and judge features and sensors."""
    n_features = task.training_set.layout.n_features
    trial, run = _try_shuffled(task, growth, _deal_once(folds, len(task)))
    gains = gain_importance(run.members(1.0), 2 * n_features)[1]
    useful = np.flatnonzero(gains[:n_features] > gains[n_features:].max())
    groups = task.problem.groups
    assert groups is not None  # noqa: S101 - sensors are groups
    rise, error, _ = rise_without(trial, groups.starts, run.out_of_fold)
    is_useful = rise > _USEFUL * error
    is_useful[groups.prices == 0.0] = True  # the baseline stays
    columns = (useful.astype(np.int32),) * len(folds)
    return Screening(columns, np.where(is_useful, 1.0, _PROHIBITIVE))


def _deal_once(folds: Sequence[IndexArray], n: int) -> Sequence[IndexArray]:
    """Return as many folds as hold everybody out once, where they are dealt out again."""
    n_held_out = np.cumsum([len(held_out) for held_out in folds])
    return folds[: int(np.searchsorted(n_held_out, n)) + 1]


def screen_features(
    task: Task, growth: GrowthParams, folds: Sequence[IndexArray]
) -> Columns:
    """Return the features that are clearly useful, judged in every fold by its own model.

    But for the number of trees, a fold's held-out individuals have no say in its features,
    so that the held-out loss tells whether leaving out the others pays.
    """
    n_features = task.training_set.layout.n_features
    _, run = _try_shuffled(task, growth, folds)
    columns = []
    for member in run.members(1.0):
        gains = gain_importance([member], 2 * n_features)[1]
        least = _CLEAR * gains[n_features:].max()
        columns.append(np.flatnonzero(gains[:n_features] > least).astype(np.int32))
    return tuple(columns)


def find_doubtful(layout: FeatureLayout) -> IndexArray:
    """Return the features of many categories, those with the most first."""
    is_many = layout.is_categorical & (layout.n_values > _FEW_CATEGORIES)
    many = np.flatnonzero(is_many).astype(np.int32)
    return many[np.argsort(-layout.n_values[many], kind="stable")][:_MOST_TRIED]


def keep_features(
    task: Task, growth: GrowthParams, folds: Sequence[IndexArray], doubtful: IndexArray
) -> IndexArray:
    """Return all features but those doubtful ones that do not pay.

    A feature of many categories can tell individuals apart by name, which looks good in
    training. It stays if the held-out loss is clearly lower with it than without it.
    """
    kept = np.arange(task.training_set.layout.n_features, dtype=np.int32)
    trial = replace(_hasten(task), features=kept)
    known = validate(trial, growth, folds, _JUDGEMENT)
    for feature in doubtful:
        fewer = kept[kept != feature]
        if not len(fewer):
            break
        trial = replace(trial, features=fewer)
        without = validate(trial, growth, folds, _JUDGEMENT)
        rise, error = compare_runs(task.training_set, without, known)
        if rise <= _PAYS * error:
            known, kept = without, fewer
    return kept


def join(columns: Columns, n_features: int) -> IndexArray:
    """Return the features that at least half of the folds use, or as many as possible."""
    votes = np.bincount(np.concatenate(columns), minlength=n_features)
    least = min(0.5 * len(columns), votes.max())
    return np.flatnonzero(votes >= least).astype(np.int32)


def rise_without(
    training_set: TrainingSet, starts: IndexArray, out_of_fold: Rows
) -> tuple[FloatArray, FloatArray, int]:
    """Return how much the held-out loss rises without each group, and its standard error.

    The loss is summed over individuals, whose number is returned too; a group, from one of
    ``starts`` to the next, is left out of their out-of-fold coefficients.
    """
    n, sums, squares = sum_up(training_set, partial(_sum_rises, starts), out_of_fold)
    variance = np.maximum(squares / n - (sums / n) ** 2, 0.0)
    return sums, np.sqrt(variance * n), int(n)


def _sum_rises(
    starts: IndexArray, stats: SufficientStats, out_of_fold: FloatArray
) -> tuple[FloatArray, ...]:
    known = np.flatnonzero(~np.isnan(out_of_fold[:, 0]))
    theta = out_of_fold[known]
    gradient = stats.multiply(theta, known) - stats.linear[known]
    rises = np.empty((len(starts) - 1, len(known)))
    for group, (begin, end) in enumerate(pairwise(starts)):
        change = np.zeros_like(theta)
        change[:, begin:end] = -theta[:, begin:end]
        curved = stats.multiply(change, known)
        rises[group] = np.sum(change * (gradient + 0.5 * curved), axis=1)
    return np.array(len(known)), rises.sum(axis=1), np.sum(rises**2, axis=1)


def _try_shuffled(
    task: Task, growth: GrowthParams, folds: Sequence[IndexArray]
) -> tuple[TrainingSet, ValidatedRun]:
    """Run once with shuffled copies of all features beside them, and return with whom."""
    features = task.features
    if features is not None:
        n_features = task.training_set.layout.n_features
        features = np.concatenate([features, features + n_features]).astype(np.int32)
    trial = replace(
        _hasten(task),
        features=features,
        training_set=task.training_set.add_shuffled(task.params.seed),
    )
    return trial.training_set, validate(trial, growth, folds, "screening")


def _hasten(task: Task) -> Task:
    """Return the task with large steps, and little patience."""
    rate = max(task.params.learning_rate, _LARGE_STEP)
    params = replace(task.params, learning_rate=rate)
    return replace(task, params=params, patience=_LITTLE_PATIENCE)

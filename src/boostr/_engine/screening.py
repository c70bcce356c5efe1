"""Which features and sensors are worth looking at, found on a first run.

Useless features and sensors cost accuracy: with many coefficients a leaf, noise makes
splits and effects that look good. A first run tells them apart. Features compete with
shuffled copies of themselves, every one of which is useless for sure; sensors must lower
the loss of individuals that were held out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from boostr._engine.binning import BinnedFeatures
from boostr._engine.ensemble import gain_importance
from boostr._engine.penalty import reprice
from boostr._engine.selection import Columns, Task, ValidatedRun, validate
from boostr._engine.suffstats import SufficientStats
from boostr._engine.tree import GrowthParams
from boostr._typing import FloatArray, IndexArray

__all__ = ["Screening", "join", "rise_without", "screen", "screen_features"]

_USEFUL = 2.0  # standard errors by which a sensor must lower the held-out loss
_PROHIBITIVE = 30.0  # times the price of a useful sensor
_CLEAR = 2.5  # times the gain of the best shuffled feature
_LARGE_STEP = 0.2  # learning rate: a judgement needs no fine steps


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
    n_features = task.features.bins.shape[1]
    run = _try_shuffled(task, growth, folds)
    gains = gain_importance(run.members(1.0), 2 * n_features)[1]
    useful = np.flatnonzero(gains[:n_features] > gains[n_features:].max())
    groups = task.problem.groups
    rise, error = rise_without(task.stats, groups.starts, run.out_of_fold)
    is_useful = rise > _USEFUL * error
    is_useful[groups.prices == 0.0] = True  # the baseline stays
    columns = (useful.astype(np.int32),) * len(folds)
    return Screening(columns, np.where(is_useful, 1.0, _PROHIBITIVE))


def screen_features(
    task: Task, growth: GrowthParams, folds: Sequence[IndexArray]
) -> Columns:
    """Return the features that are clearly useful, judged in every fold by its own model.

    But for the number of trees, a fold's held-out individuals have no say in its features,
    so that the held-out loss tells whether leaving out the others pays.
    """
    n_features = task.features.bins.shape[1]
    run = _try_shuffled(task, growth, folds)
    columns = []
    for member in run.members(1.0):
        gains = gain_importance([member], 2 * n_features)[1]
        least = _CLEAR * gains[n_features:].max()
        columns.append(np.flatnonzero(gains[:n_features] > least).astype(np.int32))
    return tuple(columns)


def join(columns: Columns, n_features: int) -> IndexArray:
    """Return the features that at least half of the folds use, or as many as possible."""
    votes = np.bincount(np.concatenate(columns), minlength=n_features)
    least = min(0.5 * len(columns), votes.max())
    return np.flatnonzero(votes >= least).astype(np.int32)


def rise_without(
    stats: SufficientStats, starts: IndexArray, out_of_fold: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return how much the held-out loss rises without each group, and its standard error.

    The loss is summed over individuals; a group, from one of ``starts`` to the next, is
    left out of their out-of-fold coefficients.
    """
    known = np.flatnonzero(~np.isnan(out_of_fold[:, 0]))
    theta = out_of_fold[known]
    gradient = stats.multiply(theta, known) - stats.linear[known]
    rises = np.empty((len(starts) - 1, len(known)))
    for group, (begin, end) in enumerate(pairwise(starts)):
        change = np.zeros_like(theta)
        change[:, begin:end] = -theta[:, begin:end]
        curved = stats.multiply(change, known)
        rises[group] = np.sum(change * (gradient + 0.5 * curved), axis=1)
    return rises.sum(axis=1), rises.std(axis=1) * np.sqrt(len(known))


def _try_shuffled(
    task: Task, growth: GrowthParams, folds: Sequence[IndexArray]
) -> ValidatedRun:
    """Run once with shuffled copies of all features beside them."""
    rate = max(task.params.learning_rate, _LARGE_STEP)
    trial = replace(
        task,
        features=_add_shuffled(task.features, task.params.seed),
        params=replace(task.params, learning_rate=rate),
    )
    return validate(trial, growth, folds, "screening")


def _add_shuffled(features: BinnedFeatures, seed: int) -> BinnedFeatures:
    """Return the features and a copy of each with the individuals shuffled."""
    shuffled = np.random.default_rng(seed).permuted(features.bins, axis=0)
    return replace(
        features,
        bins=np.ascontiguousarray(np.hstack([features.bins, shuffled])),
        n_values=np.tile(features.n_values, 2),
        is_categorical=np.tile(features.is_categorical, 2),
    )

"""Gradient boosting of scikit-learn: one rate per individual times the average curve."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np

from boostr._typing import FloatArray
from boostr.baselines._asked import need_features
from boostr.baselines._boosted import BoostedRival
from boostr.baselines._curves import MeanCurves
from boostr.baselines._rival import RivalData
from boostr.baselines._steps import GroupSteps, StepFamily, TimeGrid
from boostr.data import RiskTable
from boostr.exceptions import InvalidEventsError

__all__ = ["HistGradientBoostingRate"]


class HistGradientBoostingRate(BoostedRival):
    """Give everybody the mean cumulative function, times a rate that is boosted.

    scikit-learn's gradient boosting learns the ratio of an individual's events to those
    that the mean cumulative function expects while it is observed, by Poisson regression.

    Parameters
    ----------
    n_estimators : int, default=200
        Number of trees.
    learning_rate : float, default=0.05
        Share of each tree that is kept, in (0, 1].
    max_leaf_nodes : int, default=6
        Leaves of a tree at most.
    min_samples_leaf : int, default=20
        Individuals in a leaf at least.
    smooth : bool, default=False
        Whether curves are smoothed, so that rates and very short windows make sense; their
        values at four times stay the same.
    random_state : int, RandomState or None, default=None
        Seed of the library.
    n_jobs : int or None, default=None
        Not read: scikit-learn takes its threads from the environment.

    Attributes
    ----------
    model_ : HistGradientBoostingRegressor
        The library's model of the ratio.
    horizon_ : float
        Last end of follow-up in training.
    n_features_in_ : int
        Number of features.

    Notes
    -----
    Late entry and gaps lower what is expected. Costs take the place of numbers of events.
    Curves stay constant after the last event. Individuals that left before the first event
    of all say nothing and are left out.

    Examples
    --------
    >>> from boostr.baselines import HistGradientBoostingRate
    >>> from boostr.simulate import dataset_a
    >>> train, test = dataset_a(n=200, random_state=1), dataset_a(n=3, random_state=2)
    >>> HistGradientBoostingRate().fit(train.X, train.y).predict(test.X).round(0)
    array([ 1.,  6., 12.])
    """

    def __init__(
        self,
        *,
        n_estimators: int = 200,
        learning_rate: float = 0.05,
        max_leaf_nodes: int = 6,
        min_samples_leaf: int = 20,
        smooth: bool = False,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        super().__init__(
            n_estimators=n_estimators,
            learning_rate=learning_rate,
            max_leaf_nodes=max_leaf_nodes,
            min_samples_leaf=min_samples_leaf,
            random_state=random_state,
            n_jobs=n_jobs,
        )
        self.smooth = smooth

    def _learn(self, data: RivalData) -> None:
        need_features(data.features, "HistGradientBoostingRate")
        events, n = data.events, len(data.events)
        table = RiskTable.from_events(events, data.weights)
        if not table.totals(table.cost).any():
            raise InvalidEventsError(
                "A rate of events cannot be estimated without any event, but there is "
                "none.\n\nHint: check the column that says which rows are events."
            )
        grid = TimeGrid.from_events(
            table, events, self.reference_clock_, smooth=self.smooth
        )
        group, everybody = np.zeros(n, dtype=np.int64), np.arange(n)
        steps = GroupSteps.from_members(table, group, everybody, data.weights)
        self.family_ = StepFamily.from_parts(grid, [steps])
        heights = np.concatenate([[0.0], steps.height])
        rise = heights[table.leave] - heights[table.enter]
        expected = np.bincount(table.window_owner, rise, n)
        happened = np.bincount(events.event_owner, events.costs, n)
        used = expected > 0.0
        # Looked up late, since it makes `import boostr` slow.
        library: Any = importlib.import_module("sklearn.ensemble")
        self.model_ = library.HistGradientBoostingRegressor(
            loss="poisson",
            learning_rate=self.learning_rate,
            max_iter=self.n_estimators,
            max_leaf_nodes=self.max_leaf_nodes,
            min_samples_leaf=self.min_samples_leaf,
            categorical_features=self.columns_.is_categorical,
            early_stopping=False,
            random_state=self._seed(),
        )
        self.model_.fit(
            data.features[used],
            happened[used] / expected[used],
            sample_weight=expected[used] * data.weights[used],
        )

    def _curves(self, features: FloatArray) -> MeanCurves:
        which = np.zeros((len(features), 1), dtype=np.int64)
        return MeanCurves(self.family_, which, self.model_.predict(features))

"""Boosted Poisson regression on individuals cut into cells of time."""

from __future__ import annotations

from typing import Any

import numpy as np

from boostr._checks.parameters import check_count, count_threads
from boostr._optional import require
from boostr._typing import FloatArray
from boostr.baselines._boosted import BoostedRival
from boostr.baselines._cells import ExpandedRows, TimeCells, cross
from boostr.baselines._curves import BrokenLines
from boostr.baselines._rival import RivalData
from boostr.baselines._xgboost import boost_xgboost, make_matrix

__all__ = ["LightGBMPoisson", "XGBoostPoisson"]

# The Poisson hessian of a row in XGBoost is its expected count times exp(0.7), the default
# of max_delta_step: a leaf's weight counts its events, twice.
_WEIGHT_OF_EVENT = 2.0


class ExpandedPoisson(BoostedRival):
    """Poisson regression in cells of time, with the pooled rate as offset."""

    _takes_exposure = True

    def __init__(
        self,
        *,
        n_estimators: int = 200,
        learning_rate: float = 0.05,
        max_leaf_nodes: int = 6,
        min_samples_leaf: int = 20,
        n_cells: int = 10,
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
        self.n_cells = n_cells

    def _check_params(self) -> None:
        super()._check_params()
        check_count(self.n_cells, "n_cells")

    def _learn(self, data: RivalData) -> None:
        self.cells_ = TimeCells.from_events(data.events, data.weights, self.n_cells)
        rows = self.cells_.expand(data.features, data.events, data.weights)
        exposure = float(rows.weights @ rows.exposure)
        self.pooled_rate_ = float(rows.weights @ rows.counts) / exposure
        self.model_ = self._train(rows, np.log(rows.exposure * self.pooled_rate_))

    def _curves(self, features: FloatArray) -> BrokenLines:
        described = cross(features, self.cells_.middles)
        expected = np.tile(self.cells_.lengths * self.pooled_rate_, len(features))
        counts = self._predict(described, np.log(expected)).reshape(len(features), -1)
        heights = np.zeros((len(features), len(self.cells_.edges)))
        np.cumsum(counts, axis=1, out=heights[:, 1:])
        return BrokenLines(self.cells_.edges, heights)

    def _train(self, rows: ExpandedRows, offset: FloatArray) -> Any:
        raise NotImplementedError

    def _predict(self, features: FloatArray, offset: FloatArray) -> FloatArray:
        raise NotImplementedError


class XGBoostPoisson(ExpandedPoisson):
    """Poisson regression by XGBoost, on individuals cut into cells of time.

    Every individual has one row per cell of time in which it was observed, with the events
    in it as target, the middle of the cell as one more feature, and the time observed as
    exposure. Needs xgboost, ``pip install 'boostr[rivals]'``.

    Parameters
    ----------
    n_estimators : int, default=200
        Number of trees.
    learning_rate : float, default=0.05
        Share of each tree that is kept, in (0, 1].
    max_leaf_nodes : int, default=6
        Leaves of a tree at most.
    min_samples_leaf : int, default=20
        Expected events in a leaf, at least.
    n_cells : int, default=10
        Cells of time, with about as many events in each.
    random_state : int, RandomState or None, default=None
        Seed of the library.
    n_jobs : int or None, default=None
        Threads; one by default.

    Attributes
    ----------
    model_ : xgboost.Booster
        The library's model.
    horizon_ : float
        Last end of follow-up in training.
    n_features_in_ : int
        Number of features.

    Notes
    -----
    Late entry and gaps are exposure that is missing. Costs take the place of numbers of
    events. Curves are straight in each cell and constant after the last one.

    Examples
    --------
    >>> from boostr.baselines import XGBoostPoisson
    >>> from boostr.simulate import dataset_a
    >>> train, test = dataset_a(n=200, random_state=1), dataset_a(n=3, random_state=2)
    >>> model = XGBoostPoisson().fit(train.X, train.y)  # doctest: +SKIP
    >>> model.predict(test.X).round(0)  # doctest: +SKIP
    array([ 1.,  6., 11.])
    """

    def _train(self, rows: ExpandedRows, offset: FloatArray) -> Any:
        data = make_matrix(
            self, rows.features, label=rows.counts, weight=rows.weights, base_margin=offset
        )
        return boost_xgboost(
            self, data, "count:poisson", _WEIGHT_OF_EVENT * self.min_samples_leaf
        )

    def _predict(self, features: FloatArray, offset: FloatArray) -> FloatArray:
        predicted = self.model_.predict(make_matrix(self, features, base_margin=offset))
        return np.asarray(predicted, dtype=np.float64)


class LightGBMPoisson(ExpandedPoisson):
    """Poisson regression by LightGBM, on individuals cut into cells of time.

    Every individual has one row per cell of time in which it was observed, with the events
    in it as target, the middle of the cell as one more feature, and the time observed as
    exposure. Needs lightgbm, ``pip install 'boostr[rivals]'``.

    Parameters
    ----------
    n_estimators : int, default=200
        Number of trees.
    learning_rate : float, default=0.05
        Share of each tree that is kept, in (0, 1].
    max_leaf_nodes : int, default=6
        Leaves of a tree at most.
    min_samples_leaf : int, default=20
        Individuals in a leaf at least, counted as `n_cells` rows each.
    n_cells : int, default=10
        Cells of time, with about as many events in each.
    random_state : int, RandomState or None, default=None
        Seed of the library.
    n_jobs : int or None, default=None
        Threads; one by default.

    Attributes
    ----------
    model_ : lightgbm.Booster
        The library's model.
    horizon_ : float
        Last end of follow-up in training.
    n_features_in_ : int
        Number of features.

    Notes
    -----
    Late entry and gaps are exposure that is missing. Costs take the place of numbers of
    events. Curves are straight in each cell and constant after the last one.

    Examples
    --------
    >>> from boostr.baselines import LightGBMPoisson
    >>> from boostr.simulate import dataset_a
    >>> train, test = dataset_a(n=200, random_state=1), dataset_a(n=3, random_state=2)
    >>> model = LightGBMPoisson().fit(train.X, train.y)  # doctest: +SKIP
    >>> model.predict(test.X).round(0)  # doctest: +SKIP
    array([ 1.,  6., 11.])
    """

    def _train(self, rows: ExpandedRows, offset: FloatArray) -> Any:
        lightgbm = require("lightgbm", extra="rivals", feature="LightGBMPoisson")
        settings = {
            "objective": "poisson",
            "num_leaves": self.max_leaf_nodes,
            "min_data_in_leaf": self.min_samples_leaf * len(self.cells_.lengths),
            "learning_rate": self.learning_rate,
            "num_threads": count_threads(self.n_jobs),
            "seed": self._seed(),
            "deterministic": True,
            "force_row_wise": True,
            "verbose": -1,
        }
        data = lightgbm.Dataset(
            rows.features,
            rows.counts,
            weight=rows.weights,
            init_score=offset,
            categorical_feature=np.flatnonzero(self.columns_.is_categorical).tolist(),
            params={"verbose": -1},
        )
        return lightgbm.train(settings, data, self.n_estimators)

    def _predict(self, features: FloatArray, offset: FloatArray) -> FloatArray:
        # LightGBM leaves the initial score out of its predictions.
        scores = self.model_.predict(
            features, raw_score=True, num_threads=count_threads(self.n_jobs)
        )
        return np.exp(np.asarray(scores) + offset)

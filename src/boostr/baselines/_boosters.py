"""Calls of the libraries that boost trees: XGBoost, LightGBM and scikit-learn."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from sklearn.utils import check_random_state

from boostr._optional import require
from boostr._typing import FloatArray
from boostr.baselines._rows import Rows

__all__ = [
    "Booster",
    "BoosterSettings",
    "HistGradientBoosting",
    "LightGBM",
    "XGBoost",
    "snap",
]

# The Poisson hessian of a row in XGBoost is its expected count times exp(0.7), the default
# of max_delta_step: a leaf's weight counts its events, twice.
_WEIGHT_OF_EVENT = 2.0
_N_VALUES = 255  # of a feature: the bins of all libraries
ALL_TREES = (0,)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class BoosterSettings:
    """Parameters of a baseline in the words of none of the libraries."""

    baseline: str  # class that asks, for messages
    n_trees: int
    learning_rate: float
    max_leaf_nodes: int
    min_samples_leaf: int  # individuals
    is_categorical: Sequence[bool]  # per column
    random_state: Any
    n_threads: int

    def draw_seed(self) -> int:
        """Return a seed of the library."""
        return int(check_random_state(self.random_state).randint(2**31 - 1))


class Booster(Protocol):
    """A library that boosts trees on rows.

    Rows with ``expected`` counts are learned by Poisson regression, others by least
    squares.
    """

    def train(self, settings: BoosterSettings, rows: Rows) -> Any:
        """Return the library's model."""

    def predict(
        self,
        settings: BoosterSettings,
        model: Any,
        features: FloatArray,
        expected: FloatArray | None,
        n_trees: Sequence[int] = ALL_TREES,
    ) -> list[FloatArray]:
        """Return predicted counts with the first so many trees; 0 stands for all."""


class XGBoost:
    """Trees of XGBoost, grown leaf-wise."""

    def train(self, settings: BoosterSettings, rows: Rows) -> Any:
        """Return a Booster of XGBoost."""
        xgboost = _import("xgboost", settings)
        is_poisson = rows.expected is not None
        per_individual = _WEIGHT_OF_EVENT if is_poisson else rows.n_per_individual
        params = {
            "objective": "count:poisson" if is_poisson else "reg:squarederror",
            "tree_method": "hist",
            "grow_policy": "lossguide",
            "max_depth": 0,
            "max_leaves": settings.max_leaf_nodes,
            "min_child_weight": float(per_individual * settings.min_samples_leaf),
            "learning_rate": settings.learning_rate,
            "seed": settings.draw_seed(),
            "nthread": settings.n_threads,
            "verbosity": 0,
        }
        data = self._pack(
            settings, rows.features, rows.expected, label=rows.counts, weight=rows.weights
        )
        return xgboost.train(params, data, settings.n_trees)

    def predict(
        self,
        settings: BoosterSettings,
        model: Any,
        features: FloatArray,
        expected: FloatArray | None,
        n_trees: Sequence[int] = ALL_TREES,
    ) -> list[FloatArray]:
        """Return predicted counts with the first so many trees; 0 stands for all."""
        data = self._pack(settings, features, expected)
        return [
            np.asarray(model.predict(data, iteration_range=(0, n)), dtype=np.float64)
            for n in n_trees
        ]

    def _pack(
        self,
        settings: BoosterSettings,
        features: FloatArray,
        expected: FloatArray | None,
        **fields: Any,
    ) -> Any:
        return _import("xgboost", settings).DMatrix(
            features,
            base_margin=None if expected is None else np.log(expected),
            feature_types=["c" if each else "q" for each in settings.is_categorical],
            enable_categorical=True,
            nthread=settings.n_threads,
            **fields,
        )


class LightGBM:
    """Trees of LightGBM; Poisson regression only."""

    def train(self, settings: BoosterSettings, rows: Rows) -> Any:
        """Return a Booster of LightGBM."""
        lightgbm = _import("lightgbm", settings)
        params = {
            "objective": "poisson",
            "num_leaves": settings.max_leaf_nodes,
            "min_data_in_leaf": settings.min_samples_leaf * rows.n_per_individual,
            "learning_rate": settings.learning_rate,
            "num_threads": settings.n_threads,
            "seed": settings.draw_seed(),
            "deterministic": True,
            "force_row_wise": True,
            "verbose": -1,
        }
        data = lightgbm.Dataset(
            rows.features,
            rows.counts,
            weight=rows.weights,
            init_score=None if rows.expected is None else np.log(rows.expected),
            categorical_feature=np.flatnonzero(settings.is_categorical).tolist(),
            params={"verbose": -1},
        )
        return lightgbm.train(params, data, settings.n_trees)

    def predict(
        self,
        settings: BoosterSettings,
        model: Any,
        features: FloatArray,
        expected: FloatArray | None,
        n_trees: Sequence[int] = ALL_TREES,
    ) -> list[FloatArray]:
        """Return predicted counts with the first so many trees; 0 stands for all."""
        options = {"raw_score": True, "num_threads": settings.n_threads}
        scores = [
            model.predict(features, num_iteration=n or None, **options) for n in n_trees
        ]
        # LightGBM leaves the initial score out of its predictions.
        offset = 0.0 if expected is None else np.log(expected)
        return [np.exp(np.asarray(score) + offset) for score in scores]


class HistGradientBoosting:
    """Trees of scikit-learn; counts are divided by those expected, which are weights."""

    def train(self, settings: BoosterSettings, rows: Rows) -> Any:
        """Return a HistGradientBoostingRegressor."""
        # Looked up late, since it makes `import boostr` slow.
        ensemble: Any = importlib.import_module("sklearn.ensemble")
        model = ensemble.HistGradientBoostingRegressor(
            loss="squared_error" if rows.expected is None else "poisson",
            learning_rate=settings.learning_rate,
            max_iter=settings.n_trees,
            max_leaf_nodes=settings.max_leaf_nodes,
            min_samples_leaf=settings.min_samples_leaf * rows.n_per_individual,
            categorical_features=np.asarray(settings.is_categorical, dtype=bool),
            early_stopping=False,
            random_state=settings.draw_seed(),
        )
        expected = 1.0 if rows.expected is None else rows.expected
        is_long = rows.n_per_individual > 1
        features = snap(rows.features, settings) if is_long else rows.features
        with _limit_threads(settings):
            return model.fit(
                features,
                rows.counts / expected,
                sample_weight=expected * rows.weights,
            )

    def predict(
        self,
        settings: BoosterSettings,
        model: Any,
        features: FloatArray,
        expected: FloatArray | None,
        n_trees: Sequence[int] = ALL_TREES,
    ) -> list[FloatArray]:
        """Return predicted counts with the first so many trees; 0 stands for all."""
        factor = 1.0 if expected is None else expected
        with _limit_threads(settings):
            if tuple(n_trees) == ALL_TREES:
                return [factor * model.predict(features)]
            wanted, stages = set(n_trees), enumerate(model.staged_predict(features), 1)
            return [factor * predicted for n, predicted in stages if n in wanted]


def snap(features: FloatArray, settings: BoosterSettings) -> FloatArray:
    """Return features with at most 255 distinct values, each the nearest quantile.

    With weights, scikit-learn takes minutes to find the bins of many rows otherwise. It
    splits halfway between two values, so that predictions need no rounding.
    """
    snapped = features.copy()
    for column, is_category in zip(snapped.T, settings.is_categorical, strict=True):
        known = ~np.isnan(column)
        if is_category or np.unique(column[known]).size <= _N_VALUES:
            continue
        kept = np.unique(np.quantile(column[known], np.linspace(0.0, 1.0, _N_VALUES)))
        halfway = 0.5 * (kept[1:] + kept[:-1])
        column[known] = kept[np.searchsorted(halfway, column[known])]
    return snapped


def _import(package: str, settings: BoosterSettings) -> Any:
    return require(package, extra="baselines", feature=settings.baseline)


def _limit_threads(settings: BoosterSettings) -> Any:
    """Return a context in which scikit-learn uses as many threads as asked for.

    By default it takes all of them, which is much slower on small data.
    """
    pools: Any = importlib.import_module("threadpoolctl")  # scikit-learn brings it
    return pools.threadpool_limits(settings.n_threads, user_api="openmp")

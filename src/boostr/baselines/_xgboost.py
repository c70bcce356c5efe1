"""Calls of XGBoost by the baselines: its container of features, and its training."""

from __future__ import annotations

from typing import Any

from boostr._checks.parameters import count_threads
from boostr._optional import require
from boostr._typing import FloatArray
from boostr.baselines._boosted import BoostedRival

__all__ = ["boost_xgboost", "make_matrix"]


def make_matrix(rival: BoostedRival, features: FloatArray, **fields: Any) -> Any:
    """Return XGBoost's container of features, with time as the last column."""
    xgboost = require("xgboost", extra="rivals", feature=type(rival).__name__)
    kinds = ["c" if category else "q" for category in rival.columns_.is_categorical]
    return xgboost.DMatrix(
        features,
        feature_types=[*kinds, "q"],
        enable_categorical=True,
        nthread=count_threads(rival.n_jobs),
        **fields,
    )


def boost_xgboost(
    rival: BoostedRival, data: Any, objective: str, min_child_weight: float
) -> Any:
    """Return XGBoost's model, grown leaf-wise."""
    xgboost = require("xgboost", extra="rivals", feature=type(rival).__name__)
    settings = {
        "objective": objective,
        "tree_method": "hist",
        "grow_policy": "lossguide",
        "max_depth": 0,
        "max_leaves": rival.max_leaf_nodes,
        "min_child_weight": min_child_weight,
        "learning_rate": rival.learning_rate,
        "seed": rival._seed(),
        "nthread": count_threads(rival.n_jobs),
        "verbosity": 0,
    }
    return xgboost.train(settings, data, rival.n_estimators)

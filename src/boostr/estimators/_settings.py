"""Parameters of `BoostR` as the engine's settings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from boostr._engine.binning import BinMapper
from boostr._engine.boosting import BoostingParams
from boostr._engine.training import (
    PLAIN_SHAPE,
    SENSOR_SHAPES,
    SHAPES,
    Shape,
    Validation,
    choose_splitter,
)
from boostr._engine.tree import GrowthParams
from boostr._typing import FloatArray
from boostr.basis import FittedBasis, FittedSensorBasis
from boostr.basis.base import find_linear_term
from boostr.estimators._features import FeatureEncoder

__all__ = [
    "boosting_params",
    "find_bins",
    "list_shapes",
    "proportional_term",
    "validation_scheme",
]


def boosting_params(params: Mapping[str, Any]) -> BoostingParams:
    """Return how ensembles are grown; the tree shape is set later."""
    seed = check_random_state(params["random_state"]).randint(np.iinfo(np.int32).max)
    return BoostingParams(
        growth=GrowthParams(
            max_leaves=2, growth=params["growth"], gamma1=float(params["gamma1"])
        ),
        learning_rate=float(params["learning_rate"]),
        subsample=float(params["subsample"]),
        colsample=float(params["colsample"]),
        seed=int(seed),
        starts_at_mean=params["init"] == "mean",
    )


def validation_scheme(params: Mapping[str, Any]) -> Validation:
    """Return how held-out losses are computed."""
    return Validation(params["validation"], params["n_folds"], params["average_folds"])


def find_bins(features: FloatArray, max_bins: int, encoder: FeatureEncoder) -> BinMapper:
    """Choose the thresholds of all features."""
    return BinMapper.from_quantiles(
        features, max_bins, encoder.is_categorical, encoder.n_categories
    )


def list_shapes(params: Mapping[str, Any], *, has_sensors: bool = False) -> list[Shape]:
    """Return the tree shapes that validation compares, or the single one without it."""
    table: Sequence[Shape] = SENSOR_SHAPES if has_sensors else SHAPES
    if params["validation"] is None:
        table = [PLAIN_SHAPE]
    fixed: dict[str, Any] = {}
    if params["max_leaf_nodes"] != "auto":
        fixed["max_leaves"] = int(params["max_leaf_nodes"])
    if params["min_samples_leaf"] != "auto":
        fixed["min_samples_leaf"] = int(params["min_samples_leaf"])
    if params["splitter"] != "auto":
        table = choose_splitter(table, params["splitter"])
    return list(dict.fromkeys(replace(shape, **fixed) for shape in table))


def proportional_term(basis: FittedBasis | FittedSensorBasis) -> int | None:
    """Return the term proportional to the clock, None if it is the only one."""
    return find_linear_term(basis) if basis.n_terms > 1 else None

"""Parameters of `BoostR`, checked once, and as the engine's settings."""

from __future__ import annotations

import math
import numbers
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

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
from boostr._training.features import FeatureEncoder
from boostr._typing import FloatArray
from boostr.basis import (
    Basis,
    FittedBasis,
    FittedSensorBasis,
    PowerBasis,
    SplineBasis,
    StepBasis,
)
from boostr.basis.base import find_linear_term
from boostr.exceptions import InvalidParameterError

__all__ = [
    "Settings",
    "find_bins",
    "proportional_term",
    "resolve_baseline",
    "resolve_basis",
]


@dataclass(frozen=True, slots=True)
class _Number:
    """A number in a range, or one of ``words``."""

    low: float
    high: float = float("inf")
    is_whole: bool = False
    excludes_low: bool = False
    words: tuple[object, ...] = ()

    def admits(self, value: object) -> bool:
        if any(
            value is word or (isinstance(value, str) and value == word)
            for word in self.words
        ):
            return True
        kind = numbers.Integral if self.is_whole else numbers.Real
        if not isinstance(value, kind) or isinstance(value, bool | np.bool_):
            return False
        number = float(value)
        is_above = number > self.low if self.excludes_low else number >= self.low
        return is_above and number <= self.high and math.isfinite(number)

    def describe(self) -> str:
        kind = "a whole number" if self.is_whole else "a number"
        opening = "above" if self.excludes_low else "of at least"
        upper = "" if self.high == float("inf") else f" and at most {self.high:g}"
        words = "".join(f", or {word!r}" for word in self.words)
        return f"{kind} {opening} {self.low:g}{upper}{words}"


@dataclass(frozen=True, slots=True)
class _Choice:
    """One of several words."""

    words: tuple[object, ...]

    def admits(self, value: object) -> bool:
        return any(type(value) is type(word) and value == word for word in self.words)

    def describe(self) -> str:
        return "one of " + ", ".join(repr(word) for word in self.words)


_USUAL_RATE = 0.05  # of learning, where nothing else is known

_RULES: Mapping[str, _Number | _Choice] = {
    "n_estimators": _Number(1, is_whole=True),
    "learning_rate": _Number(0, 1, excludes_low=True, words=("auto",)),
    "max_leaf_nodes": _Number(2, is_whole=True, words=("auto",)),
    "gamma1": _Number(0),
    "gamma2": _Number(0),
    "min_samples_leaf": _Number(1, is_whole=True, words=("auto",)),
    "loss": _Choice(("intensity", "cumulative")),
    "clock": _Choice(("operational", "calendar")),
    "growth": _Choice(("best", "level")),
    "splitter": _Choice(("auto", "best", "random")),
    "init": _Choice(("mean", "zero")),
    "spline_order": _Number(1, is_whole=True),
    "sensor_penalty": _Choice(("group_lasso", "ridge")),
    "n_folds": _Number(2, is_whole=True),
    "average_folds": _Choice((True, False)),
    "subsample": _Number(0, 1, excludes_low=True),
    "colsample": _Number(0, 1, excludes_low=True),
    "max_bins": _Number(2, 255, is_whole=True),
    "monotone": _Choice((True, False)),
    "n_origins": _Number(0, is_whole=True),
    "kinds": _Choice(("auto", "each", "total")),
    "n_jobs": _Number(-64, is_whole=True, words=(None,)),
    "verbose": _Number(0, is_whole=True),
    "warm_start": _Choice((True, False)),
}


@dataclass(frozen=True, slots=True, eq=False)
class Settings:
    """All parameters of `BoostR`, checked; see there for what they mean."""

    n_estimators: int
    learning_rate: float | Literal["auto"]
    max_leaf_nodes: int | Literal["auto"]
    gamma1: float
    gamma2: float
    min_samples_leaf: int | Literal["auto"]
    leaf: str | Basis
    loss: Literal["intensity", "cumulative"]
    clock: Literal["operational", "calendar"]
    growth: Literal["best", "level"]
    splitter: Literal["auto", "best", "random"]
    n_knots: int | Mapping[str, Sequence[float]]
    spline_order: int
    baseline: str | Basis | None
    sensor_penalty: Literal["group_lasso", "ridge"]
    init: Literal["mean", "zero"]
    validation: float | Literal["cv"] | None
    n_folds: int
    average_folds: bool
    subsample: float
    colsample: float
    max_bins: int
    categorical_features: Any
    monotone: bool
    n_origins: int
    kinds: Literal["auto", "each", "total"]
    random_state: Any
    n_jobs: int | None
    verbose: int
    warm_start: bool
    monotonic_cst: Any = None
    interaction_cst: Any = None

    def __post_init__(self) -> None:
        """Raise an error that names the first parameter out of its range."""
        for name, rule in _RULES.items():
            value = getattr(self, name)
            if not rule.admits(value):
                raise InvalidParameterError(
                    f"`{name}` must be {rule.describe()}, but it is {value!r}."
                )
        if self.n_jobs == 0:
            raise InvalidParameterError(
                "`n_jobs` must not be 0.\n\nHint: None or -1 uses all threads, 1 a single "
                "one."
            )
        _check_validation(self.validation)
        if self.warm_start and self.validation is not None:
            raise InvalidParameterError(
                "`warm_start` needs validation=None, but `validation` is "
                f"{self.validation!r}, which picks the number of trees itself.\n\n"
                "Hint: a larger `n_estimators` from the start; validation ends early."
            )

    def boosting(self) -> BoostingParams:
        """Return how ensembles are grown; the tree shape is set later."""
        seed = check_random_state(self.random_state).randint(np.iinfo(np.int32).max)
        rate = _USUAL_RATE if self.learning_rate == "auto" else self.learning_rate
        return BoostingParams(
            growth=GrowthParams(
                max_leaves=2, growth=self.growth, gamma1=float(self.gamma1)
            ),
            learning_rate=float(rate),
            subsample=float(self.subsample),
            colsample=float(self.colsample),
            seed=int(seed),
            starts_at_mean=self.init == "mean",
        )

    def link(self) -> dict[str, bool]:
        """Return how curves are made of coefficients."""
        given = self.monotonic_cst
        signs = list(given.values()) if isinstance(given, Mapping) else given
        keeps_order = signs is not None and bool(np.any(np.asarray(signs) != 0))
        return {"monotone": self.monotone, "keeps_order": keeps_order}

    def scheme(self) -> Validation:
        """Return how held-out losses are computed."""
        return Validation(self.validation, self.n_folds, self.average_folds)

    def shapes(self, *, has_sensors: bool = False) -> list[Shape]:
        """Return the tree shapes that validation compares, or the single one without it."""
        table: Sequence[Shape] = SENSOR_SHAPES if has_sensors else SHAPES
        if self.validation is None:
            table = [PLAIN_SHAPE]
        fixed: dict[str, Any] = {}
        if self.max_leaf_nodes != "auto":
            fixed["max_leaves"] = int(self.max_leaf_nodes)
        if self.min_samples_leaf != "auto":
            fixed["min_samples_leaf"] = int(self.min_samples_leaf)
        if self.splitter != "auto":
            table = choose_splitter(table, self.splitter)
        return list(dict.fromkeys(replace(shape, **fixed) for shape in table))


def _check_validation(value: object) -> None:
    is_fraction = isinstance(value, numbers.Real) and not isinstance(value, bool)
    if value is None or value == "cv" or (is_fraction and 0 < float(value) < 1):  # type: ignore[arg-type]
        return
    raise InvalidParameterError(
        f"`validation` must be 'cv', a share between 0 and 1, or None, but it is {value!r}."
        "\n\nHint: 'cv' cross-validates, 0.2 holds out a fifth of the individuals, None "
        "grows all `n_estimators` trees on all individuals."
    )


def resolve_baseline(baseline: object) -> Basis | None:
    """Return the time functions beside the sensors, from a name or as given."""
    if baseline is None:
        return None
    if isinstance(baseline, str) and baseline == "constant":
        return PowerBasis((1.0,))
    if (isinstance(baseline, str) and baseline in _families()) or hasattr(
        baseline, "place"
    ):
        return resolve_basis(baseline)
    raise InvalidParameterError(
        "`baseline` must be 'constant', 'power', 'step', 'spline', a basis object or None, "
        f"but it is {baseline!r}.\n\nHint: 'constant' is a rate that only sensors change; "
        "None leaves the baseline out."
    )


def _families() -> dict[str, Basis]:
    return {"power": PowerBasis(), "step": StepBasis(), "spline": SplineBasis()}


def resolve_basis(leaf: object) -> Basis:
    """Return the family of leaf functions, from a name or as given."""
    families = _families()
    if isinstance(leaf, str) and leaf in families:
        return families[leaf]
    if hasattr(leaf, "place"):
        return leaf
    raise InvalidParameterError(
        f"`leaf` must be 'power', 'step', 'spline' or a basis object, but it is {leaf!r}."
        "\n\nHint: boostr.basis.PowerBasis((1.0, 1.5)) chooses other exponents."
    )


def find_bins(features: FloatArray, max_bins: int, encoder: FeatureEncoder) -> BinMapper:
    """Choose the thresholds of all features."""
    return BinMapper.from_quantiles(
        features, max_bins, encoder.is_categorical, encoder.n_categories
    )


def proportional_term(basis: FittedBasis | FittedSensorBasis) -> int | None:
    """Return the term proportional to the clock, None if it is the only one."""
    return find_linear_term(basis) if basis.n_terms > 1 else None

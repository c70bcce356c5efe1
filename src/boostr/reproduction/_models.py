"""The models that are compared, by their names on the page."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

from boostr.baselines import (
    AndersenGill,
    HistGradientBoostingRate,
    HistGradientBoostingTime,
    HomogeneousPoisson,
    LightGBMPoisson,
    McfK,
    McfRegressor,
    PowerLawProcess,
    RandomForestRecurrence,
    XGBoostPoisson,
    XGBoostTime,
)
from boostr.estimators import BoostR
from boostr.reproduction._work import Scale

__all__ = [
    "DEFAULT",
    "FOREST",
    "PAPER",
    "PAPER_SETTINGS",
    "POINTWISE",
    "RATE",
    "absent_baselines",
    "find_library",
    "make_models",
    "make_time_model",
    "name_ad_hoc",
    "say_library",
]

RATE = 0.3  # XGBoost's own learning rate, where the paper states none

_N_TREES = 100  # rounds of XGBoost by default; the paper states none


def find_library() -> str:
    """Return the library of the trees: XGBoost, or scikit-learn without it."""
    return "XGBoost" if find_spec("xgboost") else "HistGB"


def name_ad_hoc() -> str:
    """Return the name of the model on the page."""
    return f"{find_library()}, time as a feature"


def say_library() -> str:
    """Return a sentence for the page if another library stands in."""
    if find_library() == "XGBoost":
        return ""
    return (
        "XGBoost is not installed: HistGB, the histogram gradient boosting of "
        "scikit-learn, stands in for it, on the same rows with time as a feature."
    )


def make_time_model(learning_rate: float, n_times: int, random_state: int) -> Any:
    """Return the ad hoc model, whose curves are not smoothed."""
    baseline = XGBoostTime if find_library() == "XGBoost" else HistGradientBoostingTime
    return baseline(
        n_estimators=_N_TREES,
        learning_rate=learning_rate,
        n_times=n_times,
        monotone=False,
        random_state=random_state,
    )


DEFAULT = "BoostR, default"
PAPER = "BoostR, paper's settings"
POINTWISE = "BoostR, paper's settings, pointwise leaves"
FOREST = "RF-R"
# K, gamma1, gamma2 and D.max. The paper states D.max for A and for the wells only, and for
# the Kelly data it states four pairs of gammas, of which this is the first, and no K.
PAPER_SETTINGS: dict[str, dict[str, float]] = {
    "A": {"n_estimators": 50, "gamma1": 300.0, "gamma2": 100.0, "max_leaf_nodes": 4},
    "B": {"n_estimators": 50, "gamma1": 300.0, "gamma2": 100.0, "max_leaf_nodes": 4},
    "C": {"n_estimators": 500, "gamma1": 10.0, "gamma2": 5.0, "max_leaf_nodes": 4},
    "D": {"n_estimators": 300, "gamma1": 100.0, "gamma2": 100.0, "max_leaf_nodes": 4},
    "kelly": {"n_estimators": 50, "gamma1": 10.0, "gamma2": 10.0, "max_leaf_nodes": 4},
    "wells": {"n_estimators": 300, "gamma1": 300.0, "gamma2": 100.0, "max_leaf_nodes": 4},
}
# Baselines that other packages fit, and these packages.
_OPTIONAL = {
    "XGBoost, Poisson": (XGBoostPoisson, "xgboost"),
    "LightGBM, Poisson": (LightGBMPoisson, "lightgbm"),
    "XGBoost, time as a feature": (XGBoostTime, "xgboost"),
    "Andersen-Gill": (AndersenGill, "lifelines"),
}
_SLOW = frozenset({"Andersen-Gill"})  # on more than some hundred individuals
_LARGE: frozenset[str] = frozenset({"C", "D", "kelly", "wells"})


def make_models(kind: str, scale: Scale, random_state: int = 0) -> dict[str, Any]:
    """Return all models for a data set, unfitted, with the interface of `BoostR`.

    Only `BoostR` uses sensors. Baselines that are not installed, or too slow for a quick
    run, are left out; see `absent_baselines`.
    """
    settings: dict[str, Any] = PAPER_SETTINGS[kind] | {"random_state": random_state}
    models: dict[str, Any] = {
        DEFAULT: BoostR(random_state=random_state),
        PAPER: BoostR.paper(**settings),
    }
    if kind != "wells":  # where sensors take the place of functions of time
        models[POINTWISE] = BoostR.paper(**settings, leaf="step")
    models |= {
        FOREST: RandomForestRecurrence(
            n_estimators=scale.n_forest_trees, random_state=random_state
        ),
        "MCF": McfRegressor(),
        "MCF-K": McfK(),
        "HPP": HomogeneousPoisson(),
        "Power law": PowerLawProcess(),
        "HistGradientBoosting rate x MCF": HistGradientBoostingRate(
            random_state=random_state
        ),
    }
    absent = absent_baselines(kind, scale)
    for name, (baseline, _) in _OPTIONAL.items():
        if name not in absent:
            models[name] = _seed(baseline(), random_state)
    return models


def absent_baselines(kind: str, scale: Scale) -> dict[str, str]:
    """Return the baselines left out of a data set's comparison, with the reasons."""
    reasons = {
        name: f"needs {package}, which is not installed"
        for name, (_, package) in _OPTIONAL.items()
        if find_spec(package) is None
    }
    if kind in _LARGE and not scale.has_slow_baselines:
        reasons |= dict.fromkeys(_SLOW - reasons.keys(), "too slow for a quick run")
    return reasons


def _seed(baseline: Any, random_state: int) -> Any:
    if "random_state" in baseline.get_params():
        baseline.set_params(random_state=random_state)
    return baseline

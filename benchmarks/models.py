"""Models that are compared: boostr, tuned baselines, a bound that knows the truth."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from benchmarks.known_truth import TrueForm, TrueRegions
from benchmarks.problems import Problem
from boostr import BoostR
from boostr.baselines import (
    HistGradientBoostingRate,
    LightGBMPoisson,
    McfRegressor,
    XGBoostPoisson,
    XGBoostTime,
    tune,
)
from boostr.simulate import Simulation

__all__ = ["BOOSTR", "MODELS", "Model", "fit_boostr", "fit_tuned"]

BOOSTR = "boostr"
_WITHOUT_GROUPS = ("D",)  # every individual has a curve of its own


class Model(Protocol):
    """A fitted model; where the data have sensors, these are one more argument."""

    def predict_cumulative(
        self, X: NDArray[np.float64], times: NDArray[np.float64], *Z: Any
    ) -> NDArray[np.float64]: ...


# Only the bound reads the truth of the simulation.
Fit = Callable[[Problem, Simulation, int], Model]


def fit_boostr(_problem: Problem, train: Simulation, seed: int) -> BoostR:
    """Fit boostr with default settings: nothing is set but the seed."""
    return BoostR(random_state=seed).fit(train.X, train.y, train.Z)


def fit_tuned(baseline: type[Any], **settings: Any) -> Fit:
    """Return a function that tunes a baseline by cross-validation."""

    def fit(_problem: Problem, train: Simulation, seed: int) -> Model:
        model = baseline(**settings)
        if "random_state" in model.get_params():
            model.set_params(random_state=seed)
        return tune(model, train.X, train.y, train.Z, random_state=seed)

    return fit


def _fit_bound(problem: Problem, train: Simulation, _seed: int) -> Model:
    bound = TrueForm(train) if problem.name in _WITHOUT_GROUPS else TrueRegions(train)
    return bound.fit(train.X, train.y)


MODELS: dict[str, Fit] = {
    BOOSTR: fit_boostr,
    "mcf": fit_tuned(McfRegressor),
    "xgboost-time": fit_tuned(XGBoostTime, monotone=False),
    "xgboost-poisson": fit_tuned(XGBoostPoisson),
    "lightgbm-poisson": fit_tuned(LightGBMPoisson),
    "histgb-rate": fit_tuned(HistGradientBoostingRate),
    "true-regions": _fit_bound,
}

"""Learners of cumulative intensities with one tiny interface."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from benchmarks.libraries._tuning import FloatArray
from benchmarks.libraries.boostr_default import make_boostr
from benchmarks.libraries.histgb_rate import HistGBRate
from benchmarks.libraries.lightgbm_poisson import LightGBMPoisson
from benchmarks.libraries.mcf import PooledMean
from benchmarks.libraries.true_regions import TrueForm, TrueRegions
from benchmarks.libraries.xgboost_poisson import XGBoostPoisson
from benchmarks.libraries.xgboost_time import XGBoostTime
from benchmarks.problems import Problem
from boostr import RecurrentEvents
from boostr.simulate import Simulation

__all__ = ["LEARNERS", "Learner"]


class Learner(Protocol):
    """Fits itself, tuning included, and predicts curves.

    Where the data have sensors, these are one more argument of both.
    """

    def fit(self, X: FloatArray, y: RecurrentEvents, *Z: Any) -> Any: ...

    def predict_cumulative(
        self, X: FloatArray, times: FloatArray, *Z: Any
    ) -> FloatArray: ...


# Only those who are allowed to know the truth read the problem and the simulation.
Factory = Callable[[Problem, Simulation, int], Learner]


def _make_informed(problem: Problem, simulation: Simulation, _seed: int) -> Learner:
    return TrueRegions(simulation) if problem.has_groups else TrueForm(simulation)


LEARNERS: dict[str, Factory] = {
    "boostr": lambda _problem, _simulation, seed: make_boostr(seed),
    "mcf": lambda _problem, _simulation, _seed: PooledMean(),
    "xgboost-time": lambda _problem, _simulation, seed: XGBoostTime(seed),
    "xgboost-poisson": lambda _problem, _simulation, seed: XGBoostPoisson(seed),
    "lightgbm-poisson": lambda _problem, _simulation, seed: LightGBMPoisson(seed),
    "histgb-rate": lambda _problem, _simulation, seed: HistGBRate(seed),
    "true-regions": _make_informed,
}

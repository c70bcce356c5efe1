"""The models that are compared on wells with sensors."""

from __future__ import annotations

from importlib.util import find_spec

from benchmarks.models import BOOSTR, MODELS, Fit, Model
from benchmarks.problems import Problem
from benchmarks.sensors.known_regions import KnownRegions
from boostr.baselines import AndersenGill
from boostr.simulate import Simulation

__all__ = ["BASELINES", "BOOSTR", "SENSOR_MODELS"]


def _fit_andersen_gill(_problem: Problem, train: Simulation, _seed: int) -> Model:
    return AndersenGill().fit(train.X, train.y, train.Z)


def _fit_known_regions(_problem: Problem, train: Simulation, _seed: int) -> Model:
    return KnownRegions(train).fit(train.X, train.y, train.Z)


BASELINES: dict[str, Fit] = {
    **{name: MODELS[name] for name in ("lightgbm-poisson", "xgboost-poisson")},
    "xgboost-time": MODELS["xgboost-time"],
    "andersen-gill": _fit_andersen_gill,
    "regions-known": _fit_known_regions,
}
if find_spec("lifelines") is None:
    del BASELINES["andersen-gill"]

SENSOR_MODELS = (BOOSTR, *BASELINES)  # boostr is fitted elsewhere, once for all parts

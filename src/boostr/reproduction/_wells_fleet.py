"""The simulated fleet: draws, models, and errors on fresh wells."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

import numpy as np

from boostr._typing import FloatArray
from boostr.baselines import (
    AndersenGill,
    HistGradientBoostingPoisson,
    HomogeneousPoisson,
    LightGBMPoisson,
    McfRegressor,
    XGBoostPoisson,
    tune,
)
from boostr.data import Trajectories
from boostr.estimators import BoostR
from boostr.metrics import integrated_squared_error
from boostr.reproduction._learners import DEFAULT, PAPER, PAPER_SETTINGS
from boostr.reproduction._work import Job, Result, Scale, Work
from boostr.simulate import Simulation, wells

__all__ = [
    "COORDINATES",
    "ONE_SENSOR",
    "PAPER_SENSOR",
    "Fleet",
    "compare_fleet",
    "count_fleets",
    "count_paper_trees",
    "draw_fleet",
    "fit_for_pictures",
    "make_paper",
]

COORDINATES = 2  # the first static features
PAPER_SENSOR = "sensor1"  # stands for the gearbox torque
ONE_SENSOR = f"{PAPER}, one sensor"
_SENSOR_COLUMNS = "HistGB, sensors as columns"
_NO_SENSORS = f"{DEFAULT}, without sensors"
_TRAINING_SEED, _TEST_SEED = 60_000, 70_000
_N_TEST = 500
_TIMES = np.linspace(0.0, 100.0, 101)
# Of the published R code: candidates per feature, and individuals in a leaf.
_R_CODE = {"max_bins": 20, "min_samples_leaf": 50}
_QUICK_TREES = 6  # later ones change curves in the fourth digit


@dataclass(frozen=True, slots=True, eq=False)
class Fleet:
    """Wells for training, and fresh ones."""

    train: Simulation
    test: Simulation

    def paths(self, part: Simulation, sensor: str | None = None) -> Trajectories:
        """Return all sensors of a part of the fleet, or one of them."""
        assert part.Z is not None  # noqa: S101 - this simulator has sensors
        return part.Z if sensor is None else part.Z.select(sensor)


def draw_fleet(scale: Scale, repetition: int) -> Fleet:
    """Simulate wells."""
    return Fleet(
        wells(scale.n_wells, scale.n_sensors, _TRAINING_SEED + repetition),
        wells(_N_TEST, scale.n_sensors, _TEST_SEED + repetition),
    )


def count_fleets(scale: Scale) -> int:
    """Return the number of simulated fleets."""
    return max(1, scale.n_repetitions // 4)


def count_paper_trees(scale: Scale) -> int:
    """Return K of the paper's settings with all sensors; fewer in a quick run."""
    n_trees = int(PAPER_SETTINGS["wells"]["n_estimators"])
    return n_trees if scale.has_slow_rivals else min(n_trees, _QUICK_TREES)


def make_paper(n_estimators: int) -> BoostR:
    """Return the paper's settings, with constants of the R code where it gives none."""
    settings: dict[str, Any] = PAPER_SETTINGS["wells"] | {"n_estimators": n_estimators}
    return BoostR.paper(**settings, **_R_CODE, n_knots=2, spline_order=3)


def fit_for_pictures(fleet: Fleet) -> dict[str, Any]:
    """Fit the models that are inspected, to the first fleet."""
    train = fleet.train
    one = fleet.paths(train, PAPER_SENSOR)
    n_trees = int(PAPER_SETTINGS["wells"]["n_estimators"])
    return {
        DEFAULT: BoostR(random_state=0).fit(train.X, train.y, train.Z),
        ONE_SENSOR: make_paper(n_trees).fit(train.X, train.y, one),
    }


def compare_fleet(work: Work, models: Mapping[str, Any]) -> dict[str, FloatArray]:
    """Return the errors of all models, one per fleet; ``models`` are of the first."""
    jobs: list[Job] = [
        {"learner": name, "repetition": repetition}
        for repetition in range(count_fleets(work.scale))
        for name in _list_learners(work.scale, 0)
    ]
    results = work.run(
        "wells: learners against the truth",
        jobs,
        lambda job: _score(work.scale, job, models),
        settings={"n_test": _N_TEST, "paper_trees": count_paper_trees(work.scale)},
        keeps=True,
    )
    errors: dict[str, list[float]] = {}
    for job, result in zip(jobs, results, strict=True):
        errors.setdefault(str(job["learner"]), []).append(result["error"])
    return {name: np.array(each) for name, each in errors.items()}


def _list_learners(scale: Scale, random_state: int) -> dict[str, tuple[Any, str]]:
    """Return the models, and the sensors that each uses: all, one or none."""
    paper = int(PAPER_SETTINGS["wells"]["n_estimators"])
    learners: dict[str, tuple[Any, str]] = {
        DEFAULT: (BoostR(random_state=random_state), "all"),
        PAPER: (make_paper(count_paper_trees(scale)), "all"),
        ONE_SENSOR: (make_paper(paper), "one"),
        _SENSOR_COLUMNS: (_make_sensor_baseline(random_state), "all"),
        _NO_SENSORS: (BoostR(random_state=random_state), "none"),
    }
    if find_spec("xgboost"):
        baseline = XGBoostPoisson(random_state=random_state)
        learners["XGBoost, Poisson, without sensors"] = (baseline, "none")
    if find_spec("lightgbm"):
        other = LightGBMPoisson(random_state=random_state)
        learners["LightGBM, Poisson, without sensors"] = (other, "none")
    if find_spec("lifelines") and scale.has_slow_rivals:
        learners["Andersen-Gill, without sensors"] = (AndersenGill(), "none")
    learners["HPP, without sensors"] = (HomogeneousPoisson(), "none")
    learners["MCF, without sensors"] = (McfRegressor(), "none")
    return learners


def _make_sensor_baseline(random_state: int) -> HistGradientBoostingPoisson:
    return HistGradientBoostingPoisson(
        max_leaf_nodes=12, min_samples_leaf=5, random_state=random_state
    )


def _score(scale: Scale, job: Job, models: Mapping[str, Any]) -> Result:
    name, repetition = str(job["learner"]), int(job["repetition"])
    fleet = draw_fleet(scale, repetition)
    learner, reads = _list_learners(scale, repetition)[name]
    sensor = PAPER_SENSOR if reads == "one" else None
    known, given = (
        () if reads == "none" else (fleet.paths(part, sensor),)
        for part in (fleet.train, fleet.test)
    )
    if repetition == 0 and name in models:
        learner = models[name]
    elif name == _SENSOR_COLUMNS:  # the number of trees is the one thing that is tuned
        data = fleet.train.X, fleet.train.y, *known
        learner = tune(learner, *data, settings={}, n_folds=3, random_state=repetition)
    else:
        learner.fit(fleet.train.X, fleet.train.y, *known)
    predicted = learner.predict_cumulative(fleet.test.X, _TIMES, *given)
    errors = integrated_squared_error(predicted, fleet.test.truth(_TIMES), _TIMES)
    return {"error": float(errors.mean())}

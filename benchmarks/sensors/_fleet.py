"""The simulated fleet of wells, and boostr fitted to it once for all parts."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache, partial

from benchmarks.accuracy import score_once
from benchmarks.models import fit_boostr
from benchmarks.problems import Problem
from boostr import BoostR
from boostr.simulate import Simulation, wells

RESULTS_FILE = "sensors.jsonl"
N_ACTIVE = 3  # sensors that matter; further ones are inert
N_WITH_INERT = 6
N_SEEDS = 3
N_TREES = 300

MUST_REACH, AIM = 27.0, 15.0
_N_TRAIN, _N_TEST = 2_000, 1_000
_N_QUICK = 200


@dataclass(frozen=True, slots=True)
class Scale:
    """Sizes of one run of ``benchmarks.sensors``."""

    is_quick: bool
    n_seeds: int
    models: tuple[str, ...]  # of the part on accuracy
    n_trees: int  # of the part on cost

    def problem(self, n_sensors: int = N_ACTIVE) -> Problem:
        """Return the fleet with some number of sensors."""
        problem = _PROBLEMS[n_sensors]
        if not self.is_quick:
            return problem
        return replace(problem, n_train=_N_QUICK, n_test=_N_QUICK)

    def fit(self, n_sensors: int, seed: int) -> FittedFleet:
        """Return boostr fitted with default settings; once only, whatever part asks."""
        return _fit(n_sensors, seed, self)


@dataclass(frozen=True, slots=True, eq=False)
class FittedFleet:
    """A fitted model, fresh wells and its error on them."""

    model: BoostR
    test: Simulation
    error: float  # mean integrated squared error
    seconds: float  # to fit and to predict


@cache
def _fit(n_sensors: int, seed: int, scale: Scale) -> FittedFleet:
    error, seconds, model, test = score_once(fit_boostr, scale.problem(n_sensors), seed)
    return FittedFleet(model, test, error, seconds)


_PROBLEMS = {
    n_sensors: Problem(
        f"wells, {n_sensors} sensors",
        partial(wells, n_sensors=n_sensors),
        _N_TRAIN,
        _N_TEST,
    )
    for n_sensors in (N_ACTIVE, N_WITH_INERT)
}

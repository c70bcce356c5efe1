"""The Kelly data: the models compared, and all their scores."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

import numpy as np

from boostr._typing import FloatArray
from boostr.baselines import (
    HomogeneousPoisson,
    McfRegressor,
    RandomForestRecurrence,
    XGBoostPoisson,
)
from boostr.data import RecurrentEvents
from boostr.estimators import BoostR
from boostr.metrics import integrated_squared_error, observed_l2
from boostr.reproduction._learners import DEFAULT, FOREST, PAPER_SETTINGS
from boostr.reproduction._time_feature import find_library, make_time_learner
from boostr.reproduction._work import Job, Result, Scale, Work
from boostr.simulate import kelly

__all__ = [
    "FOLLOW_UP",
    "HORIZON",
    "SIGMAS",
    "TRUTH",
    "Scores",
    "Trials",
    "count_trials",
    "list_paper",
    "list_rates",
    "make_trial_learners",
    "run_trials",
]

SIGMAS = (0.0, 0.1, 0.4)
TRUTH = "The truth"
FOLLOW_UP = 120.0  # days
HORIZON = 240.0  # day to which is extrapolated
_PAIRS = ((10.0, 10.0), (10.0, 50.0), (50.0, 10.0), (50.0, 50.0))  # gamma1, gamma2
_RATES = (0.1, 0.5, 1.0)  # learning rates of the ad hoc use
_SHAPE = ("n_estimators", "max_leaf_nodes")
_N_TIMES = 24  # of its rows, every five days
_FIRST_SEED = 30_000
_GRID = np.linspace(0.0, FOLLOW_UP, 121)


@dataclass(frozen=True, slots=True, eq=False)
class Scores:
    """Scores of one model on the trials with one sigma."""

    observed: FloatArray  # (r, n) squared L2 distances from the observed process, each
    unstopped: FloatArray  # (r,) mean distance where nobody is stopped by events
    errors: FloatArray  # (r,) integrated squared error against the truth
    squared: FloatArray  # (r, n) squared errors of the number by day 240
    expected: FloatArray  # (r,) mean predicted number by day 240


Trials = Mapping[float, Mapping[str, Scores]]  # by sigma and learner


def make_trial_learners(scale: Scale, random_state: int) -> dict[str, Any]:
    """Return the paper's models, ours, and baselines, in the order of the figures."""
    shape: dict[str, Any] = {name: PAPER_SETTINGS["kelly"][name] for name in _SHAPE}
    own = {
        name: BoostR.paper(gamma1=gamma1, gamma2=gamma2, leaf="step", **shape)
        for name, (gamma1, gamma2) in zip(list_paper(), _PAIRS, strict=True)
    }
    forest = RandomForestRecurrence(
        n_estimators=scale.n_forest_trees, random_state=random_state
    )
    ad_hoc = {
        name: make_time_learner(rate, _N_TIMES, random_state)
        for name, rate in zip(list_rates(), _RATES, strict=True)
    }
    rivals: dict[str, Any] = {"HPP": HomogeneousPoisson(), "MCF": McfRegressor()}
    if find_spec("xgboost"):
        rivals["XGBoost, Poisson"] = XGBoostPoisson(random_state=random_state)
    default = BoostR(random_state=random_state)
    return own | {FOREST: forest} | ad_hoc | {DEFAULT: default} | rivals


def count_trials(scale: Scale) -> int:
    """Return the number of trials per sigma; the paper has one."""
    return max(1, scale.n_repetitions // 2)


def list_paper() -> list[str]:
    """Return the names of the paper's four settings."""
    return [
        f"Boost-R-{k} ({gamma1:g}, {gamma2:g})"
        for k, (gamma1, gamma2) in enumerate(_PAIRS, start=1)
    ]


def list_rates() -> list[str]:
    """Return the names of the three ad hoc models."""
    library = find_library()
    return [f"{library}-{k} ({rate:g})" for k, rate in enumerate(_RATES, start=1)]


def run_trials(work: Work) -> Trials:
    """Score every model, and the truth, on the same trials, by sigma."""
    names = [TRUTH, *make_trial_learners(work.scale, 0)]
    jobs: list[Job] = [
        {"sigma": sigma, "repetition": repetition, "learner": name}
        for sigma in SIGMAS
        for repetition in range(count_trials(work.scale))
        for name in names
    ]
    results = work.run(
        "Kelly: learners on trials",
        jobs,
        lambda job: _score(work, job),
        settings={
            "first_seed": _FIRST_SEED,
            "grid": _GRID.tolist(),
            "horizon": HORIZON,
        },
    )
    found: dict[float, dict[str, list[Result]]] = {
        sigma: {name: [] for name in names} for sigma in SIGMAS
    }
    for job, result in zip(jobs, results, strict=True):
        found[float(job["sigma"])][str(job["learner"])].append(result)
    return {
        sigma: {name: _collect(runs) for name, runs in each.items()}
        for sigma, each in found.items()
    }


def _collect(runs: list[Result]) -> Scores:
    def gather(name: str) -> FloatArray:
        return np.array([run[name] for run in runs])

    return Scores(
        gather("observed"),
        gather("unstopped"),
        gather("error"),
        gather("squared"),
        gather("expected"),
    )


def _score(work: Work, job: Job) -> Result:
    """Fit to one half of the subjects and predict the other."""
    n, repetition = work.scale.n_subjects, int(job["repetition"])
    options: Mapping[str, Any] = {
        "n": n,
        "sigma": float(job["sigma"]),
        "random_state": _FIRST_SEED + repetition,
    }
    trial = kelly(**options)
    unstopped = kelly(**options, max_events=None).y[n // 2 :]  # the same trial
    test, y = trial.X[n // 2 :], trial.y[n // 2 :]
    true = trial.truth(_GRID, X=test)
    if job["learner"] == TRUTH:
        curves, last = true, trial.truth(HORIZON, X=test)[:, 0]
    else:
        learner = make_trial_learners(work.scale, repetition)[job["learner"]]
        learner.fit(trial.X[: n // 2], trial.y[: n // 2])
        curves = learner.predict_cumulative(test, _GRID)
        last = learner.predict_cumulative(test, [HORIZON])[:, 0]
    assert trial.complete is not None  # noqa: S101 - this simulator has it
    counts = trial.complete[n // 2 :].n_events
    return {
        "observed": _measure(y, curves).round(3).tolist(),
        "unstopped": observed_l2(unstopped, curves, _GRID),
        "error": float(integrated_squared_error(curves, true, _GRID).mean()),
        "squared": ((counts - last) ** 2).round(4).tolist(),
        "expected": float(last.mean()),
    }


def _measure(y: RecurrentEvents, curves: FloatArray) -> FloatArray:
    """Return the distance of each subject's curve from the observed process."""
    return np.array(
        [observed_l2(y[i], curves[i : i + 1], _GRID) for i in range(len(curves))]
    )

"""Statistics and bins shared by many runs, and runs on a part of the individuals."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np
from sklearn.base import clone

from boostr._engine.binning import BinMapper, BinnedFeatures
from boostr._engine.penalty import reprice
from boostr._engine.training_set import LocalCohort
from boostr._engine.tree import LeafProblem
from boostr._training.finish import finish_fit
from boostr._training.fitted import describe_results
from boostr._training.inputs import TrainingData
from boostr._training.learn import Pace, learn_trees
from boostr._training.settings import find_bins
from boostr._training.statistics import POOL, Prepared, compute_statistics
from boostr._training.terms import TermJudge
from boostr._typing import PositionArray
from boostr.data import RecurrentEvents, Trajectories
from boostr.data.events.fingerprint import Fingerprint
from boostr.estimators import BoostR

__all__ = ["SharedData", "fit_on_part"]

# Parameters that statistics depend on; gamma2 only multiplies the penalty.
_TIME_KEYS = ("leaf", "loss", "clock")
_SENSOR_KEYS = (
    "loss",
    "clock",
    "n_knots",
    "spline_order",
    "baseline",
    "sensor_penalty",
)


@dataclass(frozen=True, slots=True, eq=False)
class SharedData:
    """Checked individuals, with statistics and bins computed once each."""

    data: TrainingData
    learned: Mapping[str, Any]  # attributes of every model: names, categories, sensors
    _prepared: dict[Any, Prepared] = field(default_factory=dict)
    _bins: dict[int, tuple[BinMapper, BinnedFeatures]] = field(default_factory=dict)

    @classmethod
    def check(
        cls,
        estimator: BoostR,
        X: Any,
        y: RecurrentEvents,
        sensors: Trajectories | None,
        weights: Any,
    ) -> Self:
        """Check features, events and weights as an estimator does in ``fit``."""
        model = clone(estimator)
        before = set(vars(model))
        data = model._check_data(X, y, sensors, weights)
        learned = {name: value for name, value in vars(model).items() if name not in before}
        return cls(data, learned)

    def prepare(self, params: Mapping[str, Any]) -> Prepared:
        """Return clock, functions and statistics, with a penalty of ``gamma2 = 1``."""
        names = _TIME_KEYS if self.data.sensors is None else _SENSOR_KEYS
        key = tuple(_hashable(params[name]) for name in names)
        if key not in self._prepared:
            plain = {**params, "gamma2": 1.0}
            self._prepared[key] = compute_statistics(plain, self.data)
        return self._prepared[key]

    def find_bins(self, max_bins: int, n_threads: int) -> tuple[BinMapper, BinnedFeatures]:
        """Return thresholds and bins of the features."""
        if max_bins not in self._bins:
            encoder = self.learned["encoder_"]
            mapper = find_bins(self.data.features, max_bins, encoder)
            self._bins[max_bins] = mapper, mapper.transform(self.data.features, n_threads)
        return self._bins[max_bins]


def fit_on_part(
    model: BoostR, shared: SharedData, rows: PositionArray | None, n_threads: int
) -> BoostR:
    """Fit a model to some individuals (None: all), with the shared statistics and bins.

    Returns the model itself, fitted as by its own ``fit``.
    """
    params = model.get_params(deep=False)
    prepared = shared.prepare(params)
    mapper, binned = shared.find_bins(params["max_bins"], n_threads)
    cohort = LocalCohort(prepared.stats, binned, shared.data.weights)
    if rows is not None:
        cohort = cohort.take(rows.astype(np.int32))
    data = _take(shared.data, rows)
    trained = learn_trees(
        params,
        prepared.plan,
        _weigh(prepared.problem, float(params["gamma2"])),
        cohort,
        Pace(n_threads, _keep_silent),
        judge=TermJudge.of(params, data, mapper, n_threads),
    )
    results = describe_results(prepared.plan, data.sample(POOL), mapper, trained, cohort)
    results["fingerprint_"] = Fingerprint.of(data.events, data.features)  # the plan has all
    for name, value in {**shared.learned, **results}.items():
        setattr(model, name, value)
    theta = data.spread(trained.out_of_fold)
    finish_fit(model, data, None if theta is None else theta[data.is_used], theta)
    return model


def _hashable(value: Any) -> Any:
    """Return words and numbers unchanged, anything else by identity."""
    return value if isinstance(value, str | int | float | None) else id(value)


def _weigh(problem: LeafProblem, gamma2: float) -> LeafProblem:
    """Return the problem for another ``gamma2`` than 1, by scaling its penalties."""
    return reprice(replace(problem, penalty=gamma2 * problem.penalty), gamma2)


def _take(data: TrainingData, rows: PositionArray | None) -> TrainingData:
    """Return some of the individuals as if they were all."""
    if rows is None:
        return data
    return replace(data.take(rows), is_used=np.ones(len(rows), dtype=np.bool_))


def _keep_silent(label: str, n_trees: int, loss: float) -> None:
    """Report nothing: the bar counts runs."""

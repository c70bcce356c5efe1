"""Statistics and bins shared by many runs, and runs on a part of the individuals."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import validate_data

from boostr._engine.binning import BinMapper, BinnedFeatures
from boostr._engine.penalty import reprice
from boostr._engine.training_set import LocalTrainingSet
from boostr._engine.tree import LeafProblem
from boostr._training.features import FeatureEncoder
from boostr._training.finish import Grown, finish_fit
from boostr._training.inputs import TrainingData, check_training_data
from boostr._training.learn import learn_trees
from boostr._training.run import RunOptions
from boostr._training.sensors import SensorLayout, split_panel
from boostr._training.settings import Settings, find_bins
from boostr._training.statistics import Prepared, compute_statistics
from boostr._training.terms import TermJudge
from boostr._typing import PositionArray
from boostr.data import RecurrentEvents, Trajectories
from boostr.data.events.fingerprint import Fingerprint
from boostr.data.features import check_table
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
    encoder: FeatureEncoder
    layout: SensorLayout | None
    model: BoostR  # unfitted, but for the number and names of features
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
        table, given = split_panel(X, sensors, y)
        table = check_table(table)
        validate_data(model, table, reset=True, skip_check_array=True)
        encoder = FeatureEncoder.learn(table, model.categorical_features)
        layout = None if given is None else SensorLayout.learn(given)
        data = check_training_data(table, encoder, y, given, weights)
        return cls(data, encoder, layout, model)

    def prepare(self, settings: Settings) -> Prepared:
        """Return clock, functions and statistics, with a penalty of ``gamma2 = 1``."""
        names = _TIME_KEYS if self.data.sensors is None else _SENSOR_KEYS
        key = tuple(_hashable(getattr(settings, name)) for name in names)
        if key not in self._prepared:
            plain = replace(settings, gamma2=1.0)
            self._prepared[key] = compute_statistics(plain, self.data)
        return self._prepared[key]

    def find_bins(self, max_bins: int, n_threads: int) -> tuple[BinMapper, BinnedFeatures]:
        """Return thresholds and bins of the features."""
        if max_bins not in self._bins:
            mapper = find_bins(self.data.features, max_bins, self.encoder)
            self._bins[max_bins] = mapper, mapper.transform(self.data.features, n_threads)
        return self._bins[max_bins]


def fit_on_part(
    model: BoostR, shared: SharedData, rows: PositionArray | None, n_threads: int
) -> BoostR:
    """Fit a model to some individuals (None: all), with the shared statistics and bins.

    Returns the model itself, fitted as by its own ``fit``.
    """
    settings = Settings(**model.get_params(deep=False))
    prepared = shared.prepare(settings)
    mapper, binned = shared.find_bins(settings.max_bins, n_threads)
    training_set = LocalTrainingSet(prepared.stats, binned, shared.data.weights)
    if rows is not None:
        training_set = training_set.take(rows.astype(np.int32))
    data = _take(shared.data, rows)
    # The plan of all individuals, with the fingerprint of those that are trained on.
    plan = replace(prepared.plan, fingerprint=Fingerprint.of(data.events, data.features))
    trained = learn_trees(
        settings,
        plan,
        _weigh(prepared.problem, float(settings.gamma2)),
        training_set,
        RunOptions(n_threads, _keep_silent),
        judge=TermJudge.of(settings, data, mapper, n_threads),
    )
    theta = data.spread(trained.out_of_fold)
    known = None if theta is None else theta[data.is_used]
    grown = Grown(plan, mapper, training_set, trained)
    layout = shared.layout
    model.fitted_ = finish_fit(settings, grown, shared.encoder, layout, data, known, theta)
    for name in ("n_features_in_", "feature_names_in_"):
        if hasattr(shared.model, name):
            setattr(model, name, getattr(shared.model, name))
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

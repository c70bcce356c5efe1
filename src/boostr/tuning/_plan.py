"""Splits with their data and shared statistics, and candidates in their own time scales."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone
from sklearn.utils.validation import validate_data

from boostr._checks.numbers import check_weights, first_few
from boostr._engine.binning import BinMapper, BinnedFeatures
from boostr._engine.penalty import reprice
from boostr._engine.training_set import LocalTrainingSet
from boostr._engine.tree import LeafProblem
from boostr._training.features import FeatureEncoder
from boostr._training.finish import Grown, finish_fit
from boostr._training.fit import learn_trees
from boostr._training.fitted import Fitted
from boostr._training.inputs import TrainingData, check_training_data
from boostr._training.limits import read_limits
from boostr._training.run import RunOptions
from boostr._training.sensors import SensorLayout, split_panel
from boostr._training.settings import Settings, find_bins
from boostr._training.statistics import Prepared, compute_statistics
from boostr._training.terminal import add_terminal, terminal_settings
from boostr._training.terms import TermJudge
from boostr._typing import FloatArray, PositionArray
from boostr.data import Panel, RecurrentEvents, Trajectories, check_target
from boostr.data.events.fingerprint import Fingerprint
from boostr.data.events.terminal import as_terminal_events
from boostr.data.features import check_rows, check_table
from boostr.data.time_scales import find_shift
from boostr.estimators import BoostR
from boostr.exceptions import InvalidParameterError
from boostr.tuning._checkpoint import hash_parts
from boostr.tuning._splits import AsOf, AsOfSplit, clip_sensors, list_rows

__all__ = [
    "Candidate",
    "Individuals",
    "SharedData",
    "Split",
    "fit_on_part",
    "list_candidates",
    "plan_splits",
]

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


@dataclass(frozen=True, eq=False)
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

    @cached_property
    def deaths(self) -> SharedData | None:
        """The same individuals with terminal events as events; None without any."""
        died = self.data.events.is_terminal
        if died is None or not died.any():
            return None
        data = replace(self.data, events=as_terminal_events(self.data.events))
        return SharedData(data, self.encoder, self.layout, self.model)

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
    fitted = _learn(settings, shared, rows, n_threads)
    data, deaths = _take(shared.data, rows), shared.deaths
    died = data.events.is_terminal
    if deaths is not None and died is not None and died.any():
        hazard = _learn(terminal_settings(settings), deaths, rows, n_threads)
        fitted = add_terminal(fitted, hazard, data)
    model.fitted_ = fitted
    for name in ("n_features_in_", "feature_names_in_"):
        if hasattr(shared.model, name):
            setattr(model, name, getattr(shared.model, name))
    return model


def _learn(
    settings: Settings, shared: SharedData, rows: PositionArray | None, n_threads: int
) -> Fitted:
    """Return what is learned of some individuals."""
    prepared = shared.prepare(settings)
    mapper, binned = shared.find_bins(settings.max_bins, n_threads)
    training_set = LocalTrainingSet(prepared.stats, binned, shared.data.weights)
    if rows is not None:
        training_set = training_set.take(rows.astype(np.int32))
    data = _take(shared.data, rows)
    # The plan of all individuals, with the fingerprint of those that are trained on.
    plan = replace(prepared.plan, fingerprint=Fingerprint.of(data.events, data.features))
    limits = read_limits(settings, shared.encoder, plan.basis)
    problem = _weigh(prepared.problem, float(settings.gamma2))
    trained = learn_trees(
        settings,
        plan,
        replace(problem, limits=limits),
        training_set,
        RunOptions(n_threads, _keep_silent),
        judge=TermJudge.of(settings, lambda: data, mapper, n_threads, limits),
    )
    theta = data.spread(trained.out_of_fold)
    known = None if theta is None else theta[data.is_used]
    grown = Grown.of(plan, mapper, training_set, trained)
    layout = shared.layout
    return finish_fit(settings, grown, shared.encoder, layout, data, known, theta)


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


@dataclass(frozen=True, slots=True, eq=False)
class Individuals:
    """Matched features, histories, sensors and weights, without weights of zero."""

    table: Any
    events: RecurrentEvents
    sensors: Trajectories | None
    weights: FloatArray

    @classmethod
    def check(
        cls,
        X: Any,
        y: RecurrentEvents,
        Z: Trajectories | None,
        sample_weight: ArrayLike | None,
    ) -> Individuals:
        """Return the individuals, matched with the histories."""
        events = check_target(y)
        X, sensors = split_panel(X, Z, events)
        table = check_table(X)
        check_rows(events, table.shape[0])
        weights = check_weights(sample_weight, events)
        individuals = cls(table, events, sensors, weights)
        return individuals if weights.all() else individuals.take(np.flatnonzero(weights))

    @property
    def features(self) -> Any:
        """Input of predictions: the table, or a panel with the sensors."""
        return self.table if self.sensors is None else Panel(self.table, self.sensors)

    def take(
        self, rows: PositionArray, events: RecurrentEvents | None = None
    ) -> Individuals:
        """Return some individuals, with other histories if given."""
        has_index = hasattr(self.table, "iloc")
        return Individuals(
            self.table.iloc[rows] if has_index else self.table[rows],
            self.events[rows] if events is None else events,
            None if self.sensors is None else self.sensors[rows],
            self.weights[rows],
        )

    def share(self, estimator: BoostR) -> SharedData:
        """Return the individuals checked for training, to share statistics."""
        return SharedData.check(
            estimator, self.table, self.events, self.sensors, self.weights
        )


@dataclass(frozen=True, slots=True, eq=False)
class Split:
    """Individuals to train on, and data to test with."""

    shared: SharedData
    rows: PositionArray | None  # of the shared individuals; None: all of them
    test: Individuals

    def list_parts(self) -> list[Any]:
        """Return all parts of the split, for a fingerprint."""
        features = self.shared.encoder.transform(self.test.table)
        test = (self.test.events, self.test.sensors, self.test.weights)
        return [self.rows, features, *test]


def plan_splits(
    splits: Any, individuals: Individuals, estimator: BoostR, seed: int
) -> list[Split]:
    """Return all splits; those of individuals share statistics and bins."""
    if isinstance(splits, AsOfSplit):
        parts = splits.split(individuals.events)
        return [_plan_as_of(part, individuals, estimator) for part in parts]
    features, events = individuals.features, individuals.events
    pairs = list_rows(splits, features, events, seed)
    shared = individuals.share(estimator)
    return [Split(shared, train, individuals.take(test)) for train, test in pairs]


def _plan_as_of(part: AsOf, individuals: Individuals, estimator: BoostR) -> Split:
    """Return a split by date, which shares nothing as each date has its own past.

    Sensors end at the date, also for the test: their last values hold.
    """
    if individuals.sensors is not None:
        sensors = clip_sensors(individuals.sensors, part.dates)
        individuals = replace(individuals, sensors=sensors)
    known = individuals.take(part.train_rows, part.train)
    later = individuals.take(part.test_rows, part.test)
    return Split(known.share(estimator), None, later)


_SILENT = ("n_jobs", "verbose")  # parameters that results do not depend on


@dataclass(frozen=True, slots=True, eq=False)
class Candidate:
    """A model, with the individuals in its time scale."""

    name: str
    model: Any
    individuals: Individuals
    history_sensors: Callable[..., Trajectories] | None  # sensors that follow from events
    shift: FloatArray  # (n,) from the time axis of the back-test to the own one

    def fingerprint(self) -> str:
        """Return the parts that identify the candidate, without the common data."""
        own = self.individuals
        return hash_parts(
            type(self.model).__qualname__,
            {
                name: value
                for name, value in self.model.get_params(deep=True).items()
                if name not in _SILENT
            },
            [own.events, own.sensors, self.history_sensors],
        )


def list_candidates(
    models: Any, X: Any, y: RecurrentEvents, Z: Any
) -> tuple[Individuals, list[Candidate]]:
    """Return the common individuals, and the candidates by name."""
    common, function = _read_individuals(X, y, Z)
    if isinstance(models, Mapping):
        named = {str(name): each for name, each in models.items()}
    else:
        named = {_name(models): models}
    if not named:
        raise InvalidParameterError(
            "`models` must hold at least one candidate, but it is empty.\n\n"
            "Hint: backtest(BoostR(), X, y, …)."
        )
    found = []
    for name, each in named.items():
        if isinstance(each, tuple):
            found.append(_read_own(name, each, common))
        else:
            _check_model(name, each)
            still = np.zeros(len(common.events))
            own = function if hasattr(each, "forecast") else None  # others ignore it
            found.append(Candidate(name, each, common, own, still))
    return common, found


def _name(model: Any) -> str:
    return type(model[0] if isinstance(model, tuple) and model else model).__name__


def _read_individuals(
    X: Any, y: Any, Z: Any
) -> tuple[Individuals, Callable[..., Trajectories] | None]:
    """Return matched features, histories and sensors; functions for sensors apart."""
    is_function = callable(Z) and not isinstance(Z, Trajectories)
    common = Individuals.check(X, y, None if is_function else Z, None)
    _check_ids(common.events)
    return common, Z if is_function else None


def _check_ids(y: RecurrentEvents) -> None:
    ids, counts = np.unique(y.ids.astype(str), return_counts=True)
    if (counts > 1).any():
        raise InvalidParameterError(
            f"Ids must be distinct in a back-test, but {int((counts > 1).sum())} of "
            f"{ids.size} stand several times (ids {first_few(ids[counts > 1])}).\n\n"
            "Hint: back-test each individual once."
        )


def _read_own(name: str, given: tuple[Any, ...], common: Individuals) -> Candidate:
    """Return a candidate with its own histories, and sensors if it has any."""
    if not 2 <= len(given) <= 3:
        raise InvalidParameterError(
            f"A candidate must be an estimator, (estimator, y) or (estimator, y, Z), but "
            f"{name!r} is a tuple of {len(given)}."
        )
    model, y, *rest = given
    _check_model(name, model)
    own, function = _read_individuals(common.table, y, rest[0] if rest else None)
    shift = _find_shift(name, common.events, check_target(y))
    return Candidate(name, model, replace(own, table=common.table), function, shift)


def _check_model(name: str, model: Any) -> None:
    needed = ("fit", "get_params")
    if isinstance(model, type) or not all(hasattr(model, each) for each in needed):
        raise InvalidParameterError(
            "A candidate must be an estimator with `fit` and `get_params`, but "
            f"{name!r} is {model!r}.\n\nHint: BoostR(), or one of boostr.baselines."
        )


def _find_shift(name: str, y: RecurrentEvents, own: RecurrentEvents) -> FloatArray:
    """Return the shift of times to the time scale of a candidate."""
    shift = find_shift(y, own)
    if shift is None:
        raise InvalidParameterError(
            f"Candidate {name!r} must have the same individuals, in the same order, with "
            "the same events and in the same unit, but its histories are others.\n\n"
            "Hint: y.in_calendar_time() and y.in_age() change the time scale."
        )
    return shift

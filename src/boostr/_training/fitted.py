"""Everything that a fit leaves behind: trees, and what else predictions need."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple, Self

import numpy as np

from boostr._checks.numbers import first_few
from boostr._engine.curves import UnitCurves, expose
from boostr._engine.ensemble import Ensemble
from boostr._frailty.forecast_law import Costs, ForecastLaw
from boostr._training.features import FeatureEncoder
from boostr._training.run import use_threads
from boostr._training.sensors import SensorLayout, count_strange, warn_of_strange
from boostr._training.settings import Settings
from boostr._training.surviving import SurvivingCurves
from boostr._typing import FloatArray
from boostr.basis import Clock, FittedSensorBasis
from boostr.data import RecurrentEvents, Trajectories
from boostr.data.events.exposure import Exposure
from boostr.data.events.fingerprint import Fingerprint
from boostr.data.events.kinds import count_kinds, find_kind, keep_kinds
from boostr.exceptions import (
    InvalidEventsError,
    InvalidParameterError,
    InvalidSensorsError,
)

__all__ = [
    "OTHER_KINDS",
    "Fitted",
    "KindModels",
    "LawOnDemand",
    "LearnedLaw",
    "TreeModel",
]

OTHER_KINDS = "other kinds"  # those that are too rare to be learned each


@dataclass(frozen=True, slots=True, eq=False)
class TreeModel:
    """The trees of a model: the average of the models of its folds.

    Members of the ensemble that belong to one fold stand ``n_fold_models`` apart.
    """

    ensemble: Ensemble
    settings: Settings
    n_fold_models: int = 1
    clock_variants: Sequence[Clock] = ()  # without parts of the data; early files only

    @property
    def clock(self) -> Clock:
        """The clock of the ensemble."""
        return self.ensemble.clock

    def coefficients(self, features: FloatArray) -> FloatArray:
        """Return the coefficients of individuals."""
        return self._sum(self.ensemble, features)

    def coefficients_by_fold(self, features: FloatArray) -> list[FloatArray]:
        """Return the coefficients of individuals by the model of every fold."""
        n_models, members = self.n_fold_models, self.ensemble.members
        if n_models == 1:
            return [self.coefficients(features)]
        folds = [
            tuple(
                replace(member, weight=member.weight * n_models)
                for member in members[fold::n_models]
            )
            for fold in range(n_models)
        ]
        return [self._sum(replace(self.ensemble, members=fold), features) for fold in folds]

    def curves(
        self,
        theta: FloatArray,
        sensors: Trajectories | None = None,
        exposure: Exposure | None = None,
    ) -> UnitCurves:
        """Return the curves of individuals with given coefficients."""
        curves = self.ensemble.curves(theta, sensors, **self.settings.link())
        return expose(curves, exposure, self.clock)

    def _sum(self, ensemble: Ensemble, features: FloatArray) -> FloatArray:
        with use_threads(self.settings.n_jobs) as n_threads:
            return ensemble.coefficients(features, n_threads)


class LearnedLaw(NamedTuple):
    """The law that forecasts follow, and how forecasts of training individuals scored."""

    law: ForecastLaw
    scores: FloatArray  # sorted


class LawOnDemand:
    """The law that forecasts follow, learned when it is first needed.

    Predictions do without it, and so do searches and cross-validation that score them;
    to learn it may take as long as to grow the trees. Until then it holds a subsample of
    the training data. Pickles and copies hold the law.
    """

    def __init__(self, learn: Callable[[], LearnedLaw]) -> None:
        self._learn: Callable[[], LearnedLaw] | None = learn
        self._learned: LearnedLaw | None = None

    @classmethod
    def known(cls, law: ForecastLaw, scores: FloatArray) -> Self:
        """Return a law that is already learned."""
        return cls(partial(LearnedLaw, law, scores))

    @property
    def learned(self) -> LearnedLaw:
        """The law and the scores."""
        learn = self._learn
        if learn is not None:
            # In this order: another thread may ask meanwhile.
            self._learned = learn()
            self._learn = None
        assert self._learned is not None  # noqa: S101 - it is learned above, or before
        return self._learned

    def __reduce__(self) -> tuple[Any, ...]:
        return LawOnDemand.known, tuple(self.learned)


@dataclass(frozen=True, slots=True, eq=False)
class KindModels:
    """One model per kind of events; rare kinds are pooled in a last one."""

    labels: tuple[Any, ...]
    models: tuple[Fitted, ...]
    pooled: tuple[Any, ...] = ()

    def members(self, place: int) -> tuple[Any, ...]:
        """Return the kinds of a model: one, or all that are pooled."""
        label = self.labels[place]
        return self.pooled if self.pooled and label == OTHER_KINDS else (label,)

    def with_settings(self, settings: Settings) -> KindModels:
        """Return the same with other parameters."""
        models = tuple(model.with_settings(settings) for model in self.models)
        return replace(self, models=models)

    def check(self, y: RecurrentEvents) -> None:
        """Refuse events without kinds, and of kinds that training has not seen."""
        if y.kinds is None and y.times.size:
            raise InvalidEventsError(
                "This model has learned kinds of events, but these events have none.\n\n"
                "Hint: read the histories with kind=…; the kinds are "
                f"{first_few(self.labels)}."
            )
        unknown = [
            kind
            for kind, count in count_kinds(y).items()
            if count and kind not in self.labels and kind not in self.pooled
        ]
        if unknown:
            raise InvalidEventsError(
                f"Kinds of events must be those of training, but {first_few(unknown)} "
                f"{'was' if len(unknown) == 1 else 'were'} not seen there.\n\n"
                f"Hint: the kinds are {first_few((*self.labels, *self.pooled))}; rename "
                "the others, or fit again."
            )


@dataclass(frozen=True, slots=True, eq=False)
class Fitted:
    """The trees of a model and everything else that a fit learns; see `BoostR`."""

    trees: TreeModel
    encoder: FeatureEncoder
    sensor_layout: SensorLayout | None
    reference_clock: Clock  # the average individual, whatever the clock
    time_unit: str | None
    time_origin: np.datetime64 | None
    has_costs: bool
    has_exposure: bool
    fingerprint: Fingerprint | None  # of the training individuals; None in early files
    feature_importances: FloatArray
    feature_gains: FloatArray
    split_counts: FloatArray
    sensor_usefulness: dict[str, tuple[float, float]] | None
    train_loss: FloatArray | None
    validation_results: list[dict[str, Any]]
    out_of_fold_coefficients: FloatArray | None
    cost_moments: FloatArray  # mean and mean square of the cost of an event
    own_histories: LawOnDemand
    reading: dict[str, Any] | None = None  # how the command line has read the tables
    terminal: Fitted | None = None  # the terminal hazard, where there are terminal events
    kinds: KindModels | None = None  # one model per kind, where kinds are learned

    @property
    def settings(self) -> Settings:
        """The parameters of the estimator."""
        return self.trees.settings

    @property
    def ensemble(self) -> Ensemble:
        """Clock, functions of time, bins and trees."""
        return self.trees.ensemble

    @property
    def clock(self) -> Clock:
        """The fitted clock."""
        return self.ensemble.clock

    @property
    def horizon(self) -> float:
        """Last end of follow-up in training."""
        return self.ensemble.horizon

    @property
    def span(self) -> float:
        """Length of the time axis of training, from the first start to the last end."""
        return self.ensemble.span

    @property
    def n_estimators(self) -> int:
        """Rounds of boosting that are kept."""
        return self.ensemble.n_rounds

    @property
    def n_fold_models(self) -> int:
        """Number of models of folds that are averaged."""
        return self.trees.n_fold_models

    @property
    def clock_variants(self) -> list[Clock]:
        """Clocks without parts of the data, which early model files have."""
        return list(self.trees.clock_variants)

    @property
    def forecast_law(self) -> ForecastLaw:
        """The law that forecasts follow."""
        return self.own_histories.learned.law

    @property
    def forecast_scores(self) -> FloatArray:
        """Scores of forecasts of training individuals, sorted."""
        return self.own_histories.learned.scores

    def with_law(self, law: ForecastLaw) -> Fitted:
        """Return the same with another law of forecasts."""
        return replace(self, own_histories=LawOnDemand.known(law, self.forecast_scores))

    @property
    def frailty_variance(self) -> float:
        """Variance of frailties."""
        return self.forecast_law.frailty.variance

    @property
    def frailty_half_life(self) -> float:
        """Time after which an individual's history counts half."""
        return self.forecast_law.frailty.half_life

    @property
    def costs(self) -> Costs:
        """Mean and mean square of the cost of an event."""
        return Costs(*self.cost_moments.tolist())

    def survive(
        self, curves: UnitCurves, features: FloatArray, sensors: Trajectories | None
    ) -> SurvivingCurves | None:
        """Return curves that account for terminal events; None without these."""
        if self.terminal is None:
            return None
        hazard = self.terminal.cumulate_hazard(features, sensors)
        clock = self.terminal.clock
        return SurvivingCurves(curves, self.clock, hazard, clock, self.horizon)

    def need_terminal(self) -> Fitted:
        """Return the terminal hazard; refuse a model without one."""
        if self.terminal is None:
            raise InvalidParameterError(
                "The chance of terminal events needs a model that was fitted with some, "
                "but this one was fitted without.\n\n"
                "Hint: fit(X, y.with_terminal(died)), or RecurrentEvents.from_long(…, "
                "terminal=…)."
            )
        return self.terminal

    def cumulate_hazard(
        self, features: FloatArray, sensors: Trajectories | None
    ) -> UnitCurves:
        """Return the curves of a terminal hazard; it may use fewer sensors than given."""
        layout, trees = self.sensor_layout, self.trees
        used = None if layout is None or sensors is None else layout.apply(sensors)
        return trees.curves(trees.coefficients(features), used)

    def with_settings(self, settings: Settings) -> Fitted:
        """Return the same with other parameters."""
        trees = replace(self.trees, settings=settings)
        terminal = None if self.terminal is None else self.terminal.with_settings(settings)
        kinds = None if self.kinds is None else self.kinds.with_settings(settings)
        return replace(self, trees=trees, terminal=terminal, kinds=kinds)

    @property
    def kind_labels(self) -> tuple[Any, ...]:
        """The kinds that are learned each; empty if only all events together are."""
        return () if self.kinds is None else self.kinds.labels

    def of_kind(self, kind: Any) -> Fitted:
        """Return the model of one kind, with what it shares with the others."""
        place = self.find_kind(kind)
        assert self.kinds is not None  # noqa: S101 - there is such a kind
        model = self.kinds.models[place]
        return replace(
            model,
            has_costs=self.has_costs,
            has_exposure=self.has_exposure,
            terminal=self.terminal,
            own_histories=LawOnDemand(partial(_share_tie, model, self)),
        )

    def parts(self, kind: Any = None) -> list[Fitted]:
        """Return the models to sum: of one kind, of all kinds, or the only one."""
        if kind is not None:
            return [self.of_kind(kind)]
        return [self.of_kind(label) for label in self.kind_labels] or [self]

    def select_events(self, y: RecurrentEvents, kind: Any) -> RecurrentEvents:
        """Return the events of one kind, of histories whose kinds are all known."""
        place, kinds = self.find_kind(kind), self.kinds
        assert kinds is not None  # noqa: S101 - there is such a kind
        kinds.check(y)
        if y.kinds is None:
            return y  # there are no events
        known = y.kinds
        return keep_kinds(y, [known.index(k) for k in kinds.members(place) if k in known])

    def find_kind(self, kind: Any) -> int:
        """Return the position of a kind among those that are learned."""
        pooled = () if self.kinds is None else self.kinds.pooled
        if kind in pooled and kind != OTHER_KINDS:
            raise InvalidParameterError(
                f"The kind {kind!r} was too rare to be learned by itself.\n\n"
                f"Hint: it is among {OTHER_KINDS!r}."
            )
        if self.kinds is None:
            raise InvalidParameterError(
                f"`kind` must be None for a model of all events together, but it is "
                f"{kind!r}.\n\nHint: fit to events with kinds, "
                "RecurrentEvents.from_long(…, kind=…), and with kinds='each'."
            )
        return find_kind(kind, self.kinds.labels)

    def with_ensemble(self, ensemble: Ensemble) -> Fitted:
        """Return the same with other trees."""
        return replace(self, trees=replace(self.trees, ensemble=ensemble))

    def read_features(self, table: Any) -> FloatArray:
        """Return static features as numbers; warn of unseen categories that matter."""
        return self.encoder.transform(table, self.split_counts > 0.0)

    def read_sensors(self, given: Trajectories | None) -> Trajectories | None:
        """Return sensors as in training; required if the model was trained with some."""
        layout, basis = self.sensor_layout, self.ensemble.basis
        if layout is None and given is None:
            return None
        if layout is None:
            raise InvalidSensorsError(
                "This model was fitted without sensors, but it is asked to predict with "
                "some.\n\nHint: leave out `Z`, or fit the model with it, fit(X, y, Z=Z)."
            )
        if given is None:
            raise InvalidSensorsError(
                "This model was fitted with sensors and needs them to predict "
                f"({first_few(layout.names)}), but there are none.\n\n"
                "Hint: pass Z=…; scikit-learn's tools carry them in `Panel(X, Z)`, given "
                "to fit as well as to predict and score."
            )
        used = layout.apply(given)
        layout.warn_of_others(given)
        assert isinstance(basis, FittedSensorBasis)  # noqa: S101 - it was fitted with them
        warn_of_strange(count_strange(basis, given, used))
        return used

    def training_coefficients(self, n: int | None = None) -> FloatArray:
        """Return the out-of-fold coefficients of the ``n`` training individuals."""
        theta = self.out_of_fold_coefficients
        if theta is None:
            raise InvalidParameterError(
                "Out-of-fold predictions need validation, but this model was fitted "
                'without.\n\nHint: use validation="cv" and two individuals a fold or more.'
            )
        if n is not None and n != len(theta):
            raise InvalidEventsError(
                "Out-of-fold predictions are those of the training individuals, but there "
                f"are {n} in the place of {len(theta)}.\n\nHint: pass what `fit` was given."
            )
        return theta


def _share_tie(model: Fitted, total: Fitted) -> LearnedLaw:
    """Return the law of one kind, with terminal events tied to frailties of all events."""
    law, scores = model.own_histories.learned
    return LearnedLaw(replace(law, tie=total.forecast_law.tie), scores)

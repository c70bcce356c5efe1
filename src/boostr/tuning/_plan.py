"""Splits with their data, and candidate models in their own time scales."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from boostr._checks.numbers import check_weights, first_few
from boostr._training.features import check_table
from boostr._training.sensors import split_panel
from boostr._typing import FloatArray, PositionArray
from boostr.data import Panel, RecurrentEvents, Trajectories, check_target
from boostr.data.features import check_rows
from boostr.data.time_scales import find_shift
from boostr.estimators import BoostR
from boostr.exceptions import InvalidParameterError
from boostr.tuning._checkpoint import hash_parts
from boostr.tuning._shared import SharedData
from boostr.tuning._splits import AsOf, AsOfSplit, clip_sensors, list_rows

__all__ = ["Candidate", "Individuals", "Split", "list_candidates", "plan_splits"]


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
        weights = check_weights(sample_weight, len(events))
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
            found.append(Candidate(name, each, common, function, still))
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

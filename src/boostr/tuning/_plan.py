"""Splits with their training and test data."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from boostr._typing import FloatArray, PositionArray
from boostr._validation import check_weights
from boostr.data import Panel, RecurrentEvents, Trajectories, check_target
from boostr.estimators import BoostR
from boostr.estimators._checks import check_rows
from boostr.estimators._features import check_table
from boostr.estimators._sensors import split_panel
from boostr.tuning._cut import clip_sensors
from boostr.tuning._shared import SharedData
from boostr.tuning._splits import AsOf, AsOfSplit, list_rows

__all__ = ["Individuals", "Split", "plan_splits"]


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
        everybody = cls(table, events, sensors, weights)
        return everybody if weights.all() else everybody.take(np.flatnonzero(weights))

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
        features = self.shared.learned["encoder_"].transform(self.test.table)
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

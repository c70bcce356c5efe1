"""Predictions for the individuals of one piece of a table."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from boostr._typing import FloatArray
from boostr.data import RecurrentEvents, Trajectories
from boostr.estimators import BoostR

__all__ = ["AskCounts", "AskCurves", "AskForecasts", "Individuals", "Question"]


@dataclass(frozen=True, slots=True, eq=False)
class Individuals:
    """Individuals of one piece, in the form that `BoostR` takes."""

    table: Any  # all columns of X but the id
    features: Any
    histories: RecurrentEvents | None = None
    sensors: Trajectories | None = None
    exposure: FloatArray | None = None  # None where `X` has no column of it

    def add_exposure(self, options: Mapping[str, Any]) -> dict[str, Any]:
        """Return the options of a prediction, with exposures if there are any."""
        known = {} if self.exposure is None else {"exposure": self.exposure}
        return known | dict(options)


# What is asked about individuals, and comes back as a table in their order.
Question = Callable[[BoostR, Individuals], Any]


@dataclass(frozen=True, slots=True, eq=False)
class AskCurves:
    """Predict the cumulative number of events at several times."""

    times: FloatArray
    options: Mapping[str, Any]

    def __call__(self, model: BoostR, some: Individuals) -> Any:
        values = model.predict_cumulative(
            some.features, self.times, some.sensors, **some.add_exposure(self.options)
        )
        return pd.DataFrame(values, columns=self.times)


@dataclass(frozen=True, slots=True, eq=False)
class AskCounts:
    """Predict the events in a window whose limits are numbers or columns of X."""

    limits: Sequence[float | str]
    options: Mapping[str, Any]

    def __call__(self, model: BoostR, some: Individuals) -> Any:
        start, stop = (
            some.table[limit].to_numpy(dtype=np.float64)
            if isinstance(limit, str)
            else limit
            for limit in self.limits
        )
        values = model.predict_count(
            some.features, start, stop, some.sensors, **some.add_exposure(self.options)
        )
        return pd.DataFrame({"expected": values})


@dataclass(frozen=True, slots=True, eq=False)
class AskForecasts:
    """Forecast the events in the time ahead, given the histories."""

    horizon: float | None
    options: Mapping[str, Any]

    def __call__(self, model: BoostR, some: Individuals) -> Any:
        found = model.forecast(
            some.features,
            some.histories,
            self.horizon,
            some.sensors,
            **some.add_exposure(self.options),
        )
        n = len(some.features)
        # Without histories ids are places.
        ids = np.arange(n) if some.histories is None else some.histories.ids
        place = pd.Series(np.arange(n), index=ids)
        order = np.argsort(place.loc[found["id"].tolist()].to_numpy())
        return found.iloc[order].drop(columns="id")

"""The law of forecasts beside the trees: frailty, pace, level and common errors."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from boostr._forecasting.frailty import FrailtyLaw
from boostr._forecasting.pace import PacedClock
from boostr._typing import FloatArray

__all__ = ["ForecastLaw", "Shock", "law_of"]

_USUAL_ERROR = 0.12  # of totals over the length of a lead, on fleets of many kinds
_USUAL_FREEDOM = 2.0  # dates that this counts as
_MANY_LEADS = 4.0  # after which levels wander more slowly
_MOST_VARIABLE = 1.0  # relative variance of a total


@dataclass(frozen=True, slots=True, eq=False)
class Shock:
    """Errors of totals that all individuals share, from forecasts at earlier dates.

    ``errors`` are log ratios of observed to forecast totals over ``lead``; ``noise`` is
    the part of their squares due to the chance of single individuals.
    """

    lead: float
    errors: FloatArray  # (k,) the latest date first
    noise: FloatArray  # (k,)

    def variance(self, length: FloatArray) -> FloatArray:
        """Return the relative variance of totals over a time ahead.

        It grows with the time as levels wander, more slowly after some leads. A usual
        error counts as two more dates; a Student factor allows for their small number.
        """
        excess = np.maximum(self.errors**2 - self.noise, 0.0)
        freedom = _USUAL_FREEDOM + len(excess)
        usual = _USUAL_FREEDOM * _USUAL_ERROR**2
        factor = freedom / (freedom - 2.0) if freedom > 3.0 else 3.0
        over_lead = factor * (usual + float(excess.sum())) / freedom
        passed = np.asarray(length) / self.lead
        wandered = np.minimum(passed, np.sqrt(_MANY_LEADS * passed))
        grown = over_lead * np.maximum(wandered, 0.5 + 0.5 * wandered)
        return np.asarray(np.minimum(grown, _MOST_VARIABLE))


@dataclass(frozen=True, slots=True, eq=False)
class ForecastLaw:
    """Frailty, pace, level and shock with which predictions become forecasts."""

    frailty: FrailtyLaw
    paced: PacedClock | None = None  # None: the clock of the predictions
    level: float = 1.0  # of the recent past, for all individuals
    shock: Shock | None = None  # None: what folds and clocks disagree about

    def of_strangers(self) -> ForecastLaw:
        """Return the law for individuals without a history: plain predictions."""
        return replace(self, paced=None, level=1.0)


def law_of(model: Any) -> ForecastLaw:
    """Return the law of a fitted model; frailties drift in the first model files."""
    law: ForecastLaw | None = getattr(model, "forecast_law_", None)
    if law is not None:
        return law
    drifting = FrailtyLaw(model.frailty_variance_, model.frailty_half_life_, drifts=True)
    return ForecastLaw(drifting)

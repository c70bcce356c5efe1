"""All that forecasts know beside the trees: own history, pace, level, common errors."""

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
    """Errors of totals that all individuals share, as forecasts from earlier dates had.

    ``errors`` are logarithms of what came over what was forecast for the time ``lead``,
    and ``noise`` the part of their squares that is chance of single individuals.
    """

    lead: float
    errors: FloatArray  # (k,) the latest date first
    noise: FloatArray  # (k,)

    def variance(self, length: FloatArray) -> FloatArray:
        """Return the relative variance of totals over a time ahead.

        Levels wander: the variance grows with the time, more slowly after some leads. A few
        dates may be lucky, so the usual error counts as some more, and errors are wider
        than normal ones: they are about Student variables, whose variance comes in as a
        factor.
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
    """How the time ahead follows from predictions and histories."""

    frailty: FrailtyLaw
    paced: PacedClock | None = None  # None: the clock of the predictions
    level: float = 1.0  # of the recent past, for all individuals
    shock: Shock | None = None  # None: what folds and clocks disagree about

    def of_strangers(self) -> ForecastLaw:
        """Return the law of individuals without a history: that of plain predictions."""
        return replace(self, paced=None, level=1.0)


def law_of(model: Any) -> ForecastLaw:
    """Return the law of a fitted model; the first model files have drifting frailties."""
    law: ForecastLaw | None = getattr(model, "forecast_law_", None)
    if law is not None:
        return law
    drifting = FrailtyLaw(model.frailty_variance_, model.frailty_half_life_, drifts=True)
    return ForecastLaw(drifting)

"""The law of forecasts beside the trees: frailty, pace, level, common errors and costs."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from boostr._frailty.counts import Counts, MixedCounts, SharedCounts
from boostr._frailty.law import FrailtyLaw
from boostr._frailty.pace import PacedClock
from boostr._typing import FloatArray
from boostr.data import RecurrentEvents

__all__ = ["Costs", "ForecastLaw", "Shock", "TerminalTie"]

_USUAL_ERROR = 0.12  # of totals over the length of a lead, on fleets of many kinds
_USUAL_FREEDOM = 2.0  # dates that this counts as
_MANY_LEADS = 4.0  # after which levels wander more slowly
_MOST_VARIABLE_TOTAL = 1.0  # relative variance of a total


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
        return np.asarray(np.minimum(grown, _MOST_VARIABLE_TOTAL))


@dataclass(frozen=True, slots=True)
class TerminalTie:
    """How frailties change terminal hazards: by ``level * frailty ** power``."""

    power: float = 0.0  # 0: not at all
    level: float = 1.0

    def factor(self, frailty: FloatArray) -> FloatArray:
        """Return the factors of hazards for frailties."""
        return np.asarray(self.level * frailty**self.power)


@dataclass(frozen=True, slots=True, eq=False)
class ForecastLaw:
    """Frailty, pace, level and shock with which predictions become forecasts."""

    frailty: FrailtyLaw
    paced: PacedClock | None = None  # None: the clock of the predictions
    level: float = 1.0  # of the recent past, for all individuals
    shock: Shock | None = None  # None: what folds and clocks disagree about
    tie: TerminalTie = TerminalTie()

    def of_strangers(self) -> ForecastLaw:
        """Return the law for individuals without a history: plain predictions."""
        frailty = replace(self.frailty, renewal=None)
        return replace(self, frailty=frailty, paced=None, level=1.0, tie=TerminalTie())


@dataclass(frozen=True, slots=True)
class Costs:
    """Mean and mean square of the cost of an event; both 1 if events are counted.

    In multiples of ``unit``, totals have a variance equal to their mean, as counts have,
    if costs are independent of each other and of the event times.
    """

    mean: float
    square: float

    @classmethod
    def of(cls, events: RecurrentEvents) -> Costs:
        """Return the moments of the events' costs."""
        if not events.has_costs or not events.costs.sum() > 0.0:
            return cls(1.0, 1.0)
        return cls(float(events.costs.mean()), float(np.mean(events.costs**2)))

    @property
    def unit(self) -> float:
        """Cost that counts as one event in variances."""
        return self.square / self.mean

    def interval(
        self, counts: Counts | MixedCounts | SharedCounts, level: float
    ) -> tuple[FloatArray, FloatArray]:
        """Return intervals of totals from counts of cost units.

        Totals need not be whole units, so each number covers all totals rounded to it.
        """
        lower, upper = counts.interval(level)
        if self.mean == self.square == 1.0:  # events are counted, or all cost 1
            return lower, upper
        lower = np.maximum(lower - 0.5, 0.0)
        upper = np.where(counts.mean > 0.0, upper + 0.5, upper)
        return lower * self.unit, upper * self.unit

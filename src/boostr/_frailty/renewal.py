"""Renewal: for a while after an event, further ones are rarer.

A repaired machine is as good as new, and a customer who has just bought needs nothing. The
rate of an individual with frailty ``xi`` then has the factor

    exp(rise * xi * E - drop * N)

after ``N`` events where ``xi * E`` were expected, of which both count half after every
half-life. ``rise`` is such that the factors of recent rates are 1 on average. Ahead, the
distance of a factor from 1 shrinks as events are forgotten, and as further ones come.

Renewal must be clear: individuals with more events than expected have fewer afterwards. Of
frailties the opposite is true.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from boostr._frailty.own_pace import OwnPace, ReadCurves
from boostr._typing import FloatArray

__all__ = ["CLEAR", "Recent", "Renewal", "RenewalCells"]

CLEAR = 3.0  # standard errors of the score, from which there is renewal

_DROPS = (0.15, 0.3, 0.45, 0.6, 0.9, 1.2, 1.8, 2.4)
_LEAST = -3.0  # logarithm of a factor, so that no rate comes near zero
_MOST = 1.4  # the same: an individual that has long had no event may have left silently
_N_ROUNDS = 4  # of Newton's method for the rise
_MOST_RISE = 2.0  # times the drop
_BEGINS = (0.0, 0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0, 4.0)  # of stretches ahead
_LEAST_SPEED = 1e-12  # at which factors return to 1, so that no stretch is infinite


@dataclass(frozen=True, slots=True, eq=False)
class Recent:
    """What individuals did, and what was expected of them, as it counts at a time."""

    now: FloatArray  # (n,)
    length: FloatArray  # (n,) of histories, as it counts
    events: FloatArray  # (n,)
    expected: FloatArray  # (n,) for frailties of 1
    frailty: FloatArray  # (n,) means


@dataclass(frozen=True, slots=True)
class Renewal:
    """By how much an event makes further ones rarer, and for how long."""

    drop: float  # of the logarithm of the rate, by an event
    rise: float  # of the logarithm of the rate, by an expected event
    half_life: float

    @property
    def fading(self) -> float:
        """Rate at which events are forgotten."""
        return float(np.log(2.0) / self.half_life)

    def change(self, events: FloatArray, expected: FloatArray) -> FloatArray:
        """Return logarithms of factors after events where some were expected."""
        return np.clip(self.rise * expected - self.drop * events, _LEAST, _MOST)

    def look_ahead(self, recent: Recent, read: ReadCurves) -> OwnPace:
        """Return the factors of the time ahead.

        ``read`` returns the values of curves of individuals, each at a time.
        """
        expected, rise = recent.frailty * recent.expected, self.rise * recent.frailty
        rate = np.divide(
            expected, recent.length, out=np.zeros_like(expected), where=recent.length > 0.0
        )
        speed = np.maximum(self.fading + self.rise * rate, _LEAST_SPEED)
        begins = recent.now + np.array(_BEGINS)[:, None] / speed
        rows = np.arange(len(speed))
        values = np.stack([read(rows, begin) for begin in begins])
        returned = self.fading * (begins - begins[0]) + rise * (values - values[0])
        excess = np.expm1(self.change(recent.events, expected))
        factors = np.ones(begins.shape)
        factors[:-1] += excess * np.exp(-0.5 * (returned[1:] + returned[:-1]))
        return OwnPace(values, np.diff(factors, axis=0, prepend=1.0))


@dataclass(frozen=True, slots=True, eq=False)
class RenewalCells:
    """Counts of individuals in cells of time, (m, n), by which renewal is judged."""

    events: FloatArray
    expected: FloatArray  # given frailties
    weights: FloatArray  # (n,)
    is_recent: FloatArray  # 1 in the last part of the time axis, else 0

    def score(self, events: FloatArray, expected: FloatArray) -> float:
        """Return the score of renewal after events so far, in standard errors.

        Individuals are independent, and their counts vary at least as Poisson counts do.
        """
        excess = expected - events
        moves = ((self.events - self.expected) * excess).sum(axis=0)
        chance = (self.expected * excess**2).sum(axis=0)
        weights = self.weights
        spread = max(float(weights @ moves**2), float(weights @ chance))
        return float(weights @ moves) / float(np.sqrt(spread)) if spread > 0.0 else 0.0

    def fit(
        self, half_life: float, events: FloatArray, expected: FloatArray
    ) -> Renewal | None:
        """Return the most likely renewal after events so far; None if there is none."""
        exposed, counted = self.weights * self.expected, self.weights * self.events
        best, most = None, 0.0
        for drop in _DROPS:
            renewal = Renewal(drop, -float(np.expm1(-drop)), half_life)
            renewal = _balance(renewal, events, expected, exposed * self.is_recent)
            change = renewal.change(events, expected)
            level = float((exposed * np.exp(change)).sum() / exposed.sum())
            gained = float((counted * change).sum() - counted.sum() * np.log(level))
            if gained <= most:
                break
            best, most = renewal, gained
        return best


def _balance(
    renewal: Renewal, events: FloatArray, expected: FloatArray, rates: FloatArray
) -> Renewal:
    """Return renewal whose factors are 1 on average, weighted by rates.

    It starts from the rise that would be right for Poisson events.
    """
    total = float(rates.sum())
    for _ in range(_N_ROUNDS):
        factors = rates * np.exp(renewal.change(events, expected))
        slope = float((factors * expected).sum())
        if slope <= 0.0:
            break
        step = float(factors.sum()) / slope * np.log(total / float(factors.sum()))
        rise = np.clip(renewal.rise + step, 0.0, _MOST_RISE * renewal.drop)
        renewal = replace(renewal, rise=float(rise))
    return renewal

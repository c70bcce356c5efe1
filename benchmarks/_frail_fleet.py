"""Fleets whose individuals differ by more than their features say."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from boostr import RecurrentEvents

EXPONENT = 1.2  # of the true curves: wear
FOLLOW_UP = (60.0, 100.0)  # ends of follow-up are spread between these


@dataclass(frozen=True)
class FrailFleet:
    """Individuals with a history up to now, and what happened in the time after it."""

    X: np.ndarray  # (n, 5), two of which matter
    y: RecurrentEvents
    frailty: np.ndarray  # (n,)
    expected: np.ndarray  # (n,) in the time ahead, for a frailty of 1
    ahead: np.ndarray  # (n,) events in it

    @classmethod
    def draw(
        cls,
        n: int,
        mean_ahead: float,
        variance: float,
        horizon: float,
        rng: np.random.Generator,
    ) -> FrailFleet:
        """Draw a fleet with so many events a head in the time ahead, on average."""
        X = rng.uniform(size=(n, 5))
        scale = np.exp(1.2 * X[:, 0]) * np.where(X[:, 1] > 0.5, 2.0, 0.7)
        now = rng.uniform(*FOLLOW_UP, size=n)
        law = scale / np.mean(scale)
        reach = (80.0 + horizon) ** EXPONENT - 80.0**EXPONENT
        law = law * mean_ahead / reach
        frailty = rng.gamma(1.0 / variance, variance, n) if variance > 0.0 else np.ones(n)
        counts = rng.poisson(frailty * law * now**EXPONENT)
        events = [
            end * rng.uniform(size=count) ** (1.0 / EXPONENT)
            for end, count in zip(now, counts, strict=True)
        ]
        expected = law * ((now + horizon) ** EXPONENT - now**EXPONENT)
        return cls(
            X,
            RecurrentEvents.from_lists(events, end=now),
            frailty,
            expected,
            rng.poisson(frailty * expected),
        )

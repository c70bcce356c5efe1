"""Simulated data sets on which models are compared with the truth."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from boostr.simulate import Simulation

__all__ = ["Problem"]

# Far apart, so that no repetition is tested on what another one was trained on.
_FIRST_TRAINING_SEED = 10_000
_FIRST_TEST_SEED = 20_000


@dataclass(frozen=True, slots=True)
class Problem:
    """A data set that is simulated repeatedly."""

    name: str
    simulate: Callable[..., Simulation]
    n_train: int
    n_test: int = 1000

    def draw(self, n: int, seed: int) -> Simulation:
        """Simulate individuals."""
        return self.simulate(n=n, random_state=seed)

    def draw_pair(self, repetition: int) -> tuple[Simulation, Simulation]:
        """Return the individuals to learn from and fresh ones to predict."""
        return (
            self.draw(self.n_train, _FIRST_TRAINING_SEED + repetition),
            self.draw(self.n_test, _FIRST_TEST_SEED + repetition),
        )

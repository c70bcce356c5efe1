"""Simulated data sets with a known truth, and how accurate boostr must be on them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from boostr.simulate import (
    Simulation,
    dataset_a,
    dataset_b,
    dataset_c,
    dataset_d,
    kelly,
)

# Far apart, so that no repetition is tested on what another one was trained on.
_FIRST_TRAINING_SEED = 10_000
_FIRST_TEST_SEED = 20_000


@dataclass(frozen=True, slots=True)
class Problem:
    """One data set: its simulator, sizes, and the errors that are asked for."""

    name: str
    simulate: Callable[..., Simulation]
    n_train: int
    n_test: int
    repetitions: int
    must_reach: float  # mean integrated squared error at most
    aim: float
    has_groups: bool = True  # whether individuals fall into groups with the same curve

    def draw(self, repetition: int) -> tuple[Simulation, Simulation]:
        """Return the individuals to learn from and fresh ones to predict."""
        options: list[dict[str, Any]] = [
            {"n": self.n_train, "random_state": _FIRST_TRAINING_SEED + repetition},
            {"n": self.n_test, "random_state": _FIRST_TEST_SEED + repetition},
        ]
        return self.simulate(**options[0]), self.simulate(**options[1])


# Thirty repetitions where the draw decides: with five, the mean of the last data set varies
# by a quarter from one set of seeds to the next.
PROBLEMS = {
    problem.name: problem
    for problem in (
        Problem("A", dataset_a, 150, 50, 30, 27.0, 20.0),
        Problem("B", dataset_b, 1000, 1000, 5, 7.0, 5.0),
        Problem("C", dataset_c, 1000, 1000, 5, 75.0, 58.0),
        Problem("D", dataset_d, 1000, 1000, 5, 3.2, 2.2, has_groups=False),
        Problem("kelly-0", partial(kelly, sigma=0.0), 500, 500, 30, 3.2, 2.2),
        Problem("kelly-0.1", partial(kelly, sigma=0.1), 500, 500, 30, 3.0, 2.0),
        Problem("kelly-0.4", partial(kelly, sigma=0.4), 500, 500, 30, 3.6, 2.8),
    )
}

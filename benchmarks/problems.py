"""Simulated data sets with a known truth, and how accurate boostr must be on them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from boostr.reproduction.problems import Problem
from boostr.simulate import (
    dataset_a,
    dataset_b,
    dataset_c,
    dataset_d,
    kelly,
)

__all__ = ["TARGETS", "Problem", "Target"]


@dataclass(frozen=True, slots=True)
class Target:
    """A data set, how often it is drawn, and the errors that are asked for."""

    problem: Problem
    repetitions: int
    must_reach: float  # mean integrated squared error at most
    aim: float


# Thirty repetitions where the draw decides: with five, the mean of the last data set varies
# by a quarter from one set of seeds to the next.
TARGETS = {
    target.problem.name: target
    for target in (
        Target(Problem("A", dataset_a, 150, 50), 30, 27.0, 20.0),
        Target(Problem("B", dataset_b, 1000, 1000), 5, 7.0, 5.0),
        Target(Problem("C", dataset_c, 1000, 1000), 5, 75.0, 58.0),
        Target(Problem("D", dataset_d, 1000, 1000), 5, 3.2, 2.2),
        Target(Problem("kelly-0", partial(kelly, sigma=0.0), 500, 500), 30, 3.2, 2.2),
        Target(Problem("kelly-0.1", partial(kelly, sigma=0.1), 500, 500), 30, 3.0, 2.0),
        Target(Problem("kelly-0.4", partial(kelly, sigma=0.4), 500, 500), 30, 3.6, 2.8),
    )
}

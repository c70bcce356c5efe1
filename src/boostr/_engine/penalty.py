"""What draws leaves towards zero: pseudo-individuals, and prices on groups of terms."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from itertools import pairwise
from typing import Literal

import numpy as np

from boostr._engine.statistics import SufficientStats, pseudo_individual
from boostr._engine.tree import LeafProblem
from boostr._kernels.group_lasso import Groups
from boostr._typing import FloatArray, IndexArray
from boostr.basis import FittedBasis, FittedSensorBasis, Loss

__all__ = [
    "SensorPenalty",
    "Summand",
    "Total",
    "reprice",
    "sensor_problem",
    "time_problem",
]

SensorPenalty = Literal["group_lasso", "ridge"]
# Sums over all individuals of what a function makes of statistics and weights of some.
Summand = Callable[[SufficientStats, FloatArray], tuple[FloatArray, ...]]
Total = Callable[[Summand], tuple[FloatArray, ...]]

# Measured on simulated fleets; see the user guide.
_SENSOR_INDIVIDUALS = (
    100.0  # that draw sensors to zero for each one that draws the baseline
)
_STANDARD_ERRORS = 0.1  # below which a sensor's gradient in a leaf leaves it at zero
_BLOCK = 4096  # individuals whose gradients are looked at together


def time_problem(
    basis: FittedBasis, loss: Loss, horizon: float, gamma2: float, amount: float = 1.0
) -> LeafProblem:
    """Return the leaf problem of functions of time alone.

    ``amount`` is what exposure makes of the statistics of an average individual.
    """
    own = pseudo_individual(basis, loss, horizon)
    return LeafProblem(basis.solver, gamma2 * amount * own)


def sensor_problem(
    basis: FittedSensorBasis,
    total: Total,
    loss: Loss,
    horizon: float,
    gamma2: float,
    penalty: SensorPenalty,
    amount: float = 1.0,
) -> LeafProblem:
    """Return the leaf problem of a baseline and sensors.

    With a baseline, imaginary individuals of average sensors draw all terms to zero, and
    the group lasso adds prices that grow with the noise of a leaf. Without one, the
    paper's form, the price is ``gamma2 / 2`` in every leaf; ridge draws with ``gamma2``
    individuals. ``total`` sums over all individuals, wherever they are, and ``amount`` is
    what exposure makes of the statistics of an average one.
    """
    n_baseline, n_terms = basis.n_baseline, basis.n_terms
    # An average individual: functions are uncorrelated, with a variance of one.
    length = amount * (horizon if loss == "intensity" else horizon**3 / 3.0)
    is_lasso = penalty == "group_lasso"
    matrix = np.zeros((n_terms, n_terms))
    sensor_terms = np.arange(n_baseline, n_terms)
    if basis.baseline is None:
        matrix[sensor_terms, sensor_terms] = 0.0 if is_lasso else gamma2 * length
        starts = basis.starts
        prices = np.full(len(starts) - 1, 0.5 * gamma2)
    else:
        own = amount * pseudo_individual(basis.baseline, loss, horizon)
        matrix[:n_baseline, :n_baseline] = gamma2 * own
        matrix[sensor_terms, sensor_terms] = gamma2 * _SENSOR_INDIVIDUALS * length
        starts = np.concatenate([[0], basis.starts])
        noise = _measure_noise(total, starts, n_terms)
        prices = np.concatenate([[0.0], _STANDARD_ERRORS * gamma2 * noise[1:]])
    if not is_lasso:
        starts, prices = np.array([0, n_terms]), np.zeros(1)
    groups = _drop_empty(starts, prices, grows=is_lasso and basis.baseline is not None)
    return LeafProblem(basis.solver, matrix, groups)


def reprice(problem: LeafProblem, factors: FloatArray | float) -> LeafProblem:
    """Return the problem with the price of every group, if any, multiplied."""
    groups = problem.groups
    if groups is None:
        return problem
    return replace(problem, groups=groups._replace(prices=groups.prices * factors))


def _drop_empty(starts: IndexArray, prices: FloatArray, *, grows: bool) -> Groups:
    """Leave out groups without terms, of sensors that say nothing."""
    is_used = np.diff(starts) > 0
    kept = np.concatenate([starts[:-1][is_used], starts[-1:]]).astype(np.int32)
    return Groups(kept, np.ascontiguousarray(prices[is_used]), grows)


def _measure_noise(total: Total, starts: IndexArray, n_terms: int) -> FloatArray:
    """Return the standard deviation of every group's gradient per unit of observation.

    Of the gradients of all individuals where all have the average's coefficients; a
    unit is that of the trace of H over the first group.
    """
    quadratic, linear = total(_sum_statistics)
    matrix = np.zeros((n_terms, n_terms))
    rows, columns = np.tril_indices(n_terms)
    matrix[rows, columns] = matrix[columns, rows] = quadratic
    mean = np.asarray(np.linalg.lstsq(matrix, linear, rcond=None)[0], dtype=np.float64)
    (term_squares,) = total(partial(_sum_squares, mean))
    squares = np.array([term_squares[first:last].sum() for first, last in pairwise(starts)])
    observed = np.diagonal(matrix)[: starts[1]].sum()
    return np.asarray(np.sqrt(squares / observed)) if observed > 0.0 else 0.0 * squares


def _sum_statistics(stats: SufficientStats, weights: FloatArray) -> tuple[FloatArray, ...]:
    return stats.quadratic.sum(axis=0), stats.linear.sum(axis=0)


def _sum_squares(
    mean: FloatArray, stats: SufficientStats, weights: FloatArray
) -> tuple[FloatArray, ...]:
    """Sum the squares of gradients where all individuals have the same coefficients."""
    squares = np.zeros(stats.n_terms)
    individuals = np.arange(len(stats.linear))
    for begin in range(0, len(individuals), _BLOCK):
        block = individuals[begin : begin + _BLOCK]
        theta = np.broadcast_to(mean, (len(block), stats.n_terms))
        gradient = stats.multiply(theta, block) - stats.linear[block]
        # Weights are in the statistics: an individual of weight 2 is two of weight 1.
        squares += (gradient**2 / weights[block, None]).sum(axis=0)
    return (squares,)

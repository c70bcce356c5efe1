"""Leaf problems: the best coefficients of a leaf and how much they lower the objective.

A leaf's sums are ``[g (P), h, count]`` where ``h`` is the diagonal of H (P numbers) or its
lower triangle (P (P + 1) / 2 numbers, row by row). The objective of a leaf is
``g'beta + 1/2 beta'(H + S) beta`` with the penalty matrix ``S``, and for GROUPED also the
prices of :mod:`boostr._kernels.group_lasso`.
"""

from __future__ import annotations

import math

import numpy as np

from boostr._kernels._jit import allocating_kernel, inner_kernel
from boostr._typing import FloatArray

__all__ = [
    "DIAGONAL",
    "FULL",
    "GROUPED",
    "SINGLE",
    "TINY",
    "leaf_reduction",
    "solve_leaf",
]

SINGLE = 0  # one term per leaf: the best one
DIAGONAL = 1  # all terms, no interaction between them
FULL = 2  # all terms, full matrix
GROUPED = 3  # the same with a price on the length of every group of terms
# None is FULL for one or two terms, the default's: the compiler then leaves out all others.

TINY = 1e-12  # pivots below this share of their diagonal count as zero


@inner_kernel
def _cholesky(
    sums: FloatArray, penalty: FloatArray, n_terms: int, factor: FloatArray
) -> None:
    """Factor H + S; a term without curvature gets an infinite pivot, hence a zero."""
    position = n_terms
    for row in range(n_terms):
        for column in range(row + 1):
            value = sums[position] + penalty[row, column]
            diagonal = value
            position += 1
            for inner in range(column):
                value -= factor[row, inner] * factor[column, inner]
            if row == column:
                usable = value > TINY * abs(diagonal) and value > 0.0
                factor[row, row] = math.sqrt(value) if usable else math.inf
            else:
                factor[row, column] = value / factor[column, column]


@inner_kernel
def _forward(sums: FloatArray, factor: FloatArray, n_terms: int, out: FloatArray) -> float:
    """Solve L out = -g and return half the squared length of ``out``."""
    total = 0.0
    for row in range(n_terms):
        value = -sums[row]
        for inner in range(row):
            value -= factor[row, inner] * out[inner]
        value /= factor[row, row]
        out[row] = value
        total += value * value
    return 0.5 * total


@inner_kernel
def leaf_reduction(
    sums: FloatArray,
    penalty: FloatArray,
    solver: int,
    factor: FloatArray,
    work: FloatArray,
) -> float:
    """Return how far the best coefficients lower the objective of a leaf.

    Parameters
    ----------
    sums : (n_channels,) float64
        Sums of the leaf: g, then H, then the count.
    penalty : (n_terms, n_terms) float64
        The penalty matrix S; only its diagonal is read unless the solver is FULL.
    solver : int
        SINGLE, DIAGONAL or FULL.
    factor : (n_terms, n_terms) float64
        Working space.
    work : (n_terms,) float64
        Working space.

    Returns
    -------
    float
        Drop of the objective against coefficients of zero; never negative.
    """
    n_terms = penalty.shape[0]
    if solver == FULL and n_terms > 1:
        _cholesky(sums, penalty, n_terms, factor)
        return _forward(sums, factor, n_terms, work)
    best = 0.0
    total = 0.0
    for term in range(n_terms):
        curvature = sums[n_terms + term] + penalty[term, term]
        if curvature > 0.0:
            drop = 0.5 * sums[term] * sums[term] / curvature
            best = max(best, drop)
            total += drop
    return best if solver == SINGLE else total


@inner_kernel
def _pivot(value: float, diagonal: float) -> float:
    """Return a diagonal entry of the factor; infinite without curvature."""
    usable = value > TINY * abs(diagonal) and value > 0.0
    return math.sqrt(value) if usable else math.inf


@inner_kernel
def _solve_few(sums: FloatArray, penalty: FloatArray, out: FloatArray) -> float:
    """Solve for one or two terms, with the bits of the general solution."""
    n_terms = penalty.shape[0]
    diagonal = sums[n_terms] + penalty[0, 0]
    pivot = _pivot(diagonal, diagonal)
    first = -sums[0] / pivot
    if n_terms == 1:
        out[0] = first / pivot
        return 0.5 * (first * first)
    below = (sums[3] + penalty[1, 0]) / pivot
    diagonal = sums[4] + penalty[1, 1]
    last_pivot = _pivot(diagonal - below * below, diagonal)
    second = (-sums[1] - below * first) / last_pivot
    out[1] = second / last_pivot
    out[0] = (first - below * out[1]) / pivot
    return 0.5 * (first * first + second * second)


@allocating_kernel
def solve_leaf(
    sums: FloatArray,
    penalty: FloatArray,
    solver: int | None,
    out: FloatArray,
) -> float:
    """Write the best coefficients of a leaf and return how far they lower the objective.

    Parameters
    ----------
    sums : (n_channels,) float64
        Sums of the leaf: g, then H, then the count.
    penalty : (n_terms, n_terms) float64
        The penalty matrix S.
    solver : int or None
        SINGLE, DIAGONAL or FULL; None for one or two terms.
    out : (n_terms,) float64
        Overwritten with the coefficients.

    Returns
    -------
    float
        Drop of the objective against coefficients of zero.
    """
    if solver is None:
        return _solve_few(sums, penalty, out)
    n_terms = penalty.shape[0]
    factor = np.zeros((n_terms, n_terms))
    work = np.zeros(n_terms)
    out[:] = 0.0
    if solver == FULL:
        _cholesky(sums, penalty, n_terms, factor)
        reduction = _forward(sums, factor, n_terms, work)
        for row in range(n_terms - 1, -1, -1):
            value = work[row]
            for inner in range(row + 1, n_terms):
                value -= factor[inner, row] * out[inner]
            out[row] = value / factor[row, row]
        return reduction
    reduction = leaf_reduction(sums, penalty, solver, factor, work)
    for term in range(n_terms):
        curvature = sums[n_terms + term] + penalty[term, term]
        if curvature > 0.0:
            coefficient = -sums[term] / curvature
            drop = 0.5 * sums[term] * sums[term] / curvature
            if solver == DIAGONAL:
                out[term] = coefficient
            elif drop == reduction and reduction > 0.0:
                out[term] = coefficient
                break
    return reduction

"""The group lasso term by term: objective, slopes, curvature and a bound from above."""

from itertools import pairwise

import numpy as np
from scipy.optimize import minimize


def split_groups(values, starts):
    """Return the part of every group."""
    return [values[begin:end] for begin, end in pairwise(starts)]


def objective(beta, gradient, matrix, starts, prices):
    """Return ``g'beta + 1/2 beta'M beta + sum_l price[l] * norm(beta_l)``."""
    lengths = [np.linalg.norm(own) for own in split_groups(beta, starts)]
    return gradient @ beta + 0.5 * beta @ matrix @ beta + np.dot(prices, lengths)


def slopes(beta, gradient, matrix, starts, prices):
    """Return the derivatives of the objective; the length of a zero has none."""
    directions = [
        price * own / max(np.linalg.norm(own), 1e-300)
        for own, price in zip(split_groups(beta, starts), prices, strict=True)
    ]
    return gradient + matrix @ beta + np.concatenate(directions)


def curvature(beta, gradient, matrix, starts, prices, step=1e-6):
    """Return the second derivatives, as differences of slopes."""
    problem = gradient, matrix, starts, prices
    rises = [
        slopes(beta + axis, *problem) - slopes(beta - axis, *problem)
        for axis in step * np.eye(len(beta))
    ]
    return np.array(rises) / (2.0 * step)


def minimise_smooth(beta, gradient, matrix, starts, prices):
    """Return the best coefficients of groups of which none is zero, by BFGS."""
    problem = gradient, matrix, starts, prices
    found = minimize(
        objective, beta, problem, "BFGS", slopes, options={"gtol": 1e-9, "maxiter": 5_000}
    )
    return found.x


def bound_drop(beta, gradient, matrix, starts, prices):
    """Return what no coefficients can exceed: by duality, given some that are good.

    The drop is the least of ``1/2 (g + u)'M^-1 (g + u)`` where every group of ``u`` is no
    longer than its price; this takes away as much of the slopes as prices allow.
    """
    found = split_groups(gradient + matrix @ beta, starts)
    taken = [
        own * min(1.0, price / max(np.linalg.norm(own), 1e-300))
        for own, price in zip(found, prices, strict=True)
    ]
    rest = gradient - np.concatenate(taken)
    return 0.5 * rest @ np.linalg.lstsq(matrix, rest, rcond=1e-13)[0]

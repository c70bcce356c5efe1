"""Grids of values of static features, and predictions on them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from boostr._typing import AnyArray, FloatArray
from boostr.exceptions import InvalidParameterError
from boostr.inspection._model import FittedModel, sum_trees

__all__ = ["Quantity", "evaluate_pairs", "make_grid", "name_values", "typical_values"]

_BLOCK = 100_000  # rows that are looked at together, to bound the memory

Quantity = Callable[[FloatArray], FloatArray]  # of coefficients


def make_grid(
    model: FittedModel, rows: FloatArray | None, column: int, n_grid: int
) -> FloatArray:
    """Return grid values of a feature, or all codes of its categories."""
    categories = model.encoder_.categories[column]
    if categories is not None:
        return np.arange(len(categories), dtype=np.float64)
    known = _known_values(model, rows, column)
    if known.size:
        return np.unique(np.linspace(known.min(), known.max(), n_grid))
    name = model.encoder_.names[column]
    where = "in training" if rows is None else "in `X`"
    raise InvalidParameterError(
        f"A feature must have a range of values to spread a grid over, but {name!r} was "
        f"constant or missing {where}.\n\nHint: pass individuals that differ in it, X=…."
    )


def _known_values(model: FittedModel, rows: FloatArray | None, column: int) -> FloatArray:
    """Return values of a feature: those of individuals, or the bin thresholds."""
    if rows is not None:
        return rows[~np.isnan(rows[:, column]), column]
    mapper = model.ensemble_.mapper
    return mapper.thresholds[mapper.offsets[column] : mapper.offsets[column + 1]]


def typical_values(model: FittedModel, rows: FloatArray | None) -> FloatArray:
    """Return medians of numbers and the most frequent categories, NaN if unknown."""
    typical = np.full(len(model.encoder_.names), np.nan)
    for column, categories in enumerate(model.encoder_.categories):
        known = _known_values(model, rows, column)
        if known.size and categories is None:
            typical[column] = np.median(known)
        elif known.size and rows is not None:
            typical[column] = np.bincount(known.astype(np.int64)).argmax()
    return typical


def evaluate_pairs(
    model: FittedModel,
    others: FloatArray,
    columns: tuple[int, int],
    grids: list[FloatArray],
    quantity: Quantity,
) -> FloatArray:
    """Return the quantity at all pairs of values, averaged over the other features."""
    x, y = (axis.ravel() for axis in np.meshgrid(*grids))
    means = np.empty(len(x))
    n_cells = max(1, _BLOCK // len(others))
    for begin in range(0, len(x), n_cells):
        block = slice(begin, begin + n_cells)
        features = np.tile(others, (len(x[block]), 1))
        features[:, columns[0]] = np.repeat(x[block], len(others))
        features[:, columns[1]] = np.repeat(y[block], len(others))
        values = quantity(sum_trees(model, features))
        means[block] = values.reshape(-1, len(others)).mean(axis=1)
    return means.reshape(len(grids[1]), len(grids[0]))


def name_values(model: FittedModel, column: int, values: FloatArray) -> AnyArray:
    """Return values of a feature unchanged, or the categories of codes."""
    categories = model.encoder_.categories[column]
    if categories is None:
        return values
    names = np.empty(len(values), dtype=object)
    names[:] = [categories[int(code)] for code in values]
    return names

"""Static features of rivals as numbers: categories as codes or as indicators."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import narwhals as nw
import numpy as np
from sklearn.utils.validation import check_array

from boostr._typing import AnyArray, BoolArray, FloatArray
from boostr._validation import is_missing
from boostr.data import Panel, RecurrentEvents
from boostr.exceptions import InvalidFeaturesError

__all__ = ["Columns", "read_table"]


@dataclass(frozen=True, slots=True, eq=False)
class Columns:
    """Names of the features, and the categories that training has seen.

    Columns of text or category type in a DataFrame are categorical, all others numbers. A
    category's code is its place in the sorted list; unseen ones are missing.
    """

    names: tuple[str, ...]
    categories: tuple[tuple[Any, ...] | None, ...]  # per column, None for numbers

    @classmethod
    def learn(cls, table: Any) -> Columns:
        """Find names and categories of a table."""
        if not _is_frame(table):
            names = tuple(f"x{place}" for place in range(table.shape[1]))
            return cls(names, (None,) * len(names))
        frame = nw.from_native(table, eager_only=True)
        names = tuple(str(name) for name in frame.columns)
        return cls(names, tuple(_find_categories(c) for c in frame.iter_columns()))

    @property
    def is_categorical(self) -> BoolArray:
        """Whether each column is categorical."""
        return np.array([known is not None for known in self.categories], dtype=np.bool_)

    @property
    def n_categories(self) -> AnyArray:
        """Number of categories of each column, 0 for numbers."""
        return np.array([len(known or ()) for known in self.categories], dtype=np.int32)

    def encode(self, table: Any) -> FloatArray:
        """Return numbers, codes of categories, and NaN where missing."""
        if not _is_frame(table):
            return _to_numbers(table)
        columns = nw.from_native(table, eager_only=True).iter_columns()
        pairs = zip(columns, self.categories, strict=True)
        return _to_numbers(np.column_stack([_encode(*pair) for pair in pairs]))

    def expand(
        self, codes: FloatArray, *, drop_first: bool
    ) -> tuple[FloatArray, list[str]]:
        """Return numbers and one indicator per category, with their names.

        All indicators of a missing category are NaN. ``drop_first`` leaves out the first
        category, with which the others are compared.
        """
        parts, names = [], []
        for place, (name, known) in enumerate(
            zip(self.names, self.categories, strict=True)
        ):
            column = codes[:, [place]]
            if known is None:
                parts.append(column)
                names.append(name)
                continue
            levels = np.arange(1 if drop_first else 0, len(known))
            matches = np.where(np.isnan(column), np.nan, column == levels)
            parts.append(matches)
            names += [f"{name}={known[level]}" for level in levels]
        return np.hstack(parts), names


def read_table(X: Any) -> Any:
    """Return a DataFrame as it is, anything else as a 2-D array of any type."""
    if isinstance(X, RecurrentEvents):
        raise InvalidFeaturesError(
            "`X` must be a table of features, but it is a RecurrentEvents.\n\n"
            "Hint: the order is fit(X, y)."
        )
    table = X.X if isinstance(X, Panel) else X
    if _is_frame(table):
        return table
    return check_array(table, dtype=None, ensure_all_finite=False)


def _is_frame(table: Any) -> bool:
    return hasattr(table, "columns") and not isinstance(table, np.ndarray)


def _find_categories(column: nw.Series[Any]) -> tuple[Any, ...] | None:
    """Return the sorted categories of a column, or None if it holds numbers."""
    kind = column.dtype
    if kind.is_numeric() or kind == nw.Boolean:
        return None
    values = {value for value in column.to_list() if not is_missing(value)}
    if kind == nw.Object and not any(isinstance(value, str) for value in values):
        return None
    return tuple(sorted(values, key=lambda value: (str(type(value)), value)))


def _encode(column: nw.Series[Any], known: tuple[Any, ...] | None) -> AnyArray:
    if known is None:
        if column.dtype.is_numeric() or column.dtype == nw.Boolean:
            return np.asarray(column.cast(nw.Float64).to_numpy())
        return np.array(
            [np.nan if is_missing(value) else value for value in column.to_list()]
        )
    codes = {category: float(place) for place, category in enumerate(known)}
    return np.array([codes.get(value, np.nan) for value in column.to_list()])


def _to_numbers(table: Any) -> FloatArray:
    try:
        values = check_array(
            table, dtype=np.float64, order="C", ensure_all_finite="allow-nan"
        )
    except ValueError as error:
        if "could not convert" not in str(error):
            raise
        raise InvalidFeaturesError(
            f"Features must be numbers or categories, but {error}.\n\n"
            "Hint: use a DataFrame, whose columns of text are categories."
        ) from error
    return np.asarray(values)

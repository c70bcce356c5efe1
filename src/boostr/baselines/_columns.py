"""Static features of baselines as numbers: categories as codes or indicators."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import narwhals as nw
import numpy as np

from boostr._checks.numbers import is_missing
from boostr._typing import AnyArray, FloatArray
from boostr.data import Panel
from boostr.data.features import (
    KnownColumns,
    check_table,
    is_frame,
    sort_categories,
    to_codes,
    to_matrix,
    warn_of_unseen,
)

__all__ = ["Columns", "read_table"]

_HINT = "use a DataFrame, whose columns of text are categories."


@dataclass(frozen=True, slots=True, eq=False)
class Columns(KnownColumns):
    """Names of the features and the categories of training.

    Columns of text or category type in a DataFrame are categorical. A code is the
    position in the sorted list; unseen categories are missing.
    """

    @classmethod
    def learn(cls, table: Any) -> Columns:
        """Return the names and categories of a table."""
        if not is_frame(table):
            names = tuple(f"x{place}" for place in range(table.shape[1]))
            return cls(names, (None,) * len(names))
        frame = nw.from_native(table, eager_only=True)
        names = tuple(str(name) for name in frame.columns)
        return cls(names, tuple(_find_categories(c) for c in frame.iter_columns()))

    def encode(self, table: Any, *, is_new: bool = False) -> FloatArray:
        """Return numbers and codes of categories, NaN if missing.

        For tables other than that of training, unseen categories give a warning.
        """
        if not is_frame(table):
            return to_matrix(table, _HINT)
        if not self.names:
            return np.empty((len(table), 0))
        columns = nw.from_native(table, eager_only=True).iter_columns()
        pairs = zip(columns, self.categories, strict=True)
        numbers = [_encode(*pair, is_new=is_new) for pair in pairs]
        return to_matrix(np.column_stack(numbers), _HINT)

    def expand(
        self, codes: FloatArray, *, drop_first: bool
    ) -> tuple[FloatArray, list[str]]:
        """Return numbers and one indicator per category, with their names.

        All indicators of a missing category are NaN. ``drop_first`` leaves out the first
        category, the reference.
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
            first = 1 if drop_first else 0
            levels = np.arange(first, len(known))
            matches = np.where(np.isnan(column), np.nan, column == levels)
            parts.append(matches)
            names += [f"{name}={category}" for category in known[first:]]
        return (np.hstack(parts) if parts else codes), names


def read_table(X: Any) -> Any:
    """Return a DataFrame unchanged, anything else as a 2-D array."""
    return check_table(X.X if isinstance(X, Panel) else X)


def _find_categories(column: nw.Series[Any]) -> tuple[Any, ...] | None:
    """Return the sorted categories of a column, or None if it holds numbers."""
    kind = column.dtype
    if kind.is_numeric() or kind == nw.Boolean:
        return None
    values = {value for value in column.to_list() if not is_missing(value)}
    if kind == nw.Object and not any(isinstance(value, str) for value in values):
        return None
    return tuple(sort_categories(values))


def _encode(
    column: nw.Series[Any], known: Sequence[Any] | None, *, is_new: bool
) -> AnyArray:
    if known is None:
        if column.dtype.is_numeric() or column.dtype == nw.Boolean:
            return np.asarray(column.cast(nw.Float64).to_numpy())
        return np.array(
            [np.nan if is_missing(value) else value for value in column.to_list()]
        )
    values = column.to_list()
    codes = to_codes(column.name, values, known)
    if is_new:
        warn_of_unseen(column.name, values, codes)
    return codes

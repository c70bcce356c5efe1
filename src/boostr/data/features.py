"""Tables of static features: DataFrames as they are, arrays of numbers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence, Sized
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np
from sklearn.utils.validation import check_array

from boostr._checks.categories import number_categories
from boostr._checks.numbers import first_few, is_missing, warn_user
from boostr._typing import BoolArray, FloatArray, IndexArray
from boostr.data import RecurrentEvents, check_target
from boostr.data.columns import as_frame
from boostr.exceptions import DataWarning, InvalidFeaturesError

__all__ = [
    "ROWS_HINT",
    "KnownColumns",
    "check_one_row_each",
    "check_rows",
    "check_table",
    "is_frame",
    "match_columns",
    "refuse_missing",
    "sort_categories",
    "to_codes",
    "to_matrix",
    "warn_of_unseen",
]

ROWS_HINT = (
    "static features go into one row each; rows of a long table of events are not "
    "individuals."
)
_MOSTLY = 0.5  # share of a column's values from which unseen ones give a warning


@dataclass(frozen=True, slots=True, eq=False)
class KnownColumns:
    """Names of columns, and the categories of those that hold categories."""

    names: tuple[str, ...]
    categories: tuple[Sequence[Any] | None, ...]  # per column, None for numbers

    @property
    def is_categorical(self) -> BoolArray:
        """Whether each column is categorical."""
        return np.array([known is not None for known in self.categories], dtype=np.bool_)

    @property
    def n_categories(self) -> IndexArray:
        """Number of categories of each column, 0 for numbers."""
        return np.array([len(known or ()) for known in self.categories], dtype=np.int32)


def sort_categories(values: Iterable[Any]) -> list[Any]:
    """Return categories in the order of their codes; those of one type stand together."""
    return sorted(values, key=lambda category: (str(type(category)), category))


def to_codes(name: str, values: Sequence[Any], known: Sequence[Any]) -> FloatArray:
    """Return the place of every value in the list of categories, NaN where it has none."""
    owner = f"Feature {name!r}"
    codes = number_categories(values, known, owner, InvalidFeaturesError)
    return np.array([codes.get(value, np.nan) for value in values])


def warn_of_unseen(name: str, values: Sequence[Any], codes: FloatArray) -> None:
    """Warn of a column most of whose categories training has not seen."""
    if not np.isnan(codes).any():
        return
    given = [value for value in values if not is_missing(value)]
    pairs = zip(values, np.isnan(codes), strict=True)
    unseen = [value for value, is_lost in pairs if is_lost and not is_missing(value)]
    if len(unseen) > _MOSTLY * len(given):
        warn_user(
            f"Feature {name!r} has categories that training has not seen, or in one "
            f"individual only, in {len(unseen)} of {len(given)} rows "
            f"({first_few(map(repr, dict.fromkeys(unseen)))}). They count as missing, so "
            "predictions hardly differ between them. Check how the column is written.",
            DataWarning,
        )


def is_frame(table: Any) -> bool:
    """Tell whether a table has columns with names and types of their own."""
    return hasattr(table, "columns") and not isinstance(table, np.ndarray)


def check_table(X: Any) -> Any:
    """Return a DataFrame as it is, anything else as a 2-D array of any type.

    There may be no features at all: then there are individuals, or their sensors, alone.
    """
    if isinstance(X, RecurrentEvents):
        raise InvalidFeaturesError(
            "`X` must be a table of features, but it is a RecurrentEvents.\n\n"
            "Hint: the order is fit(X, y)."
        )
    if is_frame(X):
        return X
    return check_array(X, dtype=None, ensure_all_finite=False, ensure_min_features=0)


def match_columns(model: Any, table: Any, names: Sequence[str], besides: Any = None) -> Any:
    """Return the columns that a model was fitted with, in their order; warn of others.

    Tables without names, and models that were fitted to such, go by position. ``besides``
    is a column that something else is read from.
    """
    if not is_frame(table) or not all(isinstance(name, str) for name in table.columns):
        return table
    given = list(table.columns)
    missing = [name for name in names if name not in given]
    if missing and hasattr(model, "feature_names_in_"):
        refuse_missing(missing, given)
    if missing or given == list(names):
        return table
    others = [name for name in given if name not in (*names, besides)]
    if others:
        warn_user(
            f"`X` has {len(others)} columns that the model was not fitted with, which are "
            f"left out ({first_few(others)}).",
            DataWarning,
        )
    return as_frame(table).select(*names).to_native()


def refuse_missing(missing: Sequence[str], given: Sequence[str]) -> NoReturn:
    """Say which features a table lacks."""
    raise InvalidFeaturesError(
        "`X` must have all features that the model was fitted with, but "
        f"{len(missing)} are missing ({first_few(missing)}).\n\n"
        f"Hint: its columns are {first_few(given)}."
    )


def check_rows(y: object, n_rows: int, hint: str = ROWS_HINT) -> RecurrentEvents:
    """Return the target if it is one history per row of features."""
    events = check_target(y)
    check_one_row_each(events, n_rows, hint)
    return events


def check_one_row_each(events: Sized, n_rows: int, hint: str) -> None:
    """Refuse histories that are not as many as rows of features."""
    if len(events) != n_rows:
        raise InvalidFeaturesError(
            f"`X` must have one row per individual, but it has {n_rows} rows for "
            f"{len(events)} individuals.\n\nHint: {hint}"
        )


def to_matrix(table: Any, hint: str) -> FloatArray:
    """Return a table of numbers as an array of them; NaN is missing."""
    try:
        values = check_array(
            table,
            dtype=np.float64,
            order="C",
            ensure_all_finite="allow-nan",
            ensure_min_features=0,
        )
    except ValueError as error:
        if "could not convert" not in str(error):
            raise
        raise InvalidFeaturesError(
            f"Features must be numbers or categories, but {error}.\n\nHint: {hint}"
        ) from error
    return np.asarray(values)

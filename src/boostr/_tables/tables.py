"""Tables of static features: DataFrames as they are, arrays of numbers."""

from __future__ import annotations

from collections.abc import Sequence, Sized
from typing import Any, NoReturn

import numpy as np
from sklearn.utils.validation import check_array

from boostr._typing import FloatArray
from boostr._validation import first_few, warn_user
from boostr.data import RecurrentEvents, check_target
from boostr.data._columns import as_frame
from boostr.exceptions import DataWarning, InvalidFeaturesError

__all__ = [
    "check_one_row_each",
    "check_rows",
    "check_table",
    "is_frame",
    "match_columns",
    "refuse_missing",
    "to_matrix",
]


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


def check_rows(y: object, n_rows: int, hint: str) -> RecurrentEvents:
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

"""Static features as numbers: tables, categories, missing values."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from numbers import Integral
from typing import Any

import narwhals as nw
import numpy as np

from boostr._checks.numbers import first_few, is_missing, warn_user
from boostr._typing import AnyArray, BoolArray, FloatArray
from boostr.data.features import (
    KnownColumns,
    check_table,
    is_frame,
    sort_categories,
    to_codes,
    to_matrix,
    warn_of_unseen,
)
from boostr.exceptions import DataWarning, InvalidFeaturesError, InvalidParameterError

__all__ = [
    "FeatureEncoder",
    "check_table",
    "choose_categorical",
    "count_categories",
    "find_column",
    "trim_counts",
]

_MAX_CATEGORIES = 254  # a bin each, and one for missing values
_MOST_COUNTED = 100_000  # categories that are counted where individuals are many
_HINT = "name such columns in `categorical_features`, or use a DataFrame."
_LEAST = 2  # individuals of a category that is learned
_MOST_RARE = 1_000  # categories of a column that are remembered without being learned
_NUMBER = re.compile(r"\s*[-+]?\d*[.,]?\d+(e[-+]?\d+)?\s*", re.IGNORECASE)
_FEW_NUMBERS = 10  # different ones that may be categories
_MOSTLY = 0.9  # share of texts that makes a column one of numbers


@dataclass(frozen=True, slots=True, eq=False)
class FeatureEncoder(KnownColumns):
    """Categorical columns and the categories learned in training.

    Codes are positions in the sorted list. Categories unseen, in one individual only or
    beyond the 254 most frequent become NaN; ``rare`` lists those seen but not learned.
    """

    rare: tuple[list[Any] | None, ...] = ()  # empty in early model files

    @classmethod
    def learn(cls, X: Any, categorical_features: Any) -> FeatureEncoder:
        """Find the categorical columns of a table or array and their categories."""
        chosen = choose_categorical(X, categorical_features)
        return cls.from_counts(count_categories(X, chosen))

    @classmethod
    def from_counts(cls, counts: Mapping[str, Counter[Any] | None]) -> FeatureEncoder:
        """Return the encoder of the most frequent categories, given their counts.

        A column of numbers that are written as text gives a warning.
        """
        for name, known in counts.items():
            if known is not None:
                _warn_of_numbers(name, known)
        categories = tuple(
            None if known is None else _list_categories(known) for known in counts.values()
        )
        rare = tuple(
            None if known is None or learned is None else _list_rare(known, learned)
            for known, learned in zip(counts.values(), categories, strict=True)
        )
        return cls(tuple(counts), categories, rare)

    def transform(self, X: Any, matters: BoolArray | None = None) -> FloatArray:
        """Return all columns as numbers, missing values as NaN.

        Where individuals are new, unseen categories of columns that matter give a warning.
        """
        if not self.is_categorical.any() and not is_frame(X):
            return to_matrix(X, _HINT)
        columns = _split_columns(X)
        out = np.empty((len(X), len(columns)))
        for place, (name, values) in enumerate(columns.items()):
            known = self.categories[place]
            if known is None:
                out[:, place] = _to_numbers(name, values)
                continue
            given = values.tolist()
            out[:, place] = to_codes(name, given, known)
            if matters is not None and matters[place]:
                warn_of_unseen(name, given, out[:, place])
        return out

    def name_unlearned(self, X: Any, codes: FloatArray) -> dict[tuple[int, int], str]:
        """Return the names of given categories without a code, by row and column.

        ``codes`` is the result of `transform` on the table.
        """
        if not self.is_categorical.any():
            return {}
        found = {}
        for place, values in enumerate(_split_columns(X).values()):
            if self.categories[place] is None:
                continue
            is_unlearned = np.isnan(codes[:, place])
            is_unlearned[is_unlearned] = ~_find_missing(values[is_unlearned])
            for row in np.flatnonzero(is_unlearned).tolist():
                found[row, place] = self._name_unlearned(place, values[row])
        return found

    def _name_unlearned(self, place: int, value: Any) -> str:
        rare = self.rare[place] if self.rare else None
        if rare is None:
            return f"rare or unknown ({value})"
        return f"rare ({value})" if value in rare else f"unknown ({value})"


def choose_categorical(X: Any, given: Any) -> list[bool]:
    """Return which columns of a table or array are categorical."""
    names = tuple(map(str, X.columns)) if is_frame(X) else _name_columns(X)
    return _choose_categorical(X, names, given)


def count_categories(
    X: Any, is_categorical: Sequence[bool]
) -> dict[str, Counter[Any] | None]:
    """Count individuals by category, for every categorical column; None for numbers."""
    return {
        name: _count_known(values) if is_category else None
        for (name, values), is_category in zip(
            _split_columns(X).items(), is_categorical, strict=True
        )
    }


def trim_counts(counts: Counter[Any]) -> Counter[Any]:
    """Return the most frequent categories, many more than are learned."""
    return Counter(dict(counts.most_common(_MOST_COUNTED)))


def _name_columns(X: AnyArray) -> tuple[str, ...]:
    return tuple(f"x{place}" for place in range(X.shape[1]))


def _split_columns(X: Any) -> dict[str, AnyArray]:
    """Return the columns by name; those of an array are x0, x1, ..."""
    if is_frame(X):
        frame = nw.from_native(X, eager_only=True)
        if frame.shape[0] == 0:
            raise InvalidFeaturesError(
                f"`X` must have rows and columns, but its shape is {frame.shape}."
            )
        return {str(column.name): _to_array(column) for column in frame.iter_columns()}
    return {name: X[:, place] for place, name in enumerate(_name_columns(X))}


def _to_array(column: nw.Series[Any]) -> AnyArray:
    if column.dtype.is_numeric() or column.dtype == nw.Boolean:
        return np.asarray(column.cast(nw.Float64).to_numpy(), dtype=np.float64)
    is_null = column.is_null().to_list()
    values = np.empty(len(column), dtype=object)
    values[:] = [
        None if null else value
        for value, null in zip(column.to_list(), is_null, strict=True)
    ]
    return values


def _is_category_type(dtype: Any) -> bool:
    return dtype in {nw.Categorical, nw.Enum, nw.String} or isinstance(dtype, nw.Enum)


def _choose_categorical(X: Any, names: tuple[str, ...], given: Any) -> list[bool]:
    """Return for each column whether it is categorical."""
    if isinstance(given, str) and given == "from_dtype":
        if not is_frame(X):
            return [False] * len(names)
        # pandas may keep text as objects; those that are numbers are read as such later.
        return [
            _is_category_type(column.dtype)
            or (column.dtype == nw.Object and _has_text(column))
            for column in nw.from_native(X, eager_only=True).iter_columns()
        ]
    if given is None:
        return [False] * len(names)
    entries = np.asarray(given)
    if entries.dtype == np.bool_ and entries.shape == (len(names),):
        return [bool(entry) for entry in entries]
    chosen = [
        find_column(entry, names, "categorical_features")
        for entry in np.atleast_1d(entries).tolist()
    ]
    return [place in chosen for place in range(len(names))]


def _has_text(column: nw.Series[Any]) -> bool:
    return any(isinstance(value, str) for value in column.to_list())


def find_column(entry: Any, names: tuple[str, ...], parameter: str) -> int:
    """Return the place of a column that a parameter names, or gives by position."""
    if isinstance(entry, str) and entry in names:
        return names.index(entry)
    is_whole = isinstance(entry, Integral) and not isinstance(entry, bool)
    if is_whole and 0 <= int(entry) < len(names):
        return int(entry)
    raise InvalidParameterError(
        f"`{parameter}` names the column {entry!r}, which `X` does not have.\n\n"
        f"Hint: its {len(names)} columns are {first_few(names)}."
    )


def _find_missing(values: AnyArray) -> BoolArray:
    if values.dtype == object:
        return np.array([is_missing(value) for value in values], dtype=np.bool_)
    if np.issubdtype(values.dtype, np.floating):
        return np.asarray(np.isnan(values))
    return np.zeros(len(values), dtype=np.bool_)


def _count_known(values: AnyArray) -> Counter[Any]:
    return Counter(values[~_find_missing(values)].tolist())


def _list_categories(counts: Counter[Any]) -> list[Any]:
    """Return the categories that are learned: the most frequent ones, not too rare."""
    # A category of one individual tells it by name, not by what it is.
    known = [category for category in sort_categories(counts) if counts[category] >= _LEAST]
    frequent = sorted(known, key=lambda category: -counts[category])[:_MAX_CATEGORIES]
    return sort_categories(frequent)


def _is_number(value: Any) -> bool:
    try:
        return is_missing(value) or isinstance(float(value), float)
    except (TypeError, ValueError):
        return False


def _warn_of_numbers(name: str, counts: Counter[Any]) -> None:
    """Warn of categories that look like measurements; whole numbers may be codes."""
    texts = [value for value in counts if isinstance(value, str)]
    others = [text for text in texts if not _NUMBER.fullmatch(text)]
    n_numbers = len(texts) - len(others)
    has_decimals = any("." in text or "," in text for text in texts if text not in others)
    if has_decimals and n_numbers > max(_FEW_NUMBERS, _MOSTLY * len(texts)):
        rest = f" (the others are {first_few(others)})" if others else ""
        warn_user(
            f"{name!r} is a column of text and is learned as categories, but {n_numbers} "
            f"of its {len(texts)} different values are numbers{rest}. Convert it to "
            "numbers, for example with pandas.to_numeric(…, errors='coerce').",
            DataWarning,
        )


def _list_rare(counts: Counter[Any], learned: Sequence[Any]) -> list[Any] | None:
    """Return the categories that are seen but not learned; None if there are many."""
    rare = counts.keys() - set(learned)
    return sort_categories(rare) if len(rare) <= _MOST_RARE else None


def _to_numbers(name: str, values: AnyArray) -> FloatArray:
    try:
        numbers = np.where(_find_missing(values), np.nan, values).astype(np.float64)
    except (TypeError, ValueError) as error:
        row = next(row for row, value in enumerate(values) if not _is_number(value))
        is_date = isinstance(values[row], (date, np.datetime64))
        hint = (
            "convert dates to numbers, such as days since one of them."
            if is_date
            else "convert it to numbers, or name it in `categorical_features`."
        )
        raise InvalidFeaturesError(
            f"Features must be numbers or categories, but {name!r} holds {values[row]!r} "
            f"(row {row}).\n\nHint: {hint}"
        ) from error
    if np.isinf(numbers).any():
        n_wrong = int(np.isinf(numbers).sum())
        raise InvalidFeaturesError(
            f"Features must be finite, but {name!r} is infinite in {n_wrong} rows (rows "
            f"{first_few(np.flatnonzero(np.isinf(numbers)))}).\n\n"
            "Hint: replace infinite values, for instance by NaN for missing."
        )
    return numbers

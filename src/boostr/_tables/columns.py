"""Columns of a table that training has seen, with the categories of some of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from boostr._categories import number_categories
from boostr._typing import BoolArray, FloatArray, IndexArray
from boostr._validation import first_few, is_missing, warn_user
from boostr.exceptions import DataWarning, InvalidFeaturesError

__all__ = ["KnownColumns", "sort_categories", "to_codes", "warn_of_unseen"]

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

"""Columns of a table that training has seen, with the categories of some of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from boostr._typing import BoolArray, FloatArray, IndexArray

__all__ = ["KnownColumns", "sort_categories", "to_codes"]


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


def to_codes(values: Sequence[Any], known: Sequence[Any]) -> FloatArray:
    """Return the place of every value in the list of categories, NaN where it has none."""
    codes = {category: float(place) for place, category in enumerate(known)}
    return np.array([codes.get(value, np.nan) for value in values])

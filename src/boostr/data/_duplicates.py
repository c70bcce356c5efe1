"""Rows of a table of events that repeat another row."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from typing import Any

import numpy as np

from boostr._typing import OffsetArray
from boostr._validation import first_few
from boostr.data._columns import Frame, as_frame
from boostr.data._indexing import count_of
from boostr.exceptions import (
    DuplicateRowsWarning,
    InvalidEventsError,
    InvalidParameterError,
)

__all__ = ["settle_duplicates"]

_CHOICES = ("warn", "keep", "drop", "error")


def settle_duplicates(
    df: Any, names: Iterable[str | None], id: str, duplicates: str
) -> Any:
    """Return the table; keep, drop, warn about or refuse rows that repeat another one.

    Rows must agree in all columns; those in ``names`` are compared first, to save time.
    """
    if duplicates not in _CHOICES:
        raise InvalidParameterError(
            f"`duplicates` must be one of {', '.join(map(repr, _CHOICES))}, but it is "
            f"{duplicates!r}.\n\nHint: 'drop' keeps one row of each."
        )
    frame = as_frame(df)
    asked = [name for name in dict.fromkeys(names) if name is not None]
    if duplicates == "keep" or not set(asked) <= set(frame.columns):
        return df  # a column that is not there is refused by whoever reads it
    repeated = _find_repeated(frame, asked)
    if not repeated.size:
        return df
    if duplicates == "drop":
        kept = np.ones(len(frame), dtype=bool)
        kept[repeated] = False
        return frame.filter(kept.tolist()).to_native()
    ids = dict.fromkeys(frame.get_column(id)[repeated.tolist()].to_list())
    said = (
        f"{count_of(repeated.size, 'row')} of the table of events "
        f"{'repeats' if repeated.size == 1 else 'repeat'} another row in all columns, for "
        f"{count_of(len(ids), 'individual')} (ids {first_few(ids)})"
    )
    if duplicates == "error":
        raise InvalidEventsError(
            f"Rows must be different, but {said}.\n\n"
            "Hint: duplicates='drop' keeps one row of each, 'keep' all."
        )
    warnings.warn(
        f"{said}. Each counts; say duplicates='drop' (in the shell --duplicates drop) to "
        "keep one row of each, or 'keep' if all are right.",
        DuplicateRowsWarning,
        stacklevel=3,
    )
    return df


def _find_repeated(frame: Frame, names: list[str]) -> OffsetArray:
    """Return the positions of rows that repeat an earlier one in all columns."""
    alike = frame.select(names).is_duplicated()
    rows = np.flatnonzero(alike.to_numpy())
    # As texts, because missing values equal each other and lists need not be hashable.
    columns = [column.to_list() for column in frame.filter(alike).iter_columns()]
    seen: set[str] = set()
    repeated = []
    for row, values in zip(rows.tolist(), zip(*columns, strict=True), strict=True):
        text = repr(values)
        if text in seen:
            repeated.append(row)
        seen.add(text)
    return np.array(repeated, dtype=np.int64)

"""Checks of single rows on the workers that read them, before they are moved."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from boostr._typing import BoolArray
from boostr._validation import first_few
from boostr.dask._collections import FILE
from boostr.exceptions import (
    BoostrError,
    InvalidEventsError,
    InvalidFeaturesError,
    InvalidSensorsError,
)

__all__ = ["RowRules", "add_files", "check_rows", "name_files"]

_KINDS: dict[str, type[BoostrError]] = {
    "sensors": InvalidSensorsError,
    "X": InvalidFeaturesError,
}


@dataclass(frozen=True, slots=True)
class RowRules:
    """Rules that each row of a table must meet, whatever the other rows are."""

    table: str  # as the caller calls it
    id: str
    finite: tuple[str, ...] = ()  # columns of numbers that must be known and finite
    positive: tuple[str, ...] = ()  # and not negative
    flag: str | None = None  # column of 0 and 1
    bounded: tuple[str, ...] | None = None  # may be missing, not infinite; None: all others


def check_rows(frame: Any, rules: RowRules, files: Sequence[str]) -> Any:
    """Return the rows; errors name the rows that break a rule, their ids and files."""
    ids = frame[rules.id]
    _refuse(frame, rules, files, ids.isna().to_numpy(), "must have an id", "id")
    for name in rules.finite:
        if _is_number(frame[name]):
            numbers = frame[name].to_numpy(dtype=np.float64, na_value=np.nan)
            bad = ~np.isfinite(numbers)
            if name in rules.positive:
                bad |= numbers < 0
            limit = " and not negative" if name in rules.positive else ""
            rule = f"must have a known, finite{limit} {name!r}"
            _refuse(frame, rules, files, bad, rule, name)
    if rules.flag is not None and _is_number(frame[rules.flag]):
        flags = frame[rules.flag].to_numpy(dtype=np.float64, na_value=np.nan)
        bad = ~((flags == 0) | (flags == 1))
        rule = f"must have True or False, or 1 or 0, as {rules.flag!r}"
        _refuse(frame, rules, files, bad, rule, rules.flag)
    bounded = rules.bounded
    if bounded is None:
        others = {rules.id, rules.flag, *rules.finite, FILE}
        bounded = tuple(name for name in frame.columns if name not in others)
    for name in bounded:
        if _is_number(frame[name]):
            numbers = frame[name].to_numpy(dtype=np.float64, na_value=np.nan)
            rule = f"must have a finite or missing {name!r}"
            _refuse(frame, rules, files, np.isinf(numbers), rule, name)
    return frame


def _is_number(column: Any) -> bool:
    """Return whether a column can be checked here, unlike time stamps and texts."""
    return getattr(column.dtype, "kind", "O") in "biuf"


def _refuse(
    frame: Any,
    rules: RowRules,
    files: Sequence[str],
    is_bad: BoolArray,
    rule: str,
    column: str,
) -> None:
    if not is_bad.any():
        return
    bad = frame[is_bad]
    ids = dict.fromkeys(bad[rules.id].dropna().tolist())
    whom = f" (ids {first_few(ids)})" if ids else ""
    raise _KINDS.get(rules.table, InvalidEventsError)(
        f"Every row of `{rules.table}` {rule}, but {len(bad)} of {len(frame)} rows that "
        f"are read together have not{whom}{name_files(bad, files)}.\n\n"
        f"Hint: correct column {column!r} there, or drop those rows."
    )


def name_files(frame: Any, files: Sequence[str]) -> str:
    """Return words for the Parquet files of rows; empty if they are from none."""
    if not files or FILE not in frame.columns:
        return ""
    numbers = sorted(set(frame[FILE].tolist()))
    return f" in {first_few(files[number] for number in numbers)}"


def add_files(error: BoostrError, where: str) -> BoostrError:
    """Return the same error with a sentence on the files of the rows."""
    fact, _, hint = str(error).partition("\n\n")
    return type(error)(f"{fact} {where}" + (f"\n\n{hint}" if hint else ""))

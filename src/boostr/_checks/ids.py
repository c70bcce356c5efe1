"""Checks of ids, and of arrays with one entry per individual."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from boostr._checks.numbers import first_few, is_missing, repeats
from boostr._typing import AnyArray, OffsetArray
from boostr.exceptions import BoostrError

__all__ = ["as_ids", "check_ids", "check_offsets", "check_one_each", "check_unique"]


def as_ids(given: Any, error: type[BoostrError]) -> AnyArray:
    """Return known ids as an array in which numbers next to texts stay numbers."""
    ids = np.array(given)
    if ids.dtype.kind == "U" and not all(isinstance(value, str) for value in given):
        ids = np.array(given, dtype=object)
    if ids.ndim != 1:
        raise error(
            f"`ids` must have one dimension, but it has {ids.ndim}.\n\n"
            "Hint: give one id, a number or a text, per individual, for instance y.ids."
        )
    unknown = [i for i, value in enumerate(ids.tolist()) if is_missing(value)]
    if unknown:
        raise error(
            f"Every individual must have an id, but {len(unknown)} of {ids.size} have none "
            f"(positions {first_few(unknown)}).\n\nHint: fill in the ids, for instance "
            "from y.ids."
        )
    return ids


def check_ids(given: Any, n: int, error: type[BoostrError]) -> AnyArray:
    """Return one id of its own per individual, positions if none are given."""
    if given is None:
        return np.arange(n)
    ids = as_ids(given, error)
    check_one_each(ids.size, n, "ids", error)
    check_unique(ids, error)
    return ids


def check_unique(ids: AnyArray, error: type[BoostrError], hint: str = "") -> None:
    """Refuse ids that occur more than once."""
    twice = repeats(ids)
    if twice:
        way_out = hint or (
            "put all rows of an id into one history, or leave out `ids`; slicing with "
            "repeats, y[[0, 0, 1]], is allowed."
        )
        raise error(
            f"Every individual must have its own id, but {len(twice)} ids are repeated "
            f"({first_few(twice)}).\n\nHint: {way_out}"
        )


def check_one_each(size: int, n: int, name: str, error: type[BoostrError]) -> None:
    """Refuse an array that does not have one entry per individual."""
    if size != n:
        raise error(
            f"`{name}` must have one entry per individual, but it has {size} "
            f"for {n} individuals.\n\n"
            f"Hint: give one value for all, or an array of length {n}."
        )


def check_offsets(
    given: ArrayLike, n_entries: int, name: str, error: type[BoostrError]
) -> OffsetArray:
    """Return offsets that split entries by individual."""
    offsets = np.array(given)
    if offsets.ndim == 1 and offsets.size and offsets.dtype.kind in "iu":
        offsets = offsets.astype(np.int64)
        rises = bool((np.diff(offsets) >= 0).all())
        if rises and offsets[0] == 0 and offsets[-1] == n_entries:
            return offsets
    raise error(
        f"`{name}` must be integers that rise from 0 to the number of times "
        f"({n_entries}), one more than there are individuals.\n\n"
        "Hint: np.concatenate([[0], np.cumsum(number_of_each)])."
    )

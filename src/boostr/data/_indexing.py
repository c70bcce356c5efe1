"""Individuals taken like entries of a 1-D array, and their ids put together."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral
from typing import Any

import numpy as np

from boostr._typing import AnyArray, OffsetArray
from boostr._validation import first_few
from boostr.exceptions import BoostrError, InvalidEventsError


def positions_of(key: Any, n: int) -> OffsetArray:
    """Return the positions of an int, slice, mask, array of int or (key, Ellipsis)."""
    if isinstance(key, tuple) and len(key) == 2 and key[1] is Ellipsis:
        key = key[0]  # the way scikit-learn takes rows of an array
    if isinstance(key, Integral):
        position = int(key)
        if not -n <= position < n:
            raise IndexError(f"Individual {position} of {n} does not exist.")
        return np.array([position % n], dtype=np.int64)
    if not isinstance(key, slice):
        key = np.asarray(key)
        if key.size and key.dtype.kind not in "biu":
            raise IndexError(
                "Individuals are taken by position or mask, not by id.\n\n"
                "Hint: y[y.ids == 'W1'] or y[numpy.isin(y.ids, ['W1', 'W7'])]."
            )
        if key.ndim != 1:
            raise IndexError(
                "Individuals are taken by one index, slice, mask or 1-D array."
            )
        key = key.astype(np.int64) if key.size == 0 and key.dtype != bool else key
    return np.asarray(np.arange(n, dtype=np.int64)[key])


def check_labels(
    key: Any, ids: AnyArray, error: type[BoostrError] = InvalidEventsError
) -> None:
    """Refuse a boolean pandas Series whose index holds the ids in another order."""
    labels = getattr(key, "index", None)
    if labels is None or callable(labels) or np.asarray(key).dtype != bool:
        return
    labels = np.asarray(labels)
    if len(labels) == len(ids) and set(labels.tolist()) == set(ids.tolist()):
        wrong = np.flatnonzero(labels != ids)
        if wrong.size:
            raise error(
                "A mask with labels must have the ids in the order of the individuals, but "
                f"{wrong.size} of {len(ids)} differ (ids {first_few(ids[wrong])}).\n\n"
                "Hint: y[mask.loc[y.ids]]."
            )


def count_of(number: int, noun: str, spec: str = "") -> str:
    """Return a number with its noun, in the plural unless the number is 1."""
    return f"{number:{spec}} {noun}{'' if number == 1 else 's'}"


def concatenate_ids(ids: Sequence[AnyArray]) -> AnyArray:
    """Return the ids of all parts, as objects if they are of different kinds."""
    if len({part.dtype.kind for part in ids}) == 1:
        return np.concatenate(ids)
    return np.concatenate([part.astype(object) for part in ids])


def shared_value(values: set[str | None]) -> str | None:
    """Return the only value of a set, or None if there are several."""
    return values.pop() if len(values) == 1 else None

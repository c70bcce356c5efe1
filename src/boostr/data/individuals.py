"""Base class of containers of individuals, which are indexed like a 1-D array."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np

from boostr._checks.numbers import first_few
from boostr._typing import AnyArray, OffsetArray
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


@dataclass(frozen=True, slots=True)
class Wording:
    """Names for a container and its contents in error messages."""

    container: str
    entries: str  # what individuals have one of
    items: str  # what an entry has many of
    numbers: str  # where there are arrays of numbers
    constructors: str
    type_error: type[BoostrError]
    value_error: type[BoostrError]


class IndividualArray:
    """Flat arrays of all individuals, indexable by individual like a 1-D array.

    Subclasses are dataclasses that define ``__len__``, ``_take`` and ``_entries``.
    """

    ids: AnyArray
    has_ids: bool
    id_name: str | None
    _wording: ClassVar[Wording]
    __dataclass_fields__: ClassVar[dict[str, Any]]

    @property
    def shape(self) -> tuple[int]:
        """Number of individuals, as the shape of a 1-D array."""
        return (len(self),)

    @property
    def ndim(self) -> int:
        """One: the only axis is that of individuals."""
        return 1

    def __len__(self) -> int:
        raise NotImplementedError

    def __iter__(self) -> Iterator[Self]:
        return (self[i] for i in range(len(self)))

    def __getitem__(self, key: Any) -> Self:
        if self.has_ids:
            check_labels(key, self.ids, self._wording.value_error)
        return self._take(positions_of(key, len(self)))

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> AnyArray:
        words = self._wording
        if dtype is not None and np.dtype(dtype) != object:
            raise words.type_error(
                f"{type(self).__name__} cannot become an array of {np.dtype(dtype)}, "
                f"because every individual has its own number of {words.items}.\n\n"
                f"Hint: {words.numbers}."
            )
        if copy is False:
            raise ValueError(f"An array of {words.entries} cannot be made without a copy.")
        array = np.empty(len(self), dtype=object)
        for i, entry in enumerate(self._entries()):
            array[i] = entry
        return array

    def _take(self, index: OffsetArray) -> Self:
        """Return the individuals at some positions."""
        raise NotImplementedError

    def _entries(self) -> Iterator[AnyArray]:
        """Return the entry of every individual in an array of objects."""
        raise NotImplementedError

    def _with(self, **changes: Any) -> Self:
        """Return a copy with other arrays, without checks."""
        names = self.__dataclass_fields__
        return type(self)(**({name: getattr(self, name) for name in names} | changes))


def check_parts(parts: Sequence[object], kind: type[IndividualArray]) -> None:
    """Refuse an empty list of parts, and parts that are not containers of one kind."""
    words = kind._wording
    if not parts:
        raise words.value_error("There must be at least one part to concatenate.")
    others = [type(part).__name__ for part in parts if not isinstance(part, kind)]
    if others:
        raise words.type_error(
            f"Parts must be {words.container}, but {len(others)} of {len(parts)} are "
            f"not (for instance {others[0]}).\n\n"
            f"Hint: make each part with {words.constructors}."
        )


def join_ids(parts: Sequence[IndividualArray]) -> dict[str, Any]:
    """Return the fields about ids of containers that are concatenated."""
    return {
        "ids": concatenate_ids([part.ids for part in parts]),
        "has_ids": any(part.has_ids for part in parts),
        "id_name": shared_value({part.id_name for part in parts}),
    }

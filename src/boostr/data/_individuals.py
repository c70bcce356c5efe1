"""Base class of containers that are indexed by individual."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np

from boostr._typing import AnyArray, OffsetArray
from boostr.data._indexing import (
    check_labels,
    concatenate_ids,
    positions_of,
    shared_value,
)
from boostr.exceptions import BoostrError


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
    strangers = [type(part).__name__ for part in parts if not isinstance(part, kind)]
    if strangers:
        raise words.type_error(
            f"Parts must be {words.container}, but {len(strangers)} of {len(parts)} are "
            f"not (for instance {strangers[0]}).\n\n"
            f"Hint: make each part with {words.constructors}."
        )


def join_ids(parts: Sequence[IndividualArray]) -> dict[str, Any]:
    """Return the fields about ids of containers that are concatenated."""
    return {
        "ids": concatenate_ids([part.ids for part in parts]),
        "has_ids": any(part.has_ids for part in parts),
        "id_name": shared_value({part.id_name for part in parts}),
    }

"""The part of ``RecurrentEvents`` that makes it look like an array of individuals."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from boostr._typing import AnyArray, FloatArray, OffsetArray
from boostr.data._flat import gather, offsets_of, owners_of
from boostr.data._indexing import (
    check_labels,
    concatenate_ids,
    count_of,
    positions_of,
    shared_value,
)
from boostr.data._times import name_unit
from boostr.exceptions import InvalidEventsError, TargetTypeError


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class EventContainer:
    """Flat arrays of all histories, indexable by individual like a 1-D array."""

    times: FloatArray  # (n_events,)
    event_offsets: OffsetArray  # (n + 1,)
    costs: FloatArray  # (n_events,)
    has_costs: bool
    window_start: FloatArray  # (n_windows,)
    window_stop: FloatArray  # (n_windows,)
    window_offsets: OffsetArray  # (n + 1,)
    ids: AnyArray  # (n,)
    has_ids: bool
    id_name: str | None = None
    time_unit: str | None = None
    origin: np.datetime64 | None = None

    @property
    def start(self) -> FloatArray:
        """Entry of every individual: the start of its first window."""
        return self.window_start[self.window_offsets[:-1]]

    @property
    def end(self) -> FloatArray:
        """End of follow-up of every individual: the stop of its last window."""
        return self.window_stop[self.window_offsets[1:] - 1]

    @property
    def n_events(self) -> OffsetArray:
        """Number of events of every individual."""
        return np.diff(self.event_offsets)

    @property
    def follow_up(self) -> FloatArray:
        """Total length of the windows of every individual, without the gaps."""
        length = self.window_stop - self.window_start
        return np.asarray(np.add.reduceat(length, self.window_offsets[:-1]))

    @property
    def event_owner(self) -> OffsetArray:
        """Position of the individual of every event."""
        return owners_of(self.event_offsets)

    @property
    def shape(self) -> tuple[int]:
        """Number of individuals, as the shape of a 1-D array."""
        return (len(self),)

    @property
    def ndim(self) -> int:
        """One: the only axis is that of individuals."""
        return 1

    def __len__(self) -> int:
        return int(self.event_offsets.size) - 1

    def __iter__(self) -> Iterator[Self]:
        return (self[i] for i in range(len(self)))

    def __getitem__(self, key: Any) -> Self:
        if self.has_ids:
            check_labels(key, self.ids)
        index = positions_of(key, len(self))
        events, event_offsets = gather(self.event_offsets, index)
        windows, window_offsets = gather(self.window_offsets, index)
        return self._with(
            times=self.times[events],
            costs=self.costs[events],
            event_offsets=event_offsets,
            window_start=self.window_start[windows],
            window_stop=self.window_stop[windows],
            window_offsets=window_offsets,
            ids=self.ids[index],
        )

    def _with(self, **changes: Any) -> Self:
        """Copy with other arrays, without checks."""
        names = self.__dataclass_fields__
        return type(self)(**({name: getattr(self, name) for name in names} | changes))

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> AnyArray:
        if dtype is not None and np.dtype(dtype) != object:
            raise TargetTypeError(
                f"{type(self).__name__} cannot become an array of {np.dtype(dtype)}, "
                "because every individual has its own number of events.\n\n"
                "Hint: y.n_events, y.end or y.times are arrays of numbers."
            )
        if copy is False:
            raise ValueError("An array of histories cannot be made without a copy.")
        array = np.empty(len(self), dtype=object)
        bounds = self.event_offsets.tolist()
        for i in range(len(self)):
            array[i] = self.times[bounds[i] : bounds[i + 1]]
        return array

    def __repr__(self) -> str:
        total = float(self.follow_up.sum())
        unit = name_unit(self.time_unit)
        length = f"{total:.0f}" if total >= 1000 else f"{total:.4g}"
        return (
            f"{type(self).__name__}({count_of(len(self), 'individual')}, "
            f"{count_of(self.times.size, 'event')}, follow-up {length}"
            f"{'' if unit is None else ' ' + unit})"
        )

    def equals(self, other: object) -> bool:
        """Tell whether two containers hold the same histories in the same order.

        Parameters
        ----------
        other : object
            Anything; only another container can be equal.

        Returns
        -------
        bool
            Whether ids, events, costs, windows, unit and origin all agree. The name of
            the id column does not count.

        Examples
        --------
        >>> from boostr.data import RecurrentEvents
        >>> y = RecurrentEvents.from_lists([[1.0], []], end=2.0)
        >>> y.equals(y[[0, 1]]), y.equals(y[[1, 0]])
        (True, False)
        """
        if not isinstance(other, EventContainer):
            return False
        arrays = ("ids", "event_offsets", "times", "costs")
        windows = ("window_offsets", "window_start", "window_stop")
        return (self.time_unit, self.origin) == (other.time_unit, other.origin) and all(
            np.array_equal(getattr(self, name), getattr(other, name))
            for name in arrays + windows
        )

    @classmethod
    def concatenate(cls, parts: Sequence[Self]) -> Self:
        """Put containers one after the other.

        Parameters
        ----------
        parts : sequence of RecurrentEvents
            At least one; all in the same unit and from the same origin.

        Returns
        -------
        RecurrentEvents
            All individuals, with the ids they had. An id that stands in two parts is
            kept twice, as after slicing with repeats.

        Examples
        --------
        >>> from boostr.data import RecurrentEvents
        >>> y = RecurrentEvents.from_lists([[1.0], []], end=2.0)
        >>> RecurrentEvents.concatenate([y[1:], y[:1]]).n_events
        array([0, 1])
        """
        parts = list(parts)
        _check_parts(parts)
        names = ("times", "costs", "window_start", "window_stop")
        joined = {name: np.concatenate([getattr(p, name) for p in parts]) for name in names}
        for name in ("event_offsets", "window_offsets"):
            counts = [np.diff(getattr(part, name)) for part in parts]
            joined[name] = offsets_of(np.concatenate(counts))
        return parts[0]._with(
            **joined,
            ids=concatenate_ids([part.ids for part in parts]),
            has_ids=any(part.has_ids for part in parts),
            has_costs=any(part.has_costs for part in parts),
            id_name=shared_value({part.id_name for part in parts}),
        )


def _check_parts(parts: Sequence[object]) -> None:
    """Refuse parts that cannot stand in one container."""
    if not parts:
        raise InvalidEventsError("There must be at least one part to concatenate.")
    strangers = [type(p).__name__ for p in parts if not isinstance(p, EventContainer)]
    if strangers:
        raise TargetTypeError(
            f"Parts must be RecurrentEvents, but {len(strangers)} of {len(parts)} are "
            f"not (for instance {strangers[0]}).\n\n"
            "Hint: make each part with one of the constructors `RecurrentEvents.from_…`."
        )
    clocks = {(p.time_unit, p.origin) for p in parts if isinstance(p, EventContainer)}
    if len(clocks) > 1:
        raise InvalidEventsError(
            "Parts must count time in the same unit from the same origin, but there are "
            f"{len(clocks)} different clocks.\n\n"
            "Hint: read all parts with the same `unit=` and `origin=`."
        )

"""Base class of ``RecurrentEvents``: an array of individuals."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Self

import numpy as np

from boostr._typing import AnyArray, FloatArray, OffsetArray
from boostr.data.events.exposure import Exposure
from boostr.data.flat import gather, offsets_of, owners_of
from boostr.data.individuals import (
    IndividualArray,
    Wording,
    check_parts,
    count_of,
    join_ids,
)
from boostr.data.times import join_origins, name_unit
from boostr.exceptions import InvalidEventsError, TargetTypeError


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class EventContainer(IndividualArray):
    """Flat arrays of all histories, indexable by individual like a 1-D array."""

    _wording = Wording(
        container="RecurrentEvents",
        entries="histories",
        items="events",
        numbers="y.n_events, y.end or y.times are arrays of numbers",
        constructors="one of the constructors `RecurrentEvents.from_…`",
        type_error=TargetTypeError,
        value_error=InvalidEventsError,
    )

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
    origins: AnyArray | None = None  # (n,) datetime64[us]
    exposure: Exposure | None = None  # of n individuals

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

    def __len__(self) -> int:
        return int(self.event_offsets.size) - 1

    def _take(self, index: OffsetArray) -> Self:
        """Return the individuals at some positions."""
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
            origins=None if self.origins is None else self.origins[index],
            exposure=None if self.exposure is None else self.exposure[index],
        )

    def _entries(self) -> Iterator[AnyArray]:
        """Return the event times of every individual."""
        bounds = pairwise(self.event_offsets.tolist())
        return (self.times[first:last] for first, last in bounds)

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
        """Return whether two containers hold the same histories in the same order.

        Parameters
        ----------
        other : object
            Anything; only another container can be equal.

        Returns
        -------
        bool
            Whether ids, events, costs, windows, unit, origins and exposures all agree.
            The name of the id column does not count.

        Examples
        --------
        >>> from boostr.data import RecurrentEvents
        >>> y = RecurrentEvents.from_lists([[1.0], []], end=2.0)
        >>> y.equals(y[[0, 1]]), y.equals(y[[1, 0]])
        (True, False)
        """
        if not isinstance(other, EventContainer):
            return False
        if self.exposure is None or other.exposure is None:
            is_same = self.exposure is other.exposure
        else:
            is_same = self.exposure.equals(other.exposure)
        arrays = ("ids", "event_offsets", "times", "costs", "origins")
        windows = ("window_offsets", "window_start", "window_stop")
        clocks = (self.time_unit, self.origin), (other.time_unit, other.origin)
        return (
            is_same
            and clocks[0] == clocks[1]
            and all(
                np.array_equal(getattr(self, name), getattr(other, name))
                for name in arrays + windows
            )
        )

    @classmethod
    def concatenate(cls, parts: Sequence[Self]) -> Self:
        """Return the individuals of several containers in one.

        Parameters
        ----------
        parts : sequence of RecurrentEvents
            At least one; all in the same unit and from the same origin, and all with
            exposures or none. Origins of the individuals' own are kept if all parts
            have them.

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
        check_parts(parts, EventContainer)
        _check_clocks(parts)
        names = ("times", "costs", "window_start", "window_stop")
        joined = {name: np.concatenate([getattr(p, name) for p in parts]) for name in names}
        for name in ("event_offsets", "window_offsets"):
            counts = [np.diff(getattr(part, name)) for part in parts]
            joined[name] = offsets_of(np.concatenate(counts))
        return parts[0]._with(
            **joined,
            **join_ids(parts),
            has_costs=any(part.has_costs for part in parts),
            origins=join_origins([part.origins for part in parts]),
            exposure=_join_exposures(parts),
        )


def _check_clocks(parts: Sequence[EventContainer]) -> None:
    """Refuse parts that count time in different units or from different origins."""
    clocks = {(part.time_unit, part.origin) for part in parts}
    if len(clocks) > 1:
        raise InvalidEventsError(
            "Parts must count time in the same unit from the same origin, but there are "
            f"{len(clocks)} different clocks.\n\n"
            "Hint: read all parts with the same `unit=` and `origin=`."
        )


def _join_exposures(parts: Sequence[EventContainer]) -> Exposure | None:
    """Return the exposures of all parts, or None if no part has any."""
    some = [part.exposure for part in parts if part.exposure is not None]
    if some and len(some) < len(parts):
        raise InvalidEventsError(
            "Either all parts must have exposures or none, but "
            f"{len(some)} of {len(parts)} have some.\n\n"
            "Hint: part.with_exposure(1.0) says that one unit was exposed."
        )
    return Exposure.concatenate(some) if some else None

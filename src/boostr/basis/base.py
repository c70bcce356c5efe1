"""What the engine asks of a family of leaf functions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, Protocol

import numpy as np

from boostr._typing import FloatArray, OffsetArray
from boostr.data.flat import owners_of
from boostr.exceptions import InvalidParameterError

__all__ = [
    "Basis",
    "ClockedEvents",
    "ClockedPaths",
    "FittedBasis",
    "Loss",
    "find_linear_term",
    "require_paths",
]

Loss = Literal["intensity", "cumulative"]


@dataclass(frozen=True, slots=True, eq=False)
class ClockedPaths:
    """Sensor paths on a clock: piece ``k`` holds on ``(begins[k], begins[k + 1]]``.

    Before an individual's first piece its sensors are unknown; the last one holds for ever.
    """

    begins: FloatArray  # (n_pieces,)
    values: FloatArray  # (n_sensors, n_pieces), NaN where unknown
    offsets: OffsetArray  # (n + 1,)
    names: tuple[str, ...]
    categories: tuple[tuple[Any, ...] | None, ...]  # of every sensor, None for numbers

    def part(self, block: slice) -> ClockedPaths:
        """Return the paths of a run of individuals."""
        offsets = self.offsets[block.start : block.stop + 1]
        pieces = slice(offsets[0], offsets[-1])
        return ClockedPaths(
            self.begins[pieces],
            # Kernels are compiled for the layout of the whole: a part must have the same.
            np.ascontiguousarray(self.values[:, pieces]),
            offsets - offsets[0],
            self.names,
            self.categories,
        )


@dataclass(frozen=True, slots=True, eq=False)
class ClockedEvents:
    """Event histories on a clock, as flat arrays with the offsets of every individual."""

    window_start: FloatArray  # (n_windows,)
    window_stop: FloatArray  # (n_windows,)
    window_offsets: OffsetArray  # (n + 1,)
    times: FloatArray  # (n_events,)
    costs: FloatArray  # (n_events,)
    event_offsets: OffsetArray  # (n + 1,)
    horizon: float  # the last end of follow-up
    paths: ClockedPaths | None = None  # of the sensors, where there are any
    has_late_starts: bool = False  # of individuals elsewhere, whom these stand for
    window_exposure: FloatArray | None = None  # (n_windows,) factors of time, 1 by default
    amounts: FloatArray | None = None  # (n,) exposures that do not change, 1 by default

    def __len__(self) -> int:
        return len(self.window_offsets) - 1

    def part(self, block: slice) -> ClockedEvents:
        """Return the histories of a run of individuals."""
        window_offsets = self.window_offsets[block.start : block.stop + 1]
        event_offsets = self.event_offsets[block.start : block.stop + 1]
        windows = slice(window_offsets[0], window_offsets[-1])
        events = slice(event_offsets[0], event_offsets[-1])
        return ClockedEvents(
            window_start=self.window_start[windows],
            window_stop=self.window_stop[windows],
            window_offsets=window_offsets - window_offsets[0],
            times=self.times[events],
            costs=self.costs[events],
            event_offsets=event_offsets - event_offsets[0],
            horizon=self.horizon,
            paths=None if self.paths is None else self.paths.part(block),
            has_late_starts=self.has_late_starts,
            window_exposure=(
                None if self.window_exposure is None else self.window_exposure[windows]
            ),
            amounts=None if self.amounts is None else self.amounts[block],
        )

    @property
    def exposures(self) -> FloatArray:
        """Factors of the time in all windows."""
        if self.window_exposure is None:
            return np.ones(len(self.window_start))
        return self.window_exposure

    def windows_alone(self) -> ClockedEvents:
        """Return an individual without events for every window."""
        n_windows = len(self.window_start)
        return ClockedEvents(
            window_start=self.window_start,
            window_stop=self.window_stop,
            window_offsets=np.arange(n_windows + 1),
            times=np.empty(0),
            costs=np.empty(0),
            event_offsets=np.zeros(n_windows + 1, dtype=np.int64),
            horizon=self.horizon,
        )


def require_paths(events: ClockedEvents) -> ClockedPaths:
    """Return the sensor paths of histories that must have some."""
    if events.paths is None:
        raise InvalidParameterError(
            "Functions of sensors need sensors, but there are none."
        )
    return events.paths


class FittedBasis(Protocol):
    """A family of leaf functions with its knots in place: ``f(s) = beta @ evaluate(s)``."""

    @property
    def n_terms(self) -> int:
        """Number of functions, the length of beta."""
        ...

    @property
    def solver(self) -> int:
        """Kind of leaf problem, see ``boostr._kernels.solve``."""
        ...

    @property
    def breaks(self) -> FloatArray:
        """Clock times at which the functions change their form."""
        ...

    def evaluate(self, times: FloatArray) -> FloatArray:
        """Return the functions at clock times, (m, n_terms); zero at time zero."""
        ...

    def rates(self, times: FloatArray) -> FloatArray:
        """Return their derivatives at clock times, (m, n_terms)."""
        ...

    def integrals(self, times: FloatArray, order: int) -> FloatArray:
        """Return what the cumulative loss compares with counts, integrated 0 to 2 times."""
        ...

    def moments(self, events: ClockedEvents, loss: Loss) -> tuple[FloatArray, FloatArray]:
        """Return b, (n, n_terms), and the lower triangles of H of all individuals."""
        ...


class Basis(Protocol):
    """A family of leaf functions as a user names it, before it has seen data."""

    def place(self, events: ClockedEvents, loss: Loss) -> FittedBasis:
        """Place knots for the given data, or say why family and loss do not go together."""
        ...


def find_linear_term(basis: object) -> int | None:
    """Return the term that is the clock's own time, if there is one."""
    exponents = list(getattr(basis, "exponents", ()))
    return exponents.index(1.0) if 1.0 in exponents else None


def exposed_moments(
    basis: FittedBasis, events: ClockedEvents, loss: Loss
) -> tuple[FloatArray, FloatArray]:
    """Return b and H of functions of time.

    Where time counts by factors, which only the intensity loss knows, H is the sum of that
    of every window.
    """
    linear, quadratic = basis.moments(events, loss)
    if events.window_exposure is None:
        return linear, quadratic
    by_window = basis.moments(events.windows_alone(), loss)[1]
    by_window *= events.window_exposure[:, None]
    exposed = np.zeros_like(quadratic)
    np.add.at(exposed, owners_of(events.window_offsets), by_window)
    return linear, exposed

"""What the engine asks of a family of leaf functions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Protocol

from boostr._typing import FloatArray, OffsetArray

__all__ = ["Basis", "ClockedEvents", "FittedBasis", "Loss"]

Loss = Literal["intensity", "cumulative"]


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

    def __len__(self) -> int:
        return len(self.window_offsets) - 1


class FittedBasis(Protocol):
    """A family of leaf functions with its knots in place: ``f(s) = beta . evaluate(s)``."""

    @property
    def n_terms(self) -> int:
        """Number of functions, the length of beta."""
        ...

    @property
    def solver(self) -> int:
        """Kind of leaf problem, see :mod:`boostr._kernels.solve`."""
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

    def moments(self, events: ClockedEvents, loss: Loss) -> tuple[FloatArray, FloatArray]:
        """Return b, (n, n_terms), and the lower triangles of H of all individuals."""
        ...


class Basis(Protocol):
    """A family of leaf functions as a user names it, before it has seen data."""

    def place(self, events: ClockedEvents, loss: Loss) -> FittedBasis:
        """Place knots for the given data, or say why family and loss do not go together."""
        ...

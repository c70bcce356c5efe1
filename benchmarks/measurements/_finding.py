"""One figure beside its limit, and how large a run is."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Scale:
    """Sizes and repetitions of one run of ``benchmarks.speed``."""

    sizes: tuple[int, ...]  # individuals, ascending
    is_quick: bool = False

    @property
    def largest(self) -> int:
        return self.sizes[-1]

    def repetitions(self, n: int) -> int:
        """Return how often fits of ``n`` individuals are timed: the shorter, the more."""
        if self.is_quick:
            return 2
        if n <= 10_000:
            return 7
        return 5 if n <= 100_000 else 3


@dataclass(frozen=True, slots=True)
class Finding:
    """A measured figure and what it is held against."""

    name: str
    value: float
    unit: str  # "x" for ratios
    limit: str = ""
    is_met: bool | None = None  # None where there is no limit
    note: str = ""
    details: dict[str, Any] = field(default_factory=dict)  # for the JSON line

    @classmethod
    def at_most(
        cls, name: str, value: float, unit: str, limit: float, **rest: Any
    ) -> Finding:
        return cls(
            name, value, unit, f"<= {limit:g} {unit}".rstrip(), value <= limit, **rest
        )

    @classmethod
    def at_least(
        cls, name: str, value: float, unit: str, limit: float, **rest: Any
    ) -> Finding:
        return cls(
            name, value, unit, f">= {limit:g} {unit}".rstrip(), value >= limit, **rest
        )

    @property
    def verdict(self) -> str:
        return {None: "", True: "met", False: "missed"}[self.is_met]

    def cells(self) -> list[str]:
        """Return a row of the printed table."""
        value = f"{self.value:.3g} {self.unit}".rstrip()
        return [self.name, value, self.limit, self.verdict, self.note]

"""A sentence on the contributions to one prediction."""

from __future__ import annotations

import math
from collections.abc import Sequence

__all__ = ["write_sentence"]


def write_sentence(
    prediction: float,
    base: float,
    amounts: Sequence[tuple[str, float]],
    extra: Sequence[tuple[str, float]],
    n_reasons: int,
) -> str:
    """Return a sentence with the largest contributions, the rest, and the others."""
    digits = _choose_digits(max(abs(prediction), abs(base)))
    threshold = 0.5 * 10.0**-digits
    ordered = sorted(amounts, key=lambda pair: -abs(pair[1]))
    named = [pair for pair in ordered[:n_reasons] if abs(pair[1]) >= threshold]
    rest = sum(amount for _, amount in ordered[len(named) :])
    parts = [f"{amount:+.{digits}f} {name}" for name, amount in named]
    last = [
        f"{amount:+.{digits}f} {name}" for name, amount in extra if abs(amount) >= threshold
    ]
    if abs(rest) >= threshold:
        others = f"{rest:+.{digits}f} others"
        parts.append(f"and {others}" if parts and not last else others)
    start = f"{prediction:.{digits}f} expected against {base:.{digits}f} on average"
    reasons = ", ".join(parts + last)
    return f"{start}: {reasons}" if reasons else f"{start}: nothing makes a difference"


def _choose_digits(size: float) -> int:
    """Return the number of decimals: one, or more for small numbers."""
    if size == 0.0 or size >= 1.0:
        return 1
    return 1 - math.floor(math.log10(size))

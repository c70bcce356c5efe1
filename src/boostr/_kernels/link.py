"""Rates that stay above zero."""

from __future__ import annotations

from boostr._kernels._jit import kernel
from boostr._typing import FloatArray

__all__ = ["bend_rate", "bend_rates"]


@kernel
def bend_rate(rate: float, floor: float) -> float:
    """Return a rate that is bent where it falls below the floor.

    Above the floor nothing changes. Below it ``floor**2 / (2 * floor - rate)`` takes its
    place, which is positive, rises with the rate and meets it smoothly. A floor of zero
    cuts rates off there; a negative one leaves them as they are.
    """
    if floor < 0.0 or rate >= floor:
        return rate
    if floor == 0.0:
        return 0.0
    return floor / (2.0 - rate / floor)


@kernel
def bend_rates(rates: FloatArray, floor: float) -> None:
    """Bend all rates of an array of one dimension, in place."""
    for place in range(rates.shape[0]):
        rates[place] = bend_rate(rates[place], floor)

"""Curves of cubic pieces."""

from __future__ import annotations

from boostr._kernels._jit import kernel
from boostr._typing import FloatArray

__all__ = ["read_cubics"]


@kernel
def read_cubics(
    x: FloatArray,
    knots: FloatArray,
    coefficients: FloatArray,
    first_value: float,
    first_slope: float,
    out: FloatArray,
) -> None:
    """Read a curve that is straight up to the first knot, and constant from the last one.

    Parameters
    ----------
    x : (n,) float64
        Where it is read, in any order.
    knots : (k + 1,) float64
        Ascending.
    coefficients : (4, k) float64
        Of the pieces between two knots, in powers of the distance from the first of them;
        the highest power first.
    first_value, first_slope : float
        Of the straight line, at the first knot.
    out : (n,) float64
        Overwritten.
    """
    last = len(knots) - 1
    for place in range(len(x)):
        at = knots[last] if x[place] > knots[last] else x[place]
        low = 0
        for knot in range(1, last):  # all of them: there are few, and searches branch
            low += knots[knot] <= at
        distance = at - knots[low]
        if at > knots[0]:
            square = distance * distance
            out[place] = (
                coefficients[3, low]
                + coefficients[2, low] * distance
                + coefficients[1, low] * square
                + coefficients[0, low] * (square * distance)
            )
        else:
            out[place] = first_value + first_slope * distance

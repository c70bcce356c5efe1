"""Curves of all individuals at common times."""

from __future__ import annotations

from boostr._kernels._jit import kernel
from boostr._typing import FloatArray, PositionArray

__all__ = ["combine_terms", "count_in_order", "count_passed", "read_lines"]


@kernel
def combine_terms(theta: FloatArray, terms: FloatArray, out: FloatArray) -> None:
    """Add up curves from the coefficients of their terms.

    Term by term, so that the bits of a curve do not depend on how many there are. A library
    for matrices would wake up threads for what is a handful of multiplications a number.

    Parameters
    ----------
    theta : (n_terms, n) float64
        Coefficients.
    terms : (m, n_terms) float64
        Terms at the times.
    out : (m, n) float64
        Zeros; overwritten.
    """
    for time in range(out.shape[0]):
        values = out[time]
        for term in range(theta.shape[0]):
            factor, coefficients = terms[time, term], theta[term]
            for place in range(values.shape[0]):
                values[place] += coefficients[place] * factor


@kernel
def count_in_order(marks: FloatArray, times: FloatArray, out: PositionArray) -> None:
    """Count the marks before every time, both in ascending order."""
    n_passed = 0
    for place in range(times.shape[0]):
        while n_passed < marks.shape[0] and marks[n_passed] < times[place]:
            n_passed += 1
        out[place] = n_passed


@kernel
def count_passed(marks: FloatArray, times: FloatArray, out: PositionArray) -> None:
    """Count the marks before every time.

    All are compared, which is faster than a search as long as there are few.

    Parameters
    ----------
    marks : (k,) float64
        Common times.
    times : (n,) float64
        In any order.
    out : (n,) int64
        Overwritten.
    """
    for place in range(times.shape[0]):
        n_passed, time = 0, times[place]
        for mark in range(marks.shape[0]):
            n_passed += marks[mark] < time
        out[place] = n_passed


@kernel
def read_lines(
    values: FloatArray,
    grid: FloatArray,
    places: PositionArray,
    rows: PositionArray,
    times: FloatArray,
    out: FloatArray,
) -> None:
    """Read curves that are straight between grid points, each at a time.

    Parameters
    ----------
    values : (n_lines, m) float64
        Curves at grid points.
    grid : (m,) float64
        Ascending; the first and the last line go on before and after it.
    places : (n,) int64
        Place of every individual's curve among the values, -1 without one.
    rows : (k,) int64
        Individuals.
    times : (k,) float64
        In any order.
    out : (k,) float64
        Overwritten where there is a curve.
    """
    for position in range(rows.shape[0]):
        place, time = places[rows[position]], times[position]
        if place >= 0:
            low, high = 0, grid.shape[0] - 1
            while high - low > 1:
                middle = (low + high) // 2
                if grid[middle] < time:
                    low = middle
                else:
                    high = middle
            before = values[place, low]
            share = (time - grid[low]) / (grid[low + 1] - grid[low])
            out[position] = before + share * (values[place, low + 1] - before)

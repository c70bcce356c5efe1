"""Newton's method for the group lasso, on the groups that are not zero.

On these groups the objective ``g'beta + 1/2 beta'M beta + sum_l price[l] * norm(beta_l)``
is smooth. Its matrix of second derivatives is ``M`` plus, for every group in direction
``u``, ``price / norm(beta_l) * (I - u u')``, so that correlation between groups costs
nothing. A group that a step would carry past zero is set to zero and stays there: which
groups come back is for sweeps over all of them to say.
"""

from __future__ import annotations

import math

from boostr._kernels._jit import inlined_kernel, inner_kernel
from boostr._typing import FloatArray, IndexArray

__all__ = ["add_row", "copy", "descend_together", "measure"]

_MAX_STEPS = 20  # in a row, before groups are looked at one by one again
_MAX_HALVINGS = 40  # of a step
_ENOUGH = 1e-3  # of the fall that the slope promises makes a step worth taking
_TINY = 1e-12  # pivots below this share of their diagonal count as zero
_LITTLE = 1e-11  # and become this share of it, where prices have a slope


@inner_kernel
def add_row(row: FloatArray, factor: float, out: FloatArray) -> None:
    """Add a multiple of a row; the compiler makes this wide, unlike a sum of products."""
    if factor != 0.0:
        for column in range(row.shape[0]):
            out[column] += factor * row[column]


@inner_kernel
def copy(values: FloatArray, out: FloatArray) -> None:
    """Copy a vector; an assignment of arrays takes the compiler far longer."""
    for place in range(out.shape[0]):
        out[place] = values[place]


@inner_kernel
def measure(values: FloatArray, size: int) -> float:
    """Return the length of a vector."""
    total = 0.0
    for place in range(size):
        total += values[place] * values[place]
    return math.sqrt(total)


@inner_kernel
def _add_group(
    matrix: FloatArray,
    begin: int,
    values: FloatArray,
    price: float,
    n_before: int,
    terms: FloatArray,
    out: FloatArray,
) -> int:
    """Append a group to the upper triangle of second derivatives, and to its terms.

    Groups with a price that are zero are left out; the number of terms is returned.
    """
    size = values.shape[0]
    length = measure(values, size)
    if price > 0.0 and length == 0.0:
        return n_before
    for place in range(size):
        column = n_before + place
        terms[column] = begin + place
        for row in range(column + 1):
            out[row, column] = matrix[int(terms[row]), begin + place]
    if price > 0.0:
        bend = price / length
        for row in range(size):
            pull = -bend * values[row] / length
            for column in range(row, size):
                value = pull * values[column] / length
                out[n_before + row, n_before + column] += value
            out[n_before + row, n_before + row] += bend
    return n_before + size


@inner_kernel
def _write_curvature(
    matrix: FloatArray,
    starts: IndexArray,
    prices: FloatArray,
    beta: FloatArray,
    terms: FloatArray,
    out: FloatArray,
) -> tuple[int, int]:
    """Write the second derivatives, upper triangle, and the terms that they belong to.

    Groups without a price come first. Returned are how many terms these have, and how many
    there are.
    """
    n_free, n_active = 0, 0
    for is_priced in range(2):
        n_free = n_active
        for group in range(prices.shape[0]):
            if (prices[group] > 0.0) == (is_priced == 1):
                begin = starts[group]
                values = beta[begin : starts[group + 1]]
                n_active = _add_group(
                    matrix, begin, values, prices[group], n_active, terms, out
                )
    return n_free, n_active


@inner_kernel
def _factor(matrix: FloatArray, n_free: int, size: int, diagonal: FloatArray) -> bool:
    """Replace an upper triangle by U of U'U; ``diagonal`` is working space.

    A direction without curvature gets a zero within the first ``n_free`` terms. Beyond
    them groups have prices, whose sum may fall along the direction until one of them is
    zero: a little curvature makes for a step as far as that. Whether there is such a
    direction is returned.
    """
    is_flat = False
    for row in range(size):
        diagonal[row] = abs(matrix[row, row])
    for row in range(size):
        pivot = matrix[row, row]
        if pivot <= _TINY * diagonal[row]:
            is_flat = is_flat or row >= n_free
            pivot = 0.0 if row < n_free else _LITTLE * diagonal[row]
        inverse = 1.0 / math.sqrt(pivot) if pivot > 0.0 else 0.0
        matrix[row, row] = pivot
        for column in range(row, size):
            matrix[row, column] *= inverse
        for below in range(row + 1, size):
            add_row(matrix[row, below:size], -matrix[row, below], matrix[below, below:size])
    return is_flat


@inner_kernel
def _solve(factor: FloatArray, size: int, out: FloatArray) -> None:
    """Solve U'U x = out in place; terms without curvature get a zero."""
    for row in range(size):
        pivot = factor[row, row]
        out[row] = out[row] / pivot if pivot > 0.0 else 0.0
        add_row(factor[row, row + 1 : size], -out[row], out[row + 1 : size])
    for row in range(size - 1, -1, -1):
        value = out[row]
        for inner in range(row + 1, size):
            value -= factor[row, inner] * out[inner]
        pivot = factor[row, row]
        out[row] = value / pivot if pivot > 0.0 else 0.0


@inner_kernel
def _write_slopes(
    starts: IndexArray,
    prices: FloatArray,
    pull: FloatArray,
    beta: FloatArray,
    out: FloatArray,
) -> None:
    """Write the derivatives of the objective, but for the prices of groups of zero."""
    copy(pull, out)
    for group in range(prices.shape[0]):
        begin, end = starts[group], starts[group + 1]
        length = measure(beta[begin:end], end - begin)
        if length > 0.0:
            add_row(beta[begin:end], prices[group] / length, out[begin:end])


@inner_kernel
def _find_step(
    matrix: FloatArray,
    starts: IndexArray,
    prices: FloatArray,
    slopes: FloatArray,
    work: FloatArray,
    beta: FloatArray,
    step: FloatArray,
    stays: bool,
) -> tuple[float, float, bool]:
    """Write Newton's step; return the largest slope, the slope along the step, and more.

    That is whether there are directions without curvature along which it goes far; where
    it ``stays``, it has no part in them. ``slopes`` are the derivatives of the objective.
    """
    n_terms = beta.shape[0]
    curvature, terms, packed = work[:n_terms], work[n_terms], work[n_terms + 1]
    n_free, n_active = _write_curvature(matrix, starts, prices, beta, terms, curvature)
    is_flat = _factor(curvature, n_active if stays else n_free, n_active, packed)
    for place in range(n_active):
        packed[place] = -slopes[int(terms[place])]
    _solve(curvature, n_active, packed)
    step[:] = 0.0
    steepest, along = 0.0, 0.0
    for place in range(n_active):
        term = int(terms[place])
        step[term] = packed[place]
        steepest = max(steepest, abs(slopes[term]))
        along += step[term] * slopes[term]
    return steepest, along, is_flat


@inner_kernel
def _find_crossing(
    starts: IndexArray, prices: FloatArray, beta: FloatArray, step: FloatArray
) -> float:
    """Return which share of a step brings a first group to zero along its direction."""
    nearest = math.inf
    for group in range(prices.shape[0]):
        square, along = 0.0, 0.0
        for term in range(starts[group], starts[group + 1]):
            square += beta[term] * beta[term]
            along += beta[term] * step[term]
        if prices[group] > 0.0 and along < 0.0:
            nearest = min(nearest, -square / along)
    return nearest


@inner_kernel
def _bend(before: FloatArray, share: float, step: FloatArray, change: FloatArray) -> float:
    """Write the change of a group with a price; return how far its length bends from it.

    That is ``norm(before + change) - norm(before) - u'change``, without cancellation. The
    change is ``share * step``, or back to zero for a group that would come past it.
    """
    size = before.shape[0]
    length = measure(before, size)
    if length == 0.0:
        change[:] = 0.0
        return 0.0
    along = 0.0
    for place in range(size):
        along += share * step[place] * before[place] / length
    if length + along <= _TINY * length:
        for place in range(size):
            change[place] = -before[place]
        return 0.0
    after, aside = 0.0, 0.0
    for place in range(size):
        change[place] = share * step[place]
        after += (before[place] + change[place]) ** 2
        aside += (change[place] - along * before[place] / length) ** 2
    return aside / (math.sqrt(after) + length + along)


@inlined_kernel
def _try_step(
    matrix: FloatArray,
    starts: IndexArray,
    prices: FloatArray,
    slopes: FloatArray,
    share: float,
    step: FloatArray,
    beta: FloatArray,
    change: FloatArray,
    curved: FloatArray,
) -> float:
    """Write a share of a step, and M times it; return by how much the objective changes.

    The derivatives are where nearly all of a change cancels, so it is summed from them.
    """
    total = 0.0
    for group in range(prices.shape[0]):
        part = slice(starts[group], starts[group + 1])
        if prices[group] > 0.0:
            bend = _bend(beta[part], share, step[part], change[part])
            total += prices[group] * bend
        else:
            for term in range(starts[group], starts[group + 1]):
                change[term] = share * step[term]
    curved[:] = 0.0
    for term in range(beta.shape[0]):
        add_row(matrix[term], change[term], curved)
    for term in range(beta.shape[0]):
        total += change[term] * (slopes[term] + 0.5 * curved[term])
    return total


@inlined_kernel
def _step_together(
    matrix: FloatArray,
    starts: IndexArray,
    prices: FloatArray,
    work: FloatArray,
    pull: FloatArray,
    beta: FloatArray,
) -> tuple[float, float]:
    """Take one step downhill; return how steep it was, and which share of it was taken.

    First the whole step is tried, then the share of it that brings a first group to zero,
    then half of that, and so on. The share is 0 where nothing falls.
    """
    n_terms = beta.shape[0]
    curved, change = work[n_terms], work[n_terms + 1]
    step, slopes = work[n_terms + 2], work[n_terms + 3]
    _write_slopes(starts, prices, pull, beta, slopes)
    steepest, along, is_flat = _find_step(
        matrix, starts, prices, slopes, work, beta, step, False
    )
    crossing = _find_crossing(starts, prices, beta, step)
    if is_flat and crossing > 1.0:  # rounding, or a fall without end
        _, along, _ = _find_step(matrix, starts, prices, slopes, work, beta, step, True)
        crossing = _find_crossing(starts, prices, beta, step)
    if not along < 0.0:
        return steepest, 0.0
    share = 1.0
    for _ in range(_MAX_HALVINGS):
        rise = _try_step(matrix, starts, prices, slopes, share, step, beta, change, curved)
        if rise <= _ENOUGH * share * along:
            for term in range(n_terms):
                beta[term] += change[term]
                pull[term] += curved[term]
            return steepest, min(share, crossing)
        share = crossing if crossing < share else 0.5 * share
    return steepest, 0.0


@inlined_kernel
def descend_together(
    matrix: FloatArray,
    starts: IndexArray,
    prices: FloatArray,
    least: float,
    work: FloatArray,
    pull: FloatArray,
    beta: FloatArray,
) -> bool:
    """Minimise over all groups that are not zero, together.

    Parameters
    ----------
    matrix, starts, prices
        As for :func:`boostr._kernels.group_lasso.descend_blocks`.
    least : float
        Slopes of the objective that count as none. A step from there is the last.
    work : (n_terms + 4, n_terms) float64
        Working space.
    pull : (n_terms,) float64
        The gradient without the prices, ``g + M beta``; kept up to date.
    beta : (n_terms,) float64
        Where to begin; overwritten. Groups with a price that are zero stay zero.

    Returns
    -------
    bool
        Whether this is the best for all groups: the slopes of those that are not zero are
        ``least`` or less, and the gradients of the others are no longer than their prices.
    """
    steepest, share = math.inf, 1.0
    for _ in range(_MAX_STEPS):
        steepest, share = _step_together(matrix, starts, prices, work, pull, beta)
        if share == 0.0 or (share == 1.0 and steepest <= least):
            break
    if steepest > least or 0.0 < share < 1.0:
        return False
    for group in range(prices.shape[0]):
        begin, size = starts[group], starts[group + 1] - starts[group]
        is_zero = measure(beta[begin:], size) == 0.0
        if is_zero and measure(pull[begin:], size) > prices[group]:
            return False
    return True

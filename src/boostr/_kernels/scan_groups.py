"""One feature's thresholds for leaves with groups of terms, most of them not solved.

Solving a leaf takes some sweeps over its groups. Most thresholds need no solving: an upper
bound of what they can reach lies below the best threshold so far. The bound is exact, so
the result is that of solving them all.

The drop of a leaf's objective is, by duality, the least of ``1/2 (g + u)'M^-1 (g + u)``
over all ``u`` whose groups are no longer than their prices. So any such ``u`` bounds it
from above, and a smaller matrix in the place of ``M`` only raises the bound. Moving bins to
the left adds to the left side's matrix: a run of thresholds shares the smallest matrix of
each side, which is factored once. A good ``u`` comes from coefficients that are close to
the best ones. First these are the node's own, which serve where a threshold is of little
use; then, in runs that are still promising, those of the most promising threshold.
"""

from __future__ import annotations

import math
from typing import NamedTuple, Self

import numpy as np

from boostr._kernels._jit import inlined_kernel, inner_kernel
from boostr._kernels.group_lasso import (
    Groups,
    call_descend,
    observe,
    price_factor,
    set_prices,
    unpack_matrix,
)
from boostr._kernels.group_newton import add_row, copy
from boostr._typing import Address, BoolArray, FloatArray, IndexArray

__all__ = [
    "Buffers",
    "Node",
    "Ordered",
    "Space",
    "bound_feature",
    "divide_space",
    "scan_groups",
]

_RUN = 4  # thresholds that share a matrix, and whose bounds are computed side by side
# Of the group lasso, as a share of the largest gradient. The drop of the objective is
# known far better, its error being of second order: in 99 of 100 simulated leaves to 1e-7
# of itself where groups are correlated by up to 0.99, to 3e-5 at 0.999, and to 6e-4 at
# 0.99999, where the first sweeps may move too little to be followed by others.
_TOLERANCE = 1e-4
_ROUGH = 0.1
_TINY = 1e-12  # pivots and gradients below this share of the node's own count as zero


class Node(NamedTuple):
    """A node that may be split, and its leaf problem."""

    totals: FloatArray  # (n_channels,) its sums
    penalty: FloatArray  # (n_terms, n_terms)
    groups: Groups
    own: FloatArray  # (n_terms,) its coefficients as a leaf


class Ordered(NamedTuple):
    """The bins of a feature in some order, and which thresholds are possible."""

    histogram: FloatArray  # (n_bins, n_channels); the last bin holds missing values
    order: IndexArray  # (n_used,) bins from the left to the right
    is_candidate: BoolArray  # (n_used,) positions after which a split is tried
    min_count: float  # least number of individuals on either side
    skips_empty: bool  # leaves out thresholds after bins without individuals


class Buffers(NamedTuple):
    """Working space as Python provides it: few arrays, as each takes time to pass."""

    terms: FloatArray  # (3 * n_terms + 11, n_terms)
    vectors: FloatArray  # (4, n_terms or more)
    rest: FloatArray  # (n_terms, _RUN)
    prices: FloatArray  # (n_groups,)
    sums: FloatArray  # (n_bins + 2, n_channels)
    bounds: FloatArray  # (3, n_bins)
    positions: IndexArray  # (n_bins,)
    reach: FloatArray  # (n_features,)

    @classmethod
    def for_node(cls, node: Node, n_features: int, n_bins: int) -> Self:
        """Return working space for a node and so many features and bins."""
        n_terms = len(node.own)
        return cls(
            terms=np.empty((3 * n_terms + 11, n_terms)),
            vectors=np.empty((4, max(n_terms, _RUN))),
            rest=np.empty((n_terms, _RUN)),
            prices=np.empty(len(node.groups.prices)),
            sums=np.empty((n_bins + 2, len(node.totals))),
            bounds=np.empty((3, n_bins)),
            positions=np.empty(n_bins, dtype=np.int32),
            reach=np.empty(n_features),
        )


class Space(NamedTuple):
    """Working space as kernels use it."""

    matrix: FloatArray  # (n_terms, n_terms)
    factor: FloatArray  # (n_terms, n_terms)
    work: FloatArray  # (n_terms + 6, n_terms), of `descend_blocks`
    betas: FloatArray  # (2, n_terms) coefficients of both sides
    near: FloatArray  # (2, n_terms) those of another run
    beta: FloatArray  # (n_terms,)
    vectors: FloatArray  # (4, n_terms or more)
    rest: FloatArray  # (n_terms, _RUN)
    prices: FloatArray  # (n_groups,)
    left: FloatArray  # (n_channels,)
    right: FloatArray  # (n_channels,) sums of the right side
    lefts: FloatArray  # (n_bins, n_channels) left sums of all thresholds
    bounds: FloatArray  # (2, n_bins) of both sides
    highest: FloatArray  # (n_bins,) of runs
    positions: IndexArray  # (n_bins,) where thresholds are in the order


@inner_kernel
def divide_space(buffers: Buffers) -> Space:
    """Return the parts of the working space."""
    n, terms, sums = buffers.terms.shape[1], buffers.terms, buffers.sums
    end = 3 * n + 6
    return Space(
        terms[:n],
        terms[n : 2 * n],
        terms[2 * n : end],
        terms[end : end + 2],
        terms[end + 2 : end + 4],
        terms[end + 4],
        buffers.vectors,
        buffers.rest,
        buffers.prices,
        sums[0],
        sums[1],
        sums[2:],
        buffers.bounds[:2],
        buffers.bounds[2],
        buffers.positions,
    )


@inner_kernel
def _factor(matrix: FloatArray, least: FloatArray, out: FloatArray) -> None:
    """Factor M = L D L', with ones on the diagonal of L, where the inverse of D goes.

    A direction without curvature, its pivot not above ``least``, gets a zero.
    """
    for row in range(matrix.shape[0]):
        pivot = matrix[row, row]
        for column in range(row):
            value = matrix[row, column]
            for inner in range(column):
                value -= out[row, inner] * out[column, inner]
            out[row, column] = value  # of L D
        for column in range(row):
            value = out[row, column] * out[column, column]
            pivot -= out[row, column] * value
            out[row, column] = value
        out[row, row] = 1.0 / pivot if pivot > least[row] else 0.0


@inner_kernel
def _take_away(
    gradients: FloatArray, curved: FloatArray, groups: Groups, prices_by: FloatArray
) -> None:
    """Take away as much of ``gradients + curved`` as the prices of a run allow."""
    for group in range(groups.prices.shape[0]):
        begin, end = groups.starts[group], groups.starts[group + 1]
        if groups.prices[group] == 0.0:
            continue
        for place in range(_RUN):
            length = 0.0
            for term in range(begin, end):
                rest = gradients[term, place] + curved[term]
                length += rest * rest
            price = prices_by[place] * groups.prices[group]
            share = 1.0 if length <= price * price else price / math.sqrt(length)
            for term in range(begin, end):
                rest = gradients[term, place] + curved[term]
                gradients[term, place] -= share * rest


@inner_kernel
def _bound_side(
    rest: FloatArray, factor: FloatArray, noise: float, out: FloatArray
) -> None:
    """Write the bounds of one side of a run: 1/2 r'M^-1 r for four vectors r at a time.

    Four sums side by side take little longer than one, of which each step must wait for
    the one before. What is more than ``noise`` along a direction without curvature has no
    bound. ``rest`` is overwritten.
    """
    first, second, third, fourth = 0.0, 0.0, 0.0, 0.0
    for row in range(rest.shape[0]):
        a, b, c, d = rest[row, 0], rest[row, 1], rest[row, 2], rest[row, 3]
        for inner in range(row):
            known = factor[row, inner]
            a -= known * rest[inner, 0]
            b -= known * rest[inner, 1]
            c -= known * rest[inner, 2]
            d -= known * rest[inner, 3]
        rest[row, 0], rest[row, 1], rest[row, 2], rest[row, 3] = a, b, c, d
        inverse = factor[row, row]
        if inverse == 0.0:
            first = math.inf if abs(a) > noise else first
            second = math.inf if abs(b) > noise else second
            third = math.inf if abs(c) > noise else third
            fourth = math.inf if abs(d) > noise else fourth
        else:
            first += a * a * inverse
            second += b * b * inverse
            third += c * c * inverse
            fourth += d * d * inverse
    out[0], out[1], out[2], out[3] = 0.5 * first, 0.5 * second, 0.5 * third, 0.5 * fourth


@inner_kernel
def _look_right(totals: FloatArray, left: FloatArray, right: FloatArray) -> None:
    """Write the sums of the right side."""
    for channel in range(totals.shape[0]):
        right[channel] = totals[channel] - left[channel]


@inner_kernel
def _bound_run(
    lefts: FloatArray, node: Node, betas: FloatArray, space: Space, out: FloatArray
) -> None:
    """Write the bounds of both sides for a run of thresholds, given coefficients of both.

    ``out`` has a row per side. Sums of the right side are differences, and exact to a share
    of the node's.
    """
    totals, groups = node.totals, node.groups
    n_terms, n_run = node.own.shape[0], lefts.shape[0]
    matrix, factor, vectors, rest = space.matrix, space.factor, space.vectors, space.rest
    curved, least, prices_by, bounds = vectors[0], vectors[1], vectors[2], vectors[3]
    all_observed = observe(totals, groups)
    noise = 0.0
    position = n_terms
    for term in range(n_terms):
        least[term] = _TINY * (totals[position] + node.penalty[term, term])
        noise = max(noise, _TINY * abs(totals[term]))
        position += term + 2
    for side in range(2):
        # The smallest matrix of the run: its first on the left, its last on the right.
        smallest = lefts[0]
        if side == 1:
            _look_right(totals, lefts[n_run - 1], space.right)
            smallest = space.right
        unpack_matrix(smallest, node.penalty, matrix)
        for row in range(n_terms):
            curved[row] = 0.0
        for row in range(n_terms):
            add_row(matrix[row], betas[side, row], curved)
        _factor(matrix, least, factor)
        for place in range(_RUN):
            left = lefts[min(place, n_run - 1)]
            observed = observe(left, groups)
            if side == 1:
                observed = all_observed - observed
            prices_by[place] = price_factor(observed, groups)
            for term in range(n_terms):
                rest[term, place] = left[term] if side == 0 else totals[term] - left[term]
        _take_away(rest, curved, groups, prices_by)
        _bound_side(rest, factor, noise, bounds)
        for place in range(n_run):
            out[side, place] = bounds[place]


@inner_kernel
def _solve_side(
    left: FloatArray,
    side: int,
    node: Node,
    tolerance: float,
    space: Space,
    descend: Address,
    beta: FloatArray,
) -> float:
    """Solve one side from where ``beta`` stands."""
    sums = left
    if side == 1:
        _look_right(node.totals, left, space.right)
        sums = space.right
    unpack_matrix(sums, node.penalty, space.matrix)
    set_prices(sums, node.groups, space.prices)
    return call_descend(
        descend,
        sums[: beta.shape[0]],
        space.matrix,
        node.groups.starts,
        space.prices,
        tolerance,
        space.work,
        beta,
    )


@inner_kernel
def _find_highest(bounds: FloatArray) -> tuple[int, float]:
    """Return the threshold whose sides have the highest bound together, and the bound."""
    best, highest = 0, -math.inf
    for place in range(bounds.shape[1]):
        bound = bounds[0, place] + bounds[1, place]
        if bound > highest:
            best, highest = place, bound
    return best, highest


@inlined_kernel
def _search_run(
    lefts: FloatArray,
    node: Node,
    space: Space,
    descend: Address,
    bounds: FloatArray,
    best: float,
) -> tuple[float, int]:
    """Solve the thresholds of a run that may be better than ``best``; return the best.

    The coefficients of both sides in the last run that was searched may be enough to rule
    out this one. They are overwritten with those of this run.

    The one with the highest bound comes first; its coefficients make the bounds of the
    others tighter, and are where their solution begins, so that it does not depend on which
    of them are solved. The right side is solved only where the left leaves it a chance.
    """
    betas, near, beta = space.betas, space.near, space.beta
    first, _ = _find_highest(bounds)
    best_place = -1
    _bound_run(lefts, node, near, space, bounds)
    if _find_highest(bounds)[1] <= best:
        return best, best_place
    for side in range(2):  # a rough solution is enough to rule out most runs
        copy(node.own, betas[side])
        _solve_side(lefts[first], side, node, _ROUGH, space, descend, betas[side])
    _bound_run(lefts, node, betas, space, bounds)
    for turn in range(lefts.shape[0] + 1):
        place = first if turn == 0 else turn - 1
        is_hopeless = bounds[0, place] + bounds[1, place] <= best
        if is_hopeless or (turn > 0 and place == first):
            continue
        reduction = 0.0
        for side in range(2):
            if side == 1 and turn > 0 and reduction + bounds[1, place] <= best:
                reduction = -1.0
                break
            copy(betas[side], beta)
            reduction += _solve_side(
                lefts[place], side, node, _TOLERANCE, space, descend, beta
            )
            if turn == 0:
                copy(beta, betas[side])
        if reduction > best:
            best, best_place = reduction, place
        if turn == 0:
            _bound_run(lefts, node, betas, space, bounds)
    copy(betas[0], near[0])
    copy(betas[1], near[1])
    return best, best_place


@inlined_kernel
def _add_bins(
    feature: Ordered,
    n_total: float,
    left: FloatArray,
    lefts: FloatArray,
    positions: IndexArray,
) -> int:
    """Write the left sums of all possible thresholds, and their number.

    ``left`` are the sums of what is on the left anyway; it is overwritten.
    """
    last, least = left.shape[0] - 1, feature.min_count
    n_found = 0
    for position in range(feature.order.shape[0]):
        cell = feature.histogram[feature.order[position]]
        if cell[last] > 0.0:
            for channel in range(last + 1):
                left[channel] += cell[channel]
        elif feature.skips_empty:
            continue
        is_large = left[last] >= least and n_total - left[last] >= least
        if feature.is_candidate[position] and is_large:
            copy(left, lefts[n_found])
            positions[n_found] = position
            n_found += 1
    return n_found


@inner_kernel
def _bound_thresholds(
    feature: Ordered, node: Node, missing_left: bool, space: Space
) -> int:
    """Write left sums, positions and bounds of all thresholds, and their number."""
    last, left, lefts = node.totals.shape[0] - 1, space.left, space.lefts
    missing = feature.histogram[feature.histogram.shape[0] - 1]
    for channel in range(last + 1):
        left[channel] = missing[channel] if missing_left else 0.0
    n_found = _add_bins(feature, node.totals[last], left, lefts, space.positions)
    copy(node.own, space.betas[0])
    copy(node.own, space.betas[1])
    for begin in range(0, n_found, _RUN):
        run = slice(begin, min(begin + _RUN, n_found))
        _bound_run(lefts[run], node, space.betas, space, space.bounds[:, run])
    return n_found


@inner_kernel
def _has_missing(feature: Ordered) -> bool:
    n_bins, n_channels = feature.histogram.shape
    return bool(feature.histogram[n_bins - 1, n_channels - 1] > 0.0)


@inner_kernel
def bound_feature(feature: Ordered, node: Node, space: Space) -> float:
    """Return what no threshold of a feature exceeds."""
    bounds, highest = space.bounds, -1.0
    for side in range(2 if _has_missing(feature) else 1):
        n_found = _bound_thresholds(feature, node, side == 1, space)
        for place in range(n_found):
            highest = max(highest, bounds[0, place] + bounds[1, place])
    return highest


@inlined_kernel
def _search(
    n_found: int, node: Node, space: Space, descend: Address, best: float
) -> tuple[float, int]:
    """Search the runs that may be better than ``best``, the most promising first.

    Returned are the best threshold's reduction, and its place, or -1 where none is better.
    Bounds are overwritten.
    """
    lefts, bounds, highest = space.lefts, space.bounds, space.highest
    n_runs = (n_found + _RUN - 1) // _RUN
    best_place = -1
    copy(node.own, space.near[0])
    copy(node.own, space.near[1])
    for run in range(n_runs):
        highest[run] = -1.0
    for place in range(n_found):
        bound = bounds[0, place] + bounds[1, place]
        highest[place // _RUN] = max(highest[place // _RUN], bound)
    for _ in range(n_runs):
        run = 0
        for other in range(1, n_runs):
            if highest[other] > highest[run]:
                run = other
        if highest[run] <= best:
            break
        highest[run] = -1.0
        part = slice(run * _RUN, min((run + 1) * _RUN, n_found))
        best, place = _search_run(lefts[part], node, space, descend, bounds[:, part], best)
        if place >= 0:
            best_place = run * _RUN + place
    return best, best_place


@inner_kernel
def scan_groups(
    feature: Ordered, node: Node, best: float, space: Space, descend: Address
) -> tuple[float, int, bool]:
    """Find the threshold of one feature that is better than ``best``.

    Parameters
    ----------
    feature : Ordered
        The feature's bins and its possible thresholds.
    node : Node
        The node and its leaf problem.
    best : float
        Reduction of the objective by the best threshold of other features.
    space : Space
        Working space.
    descend : Address
        Where `descend_blocks` is, see `find_descend`.

    Returns
    -------
    tuple of (float, int, bool)
        Reduction of the objective by both sides (-1 where no threshold is better), position
        in the order, and whether missing values go left.
    """
    last = node.totals.shape[0] - 1
    has_missing = _has_missing(feature)
    found, best_position, best_missing_left = -1.0, -1, False
    for side in range(2 if has_missing else 1):
        n_found = _bound_thresholds(feature, node, side == 1, space)
        best, place = _search(n_found, node, space, descend, best)
        if place >= 0:
            is_majority = 2.0 * space.lefts[place, last] >= node.totals[last]
            found, best_position = best, space.positions[place]
            best_missing_left = side == 1 if has_missing else is_majority
    return found, best_position, best_missing_left

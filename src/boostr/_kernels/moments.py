"""Per-individual statistics of both losses: the last place that sees time.

Time is the clock's. Windows and events of individual ``i`` are the runs
``offsets[i]:offsets[i + 1]``, sorted. ``quadratic`` is the lower triangle of H, row by row.
"""

from __future__ import annotations

import math

import numpy as np

from boostr._kernels._jit import Part, inner_kernel, shared_kernel
from boostr._typing import FloatArray, OffsetArray

__all__ = [
    "piecewise_cumulative_moments",
    "piecewise_intensity_moments",
    "power_cumulative_moments",
    "power_intensity_moments",
]

_SHORT = 0.9  # windows that begin after this share of their end count as short
_RULE = np.polynomial.legendre.leggauss(10)  # exact to rounding on short windows
_NODES = 0.5 * (_RULE[0] + 1.0)
_NODE_WEIGHTS = 0.5 * _RULE[1]


@inner_kernel
def _power_growth(exponent: float, start: float, stop: float) -> float:
    """Return stop^e - start^e without losing digits where the two are close."""
    if start <= 0.0:
        return stop**exponent
    relative = math.log1p((stop - start) / start)
    return start**exponent * math.expm1(exponent * relative)


@shared_kernel
def power_intensity_moments(
    part: Part,
    exponents: FloatArray,
    window_start: FloatArray,
    window_stop: FloatArray,
    window_offsets: OffsetArray,
    times: FloatArray,
    costs: FloatArray,
    event_offsets: OffsetArray,
    linear: FloatArray,
    quadratic: FloatArray,
) -> None:
    """Write b = sum of the rates at the events and H = integral of rates times rates.

    The rate of the term s^e is e s^(e - 1); the product of two rates integrates to
    e e' / (e + e' - 1) times the growth of s^(e + e' - 1).

    Parameters
    ----------
    exponents : (n_terms,) float64
        All above 1/2, otherwise H is infinite.
    window_start, window_stop : (n_windows,) float64
        When individuals are observed.
    window_offsets : (n + 1,) int64
        Where the windows of every individual begin.
    times, costs : (n_events,) float64
        Events and their marks.
    event_offsets : (n + 1,) int64
        Where the events of every individual begin.
    linear : (n, n_terms) float64
        Overwritten with b.
    quadratic : (n, n_terms * (n_terms + 1) / 2) float64
        Overwritten with the lower triangle of H.
    """
    n_terms = exponents.shape[0]
    for individual in range(part[0], part[1]):
        linear[individual] = 0.0
        quadratic[individual] = 0.0
        for event in range(event_offsets[individual], event_offsets[individual + 1]):
            for term in range(n_terms):
                exponent = exponents[term]
                rate = 1.0
                if exponent != 1.0:
                    rate = exponent * times[event] ** (exponent - 1.0)
                linear[individual, term] += costs[event] * rate
        for window in range(window_offsets[individual], window_offsets[individual + 1]):
            position = 0
            for row in range(n_terms):
                for column in range(row + 1):
                    power = exponents[row] + exponents[column] - 1.0
                    growth = _power_growth(power, window_start[window], window_stop[window])
                    quadratic[individual, position] += (
                        exponents[row] * exponents[column] / power * growth
                    )
                    position += 1


@inner_kernel
def _power_area(offset: float, exponent: float, start: float, stop: float) -> float:
    """Integrate s^e + offset from start to stop."""
    following = exponent + 1.0
    return _power_growth(following, start, stop) / following + offset * (stop - start)


@inner_kernel
def _add_long_window(
    exponents: FloatArray,
    before: FloatArray,
    start: float,
    stop: float,
    quadratic: FloatArray,
) -> None:
    """Add the integral of A A' over a window in closed form, with A = s^e + offset."""
    position = 0
    for row in range(exponents.shape[0]):
        e_row, offset_row = exponents[row], before[row] - start ** exponents[row]
        for column in range(row + 1):
            e_column = exponents[column]
            offset_column = before[column] - start**e_column
            power = e_row + e_column + 1.0
            area = _power_growth(power, start, stop) / power
            area += offset_column * _power_area(0.0, e_row, start, stop)
            area += offset_row * _power_area(offset_column, e_column, start, stop)
            quadratic[position] += area
            position += 1


@inner_kernel
def _add_short_window(
    exponents: FloatArray,
    before: FloatArray,
    start: float,
    stop: float,
    values: FloatArray,
    quadratic: FloatArray,
) -> None:
    """Add the integral of A A' over a window that is short beside its distance from zero.

    There the terms of the closed form nearly cancel, while a Gauss-Legendre rule is exact
    to the last digits.
    """
    for node in range(_NODES.shape[0]):
        time = start + _NODES[node] * (stop - start)
        for term in range(exponents.shape[0]):
            values[term] = before[term] + _power_growth(exponents[term], start, time)
        _add_products(_NODE_WEIGHTS[node] * (stop - start), values, quadratic)


@inner_kernel
def _power_area_since(
    exponent: float, before: float, start: float, begin: float, stop: float
) -> float:
    """Integrate A = before + s^e - start^e from begin to stop."""
    if start < _SHORT * stop:
        return _power_area(before - start**exponent, exponent, begin, stop)
    area = 0.0
    for node in range(_NODES.shape[0]):
        time = begin + _NODES[node] * (stop - begin)
        area += _NODE_WEIGHTS[node] * _power_growth(exponent, start, time)
    return (stop - begin) * (before + area)


@inner_kernel
def _add_products(weight: float, values: FloatArray, out: FloatArray) -> None:
    """Add weight times the lower triangle of values values'."""
    position = 0
    for row in range(values.shape[0]):
        for column in range(row + 1):
            out[position] += weight * values[row] * values[column]
            position += 1


@shared_kernel
def power_cumulative_moments(
    part: Part,
    exponents: FloatArray,
    window_start: FloatArray,
    window_stop: FloatArray,
    window_offsets: OffsetArray,
    times: FloatArray,
    costs: FloatArray,
    event_offsets: OffsetArray,
    linear: FloatArray,
    quadratic: FloatArray,
) -> None:
    """Write b = integral of N A and H = integral of A A' while observed.

    Inside a window A = before + s^e - start^e, with ``before`` accumulated in the windows
    before. N A is summed event by event: an event adds its cost times the area under A from
    the event to the end of observation. Parameters as in `power_intensity_moments`.
    """
    n_terms = exponents.shape[0]
    for individual in range(part[0], part[1]):
        linear[individual] = 0.0
        quadratic[individual] = 0.0
        before = np.zeros(n_terms)
        values = np.zeros(n_terms)
        event = event_offsets[individual]
        last = event_offsets[individual + 1]
        counted = 0.0
        for window in range(window_offsets[individual], window_offsets[individual + 1]):
            start, stop = window_start[window], window_stop[window]
            if start < _SHORT * stop:
                _add_long_window(exponents, before, start, stop, quadratic[individual])
            else:
                _add_short_window(
                    exponents, before, start, stop, values, quadratic[individual]
                )
            for term in range(n_terms):
                linear[individual, term] += counted * _power_area_since(
                    exponents[term], before[term], start, start, stop
                )
            while event < last and times[event] <= stop:
                for term in range(n_terms):
                    linear[individual, term] += costs[event] * _power_area_since(
                        exponents[term], before[term], start, times[event], stop
                    )
                counted += costs[event]
                event += 1
            for term in range(n_terms):
                before[term] += _power_growth(exponents[term], start, stop)


@inner_kernel
def _find_piece(edges: FloatArray, time: float, is_right: bool) -> int:
    """Return the piece that holds ``time``, or -1 before the first edge.

    Piece k is ``(edges[k], edges[k + 1]]``; with ``is_right`` the piece just after
    ``time``.
    """
    low = 0
    high = edges.shape[0]
    while low < high:
        middle = (low + high) // 2
        if edges[middle] < time or (is_right and edges[middle] == time):
            low = middle + 1
        else:
            high = middle
    return low - 1


@inner_kernel
def _evaluate_piece(coefficients: FloatArray, distance: float, out: FloatArray) -> None:
    """Evaluate every term's polynomial, lowest power first, at a distance from the edge."""
    n_powers = coefficients.shape[1]
    for term in range(out.shape[0]):
        value = 0.0
        for power in range(n_powers - 1, -1, -1):
            value = value * distance + coefficients[term, power]
        out[term] = value


@inner_kernel
def _evaluate(edges: FloatArray, pieces: FloatArray, time: float, out: FloatArray) -> None:
    """Evaluate every term at ``time``, from the left; zero up to the first edge."""
    piece = _find_piece(edges, time, False)
    if piece < 0:
        out[:] = 0.0
    else:
        _evaluate_piece(pieces[piece], time - edges[piece], out)


@shared_kernel
def piecewise_intensity_moments(
    part: Part,
    edges: FloatArray,
    pieces: FloatArray,
    nodes: FloatArray,
    node_weights: FloatArray,
    window_start: FloatArray,
    window_stop: FloatArray,
    window_offsets: OffsetArray,
    times: FloatArray,
    costs: FloatArray,
    event_offsets: OffsetArray,
    linear: FloatArray,
    quadratic: FloatArray,
) -> None:
    """Write b and H of the intensity loss for rates that are piecewise polynomials.

    Parameters
    ----------
    edges : (n_pieces,) float64
        Where the pieces begin; the last one has no end.
    pieces : (n_pieces, n_terms, n_powers) float64
        Coefficients of the rates, in powers of the distance from the piece's edge.
    nodes, node_weights : (n_nodes,) float64
        Gauss-Legendre rule on [0, 1], exact for the products of two rates.
    window_start, window_stop, window_offsets, times, costs, event_offsets, linear,
    quadratic
        As in `power_intensity_moments`.
    """
    n_terms = pieces.shape[1]
    for individual in range(part[0], part[1]):
        linear[individual] = 0.0
        quadratic[individual] = 0.0
        values = np.zeros(n_terms)
        for event in range(event_offsets[individual], event_offsets[individual + 1]):
            _evaluate(edges, pieces, times[event], values)
            for term in range(n_terms):
                linear[individual, term] += costs[event] * values[term]
        for window in range(window_offsets[individual], window_offsets[individual + 1]):
            begin = max(window_start[window], edges[0])
            piece = _find_piece(edges, begin, True)
            while begin < window_stop[window]:
                end = window_stop[window]
                if piece + 1 < edges.shape[0]:
                    end = min(end, edges[piece + 1])
                for node in range(nodes.shape[0]):
                    distance = begin + nodes[node] * (end - begin) - edges[piece]
                    _evaluate_piece(pieces[piece], distance, values)
                    weight = node_weights[node] * (end - begin)
                    _add_products(weight, values, quadratic[individual])
                begin = end
                piece += 1


@shared_kernel
def piecewise_cumulative_moments(
    part: Part,
    edges: FloatArray,
    pieces: FloatArray,
    nodes: FloatArray,
    node_weights: FloatArray,
    window_start: FloatArray,
    window_stop: FloatArray,
    window_offsets: OffsetArray,
    times: FloatArray,
    costs: FloatArray,
    event_offsets: OffsetArray,
    linear: FloatArray,
    quadratic: FloatArray,
) -> None:
    """Write b and H of the cumulative loss for piecewise polynomial functions of time.

    ``pieces`` are the functions themselves, not their rates. Observation is cut at edges
    and events: in between N is constant and A a polynomial, so that the rule is exact.
    Parameters as in `piecewise_intensity_moments`.
    """
    n_terms = pieces.shape[1]
    for individual in range(part[0], part[1]):
        linear[individual] = 0.0
        quadratic[individual] = 0.0
        offsets = np.zeros(n_terms)
        values = np.zeros(n_terms)
        event = event_offsets[individual]
        last = event_offsets[individual + 1]
        counted = 0.0
        for window in range(window_offsets[individual], window_offsets[individual + 1]):
            stop = window_stop[window]
            _evaluate(edges, pieces, window_start[window], values)
            offsets -= values
            begin = window_start[window]
            piece = _find_piece(edges, begin, True)
            while begin < stop:
                end = stop
                if piece + 1 < edges.shape[0]:
                    end = min(end, edges[piece + 1])
                if event < last:
                    end = min(end, times[event])
                if piece >= 0:
                    for node in range(nodes.shape[0]):
                        distance = begin + nodes[node] * (end - begin) - edges[piece]
                        _evaluate_piece(pieces[piece], distance, values)
                        values += offsets
                        weight = node_weights[node] * (end - begin)
                        _add_products(weight, values, quadratic[individual])
                        linear[individual] += weight * counted * values
                while event < last and times[event] == end:
                    counted += costs[event]
                    event += 1
                begin = end
                if piece + 1 < edges.shape[0] and begin == edges[piece + 1]:
                    piece += 1
            _evaluate(edges, pieces, stop, values)
            offsets += values

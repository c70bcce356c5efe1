"""Steps and splines: leaf functions that are piecewise polynomials of time."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy  # its parts load when they are used, which keeps `import boostr` light

from boostr._checks.parameters import check_count
from boostr._kernels.moments import (
    piecewise_cumulative_moments,
    piecewise_intensity_moments,
)
from boostr._kernels.solve import DIAGONAL, FULL
from boostr._typing import FloatArray
from boostr.basis.base import ClockedEvents, Loss
from boostr.basis.clock import sum_exposure

__all__ = ["PiecewiseBasis", "SplineBasis", "StepBasis"]


@dataclass(frozen=True, slots=True, eq=False)
class PiecewiseBasis:
    """Functions that are polynomials between edges, with the last piece going on for ever.

    ``functions`` are compared with counts by the cumulative loss, ``rate_pieces`` with
    events by the intensity loss; ``curves`` are what is predicted.
    """

    edges: FloatArray  # (n_pieces,) where the pieces begin
    functions: FloatArray  # (n_pieces, n_terms, n_powers) in powers of s - edge
    rate_pieces: FloatArray  # (n_pieces, n_terms, n_powers)
    curve_edges: FloatArray  # (n_curve_pieces,)
    curves: FloatArray  # (n_curve_pieces, n_terms, n_powers)
    solver: int

    @property
    def n_terms(self) -> int:
        """Number of functions."""
        return self.functions.shape[1]

    @property
    def breaks(self) -> FloatArray:
        """Where the curves go from one piece to the next."""
        return self.curve_edges

    def evaluate(self, times: FloatArray) -> FloatArray:
        """Return the curves at clock times."""
        return _evaluate(self.curve_edges, self.curves, times)

    def rates(self, times: FloatArray) -> FloatArray:
        """Return the slopes of the curves at clock times."""
        return _evaluate(self.curve_edges, _derive(self.curves), times)

    def integrals(self, times: FloatArray, order: int) -> FloatArray:
        """Return the functions, integrated ``order`` times from the first edge."""
        pieces = self.functions
        for _ in range(order):
            pieces = _integrate(self.edges, pieces)
        values = _evaluate(self.edges, pieces, times)
        values[np.asarray(times) <= self.edges[0]] = 0.0  # a first step is one from zero
        return values

    def moments(self, events: ClockedEvents, loss: Loss) -> tuple[FloatArray, FloatArray]:
        """Return b and the lower triangles of H of all individuals."""
        is_intensity = loss == "intensity"
        pieces = self.rate_pieces if is_intensity else self.functions
        compute = (
            piecewise_intensity_moments if is_intensity else piecewise_cumulative_moments
        )
        linear = np.empty((len(events), self.n_terms))
        quadratic = np.empty((len(events), self.n_terms * (self.n_terms + 1) // 2))
        # n nodes are exact up to degree 2n - 1; a product has twice the pieces' degree.
        nodes, weights = np.polynomial.legendre.leggauss(pieces.shape[2])
        compute(
            len(events),
            self.edges,
            np.ascontiguousarray(pieces),
            0.5 * (nodes + 1.0),
            0.5 * weights,
            events.window_start,
            events.window_stop,
            events.window_offsets,
            events.times,
            events.costs,
            events.event_offsets,
            linear,
            quadratic,
        )
        return linear, quadratic


@dataclass(frozen=True, slots=True)
class StepBasis:
    """Leaf functions without a shape of their own: one number per cell of time.

    With the intensity loss the number is the rate in the cell. With the cumulative loss it
    is the value of the curve in the cell, the paper's pointwise form; predictions join the
    cells' middles by straight lines. The last slope continues.

    Parameters
    ----------
    n_cells : int, default=10
        Number of cells, of equal length on the clock where all are observed to the end. In
        general the same amount of time was observed in each cell, so that none lies where
        next to nothing is known.

    Examples
    --------
    >>> StepBasis(n_cells=4)
    StepBasis(n_cells=4)
    """

    n_cells: int = 10

    def __post_init__(self) -> None:
        check_count(self.n_cells, "n_cells")

    def place(self, events: ClockedEvents, loss: Loss) -> PiecewiseBasis:
        """Cut the time up to the horizon into cells in which as much was observed."""
        edges = _share_exposure(events, self.n_cells)
        values = np.eye(len(edges))[:, :, None]
        if loss == "intensity":
            integrals = _integrate(edges, values)
            return PiecewiseBasis(edges, integrals, values, edges, integrals, DIAGONAL)
        joints, lines = _join_middles(edges, events.horizon)
        # One number a cell leaves cells uncoupled only if every curve starts from zero:
        # individuals that are observed from later on, or with gaps, couples them.
        is_plain = not events.has_late_starts and np.all(events.window_start == 0.0)
        solver = DIAGONAL if is_plain else FULL
        return PiecewiseBasis(edges, values, _derive(values), joints, lines, solver)


@dataclass(frozen=True, slots=True)
class SplineBasis:
    """Smooth leaf functions: integrals of B-splines of time, straight beyond the end.

    Parameters
    ----------
    n_knots : int, default=3
        Inner knots, at quantiles of the event times.
    order : int, default=3
        Order of the splines of the rate: 1 for steps, 3 for parabolas.

    Examples
    --------
    >>> SplineBasis(n_knots=2)
    SplineBasis(n_knots=2, order=3)
    """

    n_knots: int = 3
    order: int = 3

    def __post_init__(self) -> None:
        check_count(self.n_knots, "n_knots", least=0)
        check_count(self.order, "order")

    def place(self, events: ClockedEvents, loss: Loss) -> PiecewiseBasis:
        """Put the knots at quantiles of the event times."""
        shares = np.linspace(0.0, 1.0, self.n_knots + 2)[1:-1]
        sample = events.times if events.times.size else np.array([0.0, events.horizon])
        inner = np.unique(np.quantile(sample, shares)) if self.n_knots else np.empty(0)
        inner = inner[(inner > 0.0) & (inner < events.horizon)]
        edges, rates = _spline_pieces(inner, events.horizon, self.order)
        integrals = _integrate(edges, rates)
        return PiecewiseBasis(edges, integrals, rates, edges, integrals, FULL)


def _share_exposure(events: ClockedEvents, n_cells: int) -> FloatArray:
    """Return where cells begin that share the time under observation equally."""
    even = np.linspace(0.0, events.horizon, n_cells + 1)
    start, stop, amounts = events.window_start, events.window_stop, events.exposures
    if not (amounts > 0.0).any():
        return even[:-1]
    # Between starts and stops as many are observed: the sum is straight there.
    times = np.unique(np.concatenate([even, start, stop]))
    observed = np.maximum(sum_exposure(start, stop, amounts, times), 0.0)
    passed = np.append(0.0, np.cumsum(observed))
    begins = np.interp(passed[-1] * even / events.horizon, passed, times)[:-1]
    begins[0] = 0.0
    return np.unique(begins)


def _spline_pieces(
    inner: FloatArray, horizon: float, order: int
) -> tuple[FloatArray, FloatArray]:
    """Return edges and polynomial pieces of B-splines on [0, horizon], constant beyond."""
    knots = np.concatenate([np.zeros(order), inner, np.full(order, horizon)])
    n_terms = len(knots) - order
    edges = np.concatenate([[0.0], inner, [horizon]])
    pieces = np.zeros((len(edges), n_terms, order))
    for term in range(n_terms):
        spline = scipy.interpolate.BSpline(knots, np.eye(n_terms)[term], order - 1)
        polynomial = scipy.interpolate.PPoly.from_spline(spline)
        for piece, edge in enumerate(edges[:-1]):
            place = np.searchsorted(polynomial.x, edge, side="right") - 1
            pieces[piece, term] = polynomial.c[::-1, place]
        pieces[-1, term, 0] = spline(horizon)
    return edges, pieces


def _integrate(edges: FloatArray, pieces: FloatArray) -> FloatArray:
    """Return the integrals of piecewise polynomials from the first edge on."""
    n_pieces, n_terms, n_powers = pieces.shape
    integrals = np.zeros((n_pieces, n_terms, n_powers + 1))
    integrals[:, :, 1:] = pieces / np.arange(1, n_powers + 1)
    for piece in range(1, n_pieces):
        length = edges[piece] - edges[piece - 1]
        powers = length ** np.arange(n_powers + 1)
        integrals[piece, :, 0] = integrals[piece - 1] @ powers
    return integrals


def _derive(pieces: FloatArray) -> FloatArray:
    """Return the derivatives of piecewise polynomials."""
    if pieces.shape[2] == 1:
        return np.zeros_like(pieces)
    return np.asarray(pieces[:, :, 1:] * np.arange(1, pieces.shape[2]))


def _join_middles(edges: FloatArray, horizon: float) -> tuple[FloatArray, FloatArray]:
    """Return straight lines through the values at the cells' middles, from zero at zero."""
    n_cells = len(edges)
    joints = np.concatenate([[0.0], 0.5 * (edges + np.append(edges[1:], horizon))])
    values = np.vstack([np.zeros(n_cells), np.eye(n_cells)])
    slopes = np.diff(values, axis=0) / np.diff(joints)[:, None]
    slopes = np.vstack([slopes, slopes[-1:]])  # the last slope continues
    return joints, np.stack([values, slopes], axis=2)


def _evaluate(edges: FloatArray, pieces: FloatArray, times: FloatArray) -> FloatArray:
    times = np.asarray(times, dtype=np.float64)
    piece = np.clip(np.searchsorted(edges, times, side="left") - 1, 0, None)
    distance = times - edges[piece]
    result = np.zeros((len(times), pieces.shape[1]))
    for power in range(pieces.shape[2] - 1, -1, -1):
        result = result * distance[:, None] + pieces[piece, :, power]
    return result

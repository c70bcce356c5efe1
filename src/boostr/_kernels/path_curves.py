"""Cumulative curves of individuals along the paths of their sensors."""

from __future__ import annotations

import math

import numba
import numpy as np

from boostr._kernels._jit import kernel, parallel_kernel
from boostr._kernels.bspline import SensorAtoms, find_atoms
from boostr._kernels.link import bend_rate
from boostr._typing import FloatArray, OffsetArray

__all__ = ["add_sensor_rates", "read_path_curves", "read_path_slopes"]


@kernel
def _sensor_rate(
    values: FloatArray,
    piece: int,
    atoms: SensorAtoms,
    weights: FloatArray,
    buffer: FloatArray,
) -> float:
    """Sum the weighted atoms of all sensors in one piece; piece -1 is unknown."""
    rate = 0.0
    for sensor in range(atoms.orders.shape[0]):
        value = math.nan if piece < 0 else values[sensor, piece]
        first, n_written = find_atoms(value, sensor, atoms, buffer)
        for atom in range(n_written):
            rate += weights[first + atom] * buffer[atom]
    return rate


@parallel_kernel
def add_sensor_rates(
    values: FloatArray,
    offsets: OffsetArray,
    atoms: SensorAtoms,
    weights: FloatArray,
    rates: FloatArray,
    unknown: FloatArray,
) -> None:
    """Write what all sensors together add to the rate in every piece.

    Parameters
    ----------
    values : (n_sensors, n_pieces) float64
        Sensor values of the pieces.
    offsets : (n + 1,) int64
        Where the pieces of every individual begin.
    atoms : SensorAtoms
        The atoms of all sensors.
    weights : (n, n_atoms) float64
        Every individual's coefficients of the atoms.
    rates : (n_pieces,) float64
        Overwritten.
    unknown : (n,) float64
        Overwritten with the same for unknown sensors, as before the first piece.
    """
    for individual in numba.prange(offsets.shape[0] - 1):
        buffer = np.empty(atoms.unknown.shape[0] + 1)
        weight = weights[individual]
        unknown[individual] = _sensor_rate(values, -1, atoms, weight, buffer)
        for piece in range(offsets[individual], offsets[individual + 1]):
            rates[piece] = _sensor_rate(values, piece, atoms, weight, buffer)


@kernel
def _dot(theta: FloatArray, values: FloatArray) -> float:
    total = 0.0
    for term in range(theta.shape[0]):
        total += theta[term] * values[term]
    return total


@kernel
def _skip_past(begins: FloatArray, piece: int, last: int) -> int:
    """Return the first piece that begins after time zero."""
    while piece < last and begins[piece] <= 0.0:
        piece += 1
    return piece


@kernel
def _straighten(
    theta: FloatArray,
    phi_grid: FloatArray,
    grid: FloatArray,
    cell: int,
    start: float,
    end: float,
    growth: float,
) -> float:
    """Return the baseline's growth as if it were straight from one grid point to the next.

    Wherever a piece begins: what the sensors show later must not matter. Beyond the grid it
    stays as it is.
    """
    if cell >= grid.shape[0]:
        return growth
    above = _dot(theta, phi_grid[cell]) - _dot(theta, phi_grid[cell - 1])
    return above * (end - start) / (grid[cell] - grid[cell - 1])


@parallel_kernel
def read_path_curves(
    begins: FloatArray,
    rates: FloatArray,
    unknown: FloatArray,
    offsets: OffsetArray,
    theta: FloatArray,
    phi_pieces: FloatArray,
    grid: FloatArray,
    phi_grid: FloatArray,
    times: FloatArray,
    phi_times: FloatArray,
    time_offsets: OffsetArray,
    floor: float,
    out: FloatArray,
) -> None:
    """Write cumulative curves at times that are sorted within individuals.

    Parameters
    ----------
    begins, rates : (n_pieces,) float64
        Where pieces begin, and what the sensors add to the rate in them.
    unknown : (n,) float64
        The same before the first piece.
    offsets : (n + 1,) int64
        Where the pieces of every individual begin.
    theta : (n, n_baseline) float64
        Coefficients of the baseline.
    phi_pieces : (n_pieces, n_baseline) float64
        The baseline's functions where pieces begin.
    grid : (n_grid,) float64
        Further times, increasing from 0, that cut the curves into cells.
    phi_grid : (n_grid, n_baseline) float64
        The baseline's functions there.
    times : (n_times,) float64
        Where the curves are asked for.
    phi_times : (n_times, n_baseline) float64
        The baseline's functions there.
    time_offsets : (n + 1,) int64
        Where the times of every individual begin.
    floor : float
        Rate below which the curve of a cell is bent, see `bend_rate`. Unless it is
        negative, the baseline is straight from one grid point to the next; one of constant
        rate is so anyway.
    out : (n_times,) float64
        Overwritten.

    Notes
    -----
    Only the past of a time matters to its value, as it should where paths are known only
    up to now.
    """
    for individual in numba.prange(offsets.shape[0] - 1):
        last = offsets[individual + 1]
        piece = _skip_past(begins, offsets[individual], last)
        rate = rates[piece - 1] if piece > offsets[individual] else unknown[individual]
        cell, start, level = 1, 0.0, 0.0
        before = _dot(theta[individual], phi_grid[0])
        query, last_query = time_offsets[individual], time_offsets[individual + 1]
        while query < last_query:
            end = math.inf
            after = math.nan
            if cell < grid.shape[0]:
                end, after = grid[cell], _dot(theta[individual], phi_grid[cell])
            is_piece = piece < last and begins[piece] < end
            if is_piece:
                end, after = begins[piece], _dot(theta[individual], phi_pieces[piece])
            growth = after - before
            if floor >= 0.0:
                growth = _straighten(
                    theta[individual], phi_grid, grid, cell, start, end, growth
                )
            slope = 0.0
            if start < end < math.inf:
                slope = bend_rate(growth / (end - start) + rate, floor)
            while query < last_query and times[query] <= end:
                length = times[query] - start
                exact = _dot(theta[individual], phi_times[query]) - before + rate * length
                if floor < 0.0:
                    out[query] = level + exact
                elif end < math.inf:
                    out[query] = level + slope * length
                elif length > 0.0:
                    out[query] = level + bend_rate(exact / length, floor) * length
                else:
                    out[query] = level
                query += 1
            if end == math.inf:
                break
            level += (
                slope * (end - start) if floor >= 0.0 else growth + rate * (end - start)
            )
            start, before = end, after
            if is_piece:
                rate = rates[piece]
                piece += 1
            else:
                cell += 1


@parallel_kernel
def read_path_slopes(
    begins: FloatArray,
    rates: FloatArray,
    unknown: FloatArray,
    offsets: OffsetArray,
    times: FloatArray,
    time_offsets: OffsetArray,
    out: FloatArray,
) -> None:
    """Add what the sensors add to the rate at times that are sorted within individuals.

    Parameters as in `read_path_curves`; a piece holds from after its begin on.
    """
    for individual in numba.prange(offsets.shape[0] - 1):
        piece, last = offsets[individual], offsets[individual + 1]
        for query in range(time_offsets[individual], time_offsets[individual + 1]):
            while piece < last and begins[piece] < times[query]:
                piece += 1
            if piece > offsets[individual]:
                out[query] += rates[piece - 1]
            else:
                out[query] += unknown[individual]

"""Cumulative curves of individuals along the paths of their sensors."""

from __future__ import annotations

import math

import numpy as np

from boostr._kernels._jit import Part, inner_kernel, shared_kernel
from boostr._kernels.atoms import SensorAtoms, find_atoms
from boostr._kernels.rates import bend_rate
from boostr._typing import FloatArray, OffsetArray

__all__ = ["add_sensor_rates", "read_path_curves", "read_path_slopes"]


@inner_kernel
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


@shared_kernel
def add_sensor_rates(
    part: Part,
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
    for individual in range(part[0], part[1]):
        buffer = np.empty(atoms.unknown.shape[0] + 1)
        weight = weights[individual]
        unknown[individual] = _sensor_rate(values, -1, atoms, weight, buffer)
        for piece in range(offsets[individual], offsets[individual + 1]):
            rates[piece] = _sensor_rate(values, piece, atoms, weight, buffer)


@inner_kernel
def _dot(theta: FloatArray, values: FloatArray) -> float:
    total = 0.0
    for term in range(theta.shape[0]):
        total += theta[term] * values[term]
    return total


@inner_kernel
def _skip_past(begins: FloatArray) -> int:
    """Return the first piece that begins after time zero."""
    piece = 0
    while piece < begins.shape[0] and begins[piece] <= 0.0:
        piece += 1
    return piece


@inner_kernel
def _bend_stretch(growth: float, length: float, rate: float, floor: float) -> float:
    """Return the slope of a stretch in which the baseline grows; NaN if it has no end."""
    if length == math.inf:
        return math.nan
    return bend_rate(growth / length + rate, floor) if length > 0.0 else 0.0


@inner_kernel
def _rise(slope: float, exact: float, length: float, floor: float) -> float:
    """Return the rise since the start of a stretch, whose slope is NaN if it has no end."""
    if floor < 0.0:
        return exact
    if not math.isnan(slope):
        return slope * length
    return bend_rate(exact / length, floor) * length if length > 0.0 else 0.0


@inner_kernel
def _read_path_curve(
    begins: FloatArray,
    rates: FloatArray,
    unknown: float,
    theta: FloatArray,
    phi_pieces: FloatArray,
    grid: FloatArray,
    phi_grid: FloatArray,
    times: FloatArray,
    phi_times: FloatArray,
    floor: float,
    out: FloatArray,
) -> None:
    """Write the curve of one individual, stretch by stretch; see `read_path_curves`."""
    piece = _skip_past(begins)
    rate = rates[piece - 1] if piece > 0 else unknown
    cell, start, level = 1, 0.0, 0.0
    before = _dot(theta, phi_grid[0])
    query = 0
    while query < times.shape[0]:
        end, after = math.inf, math.nan
        if cell < grid.shape[0]:
            end, after = grid[cell], _dot(theta, phi_grid[cell])
        is_piece = piece < begins.shape[0] and begins[piece] < end
        if is_piece:
            end, after = begins[piece], _dot(theta, phi_pieces[piece])
        growth = after - before
        if floor >= 0.0 and cell < grid.shape[0]:
            # Straight in the whole cell, wherever a piece begins: what the sensors show
            # later must not matter.
            above = _dot(theta, phi_grid[cell]) - _dot(theta, phi_grid[cell - 1])
            growth = above * (end - start) / (grid[cell] - grid[cell - 1])
        slope = _bend_stretch(growth, end - start, rate, floor)
        while query < times.shape[0] and times[query] <= end:
            length = times[query] - start
            exact = _dot(theta, phi_times[query]) - before + rate * length
            out[query] = level + _rise(slope, exact, length, floor)
            query += 1
        if end == math.inf:
            break
        level += _rise(slope, growth + rate * (end - start), end - start, floor)
        start, before = end, after
        if is_piece:
            rate = rates[piece]
            piece += 1
        else:
            cell += 1


@shared_kernel
def read_path_curves(
    part: Part,
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
    for individual in range(part[0], part[1]):
        first, last = offsets[individual], offsets[individual + 1]
        asked, past = time_offsets[individual], time_offsets[individual + 1]
        _read_path_curve(
            begins[first:last],
            rates[first:last],
            unknown[individual],
            theta[individual],
            phi_pieces[first:last],
            grid,
            phi_grid,
            times[asked:past],
            phi_times[asked:past],
            floor,
            out[asked:past],
        )


@shared_kernel
def read_path_slopes(
    part: Part,
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
    for individual in range(part[0], part[1]):
        piece, last = offsets[individual], offsets[individual + 1]
        for query in range(time_offsets[individual], time_offsets[individual + 1]):
            while piece < last and begins[piece] < times[query]:
                piece += 1
            if piece > offsets[individual]:
                out[query] += rates[piece - 1]
            else:
                out[query] += unknown[individual]

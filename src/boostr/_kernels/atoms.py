"""Atoms of sensors, B-splines or indicators of categories, and their integrals."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from boostr._kernels._jit import (
    Part,
    allocating_kernel,
    inner_kernel,
    shared_kernel,
)
from boostr._typing import FloatArray, IndexArray, OffsetArray

__all__ = ["SensorAtoms", "accumulate_atoms", "evaluate_atoms", "find_atoms"]


class SensorAtoms(NamedTuple):
    """Where the atoms of all sensors lie, and what they are.

    Atoms of sensor ``l`` are ``starts[l]:starts[l + 1]``. A numeric sensor has B-splines of
    the given order on ``knots[knot_starts[l]:knot_starts[l + 1]]``, which hold the ends of
    its range as often as the order; a categorical one, of order 0, has one indicator per
    category. An unknown value counts as ``unknown``.
    """

    starts: IndexArray  # (n_sensors + 1,)
    orders: IndexArray  # (n_sensors,)
    knots: FloatArray  # (n_knots,)
    knot_starts: IndexArray  # (n_sensors + 1,)
    unknown: FloatArray  # (n_atoms,)


@inner_kernel
def find_atoms(
    value: float, sensor: int, atoms: SensorAtoms, out: FloatArray
) -> tuple[int, int]:
    """Write the atoms of one sensor's value that are not zero.

    Parameters
    ----------
    value : float
        A number, held within the range of the knots; the code of a category; or NaN.
    sensor : int
        Which sensor.
    atoms : SensorAtoms
        All sensors' atoms.
    out : (most atoms of a sensor,) float64
        The first so many are overwritten.

    Returns
    -------
    tuple of (int, int)
        The first atom, counted over all sensors, and how many were written.
    """
    begin = atoms.starts[sensor]
    n_atoms = atoms.starts[sensor + 1] - begin
    order = atoms.orders[sensor]
    if n_atoms == 0:
        return begin, 0
    is_unknown = np.isnan(value) or (order == 0 and not 0.0 <= value < n_atoms)
    if is_unknown:
        for atom in range(n_atoms):
            out[atom] = atoms.unknown[begin + atom]
        return begin, n_atoms
    if order == 0:
        out[0] = 1.0
        return begin + np.int64(value), 1
    first_knot = atoms.knot_starts[sensor]
    knots = atoms.knots[first_knot : atoms.knot_starts[sensor + 1]]
    low, high = knots[0], knots[knots.shape[0] - 1]
    held = min(max(value, low), high)
    span = order - 1  # the last knot at or below the value, before the end of the range
    while span < n_atoms - 1 and knots[span + 1] <= held:
        span += 1
    out[0] = 1.0
    for degree in range(1, order):  # the recursion of de Boor and Cox, from the left
        saved = 0.0
        for place in range(degree):
            right = knots[span + 1 + place]
            left = knots[span + 1 + place - degree]
            share = out[place] / (right - left)
            out[place] = saved + (right - held) * share
            saved = (held - left) * share
        out[degree] = saved
    return begin + span - order + 1, order


@allocating_kernel
def evaluate_atoms(
    values: FloatArray, sensor: int, atoms: SensorAtoms, out: FloatArray
) -> None:
    """Write all atoms of one sensor at many values.

    Parameters
    ----------
    values : (m,) float64
        Values of the sensor.
    sensor : int
        Which sensor.
    atoms : SensorAtoms
        All sensors' atoms.
    out : (m, n_atoms of the sensor) float64
        Overwritten.
    """
    begin = atoms.starts[sensor]
    buffer = np.empty(out.shape[1] + atoms.orders[sensor])
    out[:] = 0.0
    for place in range(values.shape[0]):
        first, n_written = find_atoms(values[place], sensor, atoms, buffer)
        for atom in range(n_written):
            out[place, first - begin + atom] = buffer[atom]


@inner_kernel
def _add_atoms(
    values: FloatArray,
    piece: int,
    length: float,
    atoms: SensorAtoms,
    buffer: FloatArray,
    out: FloatArray,
) -> None:
    """Add the atoms of all sensors in one piece times a length; piece -1 is unknown."""
    for sensor in range(atoms.orders.shape[0]):
        value = math.nan if piece < 0 else values[sensor, piece]
        first, n_written = find_atoms(value, sensor, atoms, buffer)
        for atom in range(n_written):
            out[first + atom] += length * buffer[atom]


@shared_kernel
def accumulate_atoms(
    part: Part,
    begins: FloatArray,
    values: FloatArray,
    offsets: OffsetArray,
    atoms: SensorAtoms,
    times: FloatArray,
    time_offsets: OffsetArray,
    out: FloatArray,
) -> None:
    """Write the integrals of all atoms from zero to times, sorted within individuals.

    Parameters
    ----------
    begins : (n_pieces,) float64
        Where pieces begin; each holds until the next one, sensors are unknown before.
    values : (n_sensors, n_pieces) float64
        Sensor values of the pieces.
    offsets : (n + 1,) int64
        Where the pieces of every individual begin.
    atoms : SensorAtoms
        The atoms of all sensors.
    times : (n_times,) float64
        Times, from zero on.
    time_offsets : (n + 1,) int64
        Where the times of every individual begin.
    out : (n_times, n_atoms) float64
        Overwritten.
    """
    for individual in range(part[0], part[1]):
        total = np.zeros(atoms.unknown.shape[0])
        buffer = np.empty(total.shape[0] + 1)
        first, last = offsets[individual], offsets[individual + 1]
        piece, start = first, 0.0
        while piece < last and begins[piece] <= 0.0:
            piece += 1
        for query in range(time_offsets[individual], time_offsets[individual + 1]):
            while piece < last and begins[piece] < times[query]:
                held = piece - 1 if piece > first else -1
                _add_atoms(values, held, begins[piece] - start, atoms, buffer, total)
                start = begins[piece]
                piece += 1
            held = piece - 1 if piece > first else -1
            _add_atoms(values, held, times[query] - start, atoms, buffer, total)
            start = times[query]
            for atom in range(total.shape[0]):
                out[query, atom] = total[atom]

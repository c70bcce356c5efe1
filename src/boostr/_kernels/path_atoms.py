"""Atoms of sensors, integrated along the paths of individuals."""

from __future__ import annotations

import math

import numba
import numpy as np

from boostr._kernels._jit import kernel, parallel_kernel
from boostr._kernels.bspline import SensorAtoms, find_atoms
from boostr._typing import FloatArray, OffsetArray

__all__ = ["accumulate_atoms"]


@kernel
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


@parallel_kernel
def accumulate_atoms(
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
    for individual in numba.prange(offsets.shape[0] - 1):
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
            out[query] = total

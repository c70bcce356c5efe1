"""Per-individual statistics of sensor atoms, along piecewise constant paths.

Time is the clock's. Piece ``k`` of an individual holds on ``(begins[k], begins[k + 1]]``;
before its first piece the sensors are unknown, the last one holds for ever. The terms are
those of a baseline, functions ``phi`` of time alone, and after them the atoms of all
sensors. What concerns the baseline alone is left to the baseline's own kernels.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from boostr._kernels._jit import Part, allocating_kernel, inner_kernel, shared_kernel
from boostr._kernels.atoms import SensorAtoms, find_atoms
from boostr._typing import FloatArray, IndexArray, OffsetArray

__all__ = [
    "BaselineValues",
    "Histories",
    "Paths",
    "path_cumulative_moments",
    "path_intensity_moments",
]

_SHORT = 1e-4  # segments below this share of their time count as short
_AT_STOP, _AT_PIECE, _AT_EVENT = 0, 1, 2  # what ends a segment


class Paths(NamedTuple):
    """What sensors have shown."""

    begins: FloatArray  # (n_pieces,) sorted within individuals
    values: FloatArray  # (n_sensors, n_pieces), NaN where unknown
    offsets: OffsetArray  # (n + 1,) where the pieces of every individual begin


class Histories(NamedTuple):
    """When individuals were observed, and their events with marks."""

    window_start: FloatArray  # (n_windows,)
    window_stop: FloatArray  # (n_windows,)
    window_offsets: OffsetArray  # (n + 1,)
    window_exposure: FloatArray  # (n_windows,) factors of time; intensity alone reads them
    times: FloatArray  # (n_events,)
    costs: FloatArray  # (n_events,)
    event_offsets: OffsetArray  # (n + 1,)


class BaselineValues(NamedTuple):
    """The baseline's functions, integrated 0, 1, ... times, at all times that matter."""

    pieces: FloatArray  # (n_pieces, n_integrals, n_baseline) where pieces begin
    starts: FloatArray  # (n_windows, n_integrals, n_baseline)
    stops: FloatArray  # (n_windows, n_integrals, n_baseline)
    events: FloatArray  # (n_events, n_integrals, n_baseline)


@inner_kernel
def _gather_atoms(
    values: FloatArray,
    piece: int,
    atoms: SensorAtoms,
    buffer: FloatArray,
    index: IndexArray,
    found: FloatArray,
) -> int:
    """Write index and value of all atoms of a piece (-1: unknown); return how many."""
    n_found = 0
    for sensor in range(atoms.orders.shape[0]):
        value = math.nan if piece < 0 else values[sensor, piece]
        first, n_written = find_atoms(value, sensor, atoms, buffer)
        for atom in range(n_written):
            if buffer[atom] != 0.0:
                index[n_found] = first + atom
                found[n_found] = buffer[atom]
                n_found += 1
    return n_found


@inner_kernel
def _skip_pieces(paths: Paths, individual: int, time: float) -> int:
    """Return the first piece that begins after ``time``."""
    low, high = paths.offsets[individual], paths.offsets[individual + 1]
    while low < high:
        middle = (low + high) // 2
        if paths.begins[middle] <= time:
            low = middle + 1
        else:
            high = middle
    return low


@inner_kernel
def _add_products(
    index: IndexArray,
    found: FloatArray,
    n_found: int,
    length: float,
    growth: FloatArray,
    exposure: float,
    out: FloatArray,
) -> None:
    """Add the atoms' products times a length, and those with the baseline's growth."""
    n_baseline = growth.shape[0]
    for row in range(n_found):
        term = n_baseline + index[row]
        position = term * (term + 1) // 2
        for column in range(n_baseline):
            out[position + column] += exposure * found[row] * growth[column]
        weighted = exposure * length * found[row]
        for column in range(row + 1):
            out[position + n_baseline + index[column]] += weighted * found[column]


@inner_kernel
def _negate(values: FloatArray, out: FloatArray) -> None:
    for place in range(out.shape[0]):
        out[place] = -values[place]


@shared_kernel
def path_intensity_moments(
    part: Part,
    paths: Paths,
    atoms: SensorAtoms,
    phi: BaselineValues,
    histories: Histories,
    linear: FloatArray,
    quadratic: FloatArray,
) -> None:
    """Write the sums of atoms at the events and the integrals of their products.

    Parameters
    ----------
    paths : Paths
        What the sensors have shown.
    atoms : SensorAtoms
        The atoms of all sensors.
    phi : BaselineValues
        The baseline's functions; their integrals are not read.
    histories : Histories
        Windows and events.
    linear : (n, n_terms) float64
        The sensors' columns are overwritten with b, the baseline's are left alone.
    quadratic : (n, n_terms * (n_terms + 1) / 2) float64
        Lower triangles, row by row; the sensors' rows are overwritten with those of H.
    """
    n_baseline = phi.pieces.shape[2]
    n_atoms = atoms.unknown.shape[0]
    first_row = n_baseline * (n_baseline + 1) // 2
    for individual in range(part[0], part[1]):
        index, found = np.empty(n_atoms, np.int32), np.empty(n_atoms)
        buffer, growth = np.empty(n_atoms + 1), np.empty(n_baseline)
        b, h = linear[individual], quadratic[individual]
        b[n_baseline:] = 0.0
        h[first_row:] = 0.0
        first, last = paths.offsets[individual], paths.offsets[individual + 1]
        windows = histories.window_offsets[individual : individual + 2]
        for window in range(windows[0], windows[1]):
            time, stop = histories.window_start[window], histories.window_stop[window]
            exposure = histories.window_exposure[window]
            following = _skip_pieces(paths, individual, time)
            _negate(phi.starts[window, 0], growth)
            while time < stop:
                is_last = following == last or paths.begins[following] >= stop
                end = stop if is_last else paths.begins[following]
                reached = phi.stops[window, 0] if is_last else phi.pieces[following, 0]
                for term in range(n_baseline):
                    growth[term] += reached[term]
                piece = following - 1 if following > first else -1
                n_found = _gather_atoms(paths.values, piece, atoms, buffer, index, found)
                length = end - time
                _add_products(index, found, n_found, length, growth, exposure, h)
                time = end
                if not is_last:
                    _negate(reached, growth)
                    following += 1
        following = first
        events = histories.event_offsets[individual : individual + 2]
        for event in range(events[0], events[1]):
            while following < last and paths.begins[following] < histories.times[event]:
                following += 1
            piece = following - 1 if following > first else -1
            n_found = _gather_atoms(paths.values, piece, atoms, buffer, index, found)
            for place in range(n_found):
                b[n_baseline + index[place]] += histories.costs[event] * found[place]


@allocating_kernel
def _end_segment(
    paths: Paths,
    histories: Histories,
    phi: BaselineValues,
    window: int,
    pieces: tuple[int, int],
    events: tuple[int, int],
    there: FloatArray,
) -> tuple[float, int]:
    """Return where a segment ends and what ends it, and write the baseline there.

    ``pieces`` and ``events`` are the next one and the end of them all.
    """
    end, kind = histories.window_stop[window], _AT_STOP
    if pieces[0] < pieces[1] and paths.begins[pieces[0]] < end:
        end, kind = paths.begins[pieces[0]], _AT_PIECE
    if events[0] < events[1] and histories.times[events[0]] <= end:
        end, kind = histories.times[events[0]], _AT_EVENT
    if kind == _AT_STOP:
        there[:] = phi.stops[window]
    elif kind == _AT_PIECE:
        there[:] = phi.pieces[pieces[0]]
    else:
        there[:] = phi.events[events[0]]
    return end, kind


@inner_kernel
def _measure_baseline(
    here: FloatArray, there: FloatArray, length: float, short: float, out: FloatArray
) -> None:
    """Write the integrals of phi and of phi times the time since the segment began.

    With ``F`` and ``G`` the first and second integral of phi, that of ``phi(s) (s - a)``
    from a to b is ``(b - a) F(b) - (G(b) - G(a))``. A short segment late in time would lose
    its digits in that; there phi is a straight line, and what it lacks has its weight in
    the middle.
    """
    for term in range(out.shape[1]):
        area = there[1, term] - here[1, term]
        out[0, term] = area
        if length > short:
            out[1, term] = length * there[1, term] - (there[2, term] - here[2, term])
        else:
            first, last = here[0, term], there[0, term]
            lack = area - 0.5 * length * (first + last)
            out[1, term] = length * (length * (first / 6.0 + last / 3.0) + 0.5 * lack)


@inner_kernel
def _add_segment(
    rate: FloatArray,
    length: float,
    n_events: float,
    areas: FloatArray,
    level: FloatArray,
    linear: FloatArray,
    quadratic: FloatArray,
) -> None:
    """Add the integrals of N A and A A' over a segment on which the atoms are constant.

    There the sensors' A is ``level + rate * (s - start)``; ``level`` moves on to the end.
    ``areas`` holds the integrals of the baseline's A and of its product with ``s - start``.
    """
    n_baseline = areas.shape[1]
    half, third = 0.5 * length * length, length**3 / 3.0
    for row in range(level.shape[0]):
        if level[row] == 0.0 and rate[row] == 0.0:
            continue
        term = n_baseline + row
        position = term * (term + 1) // 2
        for column in range(n_baseline):
            quadratic[position + column] += (
                level[row] * areas[0, column] + rate[row] * areas[1, column]
            )
        flat = level[row] * length + rate[row] * half
        steep = level[row] * half + rate[row] * third
        linear[term] += n_events * flat
        for column in range(row + 1):
            quadratic[position + n_baseline + column] += (
                level[column] * flat + rate[column] * steep
            )
    for row in range(level.shape[0]):
        level[row] += rate[row] * length


class _Work(NamedTuple):
    """Room for what one individual needs on the way."""

    which: IndexArray  # (n_atoms,) atoms that are not zero
    found: FloatArray  # (n_atoms,) their values
    buffer: FloatArray  # (n_atoms + 1,)
    rate: FloatArray  # (n_atoms,) values of all atoms
    here: FloatArray  # (3, n_baseline) the baseline where a segment starts
    there: FloatArray  # (3, n_baseline) where it ends
    areas: FloatArray  # (2, n_baseline) its integrals in between


@allocating_kernel
def _make_room(n_atoms: int, n_baseline: int) -> _Work:
    """Return room for one individual."""
    return _Work(
        np.empty(n_atoms, np.int32),
        np.empty(n_atoms),
        np.empty(n_atoms + 1),
        np.empty(n_atoms),
        np.empty((3, n_baseline)),
        np.empty((3, n_baseline)),
        np.empty((2, n_baseline)),
    )


@inner_kernel
def _spread_atoms(values: FloatArray, piece: int, atoms: SensorAtoms, work: _Work) -> None:
    """Write the values of all atoms of a piece (-1: unknown)."""
    n_found = _gather_atoms(values, piece, atoms, work.buffer, work.which, work.found)
    work.rate[:] = 0.0
    for place in range(n_found):
        work.rate[work.which[place]] = work.found[place]


@allocating_kernel
def _add_window(
    paths: Paths,
    atoms: SensorAtoms,
    phi: BaselineValues,
    histories: Histories,
    individual: int,
    window: int,
    event: int,
    n_events: float,
    before: FloatArray,
    level: FloatArray,
    work: _Work,
    linear: FloatArray,
    quadratic: FloatArray,
) -> tuple[int, float]:
    """Add the integrals over a window; return its next event and what was counted by then.

    ``before`` and ``level`` are the baseline's and the sensors' A where the window starts,
    and move on to its stop.
    """
    first, last = paths.offsets[individual], paths.offsets[individual + 1]
    events_end = histories.event_offsets[individual + 1]
    time = histories.window_start[window]
    following = _skip_pieces(paths, individual, time)
    shift = before - phi.starts[window, 0]
    work.here[:] = phi.starts[window]
    kind = _AT_EVENT
    while kind != _AT_STOP:
        pieces, events = (following, last), (event, events_end)
        end, kind = _end_segment(paths, histories, phi, window, pieces, events, work.there)
        length = end - time
        _measure_baseline(work.here, work.there, length, _SHORT * end, work.areas)
        work.areas[0] += shift * length
        work.areas[1] += shift * (0.5 * length * length)
        piece = following - 1 if following > first else -1
        _spread_atoms(paths.values, piece, atoms, work)
        _add_segment(work.rate, length, n_events, work.areas, level, linear, quadratic)
        time = end
        work.here[:] = work.there
        if kind == _AT_PIECE:
            following += 1
        elif kind == _AT_EVENT:
            n_events += histories.costs[event]
            event += 1
    before += phi.stops[window, 0] - phi.starts[window, 0]
    return event, n_events


@shared_kernel
def path_cumulative_moments(
    part: Part,
    paths: Paths,
    atoms: SensorAtoms,
    phi: BaselineValues,
    histories: Histories,
    linear: FloatArray,
    quadratic: FloatArray,
) -> None:
    """Write the integrals of N A and of A A' for the accumulated atoms A.

    Parameters are those of `path_intensity_moments`; of the baseline the first and second
    integrals are read, too.

    Notes
    -----
    Windows are cut where pieces begin and at the events: on a segment N is constant and the
    sensors' A a straight line.
    """
    n_baseline = phi.pieces.shape[2]
    n_atoms = atoms.unknown.shape[0]
    first_row = n_baseline * (n_baseline + 1) // 2
    for individual in range(part[0], part[1]):
        work = _make_room(n_atoms, n_baseline)
        before, level = np.zeros(n_baseline), np.zeros(n_atoms)
        linear[individual, n_baseline:] = 0.0
        quadratic[individual, first_row:] = 0.0
        event, n_events = histories.event_offsets[individual], 0.0
        windows = histories.window_offsets[individual : individual + 2]
        for window in range(windows[0], windows[1]):
            event, n_events = _add_window(
                paths,
                atoms,
                phi,
                histories,
                individual,
                window,
                event,
                n_events,
                before,
                level,
                work,
                linear[individual],
                quadratic[individual],
            )

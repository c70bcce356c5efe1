"""Clocks, bases and bins that files may hold, with their rules.

Compiled kernels do not check bounds, so what they rely on is checked here.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from boostr._engine.binning import BinMapper
from boostr._engine.curves import REACH
from boostr._kernels.solve import DIAGONAL, FULL, SINGLE
from boostr.basis import (
    CalendarClock,
    Clock,
    FittedSensorBasis,
    OperationalClock,
    PiecewiseBasis,
    PowerBasis,
    Sensor,
    SplineBasis,
    StepBasis,
)
from boostr.io.rules import (
    CATEGORY,
    TEXT,
    TRUTH,
    Rule,
    array,
    instance,
    number,
    optional,
    require,
    sequence,
    whole,
)
from boostr.io.values import register

__all__ = ["BASIS", "CLOCK", "check_clock_reach"]

_MANY = 2**31 - 1
_MAX_ORDER = 64
_MAX_KNOTS = 10_000  # of a clock, where training makes fewer than a hundred
_MAX_LOG = 745.0  # of numbers that can be written, from the smallest to the largest
_LEAST_GAP = 2.0**-60  # of logarithms, which are 2**-53 apart where they differ at all
_MAX_BINS = 255

CLOCK = instance(CalendarClock, OperationalClock, words="CalendarClock or OperationalClock")
_TIME_BASIS = instance(PowerBasis, PiecewiseBasis, words="PowerBasis or PiecewiseBasis")
BASIS = instance(
    PowerBasis,
    PiecewiseBasis,
    FittedSensorBasis,
    words="PowerBasis, PiecewiseBasis or FittedSensorBasis",
)
_EXPONENTS = Rule(
    "tuple, list or array of positive numbers",
    lambda value: (
        isinstance(value, tuple | list | np.ndarray)
        and all(number(0.0, above=True).admits(entry) for entry in value)
    ),
)
_SOLVERS = (SINGLE, DIAGONAL, FULL)
_SOLVER = Rule(
    f"one of {', '.join(map(str, _SOLVERS))}",
    lambda value: type(value) is int and value in _SOLVERS,
)


def _rises(values: Any) -> bool:
    """Return whether values increase by steps that can be divided by."""
    gaps = np.diff(values)
    return bool(np.all((gaps > 0.0) & np.isfinite(1.0 / gaps)))


def _check_clock(clock: OperationalClock) -> None:
    n_knots = len(clock.log_times)
    require(0 < n_knots <= _MAX_KNOTS, f"A clock must have 1 to {_MAX_KNOTS} knots")
    require(len(clock.log_counts) == n_knots, "A clock must have a count per knot")
    logs = np.abs([clock.log_times, clock.log_counts])
    require(logs.max() <= _MAX_LOG, "Times and counts of a clock must be usual numbers")
    # Cubics between knots have the squares of their distances below a line.
    steps, rises = np.diff(clock.log_times), np.diff(clock.log_counts)
    require(np.all(steps >= _LEAST_GAP), "The times of a clock must rise")
    is_right = (rises == 0.0) | (rises >= _LEAST_GAP)
    require(np.all(is_right), "The counts of a clock must rise")


def check_clock_reach(clock: Clock, horizon: float) -> None:
    """Refuse clocks that stop or overflow where curves are evaluated.

    Linear interpolation stands in for the clock's smooth curve, which has the same
    bounds: it needs no slow import.
    """
    times = np.array([horizon, REACH * horizon])
    if isinstance(clock, OperationalClock):
        log_times, log_counts = clock.log_times, clock.log_counts
        moments = np.log(np.maximum(times - clock.origin, 0.0))
        logs = np.interp(moments, log_times, log_counts)
        logs += clock.first_slope * np.minimum(moments - log_times[0], 0.0)
        rate, passed = clock.end_rate, np.maximum(moments - log_times[-1], 0.0)
        ends = np.exp(logs) + rate * np.expm1(clock.last_slope * passed) / clock.last_slope
    else:
        ends = (times - clock.origin) * clock.speed
    is_right = 0.0 < ends[0] < ends[1] < np.inf
    require(is_right, "The clock must go on, and be finite, where curves are read")


def _check_pieces(basis: PiecewiseBasis) -> None:
    n_terms = basis.functions.shape[1]
    tables = (
        (basis.edges, basis.functions),
        (basis.edges, basis.rate_pieces),
        (basis.curve_edges, basis.curves),
    )
    for edges, pieces in tables:
        is_right = len(edges) == len(pieces) > 0 and pieces.shape[1] == n_terms > 0
        require(is_right and pieces.shape[2] > 0, "Pieces of functions must match edges")
        require(_rises(edges), "The edges of pieces must rise")


def _check_sensor(sensor: Sensor) -> None:
    n_atoms = len(sensor.transform)
    require(len(sensor.mean) == n_atoms, "A sensor must have a mean per atom")
    require(
        len(sensor.shares) > 0 or n_atoms == 0, "A sensor must say where its values were"
    )
    if sensor.order == 0:
        require(sensor.knots.size == 0, "A sensor of order 0 must have no knots")
        n_categories = len(sensor.categories or ())
        is_right = n_atoms in {0, n_categories} and len(sensor.shares) in {0, n_categories}
        require(is_right, "A categorical sensor must have an atom per category")
        return
    order, knots = sensor.order, sensor.knots
    require(sensor.categories is None, "A numeric sensor must have no categories")
    require(len(knots) == n_atoms + order >= 2 * order, "A sensor must have enough knots")
    has_ends = np.all(knots[:order] == knots[0]) and np.all(knots[-order:] == knots[-1])
    # De Boor's recursion divides by distances of knots: these must not be zero inside.
    rises = _rises(knots[order - 1 : len(knots) - order + 1])
    require(has_ends and rises, "The knots of a sensor must rise between its ends")


def _check_sensor_basis(basis: FittedSensorBasis) -> None:
    names = [sensor.name for sensor in basis.sensors]
    require(len(set(names)) == len(names), "Sensors must have different names")
    require(basis.n_terms > 0, "Sensors and baseline must have functions")


def _check_mapper(mapper: BinMapper) -> None:
    n_features = len(mapper.is_categorical)
    offsets = mapper.offsets
    is_right = (
        len(offsets) == n_features + 1
        and offsets[0] == 0
        and offsets[-1] == len(mapper.thresholds)
        and bool(np.all(np.diff(offsets) >= 0))
    )
    require(is_right, "Thresholds must be shared out among the features")
    require(
        mapper.n_values.max(initial=0) <= _MAX_BINS, f"Bins must be {_MAX_BINS} at most"
    )
    step = np.diff(mapper.thresholds)
    is_border = np.zeros(len(step), dtype=np.bool_)
    inside = offsets[1:-1]
    is_border[inside[(inside > 0) & (inside < len(mapper.thresholds))] - 1] = True
    owner = np.repeat(mapper.is_categorical, np.diff(offsets))[: len(step)]
    require(np.all((step > 0.0) | is_border | owner), "Thresholds of a feature must rise")


def _take_random_state(state: np.random.RandomState) -> dict[str, Any]:
    parts = state.get_state(legacy=False)
    key = parts["state"]["key"] if parts["bit_generator"] == "MT19937" else None
    return {
        "key": key,
        "pos": parts["state"].get("pos"),
        "has_gauss": int(parts["has_gauss"]),
        "gauss": float(parts["gauss"]),
    }


def _make_random_state(**parts: Any) -> np.random.RandomState:
    require(len(parts["key"]) == 624, "A random state must have 624 words")
    state = np.random.RandomState(0)
    state.set_state(("MT19937", *(parts[name] for name in parts)))
    return state


register(CalendarClock, {"speed": number(0.0)}, later={"origin": number()})
register(
    OperationalClock,
    {
        "origin": number(),
        "log_times": array("float64", "n_knots"),
        "log_counts": array("float64", "n_knots"),
        "first_slope": number(0.0, above=True),
        "last_slope": number(0.0, above=True),
    },
    later={"last_rate": optional(number(0.0, above=True))},
    check=_check_clock,
)
register(PowerBasis, {"exponents": _EXPONENTS, "joint": TRUTH})
register(StepBasis, {"n_cells": whole(1, _MANY)})
register(SplineBasis, {"n_knots": whole(0, _MANY), "order": whole(1, _MANY)})
register(
    PiecewiseBasis,
    {
        "edges": array("float64", "n_pieces"),
        "functions": array("float64", "n_pieces", "n_terms", "n_powers"),
        "rate_pieces": array("float64", "n_pieces", "n_terms", "n_powers"),
        "curve_edges": array("float64", "n_curve_pieces"),
        "curves": array("float64", "n_curve_pieces", "n_terms", "n_powers"),
        "solver": _SOLVER,
    },
    check=_check_pieces,
)
register(
    Sensor,
    {
        "name": TEXT,
        "knots": array("float64", "n_knots"),
        "order": whole(0, _MAX_ORDER),
        "transform": array("float64", "n_atoms", "n_functions"),
        "mean": array("float64", "n_atoms"),
        "shares": array("float64", "n_cells"),
        "categories": optional(sequence(tuple, CATEGORY)),
    },
    check=_check_sensor,
)
register(
    FittedSensorBasis,
    {
        "baseline": optional(_TIME_BASIS),
        "sensors": sequence(tuple, instance(Sensor, words="Sensor")),
    },
    check=_check_sensor_basis,
)
register(
    BinMapper,
    {
        "thresholds": array("float64", "n_thresholds"),
        "offsets": array("int64", "n_features + 1"),
        "is_categorical": array("bool", "n_features"),
    },
    check=_check_mapper,
)
register(
    np.random.RandomState,
    {
        "key": array("uint32", "624"),
        "pos": whole(0, 624),
        "has_gauss": whole(0, 1),
        "gauss": number(),
    },
    take_apart=_take_random_state,
    put_together=_make_random_state,
)

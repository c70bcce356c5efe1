"""Functions of sensors: what a sensor's value adds to the rate, and the baseline beside."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from boostr._checks.numbers import first_few
from boostr._checks.parameters import check_count
from boostr._kernels.atoms import SensorAtoms, evaluate_atoms
from boostr._kernels.path_moments import (
    BaselineValues,
    Histories,
    Paths,
    path_cumulative_moments,
    path_intensity_moments,
)
from boostr._kernels.segments import measure_pieces
from boostr._kernels.solve import GROUPED
from boostr._typing import FloatArray, IndexArray, PositionArray
from boostr.basis._power import PowerBasis
from boostr.basis.base import (
    Basis,
    ClockedEvents,
    ClockedPaths,
    FittedBasis,
    Loss,
    exposed_moments,
    require_paths,
)
from boostr.exceptions import InvalidParameterError

__all__ = [
    "FittedSensorBasis",
    "Sensor",
    "SensorBasis",
    "SensorSample",
    "draw_sensor_sample",
]

_SAMPLE_SIZE = 500_000  # pieces that quantiles and means are read from


@dataclass(frozen=True, slots=True, eq=False)
class SensorSample:
    """A sample of pieces with the time observed in them, and the ranges of all pieces."""

    values: FloatArray  # (n_sensors, n_drawn)
    weights: FloatArray  # (n_drawn,) time on the clock, times the individual's weight
    lows: FloatArray  # (n_sensors,) NaN for a sensor that was never known
    highs: FloatArray  # (n_sensors,)

    def quantiles(self, sensor: int, shares: FloatArray) -> FloatArray:
        """Return the values of a sensor below which it was for given shares of the time."""
        known = ~np.isnan(self.values[sensor])
        values, weights = self.values[sensor][known], self.weights[known]
        order = np.argsort(values, kind="stable")
        until = np.cumsum(weights[order])
        places = np.searchsorted(until, shares * until[-1])
        return np.asarray(values[order][np.minimum(places, len(values) - 1)])


def draw_sensor_sample(
    events: ClockedEvents, weights: FloatArray | None = None
) -> SensorSample:
    """Measure how long every piece was observed, and draw a sample of such pieces."""
    paths = require_paths(events)
    exposure = np.empty(len(paths.begins))
    measure_pieces(
        paths.begins,
        paths.offsets,
        events.window_start,
        events.window_stop,
        events.window_offsets,
        exposure,
    )
    observed = np.flatnonzero(exposure > 0.0)
    lows, highs = _find_ranges(paths.values, observed)
    drawn = observed[:: max(1, len(observed) // _SAMPLE_SIZE)]
    measured = exposure[drawn]
    if weights is not None:
        owner = np.searchsorted(paths.offsets, drawn, side="right") - 1
        measured = measured * weights[owner]
    return SensorSample(paths.values[:, drawn], measured, lows, highs)


def _find_ranges(
    values: FloatArray, observed: PositionArray
) -> tuple[FloatArray, FloatArray]:
    """Return the least and the largest known value of every sensor, sensor by sensor."""
    lows, highs = np.full(len(values), np.nan), np.full(len(values), np.nan)
    for sensor, row in enumerate(values):
        seen = row[observed]
        if not np.isnan(seen).all():
            lows[sensor], highs[sensor] = np.nanmin(seen), np.nanmax(seen)
    return lows, highs


_NEGLIGIBLE = 1e-6  # shares of the largest variance below which a direction is left out
_ROUNDING = 1e-12
_N_CELLS = 50  # in which the time at different values is remembered
_BLOCK = 4096  # individuals whose atoms are looked at together, to bound the memory


@dataclass(frozen=True, slots=True, eq=False)
class Sensor:
    """One sensor: its atoms, and the functions that leaves combine of them.

    A function is ``transform.T @ atoms(z)``. With a baseline beside the sensors the
    functions are centred and of unit variance over the training data, and uncorrelated.
    """

    name: str
    knots: FloatArray  # with both ends of the range as often as the order; none: categories
    order: int  # 0 for categories
    transform: FloatArray  # (n_atoms, n_functions)
    mean: FloatArray  # (n_atoms,) over the training data
    shares: FloatArray  # of the time observed, in equal cells of the range or by category
    categories: tuple[Any, ...] | None = None

    @property
    def low(self) -> float:
        """Least value in training."""
        return float(self.knots[0]) if self.knots.size else np.nan

    @property
    def high(self) -> float:
        """Largest value in training."""
        return float(self.knots[-1]) if self.knots.size else np.nan


@dataclass(frozen=True, slots=True, eq=False)
class FittedSensorBasis:
    """A baseline and sensors with all knots in place."""

    baseline: FittedBasis | None
    sensors: tuple[Sensor, ...]
    solver: int = field(default=GROUPED, init=False)

    @property
    def n_baseline(self) -> int:
        """Number of the baseline's functions, which come first."""
        return 0 if self.baseline is None else self.baseline.n_terms

    @property
    def n_terms(self) -> int:
        """Number of functions, the baseline's and the sensors'."""
        return int(self.starts[-1])

    @property
    def starts(self) -> IndexArray:
        """Where the sensors' functions begin, and the number of all functions."""
        sizes = [sensor.transform.shape[1] for sensor in self.sensors]
        return np.cumsum([self.n_baseline, *sizes]).astype(np.int32)

    @property
    def atoms(self) -> SensorAtoms:
        """The sensors' atoms, as kernels read them."""
        sizes = [len(sensor.transform) for sensor in self.sensors]
        n_knots = [len(sensor.knots) for sensor in self.sensors]
        # A centred function is zero, its average, where the sensor is unknown.
        is_centred = self.baseline is not None
        return SensorAtoms(
            starts=np.cumsum([0, *sizes]).astype(np.int32),
            orders=np.array([sensor.order for sensor in self.sensors], dtype=np.int32),
            knots=_join([sensor.knots for sensor in self.sensors]),
            knot_starts=np.cumsum([0, *n_knots]).astype(np.int32),
            unknown=(
                np.zeros(sum(sizes))
                if is_centred
                else _join([sensor.mean for sensor in self.sensors])
            ),
        )

    @property
    def breaks(self) -> FloatArray:
        """Clock times at which the baseline changes its form."""
        return np.empty(0) if self.baseline is None else self.baseline.breaks

    @property
    def has_constant_rate(self) -> bool:
        """Whether the rate changes only where a sensor does."""
        return self.baseline is None or self.baseline == PowerBasis((1.0,))

    def evaluate_baseline(self, times: FloatArray) -> FloatArray:
        """Return the baseline's functions at clock times, (m, n_baseline)."""
        if self.baseline is None:
            return np.zeros((len(times), 0))
        return self.baseline.evaluate(times)

    def baseline_rates(self, times: FloatArray) -> FloatArray:
        """Return their derivatives, 0 where infinite (at zero)."""
        if self.baseline is None:
            return np.zeros((len(times), 0))
        rates = self.baseline.rates(times)
        return np.where(np.isfinite(rates), rates, 0.0)

    def atom_weights(self, theta: FloatArray) -> FloatArray:
        """Return coefficients of the atoms, (n, n_atoms), from those of the functions."""
        starts = self.starts
        parts = [
            _multiply(theta[:, starts[place] : starts[place + 1]], sensor.transform.T)
            for place, sensor in enumerate(self.sensors)
        ]
        return np.ascontiguousarray(np.hstack([np.zeros((len(theta), 0)), *parts]))

    def combine_atoms(self, atoms: FloatArray) -> FloatArray:
        """Return values of all sensors' functions, (m, n_functions), from the atoms'."""
        starts = self.atoms.starts
        parts = [
            _multiply(atoms[:, starts[place] : starts[place + 1]], sensor.transform)
            for place, sensor in enumerate(self.sensors)
        ]
        return np.hstack([np.zeros((len(atoms), 0)), *parts])

    def functions(self, sensor: int, values: FloatArray) -> FloatArray:
        """Return the functions of one sensor at values, (m, n_functions)."""
        atoms = np.empty((len(values), len(self.sensors[sensor].transform)))
        evaluate_atoms(np.asarray(values, dtype=np.float64), sensor, self.atoms, atoms)
        return _multiply(atoms, self.sensors[sensor].transform)

    def moments(self, events: ClockedEvents, loss: Loss) -> tuple[FloatArray, FloatArray]:
        """Return b and the lower triangles of H of all individuals."""
        n_terms = self.n_terms
        linear = np.empty((len(events), n_terms))
        quadratic = np.empty((len(events), n_terms * (n_terms + 1) // 2))
        for begin in range(0, len(events), _BLOCK):
            block = slice(begin, min(begin + _BLOCK, len(events)))
            linear[block], quadratic[block] = self._block_moments(events.part(block), loss)
        return linear, quadratic

    def _block_moments(
        self, events: ClockedEvents, loss: Loss
    ) -> tuple[FloatArray, FloatArray]:
        atoms, n_baseline = self.atoms, self.n_baseline
        n_raw = n_baseline + len(atoms.unknown)
        linear = np.empty((len(events), n_raw))
        quadratic = np.empty((len(events), n_raw * (n_raw + 1) // 2))
        if self.baseline is not None:
            n_own = n_baseline * (n_baseline + 1) // 2
            own = exposed_moments(self.baseline, events, loss)
            linear[:, :n_baseline], quadratic[:, :n_own] = own
        compute = path_intensity_moments if loss == "intensity" else path_cumulative_moments
        paths = require_paths(events)
        compute(
            len(events),
            Paths(paths.begins, paths.values, paths.offsets),
            atoms,
            self._tabulate_baseline(events, loss),
            Histories(
                events.window_start,
                events.window_stop,
                events.window_offsets,
                events.exposures,
                events.times,
                events.costs,
                events.event_offsets,
            ),
            linear,
            quadratic,
        )
        return self._combine(linear, quadratic)

    def _tabulate_baseline(self, events: ClockedEvents, loss: Loss) -> BaselineValues:
        """Evaluate the baseline's functions wherever kernels need them."""
        begins = np.maximum(require_paths(events).begins, 0.0)
        moments = (begins, events.window_start, events.window_stop, events.times)
        return BaselineValues(*[self._integrate_baseline(each, loss) for each in moments])

    def _integrate_baseline(self, times: FloatArray, loss: Loss) -> FloatArray:
        if self.baseline is None:
            return np.zeros((len(times), 3, 0))
        if loss == "intensity":
            return self.baseline.evaluate(times)[:, None, :]
        orders = [self.baseline.integrals(times, order) for order in range(3)]
        return np.ascontiguousarray(np.stack(orders, axis=1))

    def _combine(
        self, linear: FloatArray, quadratic: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Turn statistics of the atoms into those of the functions."""
        transform = self._transform()
        n_raw, n_terms = transform.shape
        rows, columns = np.tril_indices(n_raw)
        full = np.empty((len(linear), n_raw, n_raw))
        full[:, rows, columns] = quadratic
        full[:, columns, rows] = quadratic
        product = transform.T @ full @ transform
        rows, columns = np.tril_indices(n_terms)
        return _multiply(linear, transform), product[:, rows, columns]

    def _transform(self) -> FloatArray:
        """Return the matrix from functions to the baseline's terms and all atoms."""
        sizes = [len(sensor.transform) for sensor in self.sensors]
        result = np.zeros((self.n_baseline + sum(sizes), self.n_terms))
        result[: self.n_baseline, : self.n_baseline] = np.eye(self.n_baseline)
        row = self.n_baseline
        for place, sensor in enumerate(self.sensors):
            begin, end = self.starts[place], self.starts[place + 1]
            result[row : row + sizes[place], begin:end] = sensor.transform
            row += sizes[place]
        return result


def _multiply(rows: FloatArray, matrix: FloatArray) -> FloatArray:
    """Return ``rows @ matrix``; a row has the same bits whatever other rows there are.

    Libraries for matrices do not promise that.
    """
    return np.asarray(np.einsum("ij,jk->ik", rows, matrix))


@dataclass(frozen=True, slots=True)
class SensorBasis:
    """Leaf functions of sensors: what each sensor's value adds to the rate of events.

    Numbers have B-splines, categories a number each. With a baseline, functions of time
    that are there whatever the sensors say, every sensor's functions are centred: zero is
    what the sensor adds on average over the training data.

    Parameters
    ----------
    n_knots : int or mapping, default=2
        Inner knots of every sensor, at quantiles of its values over the observed time; or
        the knots themselves by the sensor's name, with quantiles for those not named.
    order : int, default=3
        Order of the splines: 1 for steps, 2 for broken lines, 3 for parabolas.
    baseline : basis object or None
        Family of functions of time beside the sensors, a constant rate by default. None
        leaves it out, and the functions as they are: the form of the paper.

    Examples
    --------
    >>> SensorBasis(n_knots={"torque": [0.3, 0.6]}).order
    3
    """

    n_knots: int | Mapping[str, Sequence[float]] = 2
    order: int = 3
    baseline: Basis | None = field(default_factory=lambda: PowerBasis((1.0,)))

    def __post_init__(self) -> None:
        check_count(self.order, "spline_order")
        if not isinstance(self.n_knots, Mapping):
            check_count(self.n_knots, "n_knots", least=0)

    def place(
        self,
        events: ClockedEvents,
        loss: Loss,
        weights: FloatArray | None = None,
        ranges: tuple[FloatArray, FloatArray] | None = None,
    ) -> FittedSensorBasis:
        """Put the knots at quantiles of what the sensors have shown while observed.

        ``ranges`` are the least and the largest values of all sensors where the events are
        those of some individuals, who stand for others.
        """
        paths = require_paths(events)
        self._check_names(paths)
        baseline = None if self.baseline is None else self.baseline.place(events, loss)
        sample = draw_sensor_sample(events, weights)
        if ranges is not None:
            sample = replace(sample, lows=ranges[0], highs=ranges[1])
        sensors = tuple(
            self._fit_sensor(paths, sensor, sample) for sensor in range(len(paths.names))
        )
        if baseline is None and not any(sensor.transform.size for sensor in sensors):
            raise InvalidParameterError(
                "Without a baseline at least one sensor must change while individuals are "
                "observed, but all are constant or unknown.\n\n"
                'Hint: baseline="constant" is there whatever the sensors say.'
            )
        return FittedSensorBasis(baseline, sensors)

    def _check_names(self, paths: ClockedPaths) -> None:
        if not isinstance(self.n_knots, Mapping):
            return
        strangers = [name for name in self.n_knots if name not in paths.names]
        if strangers:
            raise InvalidParameterError(
                f"`n_knots` names sensors that are not there: {first_few(strangers)}.\n\n"
                f"Hint: the sensors are {first_few(paths.names)}."
            )

    def _fit_sensor(self, paths: ClockedPaths, sensor: int, sample: SensorSample) -> Sensor:
        categories = paths.categories[sensor]
        known = ~np.isnan(sample.values[sensor])
        values, weights = sample.values[sensor][known], sample.weights[known]
        if categories is not None:
            knots, order, n_atoms = np.empty(0), 0, len(categories)
        else:
            knots, order = (
                self._place_knots(paths.names[sensor], sample, sensor),
                self.order,
            )
            n_atoms = max(len(knots) - order, 0)
        if n_atoms < 2 or not weights.sum() > 0.0:
            return _silent_sensor(paths.names[sensor], categories)
        atoms = np.empty((len(values), n_atoms))
        bare = SensorAtoms(
            starts=np.array([0, n_atoms], dtype=np.int32),
            orders=np.array([order], dtype=np.int32),
            knots=knots,
            knot_starts=np.array([0, len(knots)], dtype=np.int32),
            unknown=np.zeros(n_atoms),
        )
        evaluate_atoms(values, 0, bare, atoms)
        mean = np.average(atoms, axis=0, weights=weights)
        transform = (
            np.eye(n_atoms) if self.baseline is None else _whiten(atoms, mean, weights)
        )
        shares = mean if order == 0 else _share_out(values, weights, knots[0], knots[-1])
        return Sensor(
            paths.names[sensor], knots, order, transform, mean, shares, categories
        )

    def _place_knots(self, name: str, sample: SensorSample, sensor: int) -> FloatArray:
        low, high = sample.lows[sensor], sample.highs[sensor]
        if not low < high:  # constant, or never known
            return np.empty(0)
        if isinstance(self.n_knots, Mapping) and name in self.n_knots:
            inner = np.unique(np.asarray(self.n_knots[name], dtype=np.float64))
        else:
            n_knots = 2 if isinstance(self.n_knots, Mapping) else self.n_knots
            shares = np.linspace(0.0, 1.0, n_knots + 2)[1:-1]
            inner = np.unique(sample.quantiles(sensor, shares))
        inner = inner[(inner > low) & (inner < high)]
        ends = np.full(self.order, low), np.full(self.order, high)
        return np.concatenate([ends[0], inner, ends[1]])


def _whiten(atoms: FloatArray, mean: FloatArray, weights: FloatArray) -> FloatArray:
    """Return combinations of atoms with mean 0 and variance 1, without correlation."""
    centred = atoms - mean
    gram = (weights[:, None] * centred).T @ centred / weights.sum()
    variances, directions = np.linalg.eigh(gram)
    # Atoms lie between 0 and 1: a tiny variance is rounding, of a sensor that is constant.
    is_used = variances > max(_NEGLIGIBLE * variances[-1], _ROUNDING)
    scaled = directions[:, is_used] / np.sqrt(variances[is_used])
    # Atoms sum to one where the sensor is known: so written, unknown ones give zero.
    return np.asarray(scaled - np.outer(np.ones(len(mean)), mean @ scaled))


def _share_out(
    values: FloatArray, weights: FloatArray, low: float, high: float
) -> FloatArray:
    """Return the share of the weight in equal cells from low to high."""
    amounts, _ = np.histogram(values, bins=_N_CELLS, range=(low, high), weights=weights)
    return np.asarray(amounts / weights.sum())


def _silent_sensor(name: str, categories: tuple[Any, ...] | None) -> Sensor:
    """Return a sensor without functions: it is constant, or was never known."""
    nothing = np.empty(0)
    return Sensor(name, nothing, 0, np.empty((0, 0)), nothing, nothing, categories)


def _join(parts: Sequence[FloatArray]) -> FloatArray:
    return np.concatenate([np.empty(0), *parts])

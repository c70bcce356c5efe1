"""Effect of a sensor on the rate of events, by its value."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from boostr._checks.numbers import check_weights
from boostr._checks.parameters import check_count
from boostr._kernels.segments import measure_pieces
from boostr._typing import AnyArray, FloatArray
from boostr.basis import Sensor
from boostr.data import Trajectories
from boostr.exceptions import InvalidParameterError
from boostr.inspection.model import (
    SensorTerms,
    find_code,
    name_codes,
    read_model,
    split_sensors,
    unused_sensors,
    warn_of_unused,
)

__all__ = ["SensorEffect", "sensor_effect"]


def _training_shares(sensor: Sensor, grid: FloatArray) -> FloatArray | None:
    """Return the share of training time around each value of a grid.

    Cells reach halfway to the neighbours, the outer ones to infinity. None for a sensor
    without training data.
    """
    if sensor.shares.size == 0:
        return None
    if sensor.categories is not None:
        return np.asarray(sensor.shares[grid.astype(np.int64)])
    ends = np.linspace(sensor.low, sensor.high, len(sensor.shares) + 1)
    until = np.concatenate([[0.0], np.cumsum(sensor.shares)])
    return np.diff(np.interp(_middles(grid), ends, until), prepend=0.0, append=1.0)


def _path_shares(
    sensors: Trajectories, place: int, grid: FloatArray, weights: FloatArray, horizon: float
) -> FloatArray:
    """Return the share of time that sensors spend around each value of a grid.

    Time counts from 0 to the horizon where the sensor is known; last values hold. Codes
    of categories must match exactly.
    """
    n = len(sensors)
    time = np.empty(len(sensors.times))
    measure_pieces(
        sensors.begin_times(),
        sensors.offsets,
        np.zeros(n),
        np.full(n, horizon),
        np.arange(n + 1),
        time,
    )
    time *= np.repeat(weights, np.diff(sensors.offsets))
    values = sensors.values[place]
    known = ~np.isnan(values)
    values, time = values[known], time[known]
    total = max(time.sum(), np.finfo(np.float64).tiny)
    if sensors.categories[place] is not None:
        amounts = np.array([time[values == code].sum() for code in grid])
    else:
        cells = np.searchsorted(_middles(grid), values)
        amounts = np.bincount(cells, time, len(grid))
    return np.asarray(amounts / total)


def _middles(grid: FloatArray) -> FloatArray:
    return 0.5 * grid[:-1] + 0.5 * grid[1:]


_BAND = (0.1, 0.9)  # shares of individuals below its two edges


@dataclass(frozen=True, slots=True, eq=False)
class SensorEffect:
    """What one sensor adds to the rate of events, as a function of its value.

    Made by `sensor_effect`. Rates are per unit of time at the average speed of the model's
    clock. With a baseline beside the sensors, zero is what the sensor adds on average over
    the training data; without one (``baseline=None``) the sensor's part of the rate is as
    it is.

    Parameters
    ----------
    sensor : str
        Name of the sensor.
    grid : (m,) array
        Values of the sensor, sorted; categories of a categorical one.
    mean : (m,) float64 array
        Events per unit of time that the sensor adds at each value, averaged over the
        individuals.
    lower, upper : (m,) float64 array
        10th and 90th percentiles, over individuals, of what it adds.
    shares : (m,) float64 array or None
        Share of the time that the sensor spends around each value: of the given sensors,
        or of the training data. They sum to one over a grid that holds all categories, or
        any grid of numbers. None for a sensor that was constant in training.
    coefficients : (n, k) float64 array
        Coefficients of the sensor's functions, one row per individual.
    functions : (m, k) float64 array
        These functions on the grid, per unit of time.
    is_categorical : bool
        Whether the grid holds categories.
    is_centred : bool
        Whether zero is the average over the training data.
    speed : float
        Time that passes on the model's clock per unit of time, averaged over the time in
        which training individuals were observed; 1 on the calendar clock. At time ``t`` the
        sensor adds ``mean * clock.rate(t) / speed``.
    time_unit : str or None
        Unit of time, where it is known.

    See Also
    --------
    sensor_effect : Computes it.
    boostr.plotting.plot_sensor_effect : Draws it.

    Examples
    --------
    >>> from boostr import BoostR
    >>> from boostr.inspection import sensor_effect
    >>> from boostr.simulate import wells
    >>> train = wells(n=100, random_state=1)
    >>> model = BoostR(n_estimators=5, validation=None, random_state=0)
    >>> effect = sensor_effect(model.fit(train.X, train.y, train.Z), train.X, "sensor1")
    >>> effect.curves.shape == (100, len(effect.grid))
    True
    """

    sensor: str
    grid: AnyArray
    mean: FloatArray
    lower: FloatArray
    upper: FloatArray
    shares: FloatArray | None
    coefficients: FloatArray
    functions: FloatArray
    is_categorical: bool
    is_centred: bool
    speed: float
    time_unit: str | None = None

    @property
    def curves(self) -> FloatArray:
        """What the sensor adds to every individual, (n, m)."""
        return np.asarray(self.coefficients @ self.functions.T)


def sensor_effect(
    model: Any,
    X: Any,
    sensor: str | int,
    *,
    grid: ArrayLike | None = None,
    n_grid: int = 50,
    Z: Trajectories | None = None,
    sample_weight: ArrayLike | None = None,
) -> SensorEffect:
    """Compute what a sensor adds to the rate of events, value by value.

    The effect ``b(z)`` of a sensor is the sum of its functions in the leaves that an
    individual falls into. It differs between individuals by their static features and is
    the same whatever the other sensors show. It is what the trees add up to: predictions
    take rates below zero as zero.

    Parameters
    ----------
    model : BoostR
        A model that was fitted with sensors.
    X : array-like or DataFrame of shape (n, p), or Panel
        Static features of the individuals to average over: those of the training data, or
        of any group, for instance one region.
    sensor : str or int
        Name or position of the sensor.
    grid : array-like, default=None
        Values of the sensor, or categories. By default numbers are spread evenly over the
        range of the training data, and all categories are taken. Values outside of that
        range have the effect of the nearest one seen.
    n_grid : int, default=50
        Number of values, where they are spread evenly.
    Z : Trajectories, default=None
        Sensors of the same individuals, to see at which values they spend their time from 0
        to the horizon of training; their last values hold. By default the shares of time
        are those of the training data.
    sample_weight : array-like of shape (n,), default=None
        How much each individual counts.

    Returns
    -------
    SensorEffect
        The average effect, the band that holds the effects on four individuals of five, and
        the share of time behind each value.

    See Also
    --------
    sensor_importance : Ranks the sensors.
    boostr.plotting.plot_sensor_effect : Draws the result.

    Notes
    -----
    The operational clock runs faster when the average individual has more events. Rates
    are given at its average speed ``(s(T) - s(a)) / (T - a)``, where ``T`` is the horizon
    of training and ``a`` the first time at which an individual was observed;
    `SensorEffect.speed` tells it.

    Examples
    --------
    In the south-west of this field, wells have 0.1 events a day more when their first
    sensor shows more than 0.6.

    >>> from boostr import BoostR
    >>> from boostr.inspection import sensor_effect
    >>> from boostr.simulate import wells
    >>> train = wells(n=400, random_state=1)
    >>> model = BoostR(n_estimators=100, validation=None, random_state=0)
    >>> model = model.fit(train.X, train.y, train.Z)
    >>> south_west = train.X[train.truth.region() == 0]
    >>> effect = sensor_effect(model, south_west, "sensor1", grid=[0.2, 0.9])
    >>> round(float(effect.mean[1] - effect.mean[0]), 1)
    0.1
    """
    fitted = read_model(model)
    found = fitted.find_sensor(sensor)
    table, own = split_sensors(X, Z)
    features = fitted.read_features(table)
    weights = check_weights(sample_weight, features)
    given = None if own is None else fitted.read_sensors(own, "sensor_effect")
    check_count(n_grid, "n_grid", 2)
    values = _spread_values(found, grid, n_grid, given)
    warn_of_unused({found.sensor.name}.intersection(unused_sensors(model)), "sensor")
    coefficients = fitted.sum_trees(features)[:, found.terms]
    speed = fitted.mean_speed()
    functions = speed * fitted.sensor_basis().functions(found.place, values)
    lower, upper = _find_band(coefficients, functions, weights)
    return SensorEffect(
        sensor=found.sensor.name,
        grid=name_codes(found.sensor.categories, values),
        mean=np.average(coefficients, axis=0, weights=weights) @ functions.T,
        lower=lower,
        upper=upper,
        shares=(
            _training_shares(found.sensor, values)
            if given is None
            else _path_shares(given, found.place, values, weights, fitted.horizon)
        ),
        coefficients=coefficients,
        functions=functions,
        is_categorical=found.sensor.categories is not None,
        is_centred=fitted.sensor_basis().baseline is not None,
        speed=speed,
        time_unit=fitted.time_unit,
    )


def _spread_values(
    found: SensorTerms, grid: ArrayLike | None, n_grid: int, given: Trajectories | None
) -> FloatArray:
    """Return the values, or codes of categories, at which the effect is evaluated."""
    sensor = found.sensor
    if sensor.categories is not None:
        if grid is None:
            return np.arange(len(sensor.categories), dtype=np.float64)
        asked = np.atleast_1d(np.asarray(grid, dtype=object)).tolist()
        owner = f"sensor {sensor.name!r}"
        return np.unique([find_code(value, sensor.categories, owner) for value in asked])
    if grid is not None:
        return _check_numbers(grid)
    low, high = _find_range(found, given)
    return np.unique(np.linspace(low, high, n_grid))


def _find_range(found: SensorTerms, given: Trajectories | None) -> tuple[float, float]:
    """Return the range in training, or that of the given sensors if it was constant."""
    if found.sensor.knots.size:
        return found.sensor.low, found.sensor.high
    if given is not None and not np.isnan(given.values[found.place]).all():
        values = given.values[found.place]
        return float(np.nanmin(values)), float(np.nanmax(values))
    raise InvalidParameterError(
        f"A sensor must have a range of values to spread a grid over, but "
        f"{found.sensor.name!r} was constant or unknown in training, and adds nothing.\n\n"
        "Hint: pass grid=…, or sensors as Z=…."
    )


def _check_numbers(grid: ArrayLike) -> FloatArray:
    try:
        values = np.atleast_1d(np.asarray(grid, dtype=np.float64))
    except (TypeError, ValueError) as error:
        raise InvalidParameterError(
            f"`grid` must be numbers, but it is {grid!r}.\n\n"
            "Hint: only categorical sensors take other values."
        ) from error
    if values.ndim != 1 or values.size == 0 or not np.isfinite(values).all():
        raise InvalidParameterError(
            "`grid` must be finite numbers in one dimension, but its shape is "
            f"{values.shape} and {int((~np.isfinite(values)).sum())} are not finite."
        )
    return np.unique(values)


def _find_band(
    coefficients: FloatArray, functions: FloatArray, weights: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return quantiles of the effect over individuals."""
    band = np.empty((2, len(functions)))
    for place, function in enumerate(functions):  # one by one, to bound the memory
        effects = coefficients @ function
        order = np.argsort(effects, kind="stable")
        until = np.cumsum(weights[order])
        ranks = np.searchsorted(until, np.array(_BAND) * until[-1])
        band[:, place] = effects[order][np.minimum(ranks, len(order) - 1)]
    return band[0], band[1]

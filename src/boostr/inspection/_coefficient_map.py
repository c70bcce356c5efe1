"""Predictions of a model over a grid of two static features."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from boostr._typing import AnyArray, FloatArray
from boostr.basis import FittedSensorBasis
from boostr.exceptions import InvalidParameterError
from boostr.inspection._partial_dependence import Quantity, make_plane
from boostr.inspection.model import FittedModel, find_code, read_model

__all__ = ["CoefficientMap", "coefficient_map"]

Kind = Literal["norm", "effect", "baseline", "expected"]


@dataclass(frozen=True, slots=True, eq=False)
class CoefficientMap:
    """A number that a model gives, over a grid of two static features.

    Made by `coefficient_map`.

    Parameters
    ----------
    feature_x, feature_y : str
        Names of the two features.
    x_grid : (n_x,) array
        Values of the first one, sorted; categories of a categorical one.
    y_grid : (n_y,) array
        Values of the second one.
    values : (n_y, n_x) float64 array
        The number at every pair of values.
    kind : {"norm", "effect", "baseline", "expected"}
        What it is: the length of a sensor's coefficients, what the sensor adds to the rate
        where its value is `at`, the rate that is there whatever the sensors show, or the
        number of events by the horizon. Rates are per unit of time, on average over the
        time in which training individuals were observed.
    sensor : str or None
        Name of the sensor, where it is about one.
    at : object
        Value of the sensor, where one was given.
    horizon : float
        Last end of follow-up in training.
    time_unit : str or None
        Unit of time, where it is known.

    See Also
    --------
    coefficient_map : Computes it.
    boostr.plotting.plot_coefficient_map : Draws it.

    Examples
    --------
    >>> from boostr import BoostR
    >>> from boostr.inspection import coefficient_map
    >>> from boostr.simulate import dataset_a
    >>> train = dataset_a(n=100, random_state=1)
    >>> model = BoostR(n_estimators=5, validation=None, random_state=0)
    >>> result = coefficient_map(model.fit(train.X, train.y), 0, 1, n_grid=20)
    >>> result.kind, result.values.shape
    ('expected', (20, 20))
    """

    feature_x: str
    feature_y: str
    x_grid: AnyArray
    y_grid: AnyArray
    values: FloatArray
    kind: Kind
    sensor: str | None
    at: Any
    horizon: float
    time_unit: str | None = None


def coefficient_map(
    model: Any,
    feature_x: str | int,
    feature_y: str | int,
    *,
    sensor: str | int | None = None,
    at: Any = None,
    X: Any = None,
    average: bool = False,
    n_grid: int = 50,
) -> CoefficientMap:
    """Compute what a model says of individuals over a grid of two static features.

    Parameters
    ----------
    model : BoostR
        A fitted model.
    feature_x, feature_y : str or int
        Names or positions of two features. Numbers are spread evenly over their range,
        categories are all taken.
    sensor : str or int, default=None
        Name or position of a sensor, to map how strong its effect is. By default the map is
        of the rate that is there whatever the sensors show; for a model without sensors, of
        the number of events by the horizon of training.
    at : float or category, default=None
        Value of the sensor at which its effect is mapped: the events per unit of time
        that it adds. By default the length of its coefficients: with a baseline this is the
        standard deviation over time of what it adds.
    X : array-like or DataFrame of shape (n, p), or Panel, default=None
        Individuals that give the range of the two features and the values of all others. By
        default the bins of training stand for them, and other categorical features are
        missing.
    average : bool, default=False
        Whether the map is averaged over the rows of `X`, each with its own values of all
        other features. By default the others are held at their medians, categories at the
        most frequent one. Averages take ``n_grid ** 2 * n`` predictions: some hundred rows
        are enough.
    n_grid : int, default=50
        Values of a feature that is a number.

    Returns
    -------
    CoefficientMap
        The map.

    See Also
    --------
    sensor_effect : The effect of a sensor at all its values.
    boostr.plotting.plot_coefficient_map : Draws the result.

    Examples
    --------
    Machines have one, five or ten events in a hundred days, depending on two features.

    >>> from boostr import BoostR
    >>> from boostr.inspection import coefficient_map
    >>> from boostr.simulate import dataset_a
    >>> train = dataset_a(n=1000, random_state=0)
    >>> model = BoostR(n_estimators=100, max_leaf_nodes=4, validation=None)
    >>> result = coefficient_map(model.fit(train.X, train.y), "x0", "x1", n_grid=2)
    >>> result.values.round(0)
    array([[ 1.,  5.],
           [ 5., 10.]])
    """
    fitted = read_model(model)
    kind, quantity = _choose_quantity(fitted, sensor, at)
    plane = make_plane(fitted, (feature_x, feature_y), X, average, n_grid)
    return CoefficientMap(
        **plane.describe(fitted),
        values=plane.evaluate(fitted, quantity),
        kind=kind,
        sensor=None if sensor is None else fitted.find_sensor(sensor).sensor.name,
        at=at,
        horizon=fitted.horizon,
        time_unit=fitted.time_unit,
    )


def _choose_quantity(model: FittedModel, sensor: Any, at: Any) -> tuple[Kind, Quantity]:
    """Return the function of coefficients to be mapped, and its name."""
    basis = model.basis
    if sensor is not None:
        return _choose_sensor_quantity(model, sensor, at)
    if at is not None:
        raise InvalidParameterError(
            f"`at` must be the value of a sensor, but no sensor is named for {at!r}.\n\n"
            'Hint: coefficient_map(…, sensor="torque", at=5.0).'
        )
    begin, end = model.observed_span()
    times = model.clock.read(np.array([begin, end]))
    if not isinstance(basis, FittedSensorBasis):
        moment = np.array([end])
        return "expected", lambda theta: model.expected(theta, moment)[:, 0]
    if basis.baseline is None:
        raise InvalidParameterError(
            "The model must have a baseline to map, but it was fitted with "
            "baseline=None.\n\nHint: coefficient_map(…, sensor=…) maps the effect of a "
            "sensor."
        )
    rates = np.diff(basis.evaluate_baseline(times), axis=0)[0] / (end - begin)
    return "baseline", lambda theta: theta[:, : basis.n_baseline] @ rates


def _choose_sensor_quantity(
    model: FittedModel, sensor: Any, at: Any
) -> tuple[Kind, Quantity]:
    found = model.find_sensor(sensor)
    speed = model.mean_speed()
    basis = model.basis
    assert isinstance(basis, FittedSensorBasis)  # noqa: S101 - it has the sensor
    if at is None:
        return "norm", lambda theta: speed * np.linalg.norm(theta[:, found.terms], axis=1)
    categories = found.sensor.categories
    if categories is not None:
        at = find_code(at, categories, f"sensor {found.sensor.name!r}")
    elif not isinstance(at, int | float | np.number) or not np.isfinite(at):
        raise InvalidParameterError(
            f"`at` must be a finite number for sensor {found.sensor.name!r}, but it is "
            f"{at!r}."
        )
    functions = speed * basis.functions(found.place, np.array([at], dtype=np.float64))[0]
    return "effect", lambda theta: theta[:, found.terms] @ functions

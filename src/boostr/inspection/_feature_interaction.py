"""How two static features act together on the number of events by given times."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from boostr._typing import AnyArray, FloatArray
from boostr.basis import FittedSensorBasis
from boostr.exceptions import InvalidParameterError
from boostr.inspection._feature_grid import (
    evaluate_pairs,
    make_grid,
    name_values,
    typical_values,
)
from boostr.inspection._model import (
    FittedModel,
    check_model,
    find_feature,
    read_features,
    time_unit,
)
from boostr.inspection._sensor_effect import check_n_grid
from boostr.inspection._times import check_grid

__all__ = ["FeatureInteraction", "feature_interaction"]


@dataclass(frozen=True, slots=True, eq=False)
class FeatureInteraction:
    """Cumulative intensity over a grid of two static features, at given times.

    Made by `feature_interaction`.

    Parameters
    ----------
    feature_x, feature_y : str
        Names of the two features.
    x_grid : (n_x,) array
        Values of the first one, sorted; categories of a categorical one.
    y_grid : (n_y,) array
        Values of the second one.
    times : (m,) float64 array
        Times, ascending.
    values : (m, n_y, n_x) float64 array
        Expected number of events by each time, at every pair of values.
    time_unit : str or None
        Unit of time, where it is known.

    See Also
    --------
    feature_interaction : Computes it.
    boostr.plotting.plot_interaction : Draws it.

    Examples
    --------
    >>> from boostr import BoostR
    >>> from boostr.inspection import feature_interaction
    >>> from boostr.simulate import dataset_a
    >>> train = dataset_a(n=150, random_state=1)
    >>> model = BoostR(n_estimators=5, validation=None).fit(train.X, train.y)
    >>> result = feature_interaction(model, "x0", "x1", times=[50, 100], n_grid=20)
    >>> result.values.shape
    (2, 20, 20)
    """

    feature_x: str
    feature_y: str
    x_grid: AnyArray
    y_grid: AnyArray
    times: FloatArray
    values: FloatArray
    time_unit: str | None = None


def feature_interaction(
    model: Any,
    feature_x: str | int,
    feature_y: str | int,
    *,
    times: ArrayLike | None = None,
    X: Any = None,
    average: bool = False,
    n_grid: int = 50,
) -> FeatureInteraction:
    """Compute the cumulative intensity over two static features at given times.

    Parameters
    ----------
    model : BoostR
        A model that was fitted without sensors.
    feature_x, feature_y : str or int
        Names or positions of two features. Numbers are spread evenly over their range,
        categories are all taken.
    times : float or array-like of shape (m,), default=None
        Times; half the horizon of training, and the horizon, by default.
    X : array-like or DataFrame of shape (n, p), default=None
        Individuals that give the range of the two features and the values of all others. By
        default the bins of training stand for them.
    average : bool, default=False
        Whether the map is averaged over the rows of `X`, each with its own values of all
        other features. By default the others are held at their medians, categories at the
        most frequent one.
    n_grid : int, default=50
        Values of a feature that is a number.

    Returns
    -------
    FeatureInteraction
        One map per time.

    See Also
    --------
    coefficient_map : The same for one time, and for the effects of sensors.
    boostr.plotting.plot_interaction : Draws the result.

    Examples
    --------
    >>> from boostr import BoostR
    >>> from boostr.inspection import feature_interaction
    >>> from boostr.simulate import dataset_a
    >>> train = dataset_a(n=1000, random_state=0)
    >>> model = BoostR(n_estimators=100, max_leaf_nodes=4, validation=None)
    >>> model = model.fit(train.X, train.y)
    >>> feature_interaction(model, 0, 1, times=100, n_grid=2).values.round(0)
    array([[[ 1.,  5.],
            [ 5., 10.]]])
    """
    fitted = check_model(model)
    if isinstance(fitted.ensemble_.basis, FittedSensorBasis):
        raise InvalidParameterError(
            "The model must have no sensors, but it was fitted with some.\n\n"
            "Hint: coefficient_map(model, feature_x, feature_y, sensor=…) maps what a "
            "sensor adds."
        )
    columns = find_feature(fitted, feature_x), find_feature(fitted, feature_y)
    rows = None if X is None else read_features(fitted, X)
    if average and rows is None:
        raise InvalidParameterError(
            "An average needs individuals, but `X` is missing.\n\n"
            "Hint: feature_interaction(…, X=X, average=True)."
        )
    moments = check_grid(times, np.array([0.5, 1.0]) * fitted.horizon_)
    grids = [make_grid(fitted, rows, each, check_n_grid(n_grid)) for each in columns]
    others = rows if average and rows is not None else typical_values(fitted, rows)[None]
    return FeatureInteraction(
        feature_x=fitted.encoder_.names[columns[0]],
        feature_y=fitted.encoder_.names[columns[1]],
        x_grid=name_values(fitted, columns[0], grids[0]),
        y_grid=name_values(fitted, columns[1], grids[1]),
        times=moments,
        values=np.stack(
            [_map_at(fitted, others, columns, grids, moment) for moment in moments]
        ),
        time_unit=time_unit(fitted),
    )


def _map_at(
    model: FittedModel,
    others: FloatArray,
    columns: tuple[int, int],
    grids: list[FloatArray],
    moment: float,
) -> FloatArray:
    """Return the expected number of events by one time, (n_y, n_x)."""
    clock = model.clock_.read(np.array([moment]))

    def count(theta: FloatArray) -> FloatArray:
        return model.ensemble_.curves(theta, monotone=model.monotone).values(clock)[:, 0]

    return evaluate_pairs(model, others, columns, grids, count)

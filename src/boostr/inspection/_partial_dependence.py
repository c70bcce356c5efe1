"""Expected curves if a feature had other values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from boostr._typing import AnyArray, FloatArray
from boostr.data import Trajectories
from boostr.data._frames import make_table
from boostr.exceptions import InvalidParameterError
from boostr.inspection._feature_grid import make_grid, name_values
from boostr.inspection._individuals import find_ids, read_sensors
from boostr.inspection._model import (
    FittedModel,
    check_model,
    find_feature,
    read_features,
    split_sensors,
    sum_trees,
    time_unit,
    unused_features,
    warn_of_unused,
)
from boostr.inspection._sensor_effect import check_n_grid
from boostr.inspection._times import check_grid

__all__ = ["PartialDependence", "partial_dependence"]


@dataclass(frozen=True, slots=True, eq=False)
class PartialDependence:
    """Expected numbers of events by given times, over the values of one feature.

    Made by `partial_dependence`.

    Parameters
    ----------
    feature : str
        Name of the feature.
    grid : (g,) array
        Its values, ascending; all categories of a categorical one.
    times : (m,) float64 array
        Times, ascending.
    average : (g, m) float64 array
        Expected number of events by each time if all individuals had this value, averaged
        over them.
    individual : (n, g, m) float64 array or None
        The same for every individual, where that was asked for.
    ids : (n,) array
        Labels of the individuals.
    observed : (n,) float64 array
        Values of the individuals; codes of categories, NaN where missing.
    time_unit : str or None
        Unit of time, where it is known.

    See Also
    --------
    partial_dependence : Computes it.
    boostr.plotting.plot_partial_dependence : Draws it.

    Examples
    --------
    >>> from boostr import BoostR
    >>> from boostr.inspection import partial_dependence
    >>> from boostr.simulate import dataset_a
    >>> train = dataset_a(n=150, random_state=1)
    >>> model = BoostR(n_estimators=5, validation=None).fit(train.X, train.y)
    >>> result = partial_dependence(model, train.X, "x0", times=[50, 100], n_grid=20)
    >>> result.average.shape
    (20, 2)
    """

    feature: str
    grid: AnyArray
    times: FloatArray
    average: FloatArray
    individual: FloatArray | None
    ids: AnyArray
    observed: FloatArray
    time_unit: str | None = None

    def to_frame(self, *, backend: str | None = None) -> Any:
        """Write a table of the averages, one row per value of the feature and time.

        Parameters
        ----------
        backend : {"pandas", "polars"}, default=None
            Which table to make; by default pandas if it is installed, else polars.

        Returns
        -------
        DataFrame
            Columns "value", "time" and "expected".

        Examples
        --------
        >>> from boostr import BoostR
        >>> from boostr.inspection import partial_dependence
        >>> from boostr.simulate import dataset_a
        >>> train = dataset_a(n=150, random_state=1)
        >>> model = BoostR(n_estimators=5, validation=None).fit(train.X, train.y)
        >>> partial_dependence(model, train.X, "x0", n_grid=20).to_frame().shape
        (40, 3)
        """
        columns = {
            "value": np.repeat(self.grid, len(self.times)),
            "time": np.tile(self.times, len(self.grid)),
            "expected": self.average.ravel(),
        }
        return make_table(columns, backend)


def partial_dependence(
    model: Any,
    X: Any,
    feature: str | int,
    *,
    times: ArrayLike | None = None,
    Z: Trajectories | None = None,
    kind: Literal["average", "individual"] = "average",
    n_grid: int = 30,
) -> PartialDependence:
    """Compute what is expected by given times if a feature had other values.

    Everybody keeps all other features, and the sensors, and is given one value of the
    feature after the other.

    Parameters
    ----------
    model : BoostR
        A fitted model.
    X : array-like or DataFrame of shape (n, p), or Panel
        Static features of the individuals.
    feature : str or int
        Name or position of a feature. Numbers are spread evenly over the range in `X`,
        categories are all taken.
    times : float or array-like of shape (m,), default=None
        Times; half the horizon of training, and the horizon, by default.
    Z : Trajectories, default=None
        Sensors, for a model that was fitted with them; their last values hold.
    kind : {"average", "individual"}, default="average"
        Averages over individuals alone, or the curves of every individual, too (individual
        conditional expectation).
    n_grid : int, default=30
        Values of a feature that is a number.

    Returns
    -------
    PartialDependence
        Curves over the values and times.

    See Also
    --------
    explain : Reasons for the value that an individual has.
    feature_interaction : The same over two features.
    boostr.plotting.plot_partial_dependence : Draws the result.

    Notes
    -----
    Values are combined with all others, also where that never happens: of features that go
    together, such as age and mileage, the curves show individuals that nobody has seen.

    Examples
    --------
    Machines fail once, five or ten times, as two features are below or above one half.

    >>> from boostr import BoostR
    >>> from boostr.inspection import partial_dependence
    >>> from boostr.simulate import dataset_a
    >>> train = dataset_a(n=1000, random_state=0)
    >>> model = BoostR(n_estimators=100, max_leaf_nodes=4, validation=None)
    >>> model = model.fit(train.X, train.y)
    >>> result = partial_dependence(
    ...     model, [[0.1, 0.2], [0.9, 0.2]], "x0", times=100, n_grid=2, kind="individual"
    ... )
    >>> result.individual[:, :, 0].round(0)
    array([[1., 5.],
           [1., 5.]])
    """
    if kind not in {"average", "individual"}:
        raise InvalidParameterError(
            f"`kind` must be 'average' or 'individual', but it is {kind!r}."
        )
    fitted = check_model(model)
    column = find_feature(fitted, feature)
    name = fitted.encoder_.names[column]
    warn_of_unused({name}.intersection(unused_features(fitted)), "feature")
    table, given = split_sensors(X, Z)
    rows = read_features(fitted, table)
    sensors = read_sensors(fitted, given, "partial_dependence")
    moments = check_grid(times, np.array([0.5, 1.0]) * fitted.horizon_)
    grid = make_grid(fitted, rows, column, check_n_grid(n_grid))
    average = np.empty((len(grid), len(moments)))
    individual = np.empty((len(rows), *average.shape)) if kind == "individual" else None
    for place, value in enumerate(grid):
        curves = _predict_as_if(fitted, rows, sensors, column, value, moments)
        average[place] = curves.mean(axis=0)
        if individual is not None:
            individual[:, place] = curves
    return PartialDependence(
        feature=name,
        grid=name_values(fitted, column, grid),
        times=moments,
        average=average,
        individual=individual,
        ids=find_ids(table, given, len(rows)),
        observed=rows[:, column].copy(),
        time_unit=time_unit(fitted),
    )


def _predict_as_if(
    model: FittedModel,
    rows: FloatArray,
    sensors: Trajectories | None,
    column: int,
    value: float,
    times: FloatArray,
) -> FloatArray:
    """Return the curves of individuals with a feature set to one value, (n, m)."""
    changed = rows.copy()
    changed[:, column] = value
    theta = sum_trees(model, changed)
    curves = model.ensemble_.curves(theta, sensors, monotone=model.monotone)
    return curves.values(model.clock_.read(times))

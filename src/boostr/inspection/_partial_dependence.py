"""Expected curves if one feature, or two, had other values."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from boostr._checks.parameters import check_choice, check_count
from boostr._typing import AnyArray, FloatArray
from boostr.basis import FittedSensorBasis
from boostr.data import Trajectories
from boostr.data.events.frames import make_table
from boostr.exceptions import InvalidParameterError
from boostr.inspection.model import (
    FittedModel,
    find_ids,
    name_codes,
    read_model,
    sort_times,
    split_sensors,
    unused_features,
    warn_of_unused,
)

__all__ = [
    "FeatureInteraction",
    "PartialDependence",
    "Plane",
    "Quantity",
    "feature_interaction",
    "make_plane",
    "partial_dependence",
]

_BLOCK = 100_000  # rows computed together, to bound the memory

Quantity = Callable[[FloatArray], FloatArray]  # of coefficients


def _make_grid(
    model: FittedModel, rows: FloatArray | None, column: int, n_grid: int
) -> FloatArray:
    """Return grid values of a feature, or all codes of its categories."""
    categories = model.categories[column]
    if categories is not None:
        return np.arange(len(categories), dtype=np.float64)
    known = _known_values(model, rows, column)
    if known.size:
        return np.unique(np.linspace(known.min(), known.max(), n_grid))
    name = model.names[column]
    where = "in training" if rows is None else "in `X`"
    raise InvalidParameterError(
        f"A feature must have a range of values to spread a grid over, but {name!r} was "
        f"constant or missing {where}.\n\nHint: pass individuals that differ in it, X=…."
    )


def _known_values(model: FittedModel, rows: FloatArray | None, column: int) -> FloatArray:
    """Return values of a feature: those of individuals, or the bin thresholds."""
    if rows is not None:
        return rows[~np.isnan(rows[:, column]), column]
    mapper = model.ensemble.mapper
    return mapper.thresholds[mapper.offsets[column] : mapper.offsets[column + 1]]


def _typical_values(model: FittedModel, rows: FloatArray | None) -> FloatArray:
    """Return medians of numbers and the most frequent categories, NaN if unknown."""
    typical = np.full(len(model.names), np.nan)
    for column, categories in enumerate(model.categories):
        known = _known_values(model, rows, column)
        if known.size and categories is None:
            typical[column] = np.median(known)
        elif known.size and rows is not None:
            typical[column] = np.bincount(known.astype(np.int64)).argmax()
    return typical


@dataclass(frozen=True, slots=True, eq=False)
class Plane:
    """A grid over two features, and the rows of all features to average over."""

    columns: tuple[int, int]
    grids: tuple[FloatArray, FloatArray]
    others: FloatArray  # (n, p)

    def describe(self, model: FittedModel) -> dict[str, Any]:
        """Return names and values of the two features."""
        across, along = self.columns
        return {
            "feature_x": model.names[across],
            "feature_y": model.names[along],
            "x_grid": name_codes(model.categories[across], self.grids[0]),
            "y_grid": name_codes(model.categories[along], self.grids[1]),
        }

    def evaluate(self, model: FittedModel, quantity: Quantity) -> FloatArray:
        """Return the quantity at all pairs of values, averaged over the other features."""
        x, y = (axis.ravel() for axis in np.meshgrid(*self.grids))
        n = len(self.others)
        means = np.empty(len(x))
        n_cells = max(1, _BLOCK // n)
        for begin in range(0, len(x), n_cells):
            block = slice(begin, begin + n_cells)
            features = np.tile(self.others, (len(x[block]), 1))
            features[:, self.columns[0]] = np.repeat(x[block], n)
            features[:, self.columns[1]] = np.repeat(y[block], n)
            values = quantity(model.sum_trees(features))
            means[block] = values.reshape(-1, n).mean(axis=1)
        return means.reshape(len(self.grids[1]), len(self.grids[0]))


def make_plane(
    model: FittedModel, features: tuple[Any, Any], X: Any, average: bool, n_grid: int
) -> Plane:
    """Return the grid of two features; others as in `X` or at typical values."""
    columns = model.find_feature(features[0]), model.find_feature(features[1])
    rows = None if X is None else model.read_features(X)
    if average and rows is None:
        raise InvalidParameterError(
            "An average needs individuals, but `X` is missing.\n\n"
            "Hint: pass X=X beside average=True."
        )
    check_count(n_grid, "n_grid", 2)
    first, second = (_make_grid(model, rows, each, n_grid) for each in columns)
    others = rows if average and rows is not None else _typical_values(model, rows)[None]
    return Plane(columns, (first, second), others)


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
        The same for every individual, for ``kind="individual"``.
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

    All individuals keep their other features and their sensors, and get one value of the
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
    together, such as age and mileage, the curves show individuals that do not exist.

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
    check_choice(kind, ("average", "individual"), "kind")
    check_count(n_grid, "n_grid", 2)
    fitted = read_model(model)
    column = fitted.find_feature(feature)
    name = fitted.names[column]
    warn_of_unused({name}.intersection(unused_features(model)), "feature")
    table, given = split_sensors(X, Z)
    rows = fitted.read_features(table)
    sensors = fitted.read_sensors(given, "partial_dependence")
    moments = sort_times(times, np.array([0.5, 1.0]) * fitted.horizon)
    grid = _make_grid(fitted, rows, column, n_grid)
    average = np.empty((len(grid), len(moments)))
    individual = np.empty((len(rows), *average.shape)) if kind == "individual" else None
    changed = rows.copy()
    for place, value in enumerate(grid):
        changed[:, column] = value
        curves = fitted.expected(fitted.sum_trees(changed), moments, sensors)
        average[place] = curves.mean(axis=0)
        if individual is not None:
            individual[:, place] = curves
    return PartialDependence(
        feature=name,
        grid=name_codes(fitted.categories[column], grid),
        times=moments,
        average=average,
        individual=individual,
        ids=find_ids(table, given, len(rows)),
        observed=rows[:, column].copy(),
        time_unit=fitted.time_unit,
    )


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
    fitted = read_model(model)
    if isinstance(fitted.basis, FittedSensorBasis):
        raise InvalidParameterError(
            "The model must have no sensors, but it was fitted with some.\n\n"
            "Hint: coefficient_map(model, feature_x, feature_y, sensor=…) maps what a "
            "sensor adds."
        )
    moments = sort_times(times, np.array([0.5, 1.0]) * fitted.horizon)
    plane = make_plane(fitted, (feature_x, feature_y), X, average, n_grid)

    def evaluate(moment: float) -> FloatArray:
        time = np.array([moment])
        return plane.evaluate(fitted, lambda theta: fitted.expected(theta, time)[:, 0])

    return FeatureInteraction(
        **plane.describe(fitted),
        times=moments,
        values=np.stack([evaluate(moment) for moment in moments]),
        time_unit=fitted.time_unit,
    )

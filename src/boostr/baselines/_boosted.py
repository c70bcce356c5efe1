"""Baselines whose trees another library boosts, on rows made from event histories."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from boostr._checks.parameters import check_count, check_number, count_threads
from boostr._typing import BoolArray, FloatArray
from boostr.baselines._base import (
    Baseline,
    BaselineData,
    need_features,
    refuse_no_events,
)
from boostr.baselines._boosters import (
    Booster,
    BoosterSettings,
    HistGradientBoosting,
    LightGBM,
    XGBoost,
)
from boostr.baselines._curves import BrokenLines, MeanCurves
from boostr.baselines._rows import Rows, TimeCells, cross
from boostr.baselines._steps import GroupSteps, StepFamily, TimeGrid
from boostr.data import RecurrentEvents, RiskTable, Trajectories
from boostr.exceptions import InvalidEventsError

__all__ = [
    "BoostedBaseline",
    "HistGradientBoostingPoisson",
    "HistGradientBoostingRate",
    "HistGradientBoostingTime",
    "LightGBMPoisson",
    "XGBoostPoisson",
    "XGBoostTime",
]

_N_CELLS = 10
_N_TIMES = 20
_N_WITH_SENSORS = 50  # cells, or times: sensors are nearly constant in between


class BoostedBaseline(Baseline):
    """Baseline whose trees another library boosts.

    Subclasses implement `_make_rows`, and name the library.
    """

    _booster: ClassVar[Booster]

    def __init__(
        self,
        *,
        n_estimators: int = 200,
        learning_rate: float = 0.05,
        max_leaf_nodes: int = 6,
        min_samples_leaf: int = 20,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_estimators = n_estimators
        self.learning_rate = learning_rate
        self.max_leaf_nodes = max_leaf_nodes
        self.min_samples_leaf = min_samples_leaf
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _check_params(self) -> None:
        check_count(self.n_estimators, "n_estimators")
        check_number(self.learning_rate, "learning_rate", 0.0, 1.0)
        check_count(self.max_leaf_nodes, "max_leaf_nodes", least=2)
        check_count(self.min_samples_leaf, "min_samples_leaf")
        count_threads(self.n_jobs)

    def _learn(self, data: BaselineData) -> None:
        self.model_ = self._train(self._make_rows(data))

    def _make_rows(self, data: BaselineData) -> Rows:
        raise NotImplementedError

    def _train(self, rows: Rows) -> Any:
        return self._booster.train(self._settings(), rows)

    def _predict(
        self, features: FloatArray, expected: FloatArray | None = None
    ) -> FloatArray:
        (predicted,) = self._booster.predict(
            self._settings(), self.model_, features, expected
        )
        return predicted

    def _settings(self) -> BoosterSettings:
        return BoosterSettings(
            baseline=type(self).__name__,
            n_trees=self.n_estimators,
            learning_rate=self.learning_rate,
            max_leaf_nodes=self.max_leaf_nodes,
            min_samples_leaf=self.min_samples_leaf,
            is_categorical=self._list_categorical(),
            random_state=self.random_state,
            n_threads=count_threads(self.n_jobs),
        )

    def _list_categorical(self) -> list[bool]:
        """Return whether each column of the rows is categorical: time is not."""
        layout = self.sensor_layout_
        sensors = () if layout is None else layout.categories
        return [
            *self.columns_.is_categorical.tolist(),
            False,
            *(known is not None for known in sensors),
        ]


class PoissonRows(BoostedBaseline):
    """Poisson regression in cells of time, with the pooled rate as offset."""

    _takes_exposure = True
    _takes_sensors = True

    def __init__(
        self,
        *,
        n_estimators: int = 200,
        learning_rate: float = 0.05,
        max_leaf_nodes: int = 6,
        min_samples_leaf: int = 20,
        n_cells: int | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        super().__init__(
            n_estimators=n_estimators,
            learning_rate=learning_rate,
            max_leaf_nodes=max_leaf_nodes,
            min_samples_leaf=min_samples_leaf,
            random_state=random_state,
            n_jobs=n_jobs,
        )
        self.n_cells = n_cells

    def _check_params(self) -> None:
        super()._check_params()
        if self.n_cells is not None:
            check_count(self.n_cells, "n_cells")

    def _make_rows(self, data: BaselineData) -> Rows:
        self.cells_ = cells = self._cut(data)
        exposure = cells.observe(data.events).ravel()
        counts = cells.count(data.events).ravel()
        owner = np.repeat(np.arange(len(data.events)), len(cells.lengths))
        weights = data.weights[owner]
        seen = exposure > 0.0
        exposed = float(weights[seen] @ exposure[seen])
        self.pooled_rate_ = float(weights[seen] @ counts[seen]) / exposed
        return Rows(
            features=cells.describe(data.features, data.sensors, data.events)[seen],
            counts=counts[seen],
            expected=exposure[seen] * self.pooled_rate_,
            weights=weights[seen],
            owner=owner[seen],
            n_per_individual=len(cells.lengths),
        )

    def _cut(self, data: BaselineData) -> TimeCells:
        refuse_no_events(data.events)
        if data.sensors is None:
            n_cells = self.n_cells or _N_CELLS
            return TimeCells.from_events(data.events, data.weights, n_cells)
        return TimeCells.even(self.horizon_, self.n_cells or _N_WITH_SENSORS)

    def _curves(self, features: FloatArray, sensors: Trajectories | None) -> BrokenLines:
        cells = self.cells_
        expected = np.tile(cells.lengths * self.pooled_rate_, len(features))
        counts = self._predict(cells.describe(features, sensors), expected)
        heights = np.zeros((len(features), len(cells.edges)))
        np.cumsum(counts.reshape(len(features), -1), axis=1, out=heights[:, 1:])
        return BrokenLines(cells.edges, heights)


class XGBoostPoisson(PoissonRows):
    """Poisson regression by XGBoost, on individuals cut into cells of time.

    Every individual has one row per cell of time in which it was observed, with the events
    in it as target, the middle of the cell as one more feature, and the time observed as
    exposure. Sensors are columns, with their means in the cell. Needs xgboost,
    ``pip install 'boostr[baselines]'``.

    Parameters
    ----------
    n_estimators : int, default=200
        Number of trees.
    learning_rate : float, default=0.05
        Share of each tree that is kept, in (0, 1].
    max_leaf_nodes : int, default=6
        Leaves of a tree at most.
    min_samples_leaf : int, default=20
        Expected events in a leaf, at least.
    n_cells : int or None, default=None
        Cells of time. By default 10, with about as many events in each; with sensors 50 of
        the same length.
    random_state : int, RandomState or None, default=None
        Seed of the library.
    n_jobs : int or None, default=None
        Threads; one by default.

    Attributes
    ----------
    model_ : xgboost.Booster
        The library's model.
    horizon_ : float
        Last end of follow-up in training.
    n_features_in_ : int
        Number of features.

    See Also
    --------
    tune : Choose the parameters by cross-validation.

    Notes
    -----
    Late entry and gaps are exposure that is missing. Costs take the place of numbers of
    events. Curves are straight in each cell and constant after the last one.

    Examples
    --------
    >>> from boostr.baselines import XGBoostPoisson
    >>> from boostr.simulate import dataset_a
    >>> train, test = dataset_a(n=200, random_state=1), dataset_a(n=3, random_state=2)
    >>> model = XGBoostPoisson().fit(train.X, train.y)  # doctest: +SKIP
    >>> model.predict(test.X).round(0)  # doctest: +SKIP
    array([ 1.,  6., 11.])
    """

    _booster = XGBoost()


class LightGBMPoisson(PoissonRows):
    """Poisson regression by LightGBM, on individuals cut into cells of time.

    Every individual has one row per cell of time in which it was observed, with the events
    in it as target, the middle of the cell as one more feature, and the time observed as
    exposure. Sensors are columns, with their means in the cell. Needs lightgbm,
    ``pip install 'boostr[baselines]'``.

    Parameters
    ----------
    n_estimators : int, default=200
        Number of trees.
    learning_rate : float, default=0.05
        Share of each tree that is kept, in (0, 1].
    max_leaf_nodes : int, default=6
        Leaves of a tree at most.
    min_samples_leaf : int, default=20
        Individuals in a leaf at least, counted as `n_cells` rows each.
    n_cells : int or None, default=None
        Cells of time. By default 10, with about as many events in each; with sensors 50 of
        the same length.
    random_state : int, RandomState or None, default=None
        Seed of the library.
    n_jobs : int or None, default=None
        Threads; one by default.

    Attributes
    ----------
    model_ : lightgbm.Booster
        The library's model.
    horizon_ : float
        Last end of follow-up in training.
    n_features_in_ : int
        Number of features.

    See Also
    --------
    tune : Choose the parameters by cross-validation.

    Notes
    -----
    Late entry and gaps are exposure that is missing. Costs take the place of numbers of
    events. Curves are straight in each cell and constant after the last one.

    Examples
    --------
    >>> from boostr.baselines import LightGBMPoisson
    >>> from boostr.simulate import dataset_a
    >>> train, test = dataset_a(n=200, random_state=1), dataset_a(n=3, random_state=2)
    >>> model = LightGBMPoisson().fit(train.X, train.y)  # doctest: +SKIP
    >>> model.predict(test.X).round(0)  # doctest: +SKIP
    array([ 1.,  6., 11.])
    """

    _booster = LightGBM()


class HistGradientBoostingPoisson(PoissonRows):
    """Poisson regression by scikit-learn, on individuals cut into cells of time.

    Every individual has one row per cell of time in which it was observed, with the events
    in it as target, the middle of the cell as one more feature, and the time observed as
    exposure. Sensors are columns, with their means in the cell.

    Parameters
    ----------
    n_estimators : int, default=200
        Number of trees.
    learning_rate : float, default=0.05
        Share of each tree that is kept, in (0, 1].
    max_leaf_nodes : int, default=6
        Leaves of a tree at most.
    min_samples_leaf : int, default=20
        Individuals in a leaf at least, counted as `n_cells` rows each.
    n_cells : int or None, default=None
        Cells of time. By default 10, with about as many events in each; with sensors 50 of
        the same length.
    random_state : int, RandomState or None, default=None
        Seed of the library.
    n_jobs : int or None, default=None
        Threads; one by default.

    Attributes
    ----------
    model_ : HistGradientBoostingRegressor
        The library's model.
    horizon_ : float
        Last end of follow-up in training.
    n_features_in_ : int
        Number of features.

    See Also
    --------
    tune : Choose the parameters by cross-validation.

    Notes
    -----
    Late entry and gaps are exposure that is missing. Costs take the place of numbers of
    events. Curves are straight in each cell and constant after the last one.

    Examples
    --------
    >>> from boostr.baselines import HistGradientBoostingPoisson
    >>> from boostr.simulate import dataset_a
    >>> train, test = dataset_a(n=200, random_state=1), dataset_a(n=3, random_state=2)
    >>> model = HistGradientBoostingPoisson().fit(train.X, train.y)
    >>> model.predict(test.X).round(0)
    array([ 1.,  6., 12.])
    """

    _booster = HistGradientBoosting()


class CountSoFar(BoostedBaseline):
    """Least squares of the count so far, with time as one more feature."""

    _takes_sensors = True

    def __init__(
        self,
        *,
        n_estimators: int = 200,
        learning_rate: float = 0.05,
        max_leaf_nodes: int = 6,
        min_samples_leaf: int = 20,
        n_times: int | None = None,
        monotone: bool = True,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        super().__init__(
            n_estimators=n_estimators,
            learning_rate=learning_rate,
            max_leaf_nodes=max_leaf_nodes,
            min_samples_leaf=min_samples_leaf,
            random_state=random_state,
            n_jobs=n_jobs,
        )
        self.n_times = n_times
        self.monotone = monotone

    def _check_params(self) -> None:
        super()._check_params()
        if self.n_times is not None:
            check_count(self.n_times, "n_times")

    def _make_rows(self, data: BaselineData) -> Rows:
        n_times = self.n_times or (_N_TIMES if data.sensors is None else _N_WITH_SENSORS)
        self.edges_ = np.linspace(0.0, self.horizon_, n_times + 1)
        is_known = _find_known(data.events, self.edges_[1:]).ravel()
        if not is_known.any():
            raise InvalidEventsError(
                "Counts so far are known only of individuals observed from 0 on, but there "
                "is none.\n\nHint: the baselines ...Poisson take late entry; or count time "
                "from the start of each individual."
            )
        counts = np.cumsum(TimeCells(self.edges_).count(data.events), axis=1).ravel()
        owner = np.repeat(np.arange(len(data.events)), n_times)
        return Rows(
            features=self._describe_times(data.features, data.sensors)[is_known],
            counts=counts[is_known],
            expected=None,
            weights=data.weights[owner][is_known],
            owner=owner[is_known],
            n_per_individual=n_times,
        )

    def _describe_times(
        self, features: FloatArray, sensors: Trajectories | None
    ) -> FloatArray:
        """Return the features, the time and the sensors at every time."""
        rows = cross(features, self.edges_[1:])
        if sensors is None:
            return rows
        values = sensors.read(self.edges_[1:])
        return np.column_stack([rows, values.reshape(len(rows), -1)])

    def _curves(self, features: FloatArray, sensors: Trajectories | None) -> BrokenLines:
        predicted = self._predict(self._describe_times(features, sensors))
        heights = np.zeros((len(features), len(self.edges_)))
        heights[:, 1:] = predicted.reshape(len(features), -1)
        if self.monotone:
            heights = np.maximum.accumulate(heights, axis=1)
        return BrokenLines(self.edges_, heights)


def _find_known(events: RecurrentEvents, times: FloatArray) -> BoolArray:
    """Return which individuals are observed without a break from 0 to each time, (n, m)."""
    first = events.window_offsets[:-1]
    known_until = np.where(
        events.window_start[first] <= 0.0, events.window_stop[first], -np.inf
    )
    return np.asarray(known_until[:, None] >= times)


class XGBoostTime(CountSoFar):
    """XGBoost with time as one more feature: regression of the count so far.

    The ad hoc use that the paper's Appendix A discusses. The target is the number of events
    of an individual up to some time, and its squared error is what trees lower. Sensors are
    columns, with their values at that time. Needs xgboost,
    ``pip install 'boostr[baselines]'``.

    Parameters
    ----------
    n_estimators : int, default=200
        Number of trees.
    learning_rate : float, default=0.05
        Share of each tree that is kept, in (0, 1].
    max_leaf_nodes : int, default=6
        Leaves of a tree at most.
    min_samples_leaf : int, default=20
        Individuals in a leaf at least, counted as `n_times` rows each.
    n_times : int or None, default=None
        Evenly spaced times, up to the horizon, at which counts are read. By default 20, and
        50 with sensors.
    monotone : bool, default=True
        Whether predicted curves are kept from falling (each value is the highest so far,
        and not below zero); False gives what the trees say, as in the paper.
    random_state : int, RandomState or None, default=None
        Seed of the library.
    n_jobs : int or None, default=None
        Threads; one by default.

    Attributes
    ----------
    model_ : xgboost.Booster
        The library's model.
    horizon_ : float
        Last end of follow-up in training.
    n_features_in_ : int
        Number of features.

    Notes
    -----
    A count so far is known only of individuals observed without a break from 0 on: with
    late entry or gaps, only rows before these are used. Where the end of follow-up depends
    on the events, those still observed have few events, and the predictions are biased.
    Curves are drawn straight between the times, and stay constant after the last one: a
    tree cannot know what comes later. Where the trees see no change the rate is zero, so
    measures of likelihood, `score` among them, are poor. Costs take the place of numbers of
    events.

    Examples
    --------
    >>> from boostr.baselines import XGBoostTime
    >>> from boostr.simulate import dataset_a
    >>> train, test = dataset_a(n=200, random_state=1), dataset_a(n=3, random_state=2)
    >>> model = XGBoostTime().fit(train.X, train.y)  # doctest: +SKIP
    >>> model.predict(test.X).round(0)  # doctest: +SKIP
    array([2., 5., 9.])
    """

    _booster = XGBoost()


class HistGradientBoostingTime(CountSoFar):
    """scikit-learn's boosting with time as one more feature, for the count so far.

    `XGBoostTime` with the trees of scikit-learn. The target is the number of events
    of an individual up to some time, and its squared error is what trees lower. Sensors are
    columns, with their values at that time.

    Parameters
    ----------
    n_estimators : int, default=200
        Number of trees.
    learning_rate : float, default=0.05
        Share of each tree that is kept, in (0, 1].
    max_leaf_nodes : int, default=6
        Leaves of a tree at most.
    min_samples_leaf : int, default=20
        Individuals in a leaf at least, counted as `n_times` rows each.
    n_times : int or None, default=None
        Evenly spaced times, up to the horizon, at which counts are read. By default 20, and
        50 with sensors.
    monotone : bool, default=True
        Whether predicted curves are kept from falling (each value is the highest so far,
        and not below zero); False gives what the trees say, as in the paper.
    random_state : int, RandomState or None, default=None
        Seed of the library.
    n_jobs : int or None, default=None
        Threads; one by default.

    Attributes
    ----------
    model_ : HistGradientBoostingRegressor
        The library's model.
    horizon_ : float
        Last end of follow-up in training.
    n_features_in_ : int
        Number of features.

    Notes
    -----
    A count so far is known only of individuals observed without a break from 0 on: with
    late entry or gaps, only rows before these are used. Where the end of follow-up depends
    on the events, those still observed have few events, and the predictions are biased.
    Curves are drawn straight between the times, and stay constant after the last one: a
    tree cannot know what comes later. Where the trees see no change the rate is zero, so
    measures of likelihood, `score` among them, are poor. Costs take the place of numbers of
    events.

    Examples
    --------
    >>> from boostr.baselines import HistGradientBoostingTime
    >>> from boostr.simulate import dataset_a
    >>> train, test = dataset_a(n=200, random_state=1), dataset_a(n=3, random_state=2)
    >>> model = HistGradientBoostingTime().fit(train.X, train.y)
    >>> model.predict(test.X).round(0)
    array([2., 5., 9.])
    """

    _booster = HistGradientBoosting()


class HistGradientBoostingRate(BoostedBaseline):
    """Give individuals the mean cumulative function, times a rate that is boosted.

    scikit-learn's gradient boosting learns the ratio of an individual's events to those
    that the mean cumulative function expects while it is observed, by Poisson regression.

    Parameters
    ----------
    n_estimators : int, default=200
        Number of trees.
    learning_rate : float, default=0.05
        Share of each tree that is kept, in (0, 1].
    max_leaf_nodes : int, default=6
        Leaves of a tree at most.
    min_samples_leaf : int, default=20
        Individuals in a leaf at least.
    smooth : bool, default=False
        Whether curves are smoothed, so that rates and very short windows make sense; their
        values at four times stay the same.
    random_state : int, RandomState or None, default=None
        Seed of the library.
    n_jobs : int or None, default=None
        Threads; one by default.

    Attributes
    ----------
    model_ : HistGradientBoostingRegressor
        The library's model of the ratio.
    horizon_ : float
        Last end of follow-up in training.
    n_features_in_ : int
        Number of features.

    Notes
    -----
    Late entry and gaps lower the expected number. Costs take the place of numbers of
    events. Curves stay constant after the last event. Individuals whose follow-up ends
    before the first event of all are left out.

    Examples
    --------
    >>> from boostr.baselines import HistGradientBoostingRate
    >>> from boostr.simulate import dataset_a
    >>> train, test = dataset_a(n=200, random_state=1), dataset_a(n=3, random_state=2)
    >>> HistGradientBoostingRate().fit(train.X, train.y).predict(test.X).round(0)
    array([ 1.,  6., 12.])
    """

    _booster = HistGradientBoosting()

    def __init__(
        self,
        *,
        n_estimators: int = 200,
        learning_rate: float = 0.05,
        max_leaf_nodes: int = 6,
        min_samples_leaf: int = 20,
        smooth: bool = False,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        super().__init__(
            n_estimators=n_estimators,
            learning_rate=learning_rate,
            max_leaf_nodes=max_leaf_nodes,
            min_samples_leaf=min_samples_leaf,
            random_state=random_state,
            n_jobs=n_jobs,
        )
        self.smooth = smooth

    def _make_rows(self, data: BaselineData) -> Rows:
        need_features(data.features, "HistGradientBoostingRate")
        refuse_no_events(data.events)
        events, n = data.events, len(data.events)
        table = RiskTable.from_events(events, data.weights)
        grid = TimeGrid.from_events(
            table, events, self.reference_clock_, smooth=self.smooth
        )
        group, members = np.zeros(n, dtype=np.int64), np.arange(n)
        steps = GroupSteps.from_members(table, group, members, data.weights)
        self.family_ = StepFamily.from_parts(grid, [steps])
        heights = np.concatenate([[0.0], steps.height])
        rise = heights[table.leave] - heights[table.enter]
        expected = np.asarray(np.bincount(table.window_owner, rise, n), np.float64)
        counts = np.asarray(np.bincount(events.event_owner, events.costs, n), np.float64)
        rows = Rows(data.features, counts, expected, data.weights, members, 1)
        return rows.take(expected > 0.0)

    def _list_categorical(self) -> list[bool]:
        return list(self.columns_.is_categorical.tolist())

    def _curves(self, features: FloatArray, _sensors: Trajectories | None) -> MeanCurves:
        which = np.zeros((len(features), 1), dtype=np.int64)
        return MeanCurves(self.family_, which, self._predict(features))

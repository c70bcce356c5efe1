"""The mean cumulative function as an estimator: of all individuals, or of neighbours."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np

from boostr._checks.parameters import check_count
from boostr._typing import AnyArray, FloatArray
from boostr.baselines._base import Baseline, BaselineData, need_features
from boostr.baselines._curves import MeanCurves
from boostr.baselines._steps import GroupSteps, StepFamily, TimeGrid
from boostr.data import RiskTable, Trajectories

__all__ = ["McfK", "McfRegressor"]


class McfRegressor(Baseline):
    """Give all individuals the mean cumulative function of the training data.

    No features are read: any other model must beat it. The curve is that of
    `MeanCumulativeFunction` and stays constant after the last event.

    Parameters
    ----------
    smooth : bool, default=False
        Whether the curve is smoothed, so that rates and very short windows make sense;
        its values at four times stay the same.

    Attributes
    ----------
    horizon_ : float
        Last end of follow-up in training.
    n_features_in_ : int
        Number of features.

    See Also
    --------
    MeanCumulativeFunction : The estimate itself, with its confidence band.

    Examples
    --------
    >>> import numpy as np
    >>> from boostr.baselines import McfRegressor
    >>> from boostr.data import RecurrentEvents
    >>> y = RecurrentEvents.from_lists([[1.0], [3.0, 8.0]], end=[4.0, 10.0])
    >>> model = McfRegressor().fit(np.zeros((2, 1)), y)
    >>> model.predict_cumulative(np.zeros((1, 1)), [1.0, 5.0, 9.0])
    array([[0.5, 1. , 2. ]])
    """

    _takes_exposure = True

    def __init__(self, *, smooth: bool = False) -> None:
        self.smooth = smooth

    def _learn(self, data: BaselineData) -> None:
        table = RiskTable.from_events(data.events, data.weights)
        grid = TimeGrid.from_events(
            table, data.events, self.reference_clock_, smooth=self.smooth
        )
        members = np.arange(len(data.events))
        group = np.zeros(len(members), dtype=np.int64)
        steps = GroupSteps.from_members(table, group, members, data.weights)
        self.family_ = StepFamily.from_parts(grid, [steps])

    def _curves(self, features: FloatArray, _sensors: Trajectories | None) -> MeanCurves:
        n = len(features)
        return MeanCurves(self.family_, np.zeros((n, 1), dtype=np.int64), np.ones(n))


class McfK(Baseline):
    """Give an individual the mean cumulative function of its nearest neighbours.

    The paper's MCF-K. Neighbours are the training individuals whose features are nearest
    in Euclidean distance, after every number is divided by its standard deviation.

    Parameters
    ----------
    n_neighbors : int, default=20
        Number of neighbours, K; all individuals where there are fewer.
    smooth : bool, default=False
        Whether curves are smoothed, so that rates and very short windows make sense; their
        values at four times stay the same.

    Attributes
    ----------
    mean_, scale_ : ndarray of shape (q,)
        What features, and indicators of categories, are shifted and divided by.
    horizon_ : float
        Last end of follow-up in training.
    n_features_in_ : int
        Number of features.

    Notes
    -----
    Two different categories are as far apart as two numbers at one standard deviation. A
    missing number is taken as the mean, a missing or unseen category as the average of all
    individuals' indicators. Weights count in the mean cumulative functions and in means and
    standard deviations, not in the number of neighbours. Curves stay constant after the
    last event of the neighbours.

    Examples
    --------
    Machines fail once, five or ten times in a hundred days, depending on two features.

    >>> from boostr.baselines import McfK
    >>> from boostr.simulate import dataset_a
    >>> train, test = dataset_a(n=200, random_state=1), dataset_a(n=3, random_state=2)
    >>> McfK(n_neighbors=20).fit(train.X, train.y).predict(test.X).round(0)
    array([1., 6., 9.])
    """

    _takes_exposure = True

    def __init__(self, *, n_neighbors: int = 20, smooth: bool = False) -> None:
        self.n_neighbors = n_neighbors
        self.smooth = smooth

    def _check_params(self) -> None:
        check_count(self.n_neighbors, "n_neighbors")

    def _learn(self, data: BaselineData) -> None:
        need_features(data.features, "McfK")
        self.table_ = RiskTable.from_events(data.events, data.weights)
        self.grid_ = TimeGrid.from_events(
            self.table_, data.events, self.reference_clock_, smooth=self.smooth
        )
        expanded, _ = self.columns_.expand(data.features, drop_first=False)
        self.mean_, self.scale_ = self._standardise(expanded, data.weights)
        n_neighbors = min(self.n_neighbors, len(data.events))
        # Looked up late, since it makes `import boostr` slow.
        library: Any = importlib.import_module("sklearn.neighbors")
        search = library.NearestNeighbors(n_neighbors=n_neighbors, algorithm="kd_tree")
        self.neighbors_ = search.fit(self._place(data.features))

    def _curves(self, features: FloatArray, _sensors: Trajectories | None) -> MeanCurves:
        nearest: AnyArray = self.neighbors_.kneighbors(
            self._place(features), return_distance=False
        )
        n = len(features)
        group = np.repeat(np.arange(n), nearest.shape[1])
        member = nearest.ravel()
        steps = GroupSteps.from_members(
            self.table_, group, member, self.table_.weight[member]
        )
        family = StepFamily.from_parts(self.grid_, [steps])
        return MeanCurves(family, np.arange(n)[:, None], np.ones(n))

    def _standardise(
        self, expanded: FloatArray, weights: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Return weighted means and scales; indicators are divided by ``sqrt(2)``."""
        is_known = ~np.isnan(expanded)
        known = np.where(is_known, expanded, 0.0)
        share = np.where(is_known, weights[:, None], 0.0)
        total = np.maximum(share.sum(axis=0), np.finfo(float).tiny)
        mean = (share * known).sum(axis=0) / total
        squares = share * np.where(is_known, expanded - mean, 0.0) ** 2
        deviation = np.sqrt(squares.sum(axis=0) / total)
        is_categorical = self.columns_.is_categorical
        n_columns = np.where(is_categorical, self.columns_.n_categories, 1)
        is_indicator = np.repeat(is_categorical, n_columns)
        scale = np.where(is_indicator, np.sqrt(2.0), deviation)
        return mean, np.where(scale > 0.0, scale, 1.0)

    def _place(self, features: FloatArray) -> FloatArray:
        expanded, _ = self.columns_.expand(features, drop_first=False)
        known = np.where(np.isnan(expanded), self.mean_, expanded)
        return np.asarray((known - self.mean_) / self.scale_)

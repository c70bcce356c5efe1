"""XGBoost with time as a feature, the paper's Appendix A."""

from __future__ import annotations

from typing import Any

import numpy as np

from boostr._checks.parameters import check_count
from boostr._typing import BoolArray, FloatArray
from boostr.baselines._boosted import BoostedRival
from boostr.baselines._cells import TimeCells, cross
from boostr.baselines._curves import BrokenLines
from boostr.baselines._rival import RivalData
from boostr.baselines._xgboost import boost_xgboost, make_matrix
from boostr.data import RecurrentEvents
from boostr.exceptions import InvalidEventsError

__all__ = ["XGBoostTime"]


class XGBoostTime(BoostedRival):
    """XGBoost with time as one more feature: regression of the count so far.

    The ad hoc use that the paper's Appendix A discusses. The target is the number of events
    of an individual up to some time, and its squared error is what trees lower. Needs
    xgboost, ``pip install 'boostr[rivals]'``.

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
    n_times : int, default=20
        Evenly spaced times, up to the horizon, at which counts are read.
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
    A count so far is known only of those who were observed without a break from 0 on: with
    late entry or gaps, only rows before these are used. Where the end of follow-up depends
    on the events, those still observed are the quiet ones, and the predictions are biased.
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

    def __init__(
        self,
        *,
        n_estimators: int = 200,
        learning_rate: float = 0.05,
        max_leaf_nodes: int = 6,
        min_samples_leaf: int = 20,
        n_times: int = 20,
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
        check_count(self.n_times, "n_times")

    def _learn(self, data: RivalData) -> None:
        self.edges_ = np.linspace(0.0, self.horizon_, self.n_times + 1)
        is_known = _find_known(data.events, self.edges_[1:]).ravel()
        if not is_known.any():
            raise InvalidEventsError(
                "Counts so far are known only of those observed from 0 on, but there is "
                "nobody.\n\nHint: XGBoostPoisson takes late entry; or count time from each "
                "one's own start."
            )
        counts = np.cumsum(TimeCells(self.edges_).count(data.events), axis=1).ravel()
        matrix = make_matrix(
            self,
            cross(data.features, self.edges_[1:])[is_known],
            label=counts[is_known],
            weight=np.repeat(data.weights, self.n_times)[is_known],
        )
        least = float(self.min_samples_leaf * self.n_times)
        self.model_ = boost_xgboost(self, matrix, "reg:squarederror", least)

    def _curves(self, features: FloatArray) -> BrokenLines:
        described = make_matrix(self, cross(features, self.edges_[1:]))
        predicted = np.asarray(self.model_.predict(described), dtype=np.float64)
        heights = np.zeros((len(features), len(self.edges_)))
        heights[:, 1:] = predicted.reshape(len(features), -1)
        if self.monotone:
            heights = np.maximum.accumulate(heights, axis=1)
        return BrokenLines(self.edges_, heights)


def _find_known(events: RecurrentEvents, times: FloatArray) -> BoolArray:
    """Return who was observed without a break from 0 up to each time, (n, m)."""
    first = events.window_offsets[:-1]
    known_until = np.where(
        events.window_start[first] <= 0.0, events.window_stop[first], -np.inf
    )
    return np.asarray(known_until[:, None] >= times)

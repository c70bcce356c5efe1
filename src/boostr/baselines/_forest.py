"""Random forest for recurrence data (RF-R)."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from boostr._checks.parameters import check_count, check_number, check_times, count_threads
from boostr._engine.binning import BinMapper, BinnedFeatures
from boostr._typing import AnyArray, FloatArray
from boostr.baselines._base import Baseline, BaselineData
from boostr.baselines._columns import Columns
from boostr.baselines._curves import Family, MeanCurves, PowerFamily
from boostr.baselines._forest_growth import ForestParams, grow_forest, map_threads
from boostr.baselines._power_law import Histories, fit_power_laws, maximise
from boostr.baselines._steps import GroupSteps, StepFamily, TimeGrid
from boostr.data import RiskTable, Trajectories
from boostr.data.target import refuse_costs
from boostr.exceptions import (
    InvalidEventsError,
    InvalidFeaturesError,
    InvalidParameterError,
)
from boostr.metrics import recurrent_concordance

__all__ = ["RandomForestRecurrence"]

_MAX_CATEGORIES = 254


class RandomForestRecurrence(Baseline):
    """Random forest whose leaves hold mean cumulative functions (RF-R).

    Every tree grows fully on a bootstrap sample of individuals, and every node may split
    on a few features that are drawn for it. A leaf has the mean cumulative function, or a
    power law, of its individuals; predictions are means over the trees.

    Parameters
    ----------
    n_estimators : int, default=500
        Number of trees.
    max_features : int, float, "sqrt" or None, default="sqrt"
        Features that are drawn for a node among those that vary in it: a number, a share
        of all, the root of their number, or all of them.
    min_samples_leaf : int, default=5
        Individuals, as often as they were drawn, in a leaf at least.
    leaf : {"mcf", "power"}, default="mcf"
        What leaves hold: the mean cumulative function, or a power law ``a * t**b`` by
        maximum likelihood, which goes on beyond the training data.
    bootstrap : bool, default=True
        Whether trees grow on draws with replacement; False uses all individuals in each,
        and there are no out-of-bag predictions.
    max_bins : int, default=255
        Bins of a feature at most, without the one for missing values.
    smooth : bool, default=False
        Whether the curves of leaves with mean cumulative functions are smoothed, so that
        rates and very short windows make sense.
    random_state : int, RandomState or None, default=None
        Seed of draws of individuals and features.
    n_jobs : int or None, default=None
        Threads; one by default. Results do not depend on it. More of them pay with many
        thousands of individuals only.

    Attributes
    ----------
    oob_prediction_ : ndarray of shape (n,)
        Events by the horizon that the trees predict which have not seen the individual;
        NaN for individuals in all samples or of weight zero, and without bootstrap.
    oob_concordance_ : float
        Their C-index, see `boostr.metrics.recurrent_concordance`; NaN if none can be
        compared, and without bootstrap.
    feature_importances_ : ndarray of shape (p,)
        Total gain of a feature's splits, scaled to sum to one.
    forest_ : object
        The trees.
    horizon_ : float
        Last end of follow-up in training.
    n_features_in_ : int
        Number of features.

    Notes
    -----
    Splits are those of the engine of `BoostR`: they lower the least squares loss of the
    rate on the operational clock. A weight counts in splits and leaves, not in the draws,
    so a weight of 2 is not the same as an individual given twice. The memory is that of
    all events in all trees. With leaves of mean cumulative functions, curves stay constant
    after the last event. Costs are taken by these leaves, and refused by power laws.

    References
    ----------
    Liu, X. and Pan, R. (2020). Analysis of large heterogeneous repairable system
    reliability data with static system attributes and dynamic sensor measurement in big
    data environment. Technometrics 62, 206-222.

    Examples
    --------
    Machines fail once, five or ten times in a hundred days, depending on two features.

    >>> from boostr.baselines import RandomForestRecurrence
    >>> from boostr.simulate import dataset_a
    >>> train, test = dataset_a(n=200, random_state=1), dataset_a(n=3, random_state=2)
    >>> model = RandomForestRecurrence(n_estimators=50, random_state=0)
    >>> model.fit(train.X, train.y).predict(test.X).round(0)
    array([ 2.,  5., 10.])
    >>> model.oob_concordance_ > 0.7
    True
    """

    def __init__(  # noqa: PLR0913 - every setting is a parameter, as in scikit-learn
        self,
        *,
        n_estimators: int = 500,
        max_features: int | float | Literal["sqrt"] | None = "sqrt",
        min_samples_leaf: int = 5,
        leaf: Literal["mcf", "power"] = "mcf",
        bootstrap: bool = True,
        max_bins: int = 255,
        smooth: bool = False,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_estimators = n_estimators
        self.max_features = max_features
        self.min_samples_leaf = min_samples_leaf
        self.leaf = leaf
        self.bootstrap = bootstrap
        self.max_bins = max_bins
        self.smooth = smooth
        self.random_state = random_state
        self.n_jobs = n_jobs

    def predict_oob(self, times: ArrayLike) -> FloatArray:
        """Predict training individuals by the trees that have not seen them.

        Parameters
        ----------
        times : float or array-like of shape (m,)
            Times, from 0 on.

        Returns
        -------
        ndarray of shape (n, m)
            Expected number (or cost) of events in (0, t]; NaN where there is no such tree.
        """
        self._check_has_oob()
        return self._spread(self._oob_curves(self._bins_).values(check_times(times)))

    def permutation_importance(
        self, n_repeats: int = 1, random_state: Any = None
    ) -> FloatArray:
        """Tell how much the out-of-bag C-index falls without a feature.

        In every tree the values of the feature are permuted among the individuals that the
        tree has not seen.

        Parameters
        ----------
        n_repeats : int, default=1
            Permutations to average over.
        random_state : int, RandomState or None, default=None
            Seed of the permutations.

        Returns
        -------
        ndarray of shape (p,)
            Fall of the C-index; around 0 for a feature that does not help.
        """
        self._check_has_oob()
        check_count(n_repeats, "n_repeats")
        rng = np.random.default_rng(check_random_state(random_state).randint(2**31))
        drops = np.zeros(self.n_features_in_)
        for feature in range(self.n_features_in_):
            for _ in range(n_repeats):
                leaves = self._permuted_leaves(feature, rng)
                curves = self._mean_curves(np.where(self._seen_, -1, leaves))
                shuffled = curves.values(np.array([self.horizon_]))[:, 0]
                drops[feature] += self.oob_concordance_ - self._concordance(shuffled)
        return drops / n_repeats

    def _check_params(self) -> None:
        check_count(self.n_estimators, "n_estimators")
        check_count(self.min_samples_leaf, "min_samples_leaf")
        check_count(self.max_bins, "max_bins", least=2)
        check_number(self.max_bins, "max_bins", 1, 255)
        if self.leaf not in {"mcf", "power"}:
            raise InvalidParameterError(
                f"`leaf` must be 'mcf' or 'power', but it is {self.leaf!r}."
            )
        self._count_drawn(1)
        count_threads(self.n_jobs)

    def _count_drawn(self, n_features: int) -> int:
        """Return the number of features drawn per node."""
        asked = self.max_features
        if asked is None:
            return n_features
        if asked == "sqrt":
            return max(1, int(np.sqrt(n_features)))
        if isinstance(asked, float):
            check_number(asked, "max_features", 0.0, 1.0)
            return max(1, round(asked * n_features))
        check_count(asked, "max_features")
        return int(asked)

    def _learn(self, data: BaselineData) -> None:
        if self.leaf == "power":
            refuse_costs(data.events, "RandomForestRecurrence(leaf='power')")
        columns = self.columns_
        _check_categories(columns)
        self.mapper_ = BinMapper.from_quantiles(
            data.features, self.max_bins, columns.is_categorical, columns.n_categories
        )
        self._bins_ = self.mapper_.transform(data.features)
        params = ForestParams(
            n_trees=self.n_estimators,
            n_drawn=self._count_drawn(data.features.shape[1]),
            min_samples_leaf=self.min_samples_leaf,
            bootstrap=self.bootstrap,
            seed=int(check_random_state(self.random_state).randint(2**31)),
            n_threads=count_threads(self.n_jobs),
        )
        self.forest_ = grow_forest(
            self._bins_, data.events, data.weights, self.reference_clock_, params
        )
        fill = self._fill_mcf if self.leaf == "mcf" else self._fill_power
        self.family_: Family = fill(data, self.forest_.find_leaves(self._bins_))
        gains = self.forest_.sum_gains(data.features.shape[1])
        self.feature_importances_ = gains / gains.sum() if gains.any() else gains
        self.oob_prediction_ = np.full(len(data.is_used), np.nan)
        self.oob_concordance_ = float("nan")
        if self.bootstrap:
            self._describe_oob(data)

    def _describe_oob(self, data: BaselineData) -> None:
        self._events_, self._weights_ = data.events, data.weights
        self._is_used_ = data.is_used
        self._seen_ = self.forest_.n_draws > 0
        curves = self._oob_curves(self._bins_)
        predicted = curves.values(np.array([self.horizon_]))
        self.oob_prediction_ = self._spread(predicted)[:, 0]
        self.oob_concordance_ = self._concordance(predicted[:, 0])

    def _fill_mcf(self, data: BaselineData, leaves: AnyArray) -> StepFamily:
        table = RiskTable.from_events(data.events, data.weights)
        grid = TimeGrid.from_events(
            table, data.events, self.reference_clock_, smooth=self.smooth
        )

        def fill(tree: int) -> GroupSteps:
            draws = self.forest_.n_draws[:, tree]
            member = np.flatnonzero(draws)
            group = leaves[member, tree].astype(np.int64)
            weight = draws[member] * data.weights[member]
            return GroupSteps.from_members(table, group, member, weight)

        parts = map_threads(fill, range(self.n_estimators), count_threads(self.n_jobs))
        return StepFamily.from_parts(grid, parts)

    def _fill_power(self, data: BaselineData, leaves: AnyArray) -> PowerFamily:
        histories = Histories.from_events(data.events, data.weights)
        ones = np.ones((len(data.events), 1))
        pooled = maximise(ones, histories, fixed_shape=False)
        member, tree = np.nonzero(self.forest_.n_draws)
        scale, shape = fit_power_laws(
            histories,
            leaves[member, tree].astype(np.int64),
            member,
            self.forest_.n_draws[member, tree] * data.weights[member],
            len(self.forest_.nodes.feature),
            float(np.exp(pooled.log_shape)),
        )
        return PowerFamily(scale, shape, histories.unit)

    def _curves(self, features: FloatArray, _sensors: Trajectories | None) -> MeanCurves:
        binned = self.mapper_.transform(features)
        return self._mean_curves(self.forest_.find_leaves(binned))

    def _mean_curves(self, leaves: AnyArray) -> MeanCurves:
        return MeanCurves(self.family_, leaves, np.ones(len(leaves)))

    def _oob_curves(self, bins: BinnedFeatures) -> MeanCurves:
        leaves = self.forest_.find_leaves(bins)
        return self._mean_curves(np.where(self._seen_, -1, leaves))

    def _permuted_leaves(self, feature: int, rng: np.random.Generator) -> AnyArray:
        """Return leaves after permuting a feature among a tree's out-of-bag individuals."""
        leaves = np.empty(self._seen_.shape, dtype=np.int32)
        bins = self._bins_.bins.copy()
        for tree, seen in enumerate(self._seen_.T):
            unseen = np.flatnonzero(~seen)
            own = self._bins_.bins[:, feature]
            bins[:, feature] = own
            bins[unseen, feature] = own[rng.permutation(unseen)]
            self.forest_.find_leaves_of(tree, bins, self._bins_.missing_bin, leaves)
        return leaves

    def _concordance(self, predicted: FloatArray) -> float:
        known = np.flatnonzero(~np.isnan(predicted))
        try:
            return recurrent_concordance(
                self._events_[known],
                predicted[known],
                sample_weight=self._weights_[known],
            )
        except InvalidEventsError:
            return float("nan")

    def _spread(self, values: FloatArray) -> FloatArray:
        """Return a row for each individual, NaN for weights of zero."""
        spread = np.full((len(self._is_used_), values.shape[1]), np.nan)
        spread[self._is_used_] = values
        return spread

    def _check_has_oob(self) -> None:
        check_is_fitted(self)
        if not self.bootstrap:
            raise InvalidParameterError(
                "Out-of-bag predictions need bootstrap samples, but bootstrap=False.\n\n"
                "Hint: RandomForestRecurrence(bootstrap=True)"
            )


def _check_categories(columns: Columns) -> None:
    wide = np.flatnonzero(columns.n_categories > _MAX_CATEGORIES)
    if wide.size:
        raise InvalidFeaturesError(
            f"A categorical feature can have {_MAX_CATEGORIES} categories, but "
            f"{columns.names[wide[0]]!r} has {columns.n_categories[wide[0]]}.\n\n"
            "Hint: group the rare ones, or give numbers that describe them."
        )

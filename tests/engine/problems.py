"""Small boosting problems of every family and loss, from features and histories."""

from dataclasses import dataclass, replace

import numpy as np
from tests.engine.histories import FAMILIES, make_events

from boostr._engine.binning import BinMapper, BinnedFeatures
from boostr._engine.boosting import Booster, BoostingParams
from boostr._engine.selection import Task
from boostr._engine.statistics import (
    SufficientStats,
    compute_suffstats,
    pseudo_individual,
    put_on_clock,
)
from boostr._engine.training_set import LocalTrainingSet
from boostr._engine.tree import GrowthParams, LeafProblem
from boostr._kernels.solve import DIAGONAL, FULL, SINGLE
from boostr.basis import CalendarClock

KINDS = {SINGLE: "single", DIAGONAL: "diagonal", FULL: "full"}


@dataclass
class Problem:
    x: np.ndarray  # (n, 3): a number with missing values, four levels, four categories
    basis: object
    mapper: BinMapper
    stats: SufficientStats
    features: BinnedFeatures
    leaf: LeafProblem

    def __len__(self):
        return len(self.x)

    @property
    def kind(self):
        return KINDS[self.leaf.solver]

    @property
    def everybody(self):
        return np.arange(len(self), dtype=np.int32)

    @property
    def statistics(self):
        """Return what histograms sum: gradients at zero, and curvatures."""
        return -self.stats.linear, self.stats.curvature(self.leaf.solver)

    def channels(self):
        """Return the same side by side, and 1 for everybody."""
        return np.column_stack([*self.statistics, np.ones(len(self.stats.linear))])

    def hessians(self):
        """Return H of everybody, (n, P, P)."""
        n_terms = self.stats.n_terms
        units = np.repeat(np.eye(n_terms)[:, None], len(self), axis=1)
        columns = [self.stats.multiply(unit, self.everybody) for unit in units]
        return np.stack(columns, axis=2)

    def take(self, rows):
        stats = SufficientStats(self.stats.linear[rows], self.stats.quadratic[rows])
        features = replace(self.features, bins=self.features.bins[rows])
        return replace(self, x=self.x[rows], stats=stats, features=features)

    def weigh(self, weights):
        scale = np.asarray(weights)[:, None]
        stats = SufficientStats(self.stats.linear * scale, self.stats.quadratic * scale)
        return replace(self, stats=stats)

    @property
    def training_set(self):
        return LocalTrainingSet(self.stats, self.features, np.ones(len(self)))

    def booster(self, members=None, n_threads=1, **params):
        members = self.everybody if members is None else members
        held_out = np.setdiff1d(self.everybody, members)
        state = self.training_set.follow(self.leaf.solver, held_out, n_threads)
        return Booster(state, self.features, self.leaf, boosting(**params))

    def task(self, n_rounds=12, **params):
        return Task(
            self.training_set,
            self.leaf,
            boosting(**params),
            n_rounds,
            1,
            lambda label, n_trees, loss: None,
        )


def boosting(
    learning_rate=0.3, subsample=1.0, colsample=1.0, seed=0, starts_at_mean=False, **growth
):
    growth = {"max_leaves": 4} | growth
    return BoostingParams(
        growth=GrowthParams(**growth),
        starts_at_mean=starts_at_mean,
        learning_rate=learning_rate,
        subsample=subsample,
        colsample=colsample,
        seed=seed,
    )


def make_features(rng, n):
    x = np.column_stack(
        [rng.normal(size=n), rng.integers(0, 4, n), rng.integers(0, 4, n)]
    ).astype(float)
    x[rng.random(n) < 0.15, 0] = np.nan
    return x


def make_problem(
    rng,
    n=60,
    family="power",
    loss="intensity",
    *,
    gamma2=0.5,
    is_late=False,
    x=None,
    max_bins=16,
):
    """Make a problem whose rates depend on all three features."""
    x = make_features(rng, n) if x is None else x
    signal = np.nan_to_num(x) @ np.array([0.3, 0.4, 0.0])[: x.shape[1]]
    rate = np.exp(signal - 0.5) + (1.0 * (x[:, -1] == 2))
    clocked = put_on_clock(make_events(rng, n, is_late=is_late, rate=rate), CalendarClock())
    basis = FAMILIES[family].place(clocked, loss)
    is_categorical = np.arange(x.shape[1]) == 2
    mapper = BinMapper.from_quantiles(
        x, max_bins, is_categorical, np.where(is_categorical, 4, 0).astype(np.int32)
    )
    return Problem(
        x,
        basis,
        mapper,
        compute_suffstats(clocked, basis, loss),
        mapper.transform(x),
        LeafProblem(basis.solver, gamma2 * pseudo_individual(basis, loss, clocked.horizon)),
    )

"""The loop: gradient, tree, shrink, update."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from boostr._engine.binning import BinnedFeatures
from boostr._engine.suffstats import SufficientStats
from boostr._engine.tree import GrowthParams, LeafProblem, LocalSource, Tree, grow_tree
from boostr._kernels.apply import add_tree, add_tree_parallel, quadratic_loss
from boostr._typing import IndexArray
from boostr.exceptions import InvalidParameterError

__all__ = ["Booster", "BoostingParams"]

_PARALLEL_FROM = 30_000  # individuals from which waking up threads pays
_N_CHUNKS = 64  # of individuals; fixed, so that sums over them have the same bits always


@dataclass(frozen=True, slots=True, kw_only=True)
class BoostingParams:
    """How one ensemble is grown."""

    growth: GrowthParams
    learning_rate: float
    subsample: float = 1.0
    colsample: float = 1.0
    seed: int = 0
    starts_at_mean: bool = True  # the first tree is a root alone, taken in full


class Booster:
    """An ensemble in the making: one call of `step` adds one tree.

    Trees are trained on ``members`` and split on ``columns`` (all features by default); the
    coefficients of all individuals are kept up to date, so that the loss of those left out
    is known after every tree.
    """

    def __init__(
        self,
        stats: SufficientStats,
        features: BinnedFeatures,
        problem: LeafProblem,
        params: BoostingParams,
        members: IndexArray,
        n_threads: int = 1,
        columns: IndexArray | None = None,
    ) -> None:
        self.trees: list[Tree] = []
        self.total_loss = 0.0  # of all individuals, trained on or not
        self.theta = np.zeros_like(stats.linear)
        self._stats = stats
        self._features = features
        self._problem = problem
        self._params = params
        self._members = members
        self._n_threads = n_threads
        self._rows = stats.channels(problem.solver)
        self._source = LocalSource(features, self._rows, stats.n_terms, n_threads)
        self._rng = np.random.default_rng(params.seed)
        everything = np.arange(features.bins.shape[1], dtype=np.int32)
        self._all_features = everything if columns is None else columns

    def step(self, known: Tree | None = None) -> Tree:
        """Grow one tree on the gradient, shrink it and add it.

        A tree that is known already, from the same step of another booster, is added as it
        is; random numbers are drawn all the same, so that the next step goes on alike.
        """
        drawn = self._draw()
        if known is None:
            tree = self._grow(*drawn)
        else:
            tree = known
            self._check(tree)
        self.total_loss = self._add(tree)
        self.trees.append(tree)
        return tree

    def loss(self, members: IndexArray) -> float:
        """Return the summed loss of some individuals."""
        return quadratic_loss(self.theta, self._rows, self._stats.linear, members)

    def _check(self, tree: Tree) -> None:
        """Refuse a tree of other data: kernels would read where nothing is."""
        n_features, n_terms = self._features.bins.shape[1], self._stats.n_terms
        is_ours = tree.nodes.value.shape[1] == n_terms
        if not is_ours or tree.nodes.feature.max() >= n_features:
            raise InvalidParameterError(
                f"A known tree must be one of {n_features} features and {n_terms} leaf "
                "functions, but it is not.\n\nHint: grow it again."
            )

    @property
    def _is_at_mean(self) -> bool:
        return self._params.starts_at_mean and not self.trees

    def _draw(self) -> tuple[IndexArray, IndexArray, int]:
        """Draw individuals, features and the seed of one tree."""
        if self._is_at_mean:
            rows, columns = self._members, self._all_features
        else:
            rows, columns = self._draw_rows(), self._draw_columns()
        return rows, columns, int(self._rng.integers(2**63))

    def _grow(self, rows: IndexArray, columns: IndexArray, seed: int) -> Tree:
        is_mean = self._is_at_mean
        growth = replace(self._params.growth, n_threads=self._n_threads)
        self._source.start(rows)
        tree = grow_tree(
            self._source,
            self._problem,
            replace(growth, max_leaves=1) if is_mean else growth,
            self._features.n_values,
            self._features.is_categorical,
            columns,
            seed,
        )
        return tree if is_mean else tree.scaled(self._params.learning_rate)

    def _add(self, tree: Tree) -> float:
        arguments = (
            self._features.bins,
            self._features.missing_bin,
            tree.nodes,
            self._stats.linear,
            self._stats.quadratic,
            self.theta,
            self._rows,
        )
        if len(self.theta) >= _PARALLEL_FROM:
            return add_tree_parallel(*arguments, _N_CHUNKS)
        return add_tree(*arguments)

    def _draw_rows(self) -> IndexArray:
        if self._params.subsample >= 1.0:
            return self._members
        n_drawn = max(1, round(self._params.subsample * len(self._members)))
        drawn = self._rng.choice(self._members, n_drawn, replace=False)
        return np.sort(drawn)

    def _draw_columns(self) -> IndexArray:
        n_features = len(self._all_features)
        if self._params.colsample >= 1.0:
            return self._all_features
        n_drawn = max(1, round(self._params.colsample * n_features))
        return np.sort(self._rng.choice(self._all_features, n_drawn, replace=False))

"""The loop: gradient, tree, shrink, update."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from boostr._engine.binning import FeatureLayout
from boostr._engine.trainees import Trainees
from boostr._engine.tree import GrowthParams, LeafProblem, Tree, grow_tree
from boostr._typing import IndexArray
from boostr.exceptions import InvalidParameterError

__all__ = ["Booster", "BoostingParams"]


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

    Trees are trained on trainees and split on ``columns`` (all features by default).
    """

    def __init__(
        self,
        trainees: Trainees,
        layout: FeatureLayout,
        problem: LeafProblem,
        params: BoostingParams,
        n_threads: int = 1,
        columns: IndexArray | None = None,
    ) -> None:
        self.trainees = trainees
        self.trees: list[Tree] = []
        self.total_loss = 0.0  # of all individuals, trained on or not
        self.held_out_loss = 0.0
        self._layout = layout
        self._problem = problem
        self._params = params
        self._growth = replace(params.growth, n_threads=n_threads)
        self._rng = np.random.default_rng(params.seed)
        everything = np.arange(layout.n_features, dtype=np.int32)
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
        self.total_loss, self.held_out_loss = self.trainees.add(tree)
        self.trees.append(tree)
        return tree

    def _check(self, tree: Tree) -> None:
        """Refuse a tree of other data: kernels would read where nothing is."""
        n_features, n_terms = self._layout.n_features, len(self._problem.penalty)
        is_ours = tree.nodes.value.shape[1] == n_terms
        if not is_ours or tree.nodes.feature.max() >= n_features:
            raise InvalidParameterError(
                f"A known tree must be one of {n_features} features and {n_terms} leaf "
                "functions, but it is not.\n\nHint: grow it again."
            )

    @property
    def _is_at_mean(self) -> bool:
        return self._params.starts_at_mean and not self.trees

    def _draw(self) -> tuple[int, IndexArray, int]:
        """Draw the seed of the individuals, the features and the seed of one tree."""
        rows, columns = 0, self._all_features
        if not self._is_at_mean:
            if self._params.subsample < 1.0:
                rows = int(self._rng.integers(2**63))
            columns = self._draw_columns()
        return rows, columns, int(self._rng.integers(2**63))

    def _grow(self, rows: int, columns: IndexArray, seed: int) -> Tree:
        is_mean = self._is_at_mean
        self.trainees.start(1.0 if is_mean else self._params.subsample, rows)
        tree = grow_tree(
            self.trainees,
            self._problem,
            replace(self._growth, max_leaves=1) if is_mean else self._growth,
            self._layout.n_values,
            self._layout.is_categorical,
            columns,
            seed,
        )
        return tree if is_mean else tree.scaled(self._params.learning_rate)

    def _draw_columns(self) -> IndexArray:
        n_features = len(self._all_features)
        if self._params.colsample >= 1.0:
            return self._all_features
        n_drawn = max(1, round(self._params.colsample * n_features))
        return np.sort(self._rng.choice(self._all_features, n_drawn, replace=False))

"""The loop of boosting: gradient, tree, shrink, update; and its state."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from boostr._engine.binning import BinnedFeatures, FeatureLayout
from boostr._engine.statistics import SufficientStats
from boostr._engine.tree import (
    GrownRound,
    GrowthParams,
    HistogramSource,
    LeafProblem,
    LocalSource,
    NextRounds,
    Tree,
    WholeRoot,
    can_grow_rounds,
    grow_rounds,
    grow_tree,
    joins_bins,
    read_whole_root,
)
from boostr._kernels.apply import (
    add_grown_tree,
    add_tree,
    add_tree_parallel,
    quadratic_loss,
)
from boostr._kernels.rounds import ModelState
from boostr._kernels.solve import GROUPED
from boostr._typing import BoolArray, FloatArray, IndexArray, PositionArray
from boostr.exceptions import InvalidParameterError

__all__ = [
    "Booster",
    "BoostingParams",
    "BoostingState",
    "LocalBoostingState",
    "draw_individuals",
    "scatter",
]

_PARALLEL_FROM = 30_000  # individuals from which waking up threads pays
_N_SEEDS = 64  # of trees that are drawn at a time
_N_CHUNKS = 64  # of individuals; fixed, so that sums over them have the same bits always


class BoostingState(HistogramSource, Protocol):
    """All that a booster knows of individuals, whether they are here or elsewhere.

    Trees are trained on some of them; the coefficients of all are kept up to date, so that
    the loss of those left out is known after every tree.
    """

    def start(self, share: float, seed: int) -> None:
        """Begin a tree on a share of those that are trained on, drawn with the seed."""
        ...

    def add(self, tree: Tree) -> tuple[float, float]:
        """Add a tree; return the loss of all individuals, and of those held out."""
        ...

    def keep(self, coefficients: FloatArray | None) -> None:
        """Remember coefficients of those held out: those given, or those of now."""
        ...

    def forget(self) -> None:
        """Drop all that is held elsewhere: the model is done."""
        ...


class LocalBoostingState:
    """Individuals whose bins and statistics lie in local arrays.

    Parameters
    ----------
    stats : SufficientStats
        Of all individuals.
    features : BinnedFeatures
        The same.
    solver : int
        Kind of leaf problem, see :mod:`boostr._kernels.solve`.
    held_out : (n_held_out,) int32
        Who is not trained on, ascending.
    n_threads : int
        Threads to use; results do not depend on it.
    first : int
        Position of the first individual where these are some of many.
    """

    def __init__(
        self,
        stats: SufficientStats,
        features: BinnedFeatures,
        solver: int,
        held_out: IndexArray,
        n_threads: int = 1,
        first: int = 0,
    ) -> None:
        self.theta = np.zeros_like(stats.linear)
        self.kept = np.zeros((len(held_out), stats.n_terms))  # of those held out
        self.held_out = held_out
        self.gradients = -stats.linear
        n = len(stats.linear)
        losses = np.empty(_N_CHUNKS if n >= _PARALLEL_FROM else 1)
        self._stats = stats
        self._features = features
        self._first = first
        is_coarse = joins_bins(solver, stats.n_terms)
        self._source = LocalSource(
            features,
            self.gradients,
            stats.curvature(solver),
            n_threads,
            is_coarse=is_coarse,
            is_shared=solver != GROUPED,
        )
        self._space = self._source.scratch, losses
        self._members = np.delete(np.arange(n, dtype=np.int32), held_out)
        self._rows = self._members  # that the next tree is grown on
        self._model = ModelState(
            self._members,
            held_out,
            held_out,
            features.missing_bin,
            stats.linear,
            stats.quadratic,
            self.theta,
            losses,
        )

    def start(self, share: float, seed: int) -> None:
        """Begin a tree on a share of those that are trained on."""
        rows = self._members
        if share < 1.0:
            rows = rows[draw_individuals(rows + np.int64(self._first), share, seed)]
        self._rows = rows
        self._source.start(rows)

    def read_root(self, features: IndexArray, max_leaves: int) -> WholeRoot | None:
        """Return the root for one kernel, see `HistogramSource`."""
        root = self._source.read_root(features, max_leaves)
        if root is not None and self._rows is self._members:
            root.model = self._model
        elif root is not None and root.can_share:
            others = np.delete(np.arange(len(self.theta), dtype=np.int32), self._rows)
            root.model = self._model._replace(members=self._rows, others=others)
        return root

    def root(self, features: IndexArray) -> FloatArray:
        """Return the root's sums, see `HistogramSource`."""
        return self._source.root(features)

    def read_bins(self, node: int, feature: int, first: int, stop: int) -> FloatArray:
        """Return a node's sums in some bins of a feature, see `HistogramSource`."""
        return self._source.read_bins(node, feature, first, stop)

    def split(
        self,
        node: int,
        feature: int,
        goes_left: BoolArray,
        children: tuple[int, int],
    ) -> tuple[FloatArray, FloatArray]:
        """Split a node and return the children's sums, see `HistogramSource`."""
        return self._source.split(node, feature, goes_left, children)

    def add(self, tree: Tree) -> tuple[float, float]:
        """Add a tree to the coefficients and gradients of all individuals."""
        arguments = (
            self._features.bins,
            self._features.missing_bin,
            tree.nodes,
            self._stats.linear,
            self._stats.quadratic,
            self.theta,
            self.gradients,
        )
        grown = self._source.take_spans(tree)
        n_chunks = len(self._space[1])
        if grown is not None and len(grown[0]) == len(self._members):
            order, span, rest = grown
            others = np.concatenate([self.held_out, rest]) if len(rest) else self.held_out
            total = add_grown_tree(*arguments, order, span, others, *self._space)
        elif n_chunks > 1:
            total = add_tree_parallel(*arguments, n_chunks)
        else:
            total = add_tree(*arguments)
        return total, self.loss(self.held_out)

    def keep(self, coefficients: FloatArray | None) -> None:
        """Remember coefficients of those held out."""
        if coefficients is None:
            coefficients = self.theta.take(self.held_out, axis=0)
        self.kept = coefficients

    def forget(self) -> None:
        """Do nothing: what lies here goes with the object."""

    def loss(self, members: IndexArray) -> float:
        """Return the summed loss of some individuals."""
        return quadratic_loss(self.theta, self.gradients, self._stats.linear, members)


def draw_individuals(positions: PositionArray, share: float, seed: int) -> BoolArray:
    """Draw every individual with the same chance; return whether each is drawn.

    This depends on the seed and on the individual's position alone (a step of the
    splitmix64 generator), so that parts of the individuals can be drawn anywhere.
    """
    state = positions.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15) + np.uint64(seed)
    scatter(state)
    return np.asarray(state < np.uint64(min(share * 2.0**64, 2.0**64 - 2048)))


def scatter(state: NDArray[np.uint64]) -> None:
    """Turn numbers into others that look like chance, in place: splitmix64's last step."""
    state ^= state >> np.uint64(30)
    state *= np.uint64(0xBF58476D1CE4E5B9)
    state ^= state >> np.uint64(27)
    state *= np.uint64(0x94D049BB133111EB)
    state ^= state >> np.uint64(31)


def _draw_seeds(rng: np.random.Generator) -> Iterator[int]:
    """Draw seeds of trees, many at a time."""
    while True:
        yield from rng.integers(2**63, size=_N_SEEDS).tolist()


@dataclass(frozen=True, slots=True, kw_only=True)
class BoostingParams:
    """How one ensemble is grown."""

    growth: GrowthParams
    learning_rate: float
    subsample: float = 1.0
    colsample: float = 1.0
    seed: int = 0
    starts_at_mean: bool = True  # the first tree is a root alone, taken in full

    @property
    def draws_some(self) -> bool:
        """Whether trees see some of the individuals, or of the features."""
        return self.subsample < 1.0 or self.colsample < 1.0

    def can_run_ahead(self, problem: LeafProblem) -> bool:
        """Return whether one kernel can grow the trees of several rounds."""
        return not self.draws_some and can_grow_rounds(problem, self.growth)


class Booster:
    """An ensemble in the making: one call of `step` adds one tree.

    Trees are trained on state and split on ``columns`` (all features by default).
    """

    def __init__(
        self,
        state: BoostingState,
        layout: FeatureLayout,
        problem: LeafProblem,
        params: BoostingParams,
        columns: IndexArray | None = None,
    ) -> None:
        self.state = state
        self.trees: list[Tree] = []
        self.total_loss = 0.0  # of all individuals, trained on or not
        self.held_out_loss = 0.0
        self._layout = layout
        self._problem = problem
        self._params = params
        self._rng = np.random.default_rng(params.seed)
        self._seeds = _draw_seeds(self._rng)
        has_categories = bool(layout.is_categorical.any())
        self._is_categorical = layout.is_categorical if has_categories else None
        everything = np.arange(layout.n_features, dtype=np.int32)
        self._all_features = everything if columns is None else columns
        self._ahead: deque[GrownRound] = deque()  # that no step has returned yet
        self._kept: FloatArray | None = None  # coefficients of those held out, if known

    def step(self, known: Tree | None = None, n_certain: int = 1) -> Tree:
        """Grow one tree on the gradient, shrink it and add it.

        A tree that is known already, from the same step of another booster, is added as it
        is; random numbers are drawn all the same, so that the next step goes on alike.
        Trees of the next steps may be grown with it, if ``n_certain`` are to come.
        """
        if not self._ahead:
            rows, columns, seeds = self._draw()
            if known is None:
                self._ahead.extend(self._grow(rows, columns, seeds, n_certain))
            else:
                next(seeds)
                self._check(known)
                self.state.start(1.0, 0)  # its leaves are not known
                self._ahead.append(self._add(known))
        tree, self.total_loss, self.held_out_loss, self._kept = self._ahead.popleft()
        self.trees.append(tree)
        return tree

    def keep(self) -> None:
        """Remember the coefficients of those held out as the last tree left them."""
        self.state.keep(self._kept)

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

    def _draw(self) -> tuple[int, IndexArray, Iterator[int]]:
        """Draw the seed of the individuals, the features and the seeds of trees."""
        if not self._params.draws_some:
            return 0, self._all_features, self._seeds
        rows, columns = 0, self._all_features
        if not self._is_at_mean:
            if self._params.subsample < 1.0:
                rows = int(self._rng.integers(2**63))
            columns = self._draw_columns()
        return rows, columns, iter([int(self._rng.integers(2**63))])

    def _grow(
        self, rows: int, columns: IndexArray, seeds: Iterator[int], n_certain: int
    ) -> list[GrownRound]:
        """Grow a tree and add it, and those of next rounds if one kernel can do it."""
        params, is_mean = self._params, self._is_at_mean
        self.state.start(1.0 if is_mean else params.subsample, rows)
        growth = replace(params.growth, max_leaves=1) if is_mean else params.growth
        root = read_whole_root(self.state, self._problem, growth, columns)
        given = self._layout.n_values, self._is_categorical, columns
        n_at_most = 1 if params.draws_some else n_certain
        if not is_mean and root is not None and root.can_grow_rounds(n_at_most):
            to_come = NextRounds(seeds, params.learning_rate, n_at_most)
            return grow_rounds(root, self._problem, growth, *given, to_come)
        tree = grow_tree(self.state, self._problem, growth, *given, next(seeds), root)
        if not is_mean:
            value = tree.nodes.value  # nobody else knows the tree yet
            np.multiply(value, params.learning_rate, out=value)
        return [self._add(tree)]

    def _add(self, tree: Tree) -> GrownRound:
        """Add a tree to the coefficients of all individuals."""
        return GrownRound(tree, *self.state.add(tree), None)

    def _draw_columns(self) -> IndexArray:
        n_features = len(self._all_features)
        if self._params.colsample >= 1.0:
            return self._all_features
        n_drawn = max(1, round(self._params.colsample * n_features))
        return np.sort(self._rng.choice(self._all_features, n_drawn, replace=False))

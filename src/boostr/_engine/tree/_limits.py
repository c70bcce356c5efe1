"""Limits that experts know: directions of features, and which may act together."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from boostr._engine.tree._search import FoundSplit, SearchParams, find_split
from boostr._kernels.ordered import find_ordered_split, solve_bounded, solve_children
from boostr._typing import BoolArray, FloatArray, IndexArray

__all__ = ["Bounds", "LimitedNode", "Limits"]


@dataclass(frozen=True, eq=False)
class Limits:
    """Directions of features, and sets of those that may meet on a way to a leaf.

    Shuffled copies, numbered from ``n_features`` on, are limited as the features are.
    """

    signs: IndexArray  # (n_features,) 1: curves rise with it, -1: they fall, 0: either
    sets: BoolArray | None = None  # (n_sets, n_features)
    most_together: int | None = None  # features on a way to a leaf

    @cached_property
    def is_ordered(self) -> bool:
        """Whether curves must rise or fall with some feature."""
        return bool(np.any(self.signs != 0))

    def signs_of(self, features: IndexArray) -> IndexArray:
        """Return the directions of some features."""
        return np.asarray(self.signs[features % len(self.signs)])

    def allow(self, path: frozenset[int], features: IndexArray) -> BoolArray:
        """Return which features may split a node, given those on the way to it."""
        own = features % len(self.signs)
        if not path:
            return np.ones(len(own), dtype=np.bool_)
        if self.most_together is not None and len(path) >= self.most_together:
            return np.isin(own, list(path))
        if self.sets is None:
            return np.ones(len(own), dtype=np.bool_)
        is_open = np.all(self.sets[:, list(path)], axis=1)
        return np.asarray(np.any(self.sets[is_open][:, own], axis=0))


@dataclass(frozen=True, slots=True, eq=False)
class Bounds:
    """Lowest and highest coefficients of a node, term by term."""

    low: FloatArray
    high: FloatArray

    @classmethod
    def none(cls, n_terms: int) -> Bounds:
        """Return those of the root, which are infinite."""
        return cls(np.full(n_terms, -np.inf), np.full(n_terms, np.inf))


@dataclass(frozen=True, slots=True, eq=False)
class LimitedNode:
    """Where a node stands: the features on the way to it, and its bounds."""

    limits: Limits
    path: frozenset[int]
    bounds: Bounds

    def find_split(
        self, histograms: FloatArray, features: IndexArray, params: SearchParams, seed: int
    ) -> FoundSplit:
        """Search the features that may split the node."""
        is_allowed = self.limits.allow(self.path, features)
        if not is_allowed.all():
            features = features[is_allowed]
            # Sums of the node are those of any feature, though it may not split.
            histograms = histograms[is_allowed] if is_allowed.any() else histograms
        if not self.limits.is_ordered:
            return find_split(histograms, features, params, seed)
        return self._find_ordered(histograms, features, params, seed)

    def _find_ordered(
        self, histograms: FloatArray, features: IndexArray, params: SearchParams, seed: int
    ) -> FoundSplit:
        goes_left = np.empty(histograms.shape[1], dtype=np.bool_)
        sums = np.empty((2, histograms.shape[2]))
        sums[0] = histograms[0].sum(axis=0)
        value, own = self.solve(sums[0], params)
        is_categorical = params.is_categorical
        if is_categorical is None:
            is_categorical = np.zeros(len(params.n_values), dtype=np.bool_)
        gain, slot, bin_index, missing_left = find_ordered_split(
            histograms,
            features,
            params.n_values,
            is_categorical,
            self.limits.signs_of(features),
            params.problem.penalty,
            params.problem.solver,
            params.min_count,
            params.n_candidates,
            np.uint64(seed),
            own,
            self.bounds.low,
            self.bounds.high,
            goes_left,
            sums,
        )
        feature = int(features[slot]) if slot >= 0 else -1
        return FoundSplit(
            gain, feature, bin_index, missing_left, goes_left, sums, value, own
        )

    def solve(self, sums: FloatArray, params: SearchParams) -> tuple[FloatArray, float]:
        """Return the node's coefficients as a leaf, and what they gain."""
        problem, bounds = params.problem, self.bounds
        value = np.empty(len(problem.penalty))
        own = solve_bounded(
            sums, problem.penalty, problem.solver, bounds.low, bounds.high, value
        )
        return value, own

    def split(
        self, split: FoundSplit, params: SearchParams
    ) -> tuple[LimitedNode, LimitedNode]:
        """Return where the two children stand."""
        feature = split.feature % len(self.limits.signs)
        sign, path = int(self.limits.signs[feature]), self.path | {feature}
        left = right = self.bounds
        if sign != 0:
            below, above = self._part(split, sign, params)
            left, right = (below, above) if sign > 0 else (above, below)
        return LimitedNode(self.limits, path, left), LimitedNode(self.limits, path, right)

    def _part(
        self, split: FoundSplit, sign: int, params: SearchParams
    ) -> tuple[Bounds, Bounds]:
        """Return the bounds below and above the middle of both children."""
        problem, bounds = params.problem, self.bounds
        middle = np.empty(len(problem.penalty))
        solve_children(
            split.sums[1],
            split.sums[0] - split.sums[1],
            problem.penalty,
            problem.solver,
            sign,
            bounds.low,
            bounds.high,
            middle,
            np.empty((2, len(middle))),
        )
        return Bounds(bounds.low, middle), Bounds(middle, bounds.high)

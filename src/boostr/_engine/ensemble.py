"""A fitted ensemble: clock, functions of time, bins and trees."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from boostr._engine.binning import BinMapper
from boostr._engine.curves import REACH, MonotoneCurves, PositiveCurves
from boostr._engine.sensor_curves import PathCurves
from boostr._engine.statistics import put_paths_on_clock
from boostr._engine.tree import Tree, pack_trees
from boostr._kernels.apply import Nodes, sum_leaves, sum_leaves_parallel
from boostr._typing import FloatArray, IndexArray, PositionArray
from boostr.basis import Clock, FittedBasis, FittedSensorBasis
from boostr.data import Trajectories

__all__ = ["Curves", "Ensemble", "Member"]

Curves = MonotoneCurves | PositiveCurves | PathCurves

_PARALLEL_FROM = 1_000  # individuals from which waking up threads pays


@dataclass(frozen=True, slots=True, eq=False)
class Member:
    """One boosted sequence of trees and its share in the ensemble."""

    trees: tuple[Tree, ...]
    weight: float


@dataclass(frozen=True, eq=False)
class _PackedTrees:
    """Trees of all members for kernels, packed when they are needed.

    They are in the order of their rounds: the first tree of every member, then the second
    ones, and so on; weights are folded into the leaf values.
    """

    members: tuple[Member, ...]
    n_terms: int

    def __reduce__(self) -> tuple[Any, ...]:
        """Leave out what can be packed again, so that predictions change no pickle."""
        return _PackedTrees, (self.members, self.n_terms)

    @cached_property
    def rounds(self) -> list[list[tuple[Tree, float]]]:
        """Trees and their weights."""
        n_rounds = max((len(member.trees) for member in self.members), default=0)
        return [
            [
                (member.trees[index], member.weight)
                for member in self.members
                if index < len(member.trees)
            ]
            for index in range(n_rounds)
        ]

    @cached_property
    def ends(self) -> PositionArray:
        """Number of trees up to the end of each round."""
        return np.cumsum([len(same) for same in self.rounds])

    @cached_property
    def nodes_and_roots(self) -> tuple[Nodes, IndexArray]:
        """Nodes of all trees, and where trees begin."""
        trees = [tree for same in self.rounds for tree, _ in same]
        weights = [weight for same in self.rounds for _, weight in same]
        nodes, roots = pack_trees(trees, self.n_terms)
        factors = np.repeat(weights, [len(tree.gain) for tree in trees])[:, None]
        return nodes._replace(value=nodes.value * factors), roots


@dataclass(frozen=True, slots=True, eq=False)
class Ensemble:
    """The sum of trees ``theta(x)`` and the curves ``theta(x) @ phi(s(t))`` it stands for.

    Copies on another clock or with another floor share the packed trees.
    """

    clock: Clock
    basis: FittedBasis | FittedSensorBasis
    mapper: BinMapper
    horizon: float  # last end of follow-up in training
    members: tuple[Member, ...]
    floor: float | None = None  # rate below which rates are bent; None: cut off at zero
    _packed: _PackedTrees = field(init=False, repr=False)

    def __post_init__(self) -> None:
        packed = _PackedTrees(self.members, self.basis.n_terms)
        object.__setattr__(self, "_packed", packed)

    def with_floor(self, floor: float | None) -> Ensemble:
        """Return the same trees with another floor of rates."""
        other = copy.copy(self)
        object.__setattr__(other, "floor", floor)
        return other

    @property
    def n_rounds(self) -> int:
        """Number of boosting rounds: trees of the longest member."""
        return len(self._packed.rounds)

    def coefficients(self, features: FloatArray, n_threads: int = 1) -> FloatArray:
        """Return theta, (n, n_terms), for rows of features."""
        return self._sum(features, slice(None), n_threads)

    def staged_coefficients(
        self, features: FloatArray, n_threads: int = 1
    ) -> Iterator[FloatArray]:
        """Yield theta after each round."""
        theta = np.zeros((len(features), self.basis.n_terms))
        begin = 0
        for end in self._packed.ends:
            theta = theta + self._sum(features, slice(begin, end), n_threads)
            begin = end
            yield theta

    @property
    def span(self) -> float:
        """Length of the time axis of training, from the first start to the last end."""
        return self.horizon - self.clock.origin

    @property
    def reach(self) -> float:
        """Time from which curves are constant."""
        return self.clock.origin + REACH * self.span

    def curves(
        self,
        theta: FloatArray,
        sensors: Trajectories | None = None,
        *,
        monotone: bool = True,
        keeps_order: bool = False,
    ) -> Curves:
        """Return the curves of individuals with the given coefficients and sensors.

        With ``keeps_order`` ordered coefficients give ordered curves, whatever is bent.
        """
        ends = self.clock.read(np.array([self.horizon, self.reach]))
        if isinstance(self.basis, FittedSensorBasis):
            assert sensors is not None  # noqa: S101 - estimators have asked for them
            paths = put_paths_on_clock(sensors, self.clock)
            floor = (self.floor or 0.0) if monotone else -1.0
            return PathCurves(self.basis, theta, paths, ends[0], ends[1], floor)
        if monotone and self.floor is not None:
            return PositiveCurves(
                self.basis, theta, ends[0], ends[1], self.floor, keeps_order=keeps_order
            )
        return MonotoneCurves(self.basis, theta, ends[0], ends[1], monotone)

    def on_clock(self, clock: Clock) -> Ensemble:
        """Return the ensemble on another clock; its trees are not packed anew."""
        other = copy.copy(self)
        object.__setattr__(other, "clock", clock)
        return other

    def scaled(self, factor: float) -> Ensemble:
        """Return the ensemble with all rates, and the floor, multiplied by a factor."""
        members = tuple(
            replace(member, weight=factor * member.weight) for member in self.members
        )
        floor = None if self.floor is None else factor * self.floor
        return replace(self, members=members, floor=floor)

    def _sum(self, features: FloatArray, some: slice, n_threads: int) -> FloatArray:
        """Return the sum of some trees."""
        nodes, roots = self._packed.nodes_and_roots
        binned = self.mapper.transform(features, n_threads)
        theta = np.zeros((len(features), self.basis.n_terms))
        arguments = (binned.bins, binned.missing_bin, nodes, roots[some], theta)
        if n_threads > 1 and len(features) >= _PARALLEL_FROM:
            sum_leaves_parallel(*arguments, 16 * n_threads)
        else:
            sum_leaves(*arguments)
        return theta


def gain_importance(
    members: Sequence[Member], n_features: int
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return importances (gain over K squared), raw gains and split counts per feature.

    A member with K trees counts with its share of all weights, whatever their level.
    """
    totals = np.zeros((3, n_features))
    level = sum(member.weight for member in members)
    nothing = np.empty(0, dtype=np.int32)
    for member in members:
        feature = np.concatenate([nothing, *(tree.nodes.feature for tree in member.trees)])
        gain = np.concatenate([nothing, *(tree.gain for tree in member.trees)])
        is_split = feature >= 0
        gains, counts = (
            np.bincount(feature[is_split], values, n_features)
            for values in (gain[is_split], None)
        )
        n_trees = max(len(member.trees), 1)
        totals += member.weight / level * np.stack([gains / n_trees**2, gains, counts])
    return totals[0], totals[1], totals[2]

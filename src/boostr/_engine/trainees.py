"""The individuals of one model in the making: they follow it, and sum what it needs."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from boostr._engine.binning import BinnedFeatures
from boostr._engine.suffstats import SufficientStats
from boostr._engine.tree import HistogramSource, LocalSource, Tree
from boostr._kernels.apply import add_tree, add_tree_parallel, quadratic_loss
from boostr._typing import BoolArray, FloatArray, IndexArray, PositionArray

__all__ = ["LocalTrainees", "Trainees", "draw_individuals", "scatter"]

_PARALLEL_FROM = 30_000  # individuals from which waking up threads pays
_N_CHUNKS = 64  # of individuals; fixed, so that sums over them have the same bits always


class Trainees(HistogramSource, Protocol):
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

    def keep(self) -> None:
        """Remember the coefficients of those held out as they are now."""
        ...

    def forget(self) -> None:
        """Drop all that is held elsewhere: the model is done."""
        ...


class LocalTrainees:
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
        self.rows = stats.channels(solver)
        self._stats = stats
        self._features = features
        self._first = first
        self._source = LocalSource(features, self.rows, stats.n_terms, n_threads)
        everybody = np.arange(len(stats.linear), dtype=np.int32)
        self._members = np.delete(everybody, held_out)

    def start(self, share: float, seed: int) -> None:
        """Begin a tree on a share of those that are trained on."""
        rows = self._members
        if share < 1.0:
            rows = rows[draw_individuals(rows + np.int64(self._first), share, seed)]
        self._source.start(rows)

    def root(self, features: IndexArray) -> FloatArray:
        """Return the root's sums, see `HistogramSource`."""
        return self._source.root(features)

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
        """Add a tree to the coefficients and gradients of everybody."""
        arguments = (
            self._features.bins,
            self._features.missing_bin,
            tree.nodes,
            self._stats.linear,
            self._stats.quadratic,
            self.theta,
            self.rows,
        )
        if len(self.theta) >= _PARALLEL_FROM:
            total = add_tree_parallel(*arguments, _N_CHUNKS)
        else:
            total = add_tree(*arguments)
        return total, self.loss(self.held_out)

    def keep(self) -> None:
        """Remember the coefficients of those held out."""
        self.kept = self.theta[self.held_out]

    def forget(self) -> None:
        """Do nothing: what lies here goes with the object."""

    def loss(self, members: IndexArray) -> float:
        """Return the summed loss of some individuals."""
        return quadratic_loss(self.theta, self.rows, self._stats.linear, members)


def draw_individuals(positions: PositionArray, share: float, seed: int) -> BoolArray:
    """Draw every individual with the same chance; return who is drawn.

    Whether somebody is drawn depends on the seed and on the own position alone (a step of
    the splitmix64 generator), so that parts of the individuals can be drawn anywhere.
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

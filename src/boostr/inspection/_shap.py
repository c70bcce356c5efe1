"""Shapley values of the coefficients of a tree ensemble."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from boostr._engine.binning import BinnedFeatures
from boostr._engine.ensemble import Ensemble
from boostr._engine.tree import pack_trees
from boostr._kernels.leaf_paths import average_leaves, longest_path
from boostr._kernels.nodes import Nodes
from boostr._kernels.shap import Quadrature, share_out, share_out_parallel
from boostr._typing import FloatArray, IndexArray

__all__ = ["CoefficientShares"]

_PARALLEL_FROM = 256  # individuals from which waking up threads pays


@dataclass(frozen=True, slots=True, eq=False)
class CoefficientShares:
    """Path-dependent SHAP values of ``theta(x)`` for all trees of an ensemble.

    The value of a set of known features is the mean of ``theta`` over the training
    individuals in all nodes that they leave open.
    """

    nodes: Nodes
    counts: FloatArray  # (n_nodes,) training individuals
    roots: IndexArray
    rules: Quadrature
    n_features: int

    @classmethod
    def of(cls, ensemble: Ensemble) -> CoefficientShares:
        """Return the packed, weighted trees of all members."""
        pairs = [(tree, each.weight) for each in ensemble.members for tree in each.trees]
        trees = [tree.scaled(weight) for tree, weight in pairs]
        nodes, roots = pack_trees(trees, ensemble.basis.n_terms)
        counts = np.concatenate([np.empty(0), *[tree.count for tree in trees]])
        n_features = len(ensemble.mapper.is_categorical)
        most = min(int(longest_path(nodes, roots)), n_features)
        return cls(nodes, counts, roots, make_rules(most + 1), n_features)

    def average(self) -> FloatArray:
        """Return theta without known features, (n_terms,)."""
        out = np.empty(self.nodes.value.shape[1])
        average_leaves(self.nodes, self.counts, self.roots, out)
        return out

    def compute(
        self, binned: BinnedFeatures, *, with_partner: bool = False, n_threads: int = 1
    ) -> FloatArray:
        """Return the share of every feature in theta, (n, n_features + 1, n_terms).

        Shares add up to theta minus its average. With a partner, a player without whom
        theta is zero, they add up to theta; its share is the last row.
        """
        n_rows = len(binned.bins)
        out = np.zeros((n_rows, self.n_features + 1, self.nodes.value.shape[1]))
        trees = (self.nodes, self.counts, self.roots, self.rules)
        if n_threads > 1 and n_rows >= _PARALLEL_FROM:
            share_out_parallel(
                binned.bins, binned.missing_bin, *trees, with_partner, out, 2 * n_threads
            )
        else:
            share_out(binned.bins, binned.missing_bin, *trees, with_partner, out)
        return out


def make_rules(most: int) -> Quadrature:
    """Return rules that are exact for polynomials of degree 0, 0, 1, ..., ``most - 1``."""
    n_points = np.maximum((np.arange(most + 1, dtype=np.int32) + 1) // 2, 1)
    points = np.zeros((most + 1, n_points[-1]))
    weights = np.zeros_like(points)
    for degree, n in enumerate(n_points):
        # From [-1, 1] to [0, 1].
        nodes, own = np.polynomial.legendre.leggauss(int(n))
        points[degree, :n], weights[degree, :n] = (nodes + 1.0) / 2.0, own / 2.0
    return Quadrature(n_points, points, weights)

"""Shapley values by their definition: all subsets of players, one tree at a time.

Nothing here may come from `boostr._kernels`.
"""

from functools import cache
from itertools import combinations
from math import comb

import numpy as np
from tests import oracles


def shapley_values(players, value_of):
    """Give the Shapley value of every player of a game, a function of sets of players."""
    shares, worth = {}, cache(value_of)
    for player in players:
        others = [other for other in players if other != player]
        shares[player] = sum(
            (worth(frozenset(group) | {player}) - worth(frozenset(group)))
            / (comb(len(others), size) * len(players))
            for size in range(len(others) + 1)
            for group in combinations(others, size)
        )
    return shares


def expected_value(nodes, counts, bins, missing_bin, known, root=0, node=0):
    """Walk down one tree; on features that are not known, both ways by their counts."""
    feature = nodes.feature[root + node]
    if feature < 0:
        return nodes.value[root + node]
    left = int(nodes.left_child[root + node])
    if feature in known:
        # The oracle for leaves, of a tree with this one split.
        side = oracles.find_leaf(_only_split(nodes, root + node), bins, missing_bin) - 1
        return expected_value(nodes, counts, bins, missing_bin, known, root, left + side)
    sides = [
        counts[root + child]
        * expected_value(nodes, counts, bins, missing_bin, known, root, child)
        for child in (left, left + 1)
    ]
    return sum(sides) / (counts[root + left] + counts[root + left + 1])


def _only_split(nodes, node):
    return nodes._replace(
        feature=np.array([nodes.feature[node], -1, -1]),
        bin_threshold=nodes.bin_threshold[[node] * 3],
        missing_left=nodes.missing_left[[node] * 3],
        left_child=np.array([1, 0, 0]),
        category_set=nodes.category_set[[node] * 3],
    )


def tree_shares(nodes, counts, roots, bins, missing_bin, with_partner):
    """Give the Shapley values of features, and of a partner, (n_features + 1, n_terms)."""
    n_features = len(bins)
    players = [*range(n_features), *(["partner"] if with_partner else [])]

    def value_of(group):
        if with_partner and "partner" not in group:
            return np.zeros(nodes.value.shape[1])
        return sum(
            expected_value(nodes, counts, bins, missing_bin, group, root) for root in roots
        )

    shares = shapley_values(players, value_of)
    shares.setdefault("partner", np.zeros(nodes.value.shape[1]))
    return np.array([shares[player] for player in [*range(n_features), "partner"]])


def product_shares(shares, is_kept):
    """Give the Shapley values of a product of factors: 1 or 0 if known, else a share.

    One player at a time, the polynomial of the others integrated by its coefficients.
    """
    values = []
    for player, share in enumerate(shares):
        others = np.polynomial.Polynomial([1.0])
        for other, own in enumerate(shares):
            if other != player:
                others *= np.polynomial.Polynomial([own, float(is_kept[other]) - own])
        values.append((float(is_kept[player]) - share) * others.integ()(1.0))
    return np.array(values)

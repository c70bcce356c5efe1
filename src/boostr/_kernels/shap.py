"""Shapley values of trees whose leaves hold coefficients, exact and path-dependent.

What a tree gives when only some features are known is the average over its training
individuals: at a split on an unknown feature both ways are taken, each with its share of
them. The part of one leaf in this is a product over the features on its path: 1 or 0 for
a known feature, as the individual keeps to the path or leaves it, and the product ``r`` of
the shares at the feature's splits for an unknown one. If every feature is known with the
same probability u, the expected product is the polynomial ``prod_k (r_k (1 - u) + o_k u)``,
and the Shapley value of feature j is the integral from 0 to 1 of its derivative in j's own
probability,

    (o_j - r_j) * integral of prod_{k != j} (r_k (1 - u) + o_k u) du.

Gauss and Legendre's rule with half as many points as the path has features integrates it
exactly. Nothing is divided, and all terms of the sum have one sign.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from boostr._kernels._jit import allocating_kernel, inner_kernel
from boostr._kernels.apply import Nodes
from boostr._kernels.leaf_paths import LeafPaths, end_of_tree, trace_paths
from boostr._kernels.threads import run_in_parts
from boostr._typing import BinArray, BoolArray, FloatArray, IndexArray, OffsetArray

__all__ = [
    "Quadrature",
    "share_out",
    "share_out_parallel",
]

_MOST_REMEMBERED = 10  # features on a path, or splits of a tree, whose cases are all kept
_BLOCK = 256  # individuals that are looked at together: their sums stay in the cache


class Quadrature(NamedTuple):
    """Rules of Gauss and Legendre on [0, 1], row d for paths of d features."""

    n_points: IndexArray  # (n_rules,)
    points: FloatArray  # (n_rules, most_points)
    weights: FloatArray  # (n_rules, most_points)


@inner_kernel
def _integrate(
    shares: FloatArray,
    is_kept: BoolArray,
    rules: Quadrature,
    with_partner: bool,
    before: FloatArray,
    out: FloatArray,
) -> None:
    """Write the Shapley values of one leaf of value 1: entries, then the partner.

    ``is_kept`` says whether the individual keeps to the path on every entry. A partner is
    one more player, without whom the leaf gives nothing: a factor u.
    """
    n_entries = shares.shape[0]
    rule = n_entries + 1 if with_partner else n_entries
    out[: n_entries + 1] = 0.0
    for point in range(rules.n_points[rule]):
        u, weight = rules.points[rule, point], rules.weights[rule, point]
        product = 1.0
        for entry in range(n_entries):
            before[entry] = product
            product *= shares[entry] * (1.0 - u) + (u if is_kept[entry] else 0.0)
        if with_partner:
            out[n_entries] += weight * product
        product = weight * u if with_partner else weight
        for entry in range(n_entries - 1, -1, -1):
            out[entry] += before[entry] * product
            product *= shares[entry] * (1.0 - u) + (u if is_kept[entry] else 0.0)
    for entry in range(n_entries):
        out[entry] *= (1.0 if is_kept[entry] else 0.0) - shares[entry]


class _Cases(NamedTuple):
    """Shapley values of the leaves of one tree, for every set of entries that are kept."""

    offsets: OffsetArray  # (n_leaves,) first case of every leaf
    amounts: FloatArray  # (n_cases, most_entries + 1) of a leaf of value 1
    is_known: BoolArray  # (n_cases,)
    term_offsets: IndexArray  # (n_leaves + 1,)
    terms: IndexArray  # terms that are not zero: one in leaves of powers


@allocating_kernel
def _reserve(nodes: Nodes, paths: LeafPaths) -> _Cases:
    """Make room for the cases of every leaf, and list the terms that it has."""
    n_leaves, n_terms = paths.leaves.shape[0], nodes.value.shape[1]
    offsets, term_offsets = np.empty(n_leaves, np.int64), np.zeros(n_leaves + 1, np.int32)
    terms = np.empty(n_leaves * n_terms, np.int32)
    n_cases, n_found, most = 0, 0, 0
    for leaf in range(n_leaves):
        n_entries = paths.entry_offsets[leaf + 1] - paths.entry_offsets[leaf]
        most = max(most, n_entries)
        offsets[leaf] = n_cases
        n_cases += 1 << n_entries if n_entries <= _MOST_REMEMBERED else 1
        for term in range(n_terms):
            if nodes.value[paths.leaves[leaf], term] != 0.0:
                terms[n_found] = term
                n_found += 1
        term_offsets[leaf + 1] = n_found
    amounts = np.empty((n_cases, most + 1))
    return _Cases(offsets, amounts, np.zeros(n_cases, np.bool_), term_offsets, terms)


@allocating_kernel
def _compute_case(
    paths: LeafPaths,
    leaf: int,
    is_left: BoolArray,
    rules: Quadrature,
    with_partner: bool,
    out: FloatArray,
) -> None:
    """Write the Shapley values of one leaf for an individual that goes left as told."""
    begin, end = paths.entry_offsets[leaf], paths.entry_offsets[leaf + 1]
    is_kept, before = np.ones(end - begin, np.bool_), np.empty(end - begin)
    for step in range(paths.step_offsets[leaf], paths.step_offsets[leaf + 1]):
        if is_left[paths.step_split[step]] != paths.step_left[step]:
            is_kept[paths.step_entry[step]] = False
    shares = paths.entry_share[begin:end]
    _integrate(shares, is_kept, rules, with_partner, before, out)


@inner_kernel
def _find_sides(
    x_binned: BinArray, missing_bin: int, nodes: Nodes, splits: IndexArray, out: BoolArray
) -> None:
    """Write whether individuals go left at splits, (n_individuals, n_splits)."""
    for split in range(splits.shape[0]):
        node = splits[split]
        feature, threshold = nodes.feature[node], nodes.bin_threshold[node]
        chosen = nodes.category_set[node]
        for row in range(x_binned.shape[0]):
            bin_index = x_binned[row, feature]
            if bin_index == missing_bin:
                out[row, split] = nodes.missing_left[node]
            elif chosen >= 0:
                word = nodes.categories[chosen, bin_index >> 5]
                out[row, split] = (word >> np.uint32(bin_index & 31)) & np.uint32(1) == 1
            else:
                out[row, split] = bin_index <= threshold


@inner_kernel
def _add_leaf(
    is_left: BoolArray,
    nodes: Nodes,
    paths: LeafPaths,
    leaf: int,
    cases: _Cases,
    rules: Quadrature,
    with_partner: bool,
    out: FloatArray,
) -> None:
    """Add the Shapley values of one leaf for individuals that go left as told."""
    first, last = paths.step_offsets[leaf], paths.step_offsets[leaf + 1]
    begin, end = paths.entry_offsets[leaf], paths.entry_offsets[leaf + 1]
    is_remembered = end - begin <= _MOST_REMEMBERED
    amounts, partner = cases.amounts, out.shape[1] - 1
    for row in range(out.shape[0]):
        case = cases.offsets[leaf]
        if is_remembered:
            strayed = np.int64(0)  # bit by bit: on which entries the path is left
            for step in range(first, last):
                is_off = is_left[row, paths.step_split[step]] != paths.step_left[step]
                strayed |= np.int64(is_off) << np.int64(paths.step_entry[step])
            case += strayed
        if not (is_remembered and cases.is_known[case]):
            own = is_left[row]
            _compute_case(paths, leaf, own, rules, with_partner, amounts[case])
            cases.is_known[case] = True
        for position in range(cases.term_offsets[leaf], cases.term_offsets[leaf + 1]):
            term = cases.terms[position]
            value = nodes.value[paths.leaves[leaf], term]
            for entry in range(begin, end):
                feature = paths.entry_feature[entry]
                out[row, feature, term] += value * amounts[case, entry - begin]
            if with_partner:
                out[row, partner, term] += value * amounts[case, end - begin]


@inner_kernel
def _sum_up(
    is_left: BoolArray,
    nodes: Nodes,
    paths: LeafPaths,
    cases: _Cases,
    rules: Quadrature,
    with_partner: bool,
    out: FloatArray,
) -> None:
    """Write the Shapley values of all leaves together."""
    out[:] = 0.0
    for leaf in range(paths.leaves.shape[0]):
        _add_leaf(is_left, nodes, paths, leaf, cases, rules, with_partner, out)


@allocating_kernel
def _find_used(nodes: Nodes, splits: IndexArray) -> IndexArray:
    """Return the features that a tree splits on."""
    used = np.empty(splits.shape[0], np.int32)
    n_used = 0
    for split in range(splits.shape[0]):
        feature, place = nodes.feature[splits[split]], 0
        while place < n_used and used[place] != feature:
            place += 1
        if place == n_used:
            used[n_used] = feature
            n_used += 1
    return used[:n_used]


@inner_kernel
def _copy_rows(rows: FloatArray, chosen: IndexArray, out: FloatArray) -> None:
    """Write the chosen rows one after the other; whole arrays would compile for seconds."""
    for place in range(chosen.shape[0]):
        for term in range(rows.shape[1]):
            out[place, term] = rows[chosen[place], term]


@allocating_kernel
def _add_small_tree(
    x_binned: BinArray,
    missing_bin: int,
    nodes: Nodes,
    paths: LeafPaths,
    rules: Quadrature,
    with_partner: bool,
    out: FloatArray,
) -> None:
    """Add the Shapley values of a tree with few ways to answer all its splits."""
    cases, n_splits = _reserve(nodes, paths), paths.splits.shape[0]
    used = _find_used(nodes, paths.splits)
    n_used, n_terms, partner = used.shape[0], out.shape[2], out.shape[1] - 1
    last = np.array([partner], np.int32)
    table = np.empty((1 << n_splits, n_used + 1, n_terms))
    is_known = np.zeros(1 << n_splits, np.bool_)
    is_left = np.empty((_BLOCK, n_splits), np.bool_)
    sums = np.zeros((1, out.shape[1], n_terms))
    for begin in range(0, x_binned.shape[0], _BLOCK):
        end = min(begin + _BLOCK, x_binned.shape[0])
        _find_sides(x_binned[begin:end], missing_bin, nodes, paths.splits, is_left)
        for row in range(end - begin):
            key = np.int64(0)
            for split in range(n_splits):
                key |= np.int64(is_left[row, split]) << np.int64(split)
            if not is_known[key]:
                own = is_left[row : row + 1]
                _sum_up(own, nodes, paths, cases, rules, with_partner, sums)
                _copy_rows(sums[0], used, table[key])
                _copy_rows(sums[0], last, table[key, n_used:])
                is_known[key] = True
            for place in range(n_used):
                for term in range(n_terms):
                    out[begin + row, used[place], term] += table[key, place, term]
            if with_partner:
                for term in range(n_terms):
                    out[begin + row, partner, term] += table[key, n_used, term]


@allocating_kernel
def _add_large_tree(
    x_binned: BinArray,
    missing_bin: int,
    nodes: Nodes,
    paths: LeafPaths,
    rules: Quadrature,
    with_partner: bool,
    out: FloatArray,
) -> None:
    """Add the Shapley values of one tree, leaf by leaf and block by block."""
    cases = _reserve(nodes, paths)
    is_left = np.empty((_BLOCK, paths.splits.shape[0]), np.bool_)
    for begin in range(0, x_binned.shape[0], _BLOCK):
        end = min(begin + _BLOCK, x_binned.shape[0])
        _find_sides(x_binned[begin:end], missing_bin, nodes, paths.splits, is_left)
        for leaf in range(paths.leaves.shape[0]):
            _add_leaf(
                is_left, nodes, paths, leaf, cases, rules, with_partner, out[begin:end]
            )


@allocating_kernel
def share_out(
    x_binned: BinArray,
    missing_bin: int,
    nodes: Nodes,
    counts: FloatArray,
    roots: IndexArray,
    rules: Quadrature,
    with_partner: bool,
    out: FloatArray,
) -> None:
    """Add the Shapley values of all features for the coefficients of every individual.

    Parameters
    ----------
    x_binned : (n_individuals, n_features) uint8, C order
        Bin of every individual on every feature.
    missing_bin : int
        The bin of missing values.
    nodes : Nodes
        The trees, one after the other.
    counts : (n_nodes,) float64
        Training individuals in every node.
    roots : (n_trees,) int32
        First node of every tree.
    rules : Quadrature
        Rules for paths with up to as many features as there are, and the partner.
    with_partner : bool
        Whether a further player takes part without whom all coefficients are zero.
    out : (n_individuals, n_features + 1, n_terms) float64
        The values are added to it, the partner's in the last row.

    Notes
    -----
    All individuals go through one tree before the next. What happens in a leaf depends only
    on which of the few features on its path keep the individual on it, and every such case
    is integrated once; in a small tree there are few ways to answer all its splits, and
    each is summed up once. An individual's sums are made in the order of the trees,
    whatever the number of threads.
    """
    for tree in range(roots.shape[0]):
        end = end_of_tree(roots, tree, counts.shape[0])
        paths = trace_paths(nodes, counts, roots[tree], end)
        if paths.splits.shape[0] <= _MOST_REMEMBERED:
            _add_small_tree(x_binned, missing_bin, nodes, paths, rules, with_partner, out)
        else:
            _add_large_tree(x_binned, missing_bin, nodes, paths, rules, with_partner, out)


def share_out_parallel(
    x_binned: BinArray,
    missing_bin: int,
    nodes: Nodes,
    counts: FloatArray,
    roots: IndexArray,
    rules: Quadrature,
    with_partner: bool,
    out: FloatArray,
    n_parts: int,
) -> None:
    """Do the same on all threads."""
    trees = nodes, counts, roots, rules
    run_in_parts(
        len(x_binned),
        n_parts,
        lambda own: share_out(x_binned[own], missing_bin, *trees, with_partner, out[own]),
    )

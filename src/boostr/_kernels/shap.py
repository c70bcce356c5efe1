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

from typing import NamedTuple, Self

import numpy as np

from boostr._kernels._jit import inner_kernel, kernel
from boostr._kernels.apply import Nodes
from boostr._kernels.threads import run_in_parts
from boostr._typing import (
    BinArray,
    BoolArray,
    FloatArray,
    IndexArray,
    OffsetArray,
    PositionArray,
)

__all__ = ["LeafPaths", "Quadrature", "add_shares", "share_out"]

_MOST_REMEMBERED = 10  # features on a path, or splits of a tree, whose cases are all kept
_BLOCK = 256  # individuals that are looked at together: their sums stay in the cache


class Quadrature(NamedTuple):
    """Rules of Gauss and Legendre on [0, 1], row d for paths of d features."""

    n_points: IndexArray  # (n_rules,)
    points: FloatArray  # (n_rules, most_points)
    weights: FloatArray  # (n_rules, most_points)


class LeafPaths(NamedTuple):
    """The paths from the roots of trees to their leaves.

    A path has a step for every split and an entry for every feature on it.
    """

    split_offsets: OffsetArray  # (n_trees + 1,)
    splits: PositionArray  # (n_splits,) their nodes
    used_offsets: OffsetArray  # (n_trees + 1,)
    used: PositionArray  # features that a tree splits on
    leaf_offsets: OffsetArray  # (n_trees + 1,)
    leaves: PositionArray  # (n_leaves,) their nodes
    step_offsets: OffsetArray  # (n_leaves + 1,)
    step_split: PositionArray  # (n_steps,) place among the splits of the tree
    step_left: BoolArray  # (n_steps,)
    step_entry: PositionArray  # (n_steps,) place among the entries of the leaf
    entry_offsets: OffsetArray  # (n_leaves + 1,)
    entry_feature: PositionArray  # (n_entries,)
    entry_used: PositionArray  # (n_entries,) place among the features of the tree
    entry_share: FloatArray  # (n_entries,) of those who stay on the path
    term_offsets: OffsetArray  # (n_leaves + 1,)
    terms: PositionArray  # terms that are not zero: one in leaves of powers


class _Space(NamedTuple):
    """Working space for one tree after the other."""

    is_left: BoolArray  # (_BLOCK, most_splits) sides of individuals
    is_kept: BoolArray  # (most_entries,) whether an individual keeps to a path
    before: FloatArray  # (most_entries,)
    # Shapley values of a leaf of value 1, for every set of entries that are kept.
    case_offsets: OffsetArray  # (n_leaves,) first case of a leaf, among those of its tree
    amounts: FloatArray  # (most_cases, most_entries + 1)
    is_known: BoolArray  # (most_cases,)
    # Shapley values of a small tree, for every way to answer its splits.
    answers: FloatArray  # (most_answers, most_used + 1, n_terms)
    is_answered: BoolArray  # (most_answers,)

    @classmethod
    def for_paths(cls, paths: LeafPaths, n_terms: int) -> Self:
        """Make room for the largest of the trees."""
        n_entries, n_splits = np.diff(paths.entry_offsets), np.diff(paths.split_offsets)
        is_remembered = n_entries <= _MOST_REMEMBERED
        n_cases = 1 << np.where(is_remembered, n_entries, 0)
        before = np.concatenate([[0], np.cumsum(n_cases)])
        tree_cases = before[paths.leaf_offsets]
        case_offsets = before[:-1] - np.repeat(tree_cases[:-1], np.diff(paths.leaf_offsets))
        most_cases = int(np.diff(tree_cases).max(initial=0))
        most_entries = int(n_entries.max(initial=0))
        n_small = int(n_splits[n_splits <= _MOST_REMEMBERED].max(initial=0))
        most_used = min(int(np.diff(paths.used_offsets).max(initial=0)), n_small)
        return cls(
            np.empty((_BLOCK, int(n_splits.max(initial=0))), np.bool_),
            np.empty(most_entries, np.bool_),
            np.empty(most_entries),
            case_offsets,
            np.empty((most_cases, most_entries + 1)),
            np.empty(most_cases, np.bool_),
            np.empty((1 << n_small, most_used + 1, n_terms)),
            np.empty(1 << n_small, np.bool_),
        )


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
    for entry in range(n_entries + 1):
        out[entry] = 0.0
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


@inner_kernel
def _find_sides(
    x_binned: BinArray,
    missing_bin: int,
    nodes: Nodes,
    splits: PositionArray,
    out: BoolArray,
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
def _compute_case(
    row: int,
    leaf: int,
    paths: LeafPaths,
    rules: Quadrature,
    with_partner: bool,
    space: _Space,
    out: FloatArray,
) -> None:
    """Write the Shapley values of one leaf of value 1 for one individual."""
    begin, end = paths.entry_offsets[leaf], paths.entry_offsets[leaf + 1]
    for entry in range(end - begin):
        space.is_kept[entry] = True
    for step in range(paths.step_offsets[leaf], paths.step_offsets[leaf + 1]):
        if space.is_left[row, paths.step_split[step]] != paths.step_left[step]:
            space.is_kept[paths.step_entry[step]] = False
    shares = paths.entry_share[begin:end]
    _integrate(shares, space.is_kept, rules, with_partner, space.before, out)


@inner_kernel
def _add_leaf(
    first: int,
    n_rows: int,
    leaf: int,
    value: FloatArray,
    paths: LeafPaths,
    place: PositionArray,
    rules: Quadrature,
    with_partner: bool,
    space: _Space,
    partner: int,
    out: FloatArray,
) -> None:
    """Add the Shapley values of one leaf for some individuals, entries at their places."""
    begin, end = paths.entry_offsets[leaf], paths.entry_offsets[leaf + 1]
    is_remembered, node = end - begin <= _MOST_REMEMBERED, paths.leaves[leaf]
    for row in range(n_rows):
        case = space.case_offsets[leaf]
        if is_remembered:
            strayed = np.int64(0)  # bit by bit: on which entries the path is left
            for step in range(paths.step_offsets[leaf], paths.step_offsets[leaf + 1]):
                is_left = space.is_left[first + row, paths.step_split[step]]
                is_off = is_left != paths.step_left[step]
                strayed |= np.int64(is_off) << paths.step_entry[step]
            case += strayed
        amounts = space.amounts[case]
        if not (is_remembered and space.is_known[case]):
            space.is_known[case] = True
            _compute_case(first + row, leaf, paths, rules, with_partner, space, amounts)
        for position in range(paths.term_offsets[leaf], paths.term_offsets[leaf + 1]):
            term = paths.terms[position]
            for entry in range(begin, end):
                out[row, place[entry], term] += value[node, term] * amounts[entry - begin]
            if with_partner:
                out[row, partner, term] += value[node, term] * amounts[end - begin]


@inner_kernel
def _add_leaves(
    first: int,
    n_rows: int,
    tree: int,
    value: FloatArray,
    paths: LeafPaths,
    place: PositionArray,
    rules: Quadrature,
    with_partner: bool,
    space: _Space,
    partner: int,
    out: FloatArray,
) -> None:
    """Add the Shapley values of one tree, leaf by leaf."""
    for leaf in range(paths.leaf_offsets[tree], paths.leaf_offsets[tree + 1]):
        _add_leaf(
            first,
            n_rows,
            leaf,
            value,
            paths,
            place,
            rules,
            with_partner,
            space,
            partner,
            out,
        )


@inner_kernel
def _add_answers(
    n_rows: int,
    tree: int,
    value: FloatArray,
    paths: LeafPaths,
    rules: Quadrature,
    with_partner: bool,
    space: _Space,
    out: FloatArray,
) -> None:
    """Add the Shapley values of a tree with few ways to answer all its splits."""
    begin, end = paths.used_offsets[tree], paths.used_offsets[tree + 1]
    n_splits = paths.split_offsets[tree + 1] - paths.split_offsets[tree]
    n_used, partner, n_terms = end - begin, out.shape[1] - 1, out.shape[2]
    for row in range(n_rows):
        key = np.int64(0)
        for split in range(n_splits):
            key |= np.int64(space.is_left[row, split]) << np.int64(split)
        if not space.is_answered[key]:
            space.is_answered[key] = True
            answer, place = space.answers[key : key + 1], paths.entry_used
            for used in range(answer.shape[1]):
                for term in range(n_terms):
                    answer[0, used, term] = 0.0
            _add_leaves(
                row,
                1,
                tree,
                value,
                paths,
                place,
                rules,
                with_partner,
                space,
                n_used,
                answer,
            )
        for used in range(n_used):
            feature = paths.used[begin + used]
            for term in range(n_terms):
                out[row, feature, term] += space.answers[key, used, term]
        if with_partner:
            for term in range(n_terms):
                out[row, partner, term] += space.answers[key, n_used, term]


@inner_kernel
def _forget(n_answers: int, space: _Space) -> None:
    """Prepare for another tree, with so many ways to answer its splits."""
    for case in range(space.is_known.shape[0]):
        space.is_known[case] = False
    for key in range(n_answers):
        space.is_answered[key] = False


@kernel
def add_shares(
    x_binned: BinArray,
    missing_bin: int,
    nodes: Nodes,
    paths: LeafPaths,
    rules: Quadrature,
    with_partner: bool,
    space: _Space,
    out: FloatArray,
) -> None:
    """Add the Shapley values of all features, see `share_out`, given working space."""
    n_rows, value = x_binned.shape[0], nodes.value
    for tree in range(paths.leaf_offsets.shape[0] - 1):
        first, last = paths.split_offsets[tree], paths.split_offsets[tree + 1]
        is_small = last - first <= _MOST_REMEMBERED
        _forget(1 << (last - first) if is_small else 0, space)
        for begin in range(0, n_rows, _BLOCK):
            end = begin + _BLOCK if begin + _BLOCK < n_rows else n_rows
            bins, own = x_binned[begin:end], out[begin:end]
            splits, n_own = paths.splits[first:last], end - begin
            _find_sides(bins, missing_bin, nodes, splits, space.is_left)
            if is_small:
                _add_answers(n_own, tree, value, paths, rules, with_partner, space, own)
                continue
            _add_leaves(
                0,
                n_own,
                tree,
                value,
                paths,
                paths.entry_feature,
                rules,
                with_partner,
                space,
                out.shape[1] - 1,
                own,
            )


def share_out(
    x_binned: BinArray,
    missing_bin: int,
    nodes: Nodes,
    paths: LeafPaths,
    rules: Quadrature,
    with_partner: bool,
    out: FloatArray,
    n_parts: int = 1,
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
    paths : LeafPaths
        Their paths.
    rules : Quadrature
        Rules for paths with up to as many features as there are, and the partner.
    with_partner : bool
        Whether a further player takes part without whom all coefficients are zero.
    out : (n_individuals, n_features + 1, n_terms) float64
        The values are added to it, the partner's in the last row.
    n_parts : int, default=1
        Parts of the individuals, which threads share.

    Notes
    -----
    All individuals go through one tree before the next. What happens in a leaf depends only
    on which of the few features on its path keep the individual on it, and every such case
    is integrated once; in a small tree there are few ways to answer all its splits, and
    each is summed up once. An individual's sums are made in the order of the trees,
    whatever the number of threads.
    """

    def add(own: slice) -> None:
        space = _Space.for_paths(paths, out.shape[2])
        trees = nodes, paths, rules
        add_shares(x_binned[own], missing_bin, *trees, with_partner, space, out[own])

    run_in_parts(len(x_binned), n_parts, add)

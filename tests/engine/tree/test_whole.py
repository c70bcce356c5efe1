"""Trees that one kernel grows are those that are grown node by node."""

from contextlib import contextmanager

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given
from tests.engine.histories import FAMILIES
from tests.engine.problems import make_problem

from boostr._engine.tree import (
    PARALLEL_FROM,
    GrowthParams,
    LeafProblem,
    LocalSource,
    grow_tree,
    joins_bins,
)
from boostr._kernels.group_lasso import Groups
from boostr._kernels.histogram import count_spare
from boostr._kernels.solve import GROUPED


class NodeByNode:
    """A source whose trees no kernel grows as a whole."""

    def __init__(self, source):
        self.root, self.split, self.read_bins = source.root, source.split, source.read_bins

    def read_root(self, features, max_leaves):
        return None


@contextmanager
def summed(*, keeps_sums):
    """Let nodes keep their sums, or be summed anew, a few features at a time."""
    place = "boostr._engine.tree._source"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(f"{place}._MANY_SUMS", 2**62 if keeps_sums else 0)
        patch.setattr(f"{place}._N_TOGETHER", 2)
        yield


def make_source(problem, members=None, n_threads=1):
    is_coarse = joins_bins(problem.leaf.solver, problem.stats.n_terms)
    given = (problem.features, *problem.statistics, n_threads)
    source = LocalSource(*given, is_coarse=is_coarse)
    source.start(problem.everybody if members is None else members)
    return source


def grow(problem, source, features, seed=0, **params):
    return grow_tree(
        source,
        problem.leaf,
        GrowthParams(**params),
        problem.features.n_values,
        problem.features.is_categorical,
        np.array(features, dtype=np.int32),
        seed,
    )


def assert_same(found, expected):
    for name, own in found.nodes._asdict().items():
        assert np.array_equal(own, getattr(expected.nodes, name)), name
    assert np.array_equal(found.gain, expected.gain)
    assert np.array_equal(found.count, expected.count)


@given(
    seed=st.integers(0, 2**32 - 1),
    n=st.integers(1, 80),
    family=st.sampled_from(sorted(FAMILIES)),
    max_leaves=st.integers(1, 12),
    min_samples_leaf=st.integers(1, 8),
    n_candidates=st.sampled_from([0, 1, 3]),
    gamma1=st.sampled_from([0.0, 0.05]),
    features=st.sampled_from([[0, 1, 2], [2], [1, 0]]),
    keeps_sums=st.booleans(),
)
def test_a_kernel_grows_the_same_tree(seed, n, family, features, keeps_sums, **params):
    rng = np.random.default_rng(seed)
    problem = make_problem(rng, n, family)
    members = rng.permutation(n)[: max(1, n - n // 4)].astype(np.int32)
    with summed(keeps_sums=keeps_sums):
        source = make_source(problem, np.sort(members))
        found = grow(problem, source, features, seed, **params)
        source.start(np.sort(members))
        expected = grow(problem, NodeByNode(source), features, seed, **params)
    assert_same(found, expected)


@pytest.mark.parametrize("n_candidates", [0, 3])
def test_nodes_that_are_summed_anew_are_split_as_others(rng, n_candidates):
    problem = make_problem(rng, 200)
    growth = {"max_leaves": 8, "min_samples_leaf": 9, "n_candidates": n_candidates}
    trees = []
    for keeps_sums in (True, False):
        with summed(keeps_sums=keeps_sums):
            source = make_source(problem)
            trees.append(grow(problem, source, [0, 1, 2], **growth))
            root = source.read_root(np.arange(3, dtype=np.int32), 8)
            assert root.sums_anew != keeps_sums
    kept, anew = trees
    assert np.array_equal(anew.nodes.feature, kept.nodes.feature)
    assert np.array_equal(anew.nodes.bin_threshold, kept.nodes.bin_threshold)
    np.testing.assert_allclose(anew.nodes.value, kept.nodes.value, rtol=1e-9)


@pytest.mark.parametrize(
    ("few", "many", "expected"), [(70, 3, True), (69, 3, False), (70, 4, False)]
)
def test_few_members_with_many_features_are_summed_anew(
    rng, monkeypatch, few, many, expected
):
    problem = make_problem(rng, 70)
    n_sums = problem.features.n_bins * problem.channels().shape[1]  # of a feature
    monkeypatch.setattr("boostr._engine.tree._source._FEW_MEMBERS", few)
    monkeypatch.setattr("boostr._engine.tree._source._MANY_SUMS", many * n_sums)
    root = make_source(problem).read_root(np.arange(3, dtype=np.int32), 8)
    assert root.sums_anew == expected


def make_groups(problem, rng, *, grows=True):
    """Turn the terms of leaves into a group without a price, and one that has one."""
    n_terms = problem.stats.n_terms
    starts = np.array([0, 1, n_terms], dtype=np.int32)
    groups = Groups(starts, np.array([0.0, rng.choice([0.0, 0.1, 1.0])]), grows)
    problem.leaf = LeafProblem(GROUPED, problem.leaf.penalty, groups)


@given(
    seed=st.integers(0, 2**32 - 1),
    n=st.integers(1, 200),
    family=st.sampled_from(["power", "spline"]),  # all bins, and coarse ones
    max_bins=st.sampled_from([16, 250]),
    grows=st.booleans(),
    max_leaves=st.integers(1, 7),
    min_samples_leaf=st.integers(1, 8),
    n_candidates=st.sampled_from([0, 1, 3]),
    gamma1=st.sampled_from([0.0, 0.05]),
    features=st.sampled_from([[0, 1, 2], [0], [2], [1, 0]]),
    n_trees=st.integers(1, 2),
)
def test_a_kernel_grows_the_same_tree_of_groups(
    seed, n, family, max_bins, grows, features, n_trees, **params
):
    rng = np.random.default_rng(seed)
    problem = make_problem(rng, n, family, max_bins=max_bins)
    make_groups(problem, rng, grows=grows)
    members = np.sort(rng.permutation(n)[: max(1, n - n // 4)]).astype(np.int32)
    source, other = make_source(problem, members), make_source(problem, members)
    for tree in range(n_trees):  # working space is used again
        source.start(members)
        other.start(members)
        found = grow(problem, source, features, seed + tree, **params)
        expected = grow(problem, NodeByNode(other), features, seed + tree, **params)
        assert_same(found, expected)


@pytest.mark.parametrize(("n", "n_threads"), [(PARALLEL_FROM, 1), (100, 2), (5, 2)])
def test_groups_are_grown_by_a_kernel_unless_threads_share_sums(rng, n, n_threads):
    problem = make_problem(rng, n)
    source = LocalSource(problem.features, *problem.statistics, n_threads, is_shared=False)
    features = np.arange(3, dtype=np.int32)
    source.start(problem.everybody)
    assert source.read_root(features, 3) is not None
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("boostr._engine.tree._source.PARALLEL_FROM", n)
        assert (source.read_root(features, 3) is None) == (n_threads > 1)


@pytest.mark.slow  # without the compiler
@pytest.mark.parametrize("n_threads", [1, 2, 3])
@pytest.mark.parametrize("n", [40_001, 130_001])
def test_trees_of_many_individuals_are_the_same_too(rng, n, n_threads):
    problem = make_problem(rng, n)
    source = make_source(problem, n_threads=n_threads)
    found = grow(problem, source, [0, 1, 2], max_leaves=4)
    for _ in range(2):  # of the second one only gradients are summed
        source.start(problem.everybody)
        again = grow(problem, source, [0, 1, 2], max_leaves=4)
        assert_same(again, found)
    alone = make_source(problem)
    expected = grow(problem, NodeByNode(alone), [0, 1, 2], max_leaves=4)
    # The root is summed by two or eight shares, and a child by shares, too.
    assert count_spare(n) == (7 if n > 100_000 else 1)
    assert expected.count[1:3].max() >= 20_000
    assert_same(found, expected)


@pytest.mark.parametrize("max_leaves", [1, 2, 6])
@pytest.mark.parametrize("is_whole", [True, False])
def test_members_stand_together_by_leaf(rng, max_leaves, is_whole):
    problem = make_problem(rng, 70)
    source = make_source(problem)
    read = source if is_whole else NodeByNode(source)
    tree = grow(problem, read, [0, 1, 2], max_leaves=max_leaves)
    order, span, rest = source.take_spans(tree)
    leaves = np.flatnonzero(tree.nodes.feature < 0)
    known = leaves[span[leaves, 1] > 0]
    sizes = span[known, 1] - span[known, 0]
    assert np.array_equal(sizes, tree.count[known])
    assert len(known) == len(leaves) - (0 if is_whole or max_leaves == 1 else 2)
    together = np.concatenate([rest, *(order[slice(*span[leaf])] for leaf in known)])
    assert sorted(together) == problem.everybody.tolist()


@pytest.mark.parametrize("is_whole", [True, False])
def test_the_leaves_of_an_earlier_tree_are_not_known(rng, is_whole):
    problem = make_problem(rng, 70)
    source = make_source(problem)
    read = source if is_whole else NodeByNode(source)
    tree = grow(problem, read, [0, 1, 2], max_leaves=4)
    assert source.take_spans(tree) is not None
    assert source.take_spans(tree) is None
    tree = grow(problem, read, [0, 1, 2], max_leaves=4)
    source.start(problem.everybody)
    assert source.take_spans(tree) is None


def test_a_tree_outlives_the_next_one(rng):
    problem = make_problem(rng, 70)
    source = make_source(problem)
    first = grow(problem, source, [0, 1, 2], max_leaves=4)
    values = first.nodes.value.copy()
    source.start(problem.everybody)
    grow(problem, source, [2], max_leaves=4)
    assert np.array_equal(first.nodes.value, values)


def test_a_tree_with_too_many_sums_is_grown_node_by_node(rng, monkeypatch):
    problem = make_problem(rng, 70)
    expected = grow(problem, make_source(problem), [0, 1, 2], max_leaves=4)
    monkeypatch.setattr("boostr._engine.tree._source._MOST_SUMS", 100)
    source = make_source(problem)
    assert source.read_root(np.arange(3, dtype=np.int32), 4) is None
    assert_same(grow(problem, source, [0, 1, 2], max_leaves=4), expected)

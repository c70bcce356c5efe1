import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings
from numpy.testing import assert_allclose
from tests import oracles

from boostr._kernels.histogram import Members, find_accumulate
from boostr._kernels.solve import DIAGONAL, FULL, SINGLE, solve_leaf
from boostr._kernels.split import (
    _LISTED_BELOW,
    _PSEUDO_COUNT,
    find_best_split,
    sum_bins,
)

KINDS = {"single": SINGLE, "diagonal": DIAGONAL, "full": FULL}
N_VALUES = 5
MISSING = 6  # one bin is used by no feature
N_BINS = 7


class Node:
    """A node with its individuals, and all that the kernel wants to know of it."""

    def __init__(self, bins, gradients, hessians, penalty, kind, is_categorical=False):
        self.bins = np.asarray(bins, dtype=np.uint8).reshape(len(gradients), -1)
        self.gradients, self.hessians = np.asarray(gradients), np.asarray(hessians)
        self.penalty, self.kind = penalty, kind
        self.is_categorical = is_categorical

    @classmethod
    def random(cls, seed, n, n_features, n_terms, kind, is_categorical=False):
        rng = np.random.default_rng(seed)
        bins = rng.integers(0, N_VALUES, (n, n_features))
        bins[rng.random((n, n_features)) < rng.choice([0.0, 0.3])] = MISSING
        roots = rng.normal(size=(n, 2, n_terms))
        hessians = np.einsum("irt,iru->itu", roots, roots)
        penalty = rng.choice([0.0, 1.0]) * np.eye(n_terms)
        # Gradients are H theta - b, and b lies in the range of H: no objective is
        # unbounded.
        gradients = np.einsum("itu,iu->it", hessians, rng.normal(size=(n, n_terms)))
        return cls(bins, gradients, hessians, penalty, kind, is_categorical)

    @classmethod
    def groups(cls, bins, gradients, **kwargs):
        """One term, unit curvature, no penalty."""
        gradients = np.asarray(gradients, dtype=float)[:, None]
        hessians = np.ones((len(gradients), 1, 1))
        return cls(bins, gradients, hessians, np.zeros((1, 1)), "full", **kwargs)

    def histograms(self):
        ones = np.ones(len(self.bins))
        rows = np.column_stack([self.gradients, self.curvatures(), ones])
        everybody = range(len(self.bins))
        features = range(self.bins.shape[1])
        return oracles.histograms(self.bins, rows, everybody, features, N_BINS)

    def find(self, min_count=1, n_candidates=0, seed=0, *, is_general=False, n_together=0):
        """Find the split from histograms, or sum over so many features at a time."""
        histograms = self.histograms()
        n_features = self.bins.shape[1]
        rows = np.arange(len(self.bins) if n_together else 0, dtype=np.int32)
        members = self.members(rows)
        self.goes_left = np.zeros(N_BINS, dtype=bool)
        self.sums = np.full((2, histograms.shape[2]), np.nan)
        self.value = np.full(len(self.penalty), np.nan)
        is_small = self.kind == "full" and len(self.penalty) <= 2 and not is_general
        leaf = self.penalty, None if is_small else KINDS[self.kind]
        sum_bins(histograms[0], self.sums[0])
        own = solve_leaf(self.sums[0], *leaf, self.value)
        if n_together:
            histograms = np.full((n_together, *histograms.shape[1:]), np.nan)
        gain, self.slot, self.bin, self.missing_left = find_best_split(
            histograms,
            members,
            np.arange(n_features, dtype=np.int32),
            np.full(n_features, N_VALUES, dtype=np.int32),
            self.flags(is_general=is_general),
            *leaf,
            float(min_count),
            n_candidates,
            np.uint64(seed),
            own,
            np.arange(N_BINS, dtype=np.int32),
            np.full(N_BINS, -1, dtype=np.int32),
            np.ones(N_BINS, dtype=bool),
            self.goes_left,
            self.sums,
        )
        return gain

    def curvatures(self):
        return np.array(
            [
                oracles.lower_triangle(h) if self.kind == "full" else np.diag(h)
                for h in self.hessians
            ]
        )

    def members(self, rows):
        given = np.ascontiguousarray(self.gradients), self.curvatures()
        bins = np.ascontiguousarray(self.bins)
        return Members(bins, *given, rows, find_accumulate(*given))

    def flags(self, *, is_general):
        """Return which features have categories; None is the same as none of them."""
        if not self.is_categorical and not is_general:
            return None
        return np.full(self.bins.shape[1], self.is_categorical)

    def sides(self):
        return self.goes_left[self.bins[:, self.slot]]

    def judged(self, column):
        """Return the gradients by which splits of a column are judged."""
        if not self.is_categorical:
            return self.gradients
        individuals = self.gradients, self.hessians
        return oracles.shrink_categories(column, N_VALUES, *individuals, _PSEUDO_COUNT)

    def gain_of_sides(self):
        gradients, leaf = self.judged(self.bins[:, self.slot]), (self.penalty, self.kind)
        return oracles.split_gain(self.sides(), gradients, self.hessians, *leaf)

    def best_gain(self, min_count=1):
        leaf = self.penalty, self.kind
        return max(
            oracles.best_gain(
                column,
                N_VALUES,
                MISSING,
                self.is_categorical,
                (self.judged(column), self.hessians),
                leaf,
                min_count,
            )
            for column in self.bins.T
        )


nodes = st.builds(
    Node.random,
    seed=st.integers(0, 2**32 - 1),
    n=st.integers(2, 24),
    n_features=st.integers(1, 3),
    n_terms=st.integers(1, 3),
    kind=st.sampled_from(list(KINDS)),
)
categorical_nodes = st.builds(
    Node.random,
    seed=st.integers(0, 2**32 - 1),
    n=st.integers(2, 20),
    n_features=st.just(1),
    n_terms=st.just(1),
    kind=st.sampled_from(list(KINDS)),
    is_categorical=st.just(True),
)


def or_none(gain):
    """Gains below zero, or within rounding of it, are no split."""
    return gain if gain > 1e-9 else -1.0


@given(nodes, st.integers(1, 4))
def test_no_threshold_is_better_than_the_one_found(node, min_count):
    found = or_none(node.find(min_count))
    assert_allclose(found, or_none(node.best_gain(min_count)), rtol=1e-7, atol=1e-8)


@given(categorical_nodes)
def test_no_set_of_categories_is_better_for_one_term(node):
    assert_allclose(or_none(node.find()), or_none(node.best_gain()), rtol=1e-7, atol=1e-8)


@given(nodes, st.booleans())
def test_the_gain_is_that_of_the_sides_written(node, is_categorical):
    node.is_categorical = is_categorical
    gain = node.find()
    actual = node.gain_of_sides() if node.slot >= 0 else -1.0
    assert_allclose(gain, actual, rtol=1e-7, atol=1e-8)


@given(nodes, st.integers(1, 6), st.booleans(), st.sampled_from([0, 2]))
def test_both_sides_keep_the_least_count(node, min_count, is_categorical, n_candidates):
    node.is_categorical = is_categorical
    node.find(min_count, n_candidates)
    counts = [node.sides().sum(), (~node.sides()).sum()]
    assert node.slot < 0 or min(counts) >= min_count


@given(nodes, st.booleans())
def test_sums_are_those_of_the_node_and_of_its_left_side(node, is_categorical):
    node.is_categorical = is_categorical
    node.find()
    everybody = np.ones(len(node.bins), dtype=bool)
    groups = [everybody] if node.slot < 0 else [everybody, node.sides()]
    expected = [[*node.gradients[own].sum(axis=0), own.sum()] for own in groups]
    n_terms = len(node.penalty)
    found = node.sums[: len(groups), [*range(n_terms), -1]]
    assert_allclose(found, expected, atol=1e-10)


@given(nodes)
def test_the_value_is_that_of_the_node_as_a_leaf(node):
    node.find()
    gradient, hessian = node.gradients.sum(axis=0), node.hessians.sum(axis=0)
    expected, _ = oracles.solve_leaf(gradient, hessian, node.penalty, node.kind)
    # Ties between single terms aside, the minimum is unique up to what has no curvature.
    matrix = hessian + node.penalty
    if node.kind != "full":
        matrix = np.diag(np.diag(matrix))
    assert_allclose(
        oracles.objective(node.value, gradient, matrix),
        oracles.objective(expected, gradient, matrix),
        atol=1e-8,
    )


@given(nodes)
def test_a_numeric_split_sends_bins_up_to_the_threshold_left(node):
    node.find()
    values = np.arange(N_VALUES)
    expected = values <= node.bin
    assert node.slot < 0 or np.array_equal(node.goes_left[values], expected)


@given(nodes, st.booleans())
def test_the_missing_bin_goes_where_the_flag_says(node, is_categorical):
    node.is_categorical = is_categorical
    node.find()
    assert node.slot < 0 or node.goes_left[MISSING] == node.missing_left


def test_a_constant_feature_gives_no_split():
    node = Node.groups([2, 2, 2, 2], [1.0, -1.0, 5.0, 0.0])
    assert node.find() == -1.0


def test_a_feature_that_is_all_missing_gives_no_split():
    node = Node.groups([MISSING] * 4, [1.0, -1.0, 5.0, 0.0])
    assert node.find() == -1.0


def test_equal_sides_are_rounding_not_structure():
    node = Node.groups([0, 0, 1, 1, 3, 3], [0.1] * 6)
    assert node.find() == -1.0


@pytest.mark.parametrize("distance", [1e-1, 1e-2, 2e-3, 1e-4])
@pytest.mark.parametrize("scale", [0.3, 1.0, 7.0])
def test_equal_sides_of_two_similar_terms_are_rounding_not_structure(scale, distance):
    # Everybody has the same two curves, nearly proportional to each other.
    hessian = scale * np.array([[1.0, 1.5], [1.5, 2.25 * (1.0 + distance)]])
    gradient = -hessian @ np.array([1.1, -0.7])
    individuals = np.array([gradient] * 7), np.array([hessian] * 7)
    node = Node([0, 0, 1, 1, 1, 3, 4], *individuals, np.zeros((2, 2)), "full")
    assert node.find() == -1.0


def test_values_part_from_missing_where_that_is_all_there_is():
    node = Node.groups([1, 1, MISSING, MISSING], [-1.0, -1.0, 1.0, 1.0])
    # Each side drops by 1/2 * 2^2 / 2 = 1, the whole by 0.
    assert (node.find(), node.sides().tolist()) == (2.0, [True, True, False, False])


def test_missing_values_join_the_side_they_resemble():
    node = Node.groups([0, 0, 3, 3, MISSING], [-1.0, -1.0, 1.0, 1.0, -1.0])
    node.find()
    assert node.missing_left


@pytest.mark.parametrize(
    ("bins", "larger_is_left"), [([0, 0, 3], True), ([0, 3, 3], False)]
)
def test_where_nothing_is_missing_it_goes_with_the_larger_side(bins, larger_is_left):
    node = Node.groups(bins, np.where(np.array(bins) == 0, -1.0, 1.0))
    node.find()
    assert node.missing_left == larger_is_left


@pytest.mark.parametrize(("upper", "threshold"), [(1, 0), (2, 0), (3, 1), (4, 1)])
def test_the_threshold_stands_in_the_middle_of_a_gap(upper, threshold):
    node = Node.groups([0, 0, upper, upper], [-1.0, -1.0, 1.0, 1.0])
    node.find()
    assert node.bin == threshold


def test_categories_that_belong_together_need_not_be_neighbours():
    node = Node.groups([0, 1, 2, 3], [1.0, -1.0, 1.0, -1.0], is_categorical=True)
    node.find()
    left = set(np.flatnonzero(node.goes_left[:4]).tolist())
    assert left in ({0, 2}, {1, 3})


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("term", [0, 1, 2])
def test_categories_are_put_in_order_for_every_term(kind, term):
    gradients = np.zeros((4, 3))
    gradients[:, term] = [1.0, -1.0, 1.0, -1.0]
    individuals = gradients, np.array([np.diag([1.0, 2.0, 3.0])] * 4)
    node = Node([0, 1, 2, 3], *individuals, np.zeros((3, 3)), kind, is_categorical=True)
    assert_allclose(node.find(), node.best_gain())


def test_categories_absent_from_the_node_follow_the_missing():
    bins, gradients = [0, 0, 2, MISSING], [-1.0, -1.0, 1.0, 1.0]
    node = Node.groups(bins, gradients, is_categorical=True)
    node.find()
    assert np.all(node.goes_left[[1, 3, 4]] == node.missing_left)


@given(nodes, st.integers(0, 2**63), st.integers(1, 3), st.booleans())
def test_random_thresholds_never_beat_all_of_them(node, seed, n_candidates, is_categorical):
    node.is_categorical = is_categorical
    gain = node.find(n_candidates=n_candidates, seed=seed)
    assert gain <= max(node.best_gain(), -1.0) + 1e-8


@given(nodes, st.integers(0, 2**63), st.integers(1, 3), st.booleans())
def test_a_random_split_has_the_gain_it_names(node, seed, n_candidates, is_categorical):
    node.is_categorical = is_categorical
    gain = node.find(n_candidates=n_candidates, seed=seed)
    actual = node.gain_of_sides() if node.slot >= 0 else -1.0
    assert_allclose(gain, actual, rtol=1e-7, atol=1e-8)


@given(nodes, st.integers(1, 4), st.sampled_from([0, 2]))
def test_scans_for_few_terms_and_for_any_find_the_same(node, min_count, n_candidates):
    settings = {"min_count": min_count, "n_candidates": n_candidates}
    expected = node.find(**settings, is_general=True)
    sides, value = node.goes_left.copy(), node.value.copy()
    assert_allclose(node.find(**settings), expected, rtol=1e-7, atol=1e-7)
    assert_allclose(node.value, value)
    if expected > 0.0 and not np.array_equal(node.goes_left, sides):
        # Thresholds of the same gain, to rounding.
        assert_allclose(node.gain_of_sides(), expected, rtol=1e-7, atol=1e-7)


@given(nodes, st.integers(1, 4), st.sampled_from([0, 2]), st.booleans(), st.integers(1, 4))
def test_members_have_the_split_of_their_histograms(
    node, min_count, n_candidates, is_categorical, n_together
):
    node.is_categorical = is_categorical
    expected = node.find(min_count, n_candidates), node.slot, node.bin, node.missing_left
    sides, sums = node.goes_left.copy(), node.sums.copy()
    gain = node.find(min_count, n_candidates, n_together=n_together)
    assert (gain, node.slot, node.bin, node.missing_left) == expected
    np.testing.assert_array_equal(node.sums, sums)
    assert node.slot < 0 or np.array_equal(node.goes_left, sides)


@given(
    st.integers(0, 2**32 - 1),
    st.integers(6, 18),
    st.sampled_from([0, 2]),
    st.sampled_from([0.0, 0.3]),
)
def test_a_node_whose_empty_bins_are_left_out_has_the_split_of_a_larger_one(
    seed, n, n_candidates, missing
):
    rng = np.random.default_rng(seed)
    bins = rng.integers(0, N_VALUES, (n, 2)) // 2 * 2  # some bins are empty
    bins[rng.random((n, 2)) < missing] = MISSING
    gradients = rng.integers(-8, 8, n)  # sums are exact
    small = Node.groups(bins, gradients)
    large = Node.groups(np.tile(bins, (4, 1)), np.tile(gradients, 4))
    assert len(small.bins) < _LISTED_BELOW * N_VALUES <= len(large.bins)
    gain = small.find(n_candidates=n_candidates, seed=seed)
    gain_of_large = large.find(4, n_candidates, seed)
    assert gain_of_large == (4 * gain if gain > 0 else gain)
    found = small.slot, small.bin, small.missing_left, small.goes_left.tolist()
    assert found == (large.slot, large.bin, large.missing_left, large.goes_left.tolist())


@given(nodes, st.integers(0, 2**63))
def test_random_thresholds_depend_on_the_seed_alone(node, seed):
    first = node.find(n_candidates=1, seed=seed), node.slot, node.bin
    assert (node.find(n_candidates=1, seed=seed), node.slot, node.bin) == first


def test_every_threshold_is_drawn_for_some_seed():
    node = Node.groups([0, 1, 2, 3, 4], [-5.0, -2.0, 0.0, 1.0, 6.0])
    drawn = set()
    for seed in range(60):
        node.find(n_candidates=1, seed=seed)
        drawn.add(node.bin)
    assert drawn == {0, 1, 2, 3}


def test_every_place_among_sorted_categories_is_drawn_for_some_seed():
    node = Node.groups([3, 0, 4, 1, 2], [-5.0, -2.0, 0.0, 1.0, 6.0], is_categorical=True)
    sizes = set()
    for seed in range(60):
        node.find(n_candidates=1, seed=seed)
        sizes.add(node.sides().sum())
    assert sizes == {1, 2, 3, 4}


def test_a_category_of_few_individuals_lies_near_the_middle():
    # The lone individual has the highest gradient, but the other category the most.
    bins, gradients = [0] + [1] * 30 + [2] * 30, [4.0] + [2.0] * 30 + [-2.0] * 30
    node = Node.groups(bins, gradients, is_categorical=True)
    sizes = set()
    for seed in range(60):
        node.find(n_candidates=1, seed=seed)
        sizes.add(node.sides().sum())
    assert sizes == {30, 31}


def test_two_categories_are_not_shrunken():
    node = Node.groups([0, 0, 1, 1], [-1.0, -2.0, 1.0, 2.0], is_categorical=True)
    gain = oracles.split_gain(
        node.bins[:, 0] == 0, node.gradients, node.hessians, node.penalty, node.kind
    )
    assert_allclose(node.find(), gain)


def test_random_thresholds_fall_between_the_occupied_ends():
    node = Node.groups([1, 1, 3, 3], [-1.0, -1.0, 1.0, 1.0])
    drawn = set()
    for seed in range(60):
        node.find(n_candidates=1, seed=seed)
        drawn.add(node.bin)
    assert drawn == {1, 2}


def test_many_random_thresholds_find_the_best_one():
    node = Node.random(3, 14, 2, 1, "single")
    assert_allclose(node.find(n_candidates=200), node.best_gain())


@settings(max_examples=20)
@given(nodes, st.integers(0, 2**32 - 1))
def test_the_order_of_individuals_does_not_matter(node, seed):
    gain = node.find()
    order = np.random.default_rng(seed).permutation(len(node.bins))
    node.bins, node.gradients = node.bins[order], node.gradients[order]
    node.hessians = node.hessians[order]
    assert_allclose(node.find(), gain, rtol=1e-8, atol=1e-9)


@settings(max_examples=20)
@given(nodes)
def test_two_features_do_what_the_better_one_does(node):
    gain = node.find()
    single = []
    for column in node.bins.T:
        leaf = node.penalty, node.kind
        alone = Node(column, node.gradients, node.hessians, *leaf)
        single.append(alone.find())
    assert_allclose(gain, max(single), rtol=1e-8, atol=1e-9)

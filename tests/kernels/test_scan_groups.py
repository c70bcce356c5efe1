from dataclasses import dataclass, replace

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings
from numpy.testing import assert_allclose
from tests import oracles
from tests.kernels.calls import from_python

from boostr._engine.tree._search import LeafProblem, SearchParams, find_split
from boostr._kernels import scan_groups as kernels
from boostr._kernels._jit import kernel
from boostr._kernels.group_lasso import Groups, find_descend, solve_groups
from boostr._kernels.scan_groups import Buffers, Ordered, divide_space
from boostr._kernels.solve import FULL, GROUPED
from boostr._kernels.split import _PSEUDO_COUNT, draw_candidates, mix_bits

MISSING = 63
N_BINS = 64


# Python cannot call these.


@kernel
def bound_run(lefts, node, betas, buffers, out):
    kernels._bound_run(lefts, node, betas, divide_space(buffers), out)


@kernel
def bound_feature(feature, node, buffers):
    return kernels.bound_feature(feature, node, divide_space(buffers))


@kernel
def scan_groups(feature, node, best, buffers, descend):
    return kernels.scan_groups(feature, node, best, divide_space(buffers), descend)


@dataclass
class Node:
    """A node with its individuals, and all that the kernels want to know of it."""

    bins: np.ndarray  # (n, n_features)
    gradients: np.ndarray  # (n, n_terms)
    hessians: np.ndarray  # (n, n_terms, n_terms)
    penalty: np.ndarray
    groups: Groups
    n_values: int
    is_categorical: bool = False
    precision: float = 1e-7  # of gains, as a share of what the node as a leaf has gained

    @classmethod
    def random(cls, seed, n_values, sizes=(1, 2, 2), price=1.0, grows=True, **kwargs):
        """Make a node whose coefficients jump at one bin, some with missing ones."""
        rng = np.random.default_rng(seed)
        n, n_terms = 2 * n_values + 10, sum(sizes)
        bins = rng.integers(0, n_values, (n, kwargs.pop("n_features", 2)))
        bins[rng.random(bins.shape) < rng.choice([0.0, 0.2])] = MISSING
        common = kwargs.pop("correlation", 0.0)
        roots = np.sqrt(1.0 - common) * rng.normal(size=(n, 2, n_terms))
        roots += np.sqrt(common) * rng.normal(size=(n, 2, 1))
        hessians = np.einsum("irt,iru->itu", roots, roots)
        jumps = (bins[:, 0] > rng.integers(0, n_values))[:, None] * rng.normal(size=n_terms)
        theta = jumps + rng.choice([0.3, 3.0]) * rng.normal(size=(n, n_terms))
        gradients = np.einsum("itu,iu->it", hessians, theta)
        # Prices are shares of the lengths of the gradient; the first group is free.
        starts = np.cumsum([0, *sizes]).astype(np.int32)
        squares = np.add.reduceat(np.sum(gradients, axis=0) ** 2, starts[:-1])
        prices = price * rng.choice([0.3, 1.0, 2.0], len(sizes)) * np.sqrt(squares)
        prices[0] = 0.0
        if grows:
            prices /= np.sqrt(np.trace(hessians[:, : sizes[0], : sizes[0]].sum(axis=0)))
        # While it searches, the kernel solves groups that resemble each other less exactly.
        kwargs["precision"] = 1e-4 if common else 1e-7
        groups = Groups(starts, prices, grows)
        penalty = 0.5 * np.eye(n_terms)
        return cls(bins, gradients, hessians, penalty, groups, n_values, **kwargs)

    def rows(self):
        curvature = [oracles.lower_triangle(h) for h in self.hessians]
        return np.column_stack([self.gradients, curvature, np.ones(len(self.bins))])

    def histograms(self):
        individuals = range(len(self.bins)), range(self.bins.shape[1])
        return oracles.histograms(self.bins, self.rows(), *individuals, N_BINS)

    def find(self, min_count=1, n_candidates=0, seed=0, solver=GROUPED):
        n_features = self.bins.shape[1]
        params = SearchParams(
            LeafProblem(solver, self.penalty, self.groups if solver == GROUPED else None),
            np.full(n_features, self.n_values, dtype=np.int32),
            np.full(n_features, True) if self.is_categorical else None,
            float(min_count),
            n_candidates,
        )
        features = np.arange(n_features, dtype=np.int32)
        found = find_split(self.histograms(), features, params, seed)
        self.slot, self.bin = found.feature, found.bin_index
        self.missing_left, self.goes_left = found.missing_left, found.goes_left
        self.sums, self.value = found.sums, found.value
        return found.gain

    def sides(self):
        return self.goes_left[self.bins[:, self.slot]]

    def judged(self, feature):
        """Return the gradients by which splits of a feature are judged."""
        if not self.is_categorical:
            return self.gradients
        column, individuals = self.bins[:, feature], (self.gradients, self.hessians)
        return oracles.shrink_categories(column, self.n_values, *individuals, _PSEUDO_COUNT)

    def gains(self, is_left, feature):
        leaf = self.hessians, self.penalty, self.groups
        return oracles.grouped_gains(is_left, self.judged(feature), *leaf)

    def best_gain(self, left_sets=None, min_count=1):
        """Try all ways to split; ``left_sets`` lists sets of bins for every feature."""
        thresholds = [range(last + 1) for last in range(self.n_values)]
        best = -1.0
        for feature, column in enumerate(self.bins.T):
            own = left_sets[feature] if left_sets else thresholds
            ways = oracles.ways_to_split(column, own, MISSING, min_count)
            ways = np.unique(ways, axis=0)
            if len(ways):
                best = max(best, self.gains(ways, feature).max())
        return best

    def gain_of_sides(self):
        return self.gains(self.sides()[None], self.slot)[0] if self.slot >= 0 else -1.0

    def run(self, feature=0):
        """Return the left sums of all thresholds of a feature, and the node's."""
        histogram = self.histograms()[feature]
        lefts = np.cumsum(histogram[: self.n_values], axis=0)
        return lefts, histogram.sum(axis=0)

    def bounds(self, lefts, totals, betas):
        node = kernels.Node(totals, self.penalty, self.groups, betas[0])
        out = np.full((2, len(lefts)), np.nan)
        bound_run(lefts, node, betas, Buffers.for_node(node, 1, N_BINS), out)
        return out

    def exact_drops(self, lefts, totals):
        """Solve every threshold; return coefficients and drops of both sides."""
        starts, prices, grows = self.groups
        n_terms = len(self.penalty)
        sums = np.vstack([lefts, totals - lefts])
        hessian = np.array([oracles.full_matrix(h[n_terms:], n_terms) for h in sums])
        beta, drop = oracles.solve_groups(
            sums[:, :n_terms],
            hessian + self.penalty,
            starts,
            oracles.leaf_prices(hessian, starts, prices, grows),
        )
        return beta.reshape(2, len(lefts), n_terms), drop.reshape(2, -1)


def assert_same_gain(node, found, expected):
    """Compare gains; those below zero, or within the precision of it, are no split."""
    everybody = np.ones((1, len(node.bins)), dtype=bool)
    leaf = node.gradients, node.hessians, node.penalty, node.groups
    least = node.precision * (1.0 + oracles.grouped_drops(everybody, *leaf)[0])
    found, expected = (gain if gain > least else 0.0 for gain in (found, expected))
    assert_allclose(found, expected, rtol=node.precision, atol=2.0 * least)


seeds = st.integers(0, 2**32 - 1)
nodes = st.builds(
    Node.random,
    seed=seeds,
    n_values=st.sampled_from([2, 7, 12, 40, 60]),
    sizes=st.sampled_from([(1, 2), (1, 1, 1), (2, 3), (3,)]),
    price=st.sampled_from([0.0, 0.1, 0.6]),
    grows=st.booleans(),
    n_features=st.integers(1, 2),
    correlation=st.sampled_from([0.0, 0.9]),
)
small_nodes = st.builds(
    Node.random,
    seed=seeds,
    n_values=st.integers(2, 6),
    sizes=st.sampled_from([(1, 2), (2, 1)]),
    price=st.sampled_from([0.0, 0.1, 0.6]),
    grows=st.booleans(),
)


def check_best_threshold(node, min_count):
    assert_same_gain(node, node.find(min_count), node.best_gain(min_count=min_count))


@pytest.mark.parametrize("n_values", [3, 8, 9, 40, 60])
@pytest.mark.parametrize("grows", [True, False])
@settings(max_examples=4)
@given(seed=seeds, price=st.sampled_from([0.05, 0.3]), min_count=st.sampled_from([1, 10]))
def test_no_threshold_is_better_than_the_one_found(n_values, grows, seed, price, min_count):
    check_best_threshold(Node.random(seed, n_values, (1, 2), price, grows), min_count)


@pytest.mark.slow
@settings(max_examples=150)
@given(nodes, st.sampled_from([1, 3, 10, 30]))
def test_no_threshold_of_many_nodes_is_better_than_the_one_found(node, min_count):
    check_best_threshold(node, min_count)


@settings(max_examples=12)
@given(nodes, st.booleans(), st.sampled_from([0, 3]), st.sampled_from([1, 5]))
def test_the_gain_is_that_of_the_sides_written(
    node, is_categorical, n_candidates, min_count
):
    node.is_categorical = is_categorical
    gain = node.find(min_count, n_candidates)
    assert_same_gain(node, gain, node.gain_of_sides())


@settings(max_examples=12)
@given(nodes, st.booleans(), st.sampled_from([0, 3]), st.sampled_from([2, 15]))
def test_both_sides_keep_the_least_count(node, is_categorical, n_candidates, min_count):
    node.is_categorical = is_categorical
    node.find(min_count, n_candidates)
    counts = [node.sides().sum(), (~node.sides()).sum()]
    assert node.slot < 0 or min(counts) >= min_count


@settings(max_examples=10)
@given(nodes, st.booleans())
def test_sums_are_those_of_the_node_and_of_its_left_side(node, is_categorical):
    node.is_categorical = is_categorical
    node.find()
    expected = [node.rows().sum(axis=0)]
    if node.slot >= 0:
        expected.append(node.rows()[node.sides()].sum(axis=0))
    assert_allclose(node.sums[: len(expected)], expected, atol=1e-9)


@settings(max_examples=10)
@given(nodes)
def test_the_value_is_that_of_the_node_as_a_leaf(node):
    node.find()
    hessian = node.hessians.sum(axis=0)
    starts, prices, grows = node.groups
    prices = oracles.leaf_prices(hessian, starts, prices, grows)
    gradient, matrix = node.gradients.sum(axis=0), hessian + node.penalty
    expected, _ = oracles.solve_groups(gradient, matrix, starts, prices)
    assert_allclose(node.value, expected, rtol=1e-6, atol=1e-7)


@settings(max_examples=12)
@given(small_nodes)
def test_categories_are_split_at_the_best_place_of_any_order(node):
    node.is_categorical = True
    prefixes = [
        list(
            oracles.category_prefixes(
                column, node.n_values, node.judged(feature), node.hessians
            )
        )
        for feature, column in enumerate(node.bins.T)
    ]
    assert_same_gain(node, node.find(), node.best_gain(prefixes))


@settings(max_examples=12)
@given(seed=seeds, n_values=st.integers(2, 5), price=st.sampled_from([0.0, 0.1, 0.6]))
def test_no_set_of_categories_is_better_for_one_term(seed, n_values, price):
    node = Node.random(seed, n_values, (1,), grows=False, n_features=1, is_categorical=True)
    totals = np.abs(node.gradients.sum(axis=0))
    node.groups = node.groups._replace(prices=price * totals)
    left = [list(oracles.left_sets(n_values, True))]
    assert_same_gain(node, node.find(), node.best_gain(left))


def drawn_sets(node, n_candidates, seed):
    """Return the sets of bins left of the thresholds that are drawn."""
    sets = []
    for feature, column in enumerate(node.bins.T):
        counts = np.bincount(column, minlength=N_BINS)[: node.n_values].astype(float)
        drawn = np.zeros(node.n_values, dtype=bool)
        own_seed = from_python(mix_bits)(np.uint64(seed) + np.uint64(feature + 1))
        from_python(draw_candidates)(counts, n_candidates, np.uint64(own_seed), drawn)
        sets.append([range(last + 1) for last in np.flatnonzero(drawn)])
    return sets


@settings(max_examples=12)
@given(nodes, st.integers(1, 4), st.integers(0, 2**63))
def test_of_thresholds_drawn_at_random_the_best_is_found(node, n_candidates, seed):
    found = node.find(n_candidates=n_candidates, seed=seed)
    assert_same_gain(node, found, node.best_gain(drawn_sets(node, n_candidates, seed)))


@settings(max_examples=15)
@given(nodes, st.booleans(), st.sampled_from([0, 2]))
def test_without_prices_the_split_is_that_of_the_full_problem(
    node, is_categorical, n_candidates
):
    node.is_categorical = is_categorical
    starts = np.array([0, len(node.penalty)], dtype=np.int32)
    node.groups = Groups(starts, np.zeros(1), False)
    gain = node.find(3, n_candidates)
    sides = node.sides() if node.slot >= 0 else None
    assert_same_gain(node, gain, node.find(3, n_candidates, solver=FULL))
    if sides is None:
        return
    if is_categorical and sides[0] != node.sides()[0]:
        sides = ~sides  # two halves of the categories, whichever is named first
    assert np.array_equal(sides, node.sides())


@settings(max_examples=10)
@given(nodes)
def test_the_order_of_features_does_not_matter(node):
    gain = node.find()
    node.bins = node.bins[:, ::-1]
    assert_same_gain(node, node.find(), gain)


@settings(max_examples=10)
@given(nodes)
def test_two_features_do_what_the_better_one_does(node):
    single = [replace(node, bins=column[:, None]).find() for column in node.bins.T]
    assert_same_gain(node, node.find(), max(single))


def test_prohibitive_prices_on_everything_give_no_split():
    node = Node.random(1, 12, (1, 2))
    node.groups = node.groups._replace(prices=np.full(2, 1e6))
    assert node.find() == -1.0


def test_a_useless_feature_gives_no_split_where_groups_cost():
    # Everybody is the same: two leaves pay twice for the effect that one pays for once.
    node = Node.random(1, 12, (1, 2), grows=False)
    node.gradients[:], node.hessians[:] = node.gradients[0], np.eye(3)
    node.groups = node.groups._replace(prices=np.array([0.0, 0.5]))
    assert node.find() == -1.0


def test_missing_values_join_the_side_they_resemble():
    node = Node.random(1, 12, (1, 2), price=0.05, n_features=1)
    node.bins[:, 0] = np.arange(len(node.bins)) % 12
    node.bins[:6, 0] = MISSING
    is_left = (node.bins[:, 0] <= 4) | (node.bins[:, 0] == MISSING)
    node.gradients = np.where(is_left, -1.0, 1.0)[:, None] * np.ones(3)
    node.find()
    assert np.array_equal(node.sides(), is_left)


@pytest.mark.parametrize(("threshold", "larger_is_left"), [(3, False), (8, True)])
def test_where_nothing_is_missing_it_goes_with_the_larger_side(threshold, larger_is_left):
    node = Node.random(1, 12, (1, 2), price=0.05, n_features=1)
    node.bins[:, 0] = np.arange(len(node.bins)) % 12
    is_left = node.bins[:, 0] <= threshold
    node.gradients = np.where(is_left, -1.0, 1.0)[:, None] * np.ones(3)
    node.find()
    assert (node.bin, node.missing_left) == (threshold, larger_is_left)


def scan(node, best):
    feature, known = order_first(node)
    buffers = Buffers.for_node(known, 1, N_BINS)
    return scan_groups(feature, known, best, buffers, find_descend())


def order_first(node, own=None):
    """Return the first feature's bins in their order, and the node as kernels know it."""
    histogram = node.histograms()[0]
    everything = np.arange(node.n_values, dtype=np.int32), np.ones(node.n_values, bool)
    own = np.zeros(len(node.penalty)) if own is None else own
    known = kernels.Node(histogram.sum(axis=0), node.penalty, node.groups, own)
    return Ordered(histogram, *everything, 1.0, True), known


@settings(max_examples=10)
@given(nodes, st.sampled_from([0.0, 0.5, 0.999]))
def test_what_others_have_reached_hides_only_what_is_worse(node, share):
    reduction, position, missing_left = scan(node, 0.0)
    again = scan(node, share * reduction)
    assert_allclose(again[0], reduction, rtol=1e-9)
    assert again[1:] == (position, missing_left)


@settings(max_examples=10)
@given(nodes)
def test_a_threshold_no_better_than_others_is_not_found(node):
    reduction, _, _ = scan(node, 0.0)
    assert scan(node, reduction * (1.0 + 1e-9))[:2] == (-1.0, -1)


# --- Bounds


@settings(max_examples=20)
@given(nodes, seeds, st.sampled_from([0.0, 0.1, 3.0]))
def test_bounds_are_never_below_what_a_side_reaches(node, seed, distance):
    rng = np.random.default_rng(seed)
    lefts, totals = node.run()
    first = rng.integers(0, len(lefts))
    lefts = lefts[first : first + rng.integers(1, kernels._RUN + 1)]
    betas, drops = node.exact_drops(lefts, totals)
    betas = betas[:, rng.integers(0, len(lefts))]
    betas = betas + distance * rng.normal(size=betas.shape)
    assert np.all(node.bounds(lefts, totals, betas) >= drops * (1.0 - 1e-9) - 1e-9)


@settings(max_examples=20)
@given(nodes, seeds)
def test_the_bound_at_a_side_s_own_coefficients_is_what_it_reaches(node, seed):
    lefts, totals = node.run()
    place = np.random.default_rng(seed).integers(0, len(lefts))
    betas, drops = node.exact_drops(lefts[[place]], totals)
    found = node.bounds(lefts[[place]], totals, np.ascontiguousarray(betas[:, 0]))
    assert_allclose(found[:, 0], drops[:, 0], rtol=1e-6, atol=1e-8)


def make_node_without_curvature():
    """Make groups of terms that sum to one, as splines do; some end with the tenth bin."""
    rng = np.random.default_rng(3)
    n, n_values = 60, 20
    bins = rng.integers(0, n_values, (n, 1))
    shares = rng.dirichlet(np.ones(5), (n, 2))
    shares[bins[:, 0] > 9, :, :3] = 0.0
    roots = shares.reshape(n, 1, 10)
    hessians = np.einsum("irt,iru->itu", roots, roots)
    theta = np.where(bins > 9, 2.0, 0.5) * np.arange(10.0)
    gradients = -np.einsum("itu,iu->it", hessians, theta)
    groups = Groups(np.array([0, 5, 10], dtype=np.int32), np.array([0.5, 0.5]), False)
    return Node(bins, gradients, hessians, np.zeros((10, 10)), groups, n_values)


@pytest.mark.slow  # without the compiler
def test_directions_without_curvature_do_not_hide_a_threshold():
    node = make_node_without_curvature()
    lefts, totals = node.run()

    def drop(sums):
        return solve_groups(sums, node.penalty, node.groups, np.empty(10))

    gains = [drop(left) + drop(totals - left) - drop(totals) for left in lefts[:-1]]
    assert_allclose(node.find(), max(gains), rtol=1e-4)


def test_rounding_along_directions_without_curvature_does_not_spoil_bounds(rng):
    node = make_node_without_curvature()
    lefts, totals = node.run()
    betas = np.zeros((2, 10))
    exact = [node.bounds(left[None], totals, betas)[1, 0] for left in lefts[9:-1]]
    totals[:-1] *= 1.0 + 1e-15 * rng.normal(size=len(totals) - 1)
    rounded = [node.bounds(left[None], totals, betas)[1, 0] for left in lefts[9:-1]]
    assert np.isfinite(exact).sum() > 5
    assert_allclose(rounded, exact, rtol=1e-6)


def test_a_run_shares_the_smallest_matrix_of_either_side():
    # As if every threshold had what the first has on the left, the last on the right.
    node = Node.random(5, 12, grows=False)
    lefts, totals = node.run()
    run, betas = lefts[2:6], np.zeros((2, 5))
    curvature = slice(5, -1)
    expected = np.zeros((2, 4))
    for place in range(4):
        one, all_of_it = run[[place]].copy(), totals.copy()
        one[0, curvature] = run[0, curvature]
        all_of_it[curvature] = (run[0] + totals - run[-1])[curvature]
        expected[:, place] = node.bounds(one, all_of_it, betas)[:, 0]
    assert_allclose(node.bounds(run, totals, betas), expected)


@settings(max_examples=10)
@given(nodes)
def test_a_feature_promises_no_less_than_its_thresholds_reach(node):
    lefts, totals = node.run()
    feature, known = order_first(node)
    promise = bound_feature(feature, known, Buffers.for_node(known, 1, N_BINS))
    possible = lefts[(lefts[:, -1] >= 1) & (lefts[:, -1] < totals[-1])]
    reached = (
        node.exact_drops(possible, totals)[1].sum(axis=0) if len(possible) else np.zeros(1)
    )
    assert promise >= reached.max() * (1.0 - 1e-9)

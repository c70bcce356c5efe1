import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given
from numpy.testing import assert_allclose
from tests import oracles

from boostr._kernels.apply import (
    Nodes,
    add_grown_tree,
    add_tree,
    add_tree_parallel,
    find_leaves,
    quadratic_loss,
    sum_leaves,
    sum_leaves_parallel,
)

MISSING = 255
N_FEATURES = 3


def make_trees(rng, n_splits, n_terms=2):
    """Random trees one after the other; half of their splits are on sets of categories."""
    columns = {name: [] for name in Nodes._fields}
    roots = []
    for own in n_splits:
        roots.append(len(columns["feature"]))
        for name, values in make_tree(
            rng, own, n_terms, len(columns["categories"])
        ).items():
            columns[name].extend(values)
    nodes = Nodes(
        feature=np.array(columns["feature"], dtype=np.int32),
        bin_threshold=np.array(columns["bin_threshold"], dtype=np.uint8),
        missing_left=np.array(columns["missing_left"], dtype=np.bool_),
        left_child=np.array(columns["left_child"], dtype=np.int32),
        category_set=np.array(columns["category_set"], dtype=np.int32),
        categories=np.array(columns["categories"], dtype=np.uint32).reshape(-1, 8),
        value=np.array(columns["value"]),
    )
    return nodes, np.array(roots, dtype=np.int32)


def make_tree(rng, n_splits, n_terms, n_sets):
    n_nodes = 2 * n_splits + 1
    feature, left_child = np.full(n_nodes, -1), np.zeros(n_nodes, dtype=int)
    category_set, categories = np.full(n_nodes, -1), []
    leaves = [0]
    for split in range(n_splits):
        node = leaves.pop(rng.integers(len(leaves)))
        feature[node], left_child[node] = rng.integers(N_FEATURES), 2 * split + 1
        leaves += [2 * split + 1, 2 * split + 2]
        if rng.random() < 0.5:
            category_set[node] = n_sets + len(categories)
            # The flag alone says where missing values go: their bit, the last, is not set.
            categories.append(rng.integers(0, 2**32, 8) & [2**32 - 1] * 7 + [2**31 - 1])
    return {
        "feature": feature,
        "bin_threshold": rng.integers(0, 255, n_nodes),
        "missing_left": rng.random(n_nodes) < 0.5,
        "left_child": left_child,
        "category_set": category_set,
        "categories": categories,
        "value": rng.normal(size=(n_nodes, n_terms)),
    }


def make_bins(rng, n):
    bins = rng.integers(0, 255, (n, N_FEATURES))
    bins[rng.random(bins.shape) < 0.2] = MISSING
    return bins.astype(np.uint8)


def make_state(rng, n, n_terms, is_diagonal):
    roots = rng.normal(size=(n, n_terms, n_terms))
    hessians = np.einsum("irt,iru->itu", roots, roots)
    if is_diagonal:
        hessians *= np.eye(n_terms)
        quadratic = np.array([np.diag(h) for h in hessians])
    else:
        quadratic = np.array([oracles.lower_triangle(h) for h in hessians])
    theta, linear = rng.normal(size=(2, n, n_terms))
    gradients = np.einsum("itu,iu->it", hessians, theta) - linear
    return hessians, linear, quadratic, theta, gradients


def walk(nodes, bins, root=0):
    return [oracles.find_leaf(nodes, row, MISSING, root) for row in bins]


@given(seed=st.integers(0, 2**32 - 1), n_splits=st.integers(0, 8))
def test_leaves_are_found_by_walking(seed, n_splits):
    rng = np.random.default_rng(seed)
    nodes, _ = make_trees(rng, [n_splits])
    bins = make_bins(rng, 25)
    out = np.full(25, -1, dtype=np.int32)
    find_leaves(bins, MISSING, nodes, 0, out)
    assert out.tolist() == walk(nodes, bins)


def test_leaves_of_a_later_tree_are_found_from_its_root(rng):
    nodes, roots = make_trees(rng, [3, 0, 5])
    bins = make_bins(rng, 40)
    out = np.full(40, -1, dtype=np.int32)
    find_leaves(bins, MISSING, nodes, roots[2], out)
    assert out.tolist() == walk(nodes, bins, roots[2])


@given(seed=st.integers(0, 2**32 - 1), n_splits=st.lists(st.integers(0, 5), max_size=4))
def test_sums_add_the_leaf_of_every_tree(seed, n_splits):
    rng = np.random.default_rng(seed)
    nodes, roots = make_trees(rng, [*n_splits, 1])
    bins, out = make_bins(rng, 11), rng.normal(size=(11, 2))
    expected = out + sum(nodes.value[walk(nodes, bins, root)] for root in roots)
    sum_leaves(bins, MISSING, nodes, roots, out)
    assert_allclose(out, expected, atol=1e-12)


def test_blocks_of_rows_change_nothing(rng):
    nodes, roots = make_trees(rng, [2, 3])
    bins, out = make_bins(rng, 600), np.zeros((600, 2))
    sum_leaves(bins, MISSING, nodes, roots, out)
    rows = [np.zeros((1, 2)) for _ in range(600)]
    for row, one in enumerate(rows):
        sum_leaves(bins[[row]], MISSING, nodes, roots, one)
    assert np.array_equal(out, np.vstack(rows))


@pytest.mark.parametrize("n_chunks", [1, 2, 7])
def test_threads_sum_to_the_same_bits(rng, n_chunks):
    nodes, roots = make_trees(rng, [2, 3, 4])
    bins = make_bins(rng, 500)
    serial, parallel = np.zeros((500, 2)), np.zeros((500, 2))
    sum_leaves(bins, MISSING, nodes, roots, serial)
    sum_leaves_parallel(bins, MISSING, nodes, roots, parallel, n_chunks)
    assert np.array_equal(serial, parallel)


@pytest.mark.parametrize("n_terms", [1, 2, 4])
@pytest.mark.parametrize("is_diagonal", [True, False])
def test_a_tree_adds_to_the_coefficients(rng, is_diagonal, n_terms):
    nodes, _ = make_trees(rng, [4], n_terms)
    bins = make_bins(rng, 30)
    _, linear, quadratic, theta, gradients = make_state(rng, 30, n_terms, is_diagonal)
    expected = theta + nodes.value[walk(nodes, bins)]
    add_tree(bins, MISSING, nodes, linear, quadratic, theta, gradients)
    assert_allclose(theta, expected)


@pytest.mark.parametrize("n_terms", [1, 2, 4])
@pytest.mark.parametrize("is_diagonal", [True, False])
def test_a_tree_adds_curvature_times_value_to_the_gradients(rng, is_diagonal, n_terms):
    nodes, _ = make_trees(rng, [4], n_terms)
    bins = make_bins(rng, 30)
    hessians, linear, quadratic, theta, gradients = make_state(
        rng, 30, n_terms, is_diagonal
    )
    change = np.einsum("itu,iu->it", hessians, nodes.value[walk(nodes, bins)])
    expected = gradients + change
    add_tree(bins, MISSING, nodes, linear, quadratic, theta, gradients)
    assert_allclose(gradients, expected, atol=1e-12)


@pytest.mark.parametrize("n_chunks", [1, 2, 7])
def test_threads_add_the_same_bits(rng, n_chunks):
    nodes, _ = make_trees(rng, [4], 3)
    bins = make_bins(rng, 200)
    _, linear, quadratic, theta, gradients = make_state(rng, 200, 3, is_diagonal=False)
    serial = theta.copy(), gradients.copy()
    add_tree(bins, MISSING, nodes, linear, quadratic, *serial)
    add_tree_parallel(bins, MISSING, nodes, linear, quadratic, theta, gradients, n_chunks)
    assert np.array_equal(np.hstack(serial), np.hstack([theta, gradients]))


def total_loss(theta, linear, hessians):
    return sum(
        oracles.objective(own, -b, hessian)
        for own, b, hessian in zip(theta, linear, hessians, strict=True)
    )


@pytest.mark.parametrize("n_terms", [1, 3])
def test_adding_a_tree_returns_the_loss_afterwards(rng, n_terms):
    nodes, _ = make_trees(rng, [4], n_terms)
    bins = make_bins(rng, 30)
    hessians, linear, quadratic, theta, gradients = make_state(rng, 30, n_terms, False)
    loss = add_tree(bins, MISSING, nodes, linear, quadratic, theta, gradients)
    assert_allclose(loss, total_loss(theta, linear, hessians))


def test_threads_return_the_same_loss(rng):
    nodes, _ = make_trees(rng, [4], 2)
    bins = make_bins(rng, 90)
    hessians, linear, quadratic, theta, gradients = make_state(rng, 90, 2, False)
    loss = add_tree_parallel(bins, MISSING, nodes, linear, quadratic, theta, gradients, 7)
    assert_allclose(loss, total_loss(theta, linear, hessians))


def test_the_loss_is_the_quadratic_of_the_members(rng):
    hessians, linear, _, theta, gradients = make_state(rng, 20, 3, is_diagonal=False)
    members = np.array([3, 5, 19], dtype=np.int32)
    expected = total_loss(theta[members], linear[members], hessians[members])
    assert_allclose(quadratic_loss(theta, gradients, linear, members), expected)


@pytest.mark.parametrize("n_terms", [1, 2, 3])
@pytest.mark.parametrize("n_chunks", [1, 7])
def test_known_leaves_give_the_same_bits(rng, n_terms, n_chunks):
    nodes, _ = make_trees(rng, [5], n_terms)
    bins = make_bins(rng, 200)
    _, linear, quadratic, theta, gradients = make_state(
        rng, 200, n_terms, is_diagonal=False
    )
    leaves = np.empty(200, dtype=np.int32)
    find_leaves(bins, MISSING, nodes, 0, leaves)
    is_other = rng.random(200) < 0.3
    everybody = np.arange(200, dtype=np.int32)
    parts = [everybody[~is_other & (leaves == node)] for node in range(len(nodes.feature))]
    ends = np.cumsum([len(part) for part in parts])
    span = np.column_stack([ends - [len(part) for part in parts], ends])
    own, other = [theta.copy(), gradients.copy()], [theta.copy(), gradients.copy()]
    data = (bins, MISSING, nodes, linear, quadratic)
    space = np.empty(200, dtype=np.int32), np.empty(n_chunks)
    known = (np.concatenate(parts), span, everybody[is_other], *space)
    found = add_grown_tree(*data, *own, *known)
    expected = add_tree_parallel(*data, *other, n_chunks)
    assert found == expected
    assert np.array_equal(np.hstack(own), np.hstack(other))

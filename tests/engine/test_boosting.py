import numba
import numpy as np
import pytest
from numpy.testing import assert_allclose
from tests import oracles
from tests.engine.histories import FAMILIES
from tests.engine.problems import Problem, make_problem

from boostr._engine.binning import BinnedFeatures
from boostr._engine.statistics import SufficientStats
from boostr._engine.tree import LeafProblem
from boostr._kernels.solve import FULL

families = pytest.mark.parametrize("family", FAMILIES)
losses = pytest.mark.parametrize("loss", ["intensity", "cumulative"])


def boost(problem, n_steps, **params):
    booster = problem.booster(**params)
    for _ in range(n_steps):
        booster.step()
    return booster


def loss_of(problem, theta, rows=None):
    rows = problem.everybody if rows is None else rows
    products = problem.stats.multiply(theta[rows], rows)
    return np.sum(theta[rows] * (0.5 * products - problem.stats.linear[rows]))


@families
@losses
@pytest.mark.parametrize("is_late", [False, True])
@pytest.mark.parametrize("growth", ["best", "level"])
def test_the_training_loss_never_rises(rng, family, loss, is_late, growth):
    problem = make_problem(rng, 50, family, loss, is_late=is_late)
    booster = problem.booster(learning_rate=1.0, growth=growth)
    history = [0.0]
    for _ in range(8):
        booster.step()
        history.append(booster.state.loss(problem.everybody))
    assert np.diff(history).max() <= 1e-9 * abs(history[-1])


@families
@losses
def test_one_full_step_is_least_squares_in_every_group(rng, family, loss):
    groups = np.repeat([0.0, 1.0, 2.0], 25)
    problem = make_problem(rng, 75, family, loss, gamma2=0.0, x=groups[:, None])
    booster = boost(problem, 1, learning_rate=1.0, max_leaves=3)
    hessians = problem.hessians()
    for group in range(3):
        own = groups == group
        expected, _ = oracles.solve_leaf(
            -problem.stats.linear[own].sum(axis=0),
            hessians[own].sum(axis=0),
            np.zeros_like(problem.leaf.penalty),
            problem.kind,
        )
        assert_allclose(booster.state.theta[own], np.tile(expected, (25, 1)), rtol=1e-6)


def test_one_full_step_of_a_constant_rate_is_events_per_exposure(rng):
    groups = np.repeat([0.0, 1.0], 30)
    problem = make_problem(rng, 60, "one power", gamma2=0.0, x=groups[:, None])
    theta = boost(problem, 1, learning_rate=1.0, max_leaves=2).state.theta[:, 0]
    events, exposure = problem.stats.linear[:, 0], problem.stats.quadratic[:, 0]
    expected = [events[groups == g].sum() / exposure[groups == g].sum() for g in groups]
    assert_allclose(theta, expected)


@families
@losses
def test_gradients_keep_up_with_the_coefficients(rng, family, loss):
    problem = make_problem(rng, 40, family, loss, is_late=True)
    booster = boost(problem, 6)
    gradients = booster.state.gradients
    expected = problem.stats.multiply(booster.state.theta, problem.everybody)
    assert_allclose(gradients, expected - problem.stats.linear, rtol=1e-8, atol=1e-8)


@families
def test_coefficients_are_the_sum_of_the_trees(rng, family):
    problem = make_problem(rng, 40, family)
    booster = boost(problem, 5, n_candidates=2)
    missing = problem.features.missing_bin
    expected = [
        sum(t.nodes.value[oracles.find_leaf(t.nodes, row, missing)] for t in booster.trees)
        for row in problem.features.bins
    ]
    assert_allclose(booster.state.theta, expected, atol=1e-12)


@losses
def test_the_loss_of_members_is_their_quadratic(rng, loss):
    problem = make_problem(rng, 40, loss=loss)
    booster = boost(problem, 4)
    members = np.array([1, 7, 30], dtype=np.int32)
    expected = loss_of(problem, booster.state.theta, members)
    assert_allclose(booster.state.loss(members), expected)


def test_the_total_loss_is_that_of_everybody(rng):
    problem = make_problem(rng, 40)
    booster = boost(problem, 4, members=np.arange(20, dtype=np.int32))
    assert_allclose(booster.total_loss, loss_of(problem, booster.state.theta))


def test_whoever_is_no_member_leaves_no_trace(rng):
    problem = make_problem(rng, 60)
    members = np.arange(40, dtype=np.int32)
    before = boost(problem, 4, members=members).state.theta[members]
    problem.stats.linear[40:] *= 1e6
    after = boost(problem, 4, members=members).state.theta[members]
    assert np.array_equal(before, after)


def test_whoever_is_no_member_is_predicted(rng):
    problem = make_problem(rng, 60)
    members = np.arange(40, dtype=np.int32)
    theta = boost(problem, 4, members=members).state.theta
    alone = boost(problem.take(members), 4)
    missing = problem.features.missing_bin
    expected = [
        sum(t.nodes.value[oracles.find_leaf(t.nodes, row, missing)] for t in alone.trees)
        for row in problem.features.bins[40:]
    ]
    assert_allclose(theta[40:], expected)


def test_the_learning_rate_shrinks_the_tree(rng):
    problem = make_problem(rng, 40)
    full, part = (boost(problem, 1, learning_rate=r).state.theta for r in (1.0, 0.25))
    assert_allclose(part, 0.25 * full)


@families
@losses
def test_weight_two_is_the_row_twice(rng, family, loss):
    # Of numbers: like the least size of a leaf, shrinkage of categories counts individuals.
    problem = make_problem(rng, 50, family, loss, x=rng.random((50, 2)))
    weights = rng.choice([1, 2], 50)
    theta = boost(problem.weigh(weights), 4).state.theta
    twice = boost(problem.take(np.repeat(np.arange(50), weights)), 4).state.theta
    assert_allclose(np.repeat(theta, weights, axis=0), twice, rtol=1e-6, atol=1e-9)


def test_the_order_of_individuals_does_not_matter(rng):
    problem = make_problem(rng, 60)
    order = rng.permutation(60)
    theta = boost(problem, 5).state.theta
    assert_allclose(
        boost(problem.take(order), 5).state.theta, theta[order], rtol=1e-6, atol=1e-9
    )


def test_more_pseudo_individuals_draw_closer_to_zero():
    x = np.zeros((40, 1))
    sizes = []
    for gamma2 in (0.0, 10.0, 1e6):
        problem = make_problem(np.random.default_rng(3), 40, gamma2=gamma2, x=x)
        sizes.append(
            np.abs(boost(problem, 1, learning_rate=1.0).state.theta.sum(axis=1)).max()
        )
    assert sizes[0] > sizes[1] > sizes[2]


@pytest.mark.parametrize("params", [{"subsample": 0.5}, {"colsample": 0.4}])
def test_sampling_depends_on_the_seed_alone(rng, params):
    problem = make_problem(rng, 60)
    first, same, other = (
        boost(problem, 5, seed=seed, **params).state.theta for seed in (1, 1, 2)
    )
    assert np.array_equal(first, same)
    assert not np.array_equal(first, other)


def test_a_subsample_has_its_share_of_individuals(rng):
    problem = make_problem(rng, 60)
    trees = boost(problem, 60, subsample=0.5).trees
    shares = [tree.count[0] / 60.0 for tree in trees]
    assert 0.45 < np.mean(shares) < 0.55
    assert len(set(shares)) > 5


def test_a_share_of_columns_is_used_by_each_tree(rng):
    problem = make_problem(rng, 80)
    trees = boost(problem, 12, colsample=0.34, max_leaves=6).trees
    used = [set(t.nodes.feature[t.nodes.feature >= 0].tolist()) for t in trees]
    assert max(len(own) for own in used) == 1


def test_small_data_may_run_on_threads_without_a_difference(rng, monkeypatch):
    problem = make_problem(rng, 60)
    serial = boost(problem, 5).state.theta
    monkeypatch.setattr("boostr._engine.boosting._PARALLEL_FROM", 1)
    monkeypatch.setattr("boostr._engine.tree._source.PARALLEL_FROM", 1)
    assert np.array_equal(boost(problem, 5, n_threads=2).state.theta, serial)


@pytest.fixture(scope="module")
def large():
    """Enough individuals for every parallel path, two terms."""
    rng = np.random.default_rng(8)
    n = 45_000
    bins = rng.integers(0, 30, (n, 4)).astype(np.uint8)
    roots = rng.normal(size=(n, 2, 2))
    hessians = np.einsum("irt,iru->itu", roots, roots)
    signal = np.column_stack([bins[:, 0] > 12, bins[:, 1] / 30]) + rng.normal(size=(n, 2))
    linear = np.einsum("itu,iu->it", hessians, signal)
    triangles = hessians[:, [0, 1, 1], [0, 0, 1]]
    is_categorical = np.array([False, False, False, True])
    features = BinnedFeatures(
        bins=bins,
        n_values=np.full(4, 29, dtype=np.int32),
        is_categorical=is_categorical,
        missing_bin=29,
    )
    leaf = LeafProblem(FULL, np.eye(2))
    stats = SufficientStats(linear, np.ascontiguousarray(triangles))
    return Problem(bins, None, None, stats, features, leaf)


@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="threads need the compiler")
def test_one_thread_and_two_give_the_same_bits(large):
    one, two = (boost(large, 4, n_threads=n, max_leaves=8) for n in (1, 2))
    assert np.array_equal(
        np.hstack([one.state.theta, one.state.gradients]),
        np.hstack([two.state.theta, two.state.gradients]),
    )


@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="threads need the compiler")
def test_one_thread_and_two_give_the_same_bits_of_the_loss(large):
    one, two = (boost(large, 4, n_threads=n, max_leaves=8) for n in (1, 2))
    assert one.total_loss == two.total_loss


def test_the_first_tree_can_be_the_mean_taken_in_full(rng):
    problem = make_problem(rng, family="one power")
    booster = problem.booster(starts_at_mean=True, learning_rate=0.1)
    tree = booster.step()
    stats = problem.stats
    penalty = problem.leaf.penalty[0, 0]
    mean = stats.linear.sum() / (stats.quadratic.sum() + penalty)
    assert tree.n_leaves == 1
    assert_allclose(booster.state.theta, mean)

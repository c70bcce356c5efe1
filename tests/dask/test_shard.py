"""What a shard does with orders, without any cluster."""

import pickle
import weakref
from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose
from tests.engine.problems import make_problem

from boostr._engine.boosting import LocalBoostingState
from boostr.dask._shard import Request, Shard, SplitNode, View, hold_out, serve

FEATURES = np.arange(3, dtype=np.int32)
NOBODY = np.empty(0, dtype=np.int32)


@pytest.fixture
def problem(rng):
    return make_problem(rng, 40)


@pytest.fixture
def shard(problem):
    return Shard(1, 100, problem.stats, problem.features, np.ones(40))


def make_order(problem, number=0, **what):
    first = {"begin": NOBODY} if number == 0 else {"begin": None}
    return Request("m", View(), problem.leaf.solver, number, **(first | what))


def root(problem):
    state = LocalBoostingState(problem.stats, problem.features, problem.leaf.solver, NOBODY)
    state.start(1.0, 0)
    return state.root(FEATURES)


def test_the_first_order_begins_a_model(problem, shard):
    reply = serve(shard, make_order(problem, start=(1.0, 0, FEATURES)))
    assert_allclose(reply.histogram, root(problem))


def test_an_order_for_a_model_that_is_unknown_has_no_answer(problem, shard):
    assert serve(shard, make_order(problem, 1, start=(1.0, 0, FEATURES))) is None


def test_an_order_that_skips_others_has_no_answer(problem, shard):
    serve(shard, make_order(problem, start=(1.0, 0, FEATURES)))
    assert serve(shard, make_order(problem, 2)) is None


def test_an_order_that_comes_twice_is_carried_out_once(problem, shard):
    serve(shard, make_order(problem, start=(1.0, 0, FEATURES)))
    tree = problem.booster().step()
    order = make_order(problem, 1, trees=(tree,))
    one, two = serve(shard, order), serve(shard, order)
    assert one is two
    theta = shard.followed["m"].state.theta
    assert_allclose(theta, problem.booster().state.theta + _leaves(problem, tree))


def _leaves(problem, tree):
    booster = problem.booster()
    booster.step(tree)
    return booster.state.theta


def test_positions_that_are_held_out_count_from_the_first_of_all(problem, shard):
    held_out = np.array([101, 139], dtype=np.int32)
    serve(shard, make_order(problem, begin=held_out))
    assert shard.followed["m"].state.held_out.tolist() == [1, 39]


def test_all_so_far_gives_the_state_of_step_by_step(problem, shard):
    tree = problem.booster().step()
    goes_left = np.arange(problem.features.n_bins) < 2
    split = SplitNode(0, 1, goes_left, (1, 2), 0)
    serve(shard, make_order(problem, start=(1.0, 0, FEATURES)))
    serve(shard, make_order(problem, 1, trees=(tree,), start=(1.0, 0, FEATURES)))
    by_steps = serve(shard, make_order(problem, 2, splits=(split,)))
    whole = make_order(problem, 2, trees=(tree,), start=(1.0, 0, FEATURES), splits=(split,))
    again = pickle.loads(pickle.dumps(shard))
    at_once = serve(again, replace(whole, begin=NOBODY))
    assert np.array_equal(by_steps.histogram, at_once.histogram)


def test_a_shard_that_is_sent_leaves_its_models_behind(problem, shard):
    serve(shard, make_order(problem, start=(1.0, 0, FEATURES)))
    again = pickle.loads(pickle.dumps(shard))
    assert not again.followed
    assert (again.index, again.first) == (1, 100)
    assert np.array_equal(again.stats.linear, problem.stats.linear)


def test_held_out_coefficients_are_the_mean_over_the_models_that_held_out(problem, shard):
    booster = problem.booster()
    trees = [booster.step() for _ in range(3)]
    folds = [np.array([100, 105]), np.array([105])]
    rows = hold_out(shard, View(), [trees, trees[:1]], folds)
    both = [_leaves(problem, trees[0])[5], booster.state.theta[5]]
    assert_allclose(rows[0], booster.state.theta[0])
    assert_allclose(rows[5], np.mean(both, axis=0))
    assert np.isnan(rows[[1, 39]]).all()


def test_a_view_of_one_term_has_that_term(problem, shard):
    stats = shard.look(View(term=1))
    assert_allclose(stats.linear[:, 0], problem.stats.linear[:, 1])


def test_dask_can_keep_track_of_a_shard(shard):
    # What is spilled to disk is found again if it is still in memory, by a weak reference.
    assert weakref.ref(shard)() is shard

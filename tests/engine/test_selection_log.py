from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from tests.engine.problems import make_problem

from boostr._engine.selection import TreeLog, draw_folds, grow, validate
from boostr._engine.tree import GrowthParams
from boostr.exceptions import InvalidParameterError

RANDOM = {"subsample": 0.7, "colsample": 0.7, "starts_at_mean": True}
GROWTH = GrowthParams(max_leaves=3, min_samples_leaf=3, n_candidates=2)


@pytest.fixture
def problem(rng):
    return make_problem(rng, 50)


@pytest.mark.parametrize("n_known", range(6))
def test_known_trees_leave_no_trace(problem, n_known):
    whole = problem.booster(**RANDOM)
    for _ in range(6):
        whole.step()
    resumed = problem.booster(**RANDOM)
    for tree in whole.trees[:n_known]:
        assert resumed.step(tree) is tree
    for _ in range(6 - n_known):
        resumed.step()
    assert_array_equal(resumed.state.theta, whole.state.theta)
    assert resumed.total_loss == whole.total_loss
    for one, other in zip(resumed.trees, whole.trees, strict=True):
        for name in one.nodes._fields:
            assert_array_equal(getattr(one.nodes, name), getattr(other.nodes, name))


def test_all_rounds_are_kept_and_can_be_recalled_at_any_point(problem):
    kept = []
    task = problem.task(5, **RANDOM)
    folds = draw_folds(len(problem), 3, 1, 0)
    whole = validate(replace(task, log=TreeLog(keep=kept.append)), GROWTH, folds, "run")
    assert [len(trees) for trees in kept] == [3] * 5
    for n_known in (1, 3, 5):
        new = []
        log = TreeLog(kept[:n_known], new.append)
        run = validate(replace(task, log=log), GROWTH, folds, "run")
        assert len(new) == 5 - n_known
        assert_array_equal(run.curve, whole.curve)
        assert_array_equal(run.out_of_fold, whole.out_of_fold)


def test_known_rounds_count_as_grown_ones(problem):
    kept = []
    task = problem.task(4)
    trees, losses = grow(replace(task, log=TreeLog(keep=kept.append)), GROWTH, 4, "trees")
    again, same = grow(replace(task, log=TreeLog(kept)), GROWTH, 4, "trees")
    assert_array_equal(losses, same)
    assert again == trees


def test_trees_of_other_features_or_functions_are_refused(problem, rng):
    tree = problem.booster(max_leaves=2, gamma1=0.0)
    tree.step()
    other = make_problem(rng, 50, "step")
    with pytest.raises(InvalidParameterError, match="leaf functions, but it is not"):
        other.booster().step(tree.trees[0])
    narrow = make_problem(rng, 50, x=np.arange(50.0)[:, None] % 7)
    nodes = tree.trees[0].nodes._replace(feature=np.array([2, -1, -1], dtype=np.int32))
    stranger = type(tree.trees[0])(nodes, tree.trees[0].gain, tree.trees[0].count)
    with pytest.raises(InvalidParameterError, match="1 features"):
        narrow.booster().step(stranger)

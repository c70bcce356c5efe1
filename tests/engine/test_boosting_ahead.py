"""Rounds that one kernel grows are those that are grown one by one."""

from dataclasses import replace

import hypothesis.strategies as st
import numba
import numpy as np
import pytest
from hypothesis import given, settings
from numpy.testing import assert_array_equal
from tests.engine.histories import FAMILIES
from tests.engine.problems import make_problem
from tests.engine.tree.test_whole import assert_same, make_groups

from boostr._engine import boosting
from boostr._engine.selection import TreeLog, draw_folds, grow, validate
from boostr._engine.tree import PARALLEL_FROM, GrowthParams, _whole, grow_tree
from boostr._engine.tree._whole import _MOST_AHEAD
from boostr._kernels.team import run_together

N_ROUNDS = 7


def by_one(booster):
    """Grow trees as if no kernel could add them."""
    read_root = booster.state.read_root

    def forget_others(*arguments):
        root = read_root(*arguments)
        root.model = None
        return root

    booster.state.read_root = forget_others
    return booster


def assert_same_rounds(ahead, single, n_ahead, n_rounds=N_ROUNDS):
    for turn in range(n_rounds):
        n_certain = min(n_ahead, n_rounds - turn)
        assert_same(ahead.step(n_certain=n_certain), single.step())
        assert ahead.total_loss == single.total_loss
        assert ahead.held_out_loss == single.held_out_loss
        ahead.keep()
        single.keep()
        assert_array_equal(ahead.state.kept, single.state.kept)
    assert_array_equal(ahead.state.theta, single.state.theta)
    assert_array_equal(ahead.state.gradients, single.state.gradients)


@pytest.fixture
def sizes(monkeypatch):
    """Return how many rounds every call has grown."""
    found = []

    def count(*arguments):
        rounds = _whole.grow_ahead(*arguments)
        found.append(len(rounds))
        return rounds

    monkeypatch.setattr("boostr._engine.tree._grower.grow_ahead", count)
    return found


@given(
    seed=st.integers(0, 2**32 - 1),
    n=st.integers(2, 80),
    n_held_out=st.integers(0, 20),
    n_ahead=st.integers(1, N_ROUNDS),
    family=st.sampled_from(sorted(FAMILIES)),
    max_leaves=st.integers(1, 9),
    min_samples_leaf=st.integers(1, 8),
    n_candidates=st.sampled_from([0, 2]),
    starts_at_mean=st.booleans(),
    learning_rate=st.sampled_from([0.3, 1]),
    subsample=st.sampled_from([1.0, 0.6]),
    colsample=st.sampled_from([1.0, 0.6]),
    has_groups=st.booleans(),
)
def test_rounds_of_one_kernel_are_those_of_single_steps(
    seed, n, n_held_out, n_ahead, family, has_groups, **params
):
    rng = np.random.default_rng(seed)
    problem = make_problem(rng, n, family)
    if has_groups:
        make_groups(problem, rng)
    members = np.sort(rng.permutation(n)[min(n_held_out, n - 1) :]).astype(np.int32)
    given = {"members": members, "seed": seed % 1000, **params}
    single = by_one(problem.booster(**given))
    assert_same_rounds(problem.booster(**given), single, n_ahead)


@pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="one thread only")
@given(
    seed=st.integers(0, 2**32 - 1),
    n=st.integers(2, 9_000),
    n_threads=st.sampled_from([2, 3, 5]),
    parallel_from=st.sampled_from([1, 10_000]),
    n_ahead=st.integers(1, 3),
    family=st.sampled_from(["power", "spline"]),
    max_leaves=st.integers(2, 7),
    n_candidates=st.sampled_from([0, 3]),
    subsample=st.sampled_from([1.0, 0.6]),
    has_groups=st.booleans(),
)
@settings(max_examples=60)
def test_threads_grow_the_same_rounds(
    seed, n, n_threads, parallel_from, n_ahead, family, has_groups, **params
):
    rng = np.random.default_rng(seed)
    problem = make_problem(rng, n % 500 + 2 if has_groups else n, family)
    if has_groups:
        make_groups(problem, rng)
    n = len(problem)
    members = np.sort(rng.permutation(n)[n // 10 :]).astype(np.int32)
    given = {"members": members, "seed": seed % 1000, **params}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("boostr._engine.tree._source.PARALLEL_FROM", parallel_from)
        patch.setattr(boosting, "_PARALLEL_FROM", 4_000)
        ahead = problem.booster(n_threads=n_threads, **given)
        # From the third round on, one call may grow several.
        assert_same_rounds(ahead, by_one(problem.booster(**given)), n_ahead, 5)


@pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="one thread only")
def test_threads_add_a_tree_without_splits_after_one_with_splits(rng, monkeypatch):
    monkeypatch.setattr("boostr._engine.tree._source.PARALLEL_FROM", 1)
    monkeypatch.setattr(boosting, "_PARALLEL_FROM", 1)
    problem = make_problem(rng, 300)
    free = by_one(problem.booster(max_leaves=2))
    gains = [free.step().gain[0] for _ in range(3)]
    given = {"max_leaves": 2, "gamma1": 0.5 * (gains[1] + gains[2])}
    single = by_one(problem.booster(**given))
    assert [single.step().n_leaves for _ in range(4)] == [2, 2, 1, 1]
    ahead = problem.booster(n_threads=2, **given)
    assert_same_rounds(ahead, by_one(problem.booster(**given)), 4, 5)


@pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="one thread only")
def test_threads_share_large_trees_alone(rng, monkeypatch):
    calls = []

    def share(n_threads, kernel, *arguments):
        calls.append(n_threads)
        return run_together(n_threads, kernel, *arguments)

    monkeypatch.setattr(_whole, "run_together", share)
    for n in (PARALLEL_FROM - 1, PARALLEL_FROM):
        booster = make_problem(rng, n).booster(n_threads=2)
        booster.step()
        assert len(calls) == (n >= PARALLEL_FROM)


def test_a_call_grows_what_is_certain_but_not_too_many(rng, sizes):
    booster = make_problem(rng, 40).booster()
    n_rounds = _MOST_AHEAD + 6
    for turn in range(n_rounds):
        booster.step(n_certain=n_rounds - turn)
    assert sizes == [1, _MOST_AHEAD, 5]  # sums of the first root were not known yet
    booster.step()
    assert len(sizes) == 3  # one tree alone


def test_large_trees_are_grown_one_by_one(rng, sizes, monkeypatch):
    problem = make_problem(rng, 40)
    n_summed = problem.features.bins.size * problem.channels().shape[1]
    monkeypatch.setattr(_whole, "_MOST_SUMMED", 3 * n_summed - 1)
    booster = problem.booster()
    for _ in range(5):
        booster.step(n_certain=10)
    assert sizes == [1, 2, 2]


@pytest.mark.parametrize("params", [{"subsample": 0.5}, {"colsample": 0.5}])
def test_trees_of_some_individuals_or_features_are_too(rng, sizes, params):
    booster = make_problem(rng, 40).booster(**params)
    for _ in range(4):
        booster.step(n_certain=4)
    assert sizes == []


def test_a_known_tree_after_those_of_one_call_is_added_to_its_own_leaves(rng):
    problem = make_problem(rng, 50)
    whole, resumed = problem.booster(), problem.booster()
    for _ in range(6):
        whole.step()
    for turn in range(5):
        resumed.step(n_certain=5 - turn)
    resumed.step(whole.trees[5])
    assert_array_equal(resumed.state.theta, whole.state.theta)
    assert resumed.total_loss == whole.total_loss


def run(problem, is_ahead, monkeypatch, **changes):
    growth = GrowthParams(max_leaves=3, min_samples_leaf=3)
    task = replace(problem.task(60, learning_rate=0.3), patience=4, **changes)
    with monkeypatch.context() as patch:
        if not is_ahead:
            patch.setattr(_whole.WholeRoot, "can_grow_rounds", lambda *_: False)
        folds = draw_folds(len(problem), 3, 1, 0)
        rival = validate(task, replace(growth, max_leaves=2), folds, "rival")
        return validate(task, growth, folds, "run", rival), grow(task, growth, 9, "trees")


def test_runs_end_and_keep_as_if_all_rounds_were_single(rng, monkeypatch):
    problem = make_problem(rng, 60)
    (one, grown), (other, singly) = (
        run(problem, is_ahead, monkeypatch) for is_ahead in (True, False)
    )
    assert_array_equal(one.curve, other.curve)
    assert_array_equal(one.out_of_fold, other.out_of_fold)
    for some, others in zip(one.trees, other.trees, strict=True):
        for found, expected in zip(some, others, strict=True):
            assert_same(found, expected)
    assert_array_equal(grown[1], singly[1])


def test_no_round_is_grown_in_vain(rng, monkeypatch, sizes):
    kept, singles = [], []

    def count(*arguments):
        singles.append(1)
        return grow_tree(*arguments)

    monkeypatch.setattr(boosting, "grow_tree", count)
    run(make_problem(rng, 60), True, monkeypatch, log=TreeLog(keep=kept.append))
    assert max(sizes) > 1
    assert sum(sizes) + len(singles) == sum(len(trees) for trees in kept)

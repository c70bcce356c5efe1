from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import minimize
from tests import oracles
from tests.engine.problems import make_problem

from boostr._engine.selection import (
    _hope_for,
    _solve_nonnegative,
    _weigh_by_distance,
    draw_folds,
    grow,
    is_clearly_worse,
    validate,
    weigh_runs,
)
from boostr._engine.tree import GrowthParams

GROWTH = GrowthParams(max_leaves=3, min_samples_leaf=3)


@pytest.fixture
def problem(rng):
    return make_problem(rng, 50)


def run_validation(problem, growth=GROWTH, n_folds=5, n_repeats=1, n_rounds=10):
    folds = draw_folds(len(problem), n_folds, n_repeats, 3)
    return validate(problem.task(n_rounds), growth, folds, "run"), folds


def sum_trees(trees, problem, row):
    missing = problem.features.missing_bin
    bins = problem.features.bins[row]
    zero = np.zeros(problem.stats.n_terms)
    return zero + sum(
        t.nodes.value[oracles.find_leaf(t.nodes, bins, missing)] for t in trees
    )


def loss_of(problem, theta, rows):
    products = problem.stats.multiply(theta, rows)
    return np.sum(theta * (0.5 * products - problem.stats.linear[rows]), axis=1)


@pytest.mark.parametrize("n", [10, 23])
@pytest.mark.parametrize("n_repeats", [1, 3])
def test_every_deal_holds_everybody_out_once(n, n_repeats):
    folds = draw_folds(n, 5, n_repeats, 0)
    deals = [np.concatenate(folds[k : k + 5]) for k in range(0, len(folds), 5)]
    assert [sorted(deal.tolist()) for deal in deals] == [list(range(n))] * n_repeats


def test_folds_are_about_equally_large():
    sizes = [len(fold) for fold in draw_folds(23, 5, 1, 0)]
    assert np.ptp(sizes) <= 1


@pytest.mark.parametrize("n_repeats", [1, 2])
def test_out_of_fold_coefficients_come_from_the_models_that_left_one_out(
    problem, n_repeats
):
    run, folds = run_validation(problem, n_repeats=n_repeats)
    expected = [
        np.mean(
            [
                sum_trees(trees, problem, row)
                for trees, held_out in zip(run.trees, folds, strict=True)
                if row in held_out
            ],
            axis=0,
        )
        for row in range(len(problem))
    ]
    assert_allclose(run.out_of_fold, expected, atol=1e-12)


@pytest.mark.parametrize("sees_it", [False, True])
def test_an_absurd_individual_changes_only_the_models_that_saw_it(problem, sees_it):
    before, folds = run_validation(problem, n_rounds=1)
    # Not so absurd that no tree would be kept: those of others would be worse than nothing.
    problem.stats.linear[17] *= 3.0
    after, _ = run_validation(problem, n_rounds=1)
    fold = next(k for k, held_out in enumerate(folds) if (17 not in held_out) == sees_it)
    trees = [run.trees[fold][0].nodes.value for run in (before, after)]
    assert np.array_equal(*trees) != sees_it


def test_an_absurd_individual_does_not_change_its_own_prediction(problem):
    fold = [np.array([17], dtype=np.int32)]
    before = validate(problem.task(6), GROWTH, fold, "run")
    problem.stats.linear[17] *= 1e6
    after = validate(problem.task(before.n_rounds), GROWTH, fold, "run")
    assert np.array_equal(before.out_of_fold[17], after.out_of_fold[17])


def test_the_curve_is_the_mean_held_out_loss(problem):
    run, folds = run_validation(problem)
    total = 0.0
    for trees, held_out in zip(run.trees, folds, strict=True):
        theta = np.array([sum_trees(trees, problem, row) for row in held_out])
        total += loss_of(problem, theta, held_out).sum()
    assert_allclose(run.curve[run.n_rounds - 1], total / len(problem))


def test_the_trees_kept_are_those_up_to_the_lowest_loss(problem):
    run, _ = run_validation(problem, n_rounds=30)
    assert run.n_rounds == np.argmin(run.curve) + 1


def test_all_folds_keep_as_many_trees(problem):
    run, _ = run_validation(problem)
    assert {len(trees) for trees in run.trees} == {run.n_rounds}


def test_a_run_ends_when_the_loss_has_not_fallen_for_a_while(problem):
    task = replace(problem.task(200), patience=4)
    run = validate(
        task, GrowthParams(max_leaves=20), draw_folds(len(problem), 5, 1, 3), "run"
    )
    assert len(run.curve) == run.n_rounds + 4


def test_whoever_is_never_held_out_has_no_prediction(problem):
    held_out = np.array([2, 5, 9], dtype=np.int32)
    run = validate(problem.task(5), GROWTH, [held_out], "run")
    known = np.flatnonzero(~np.isnan(run.out_of_fold).any(axis=1))
    assert known.tolist() == [2, 5, 9]


def test_one_tree_is_kept_even_if_nothing_helps(problem):
    problem.stats.linear[:] = 0.0
    run, _ = run_validation(problem)
    assert (run.n_rounds, np.abs(run.out_of_fold).max()) == (1, 0.0)


def test_members_share_the_weight_of_their_run(problem):
    run, _ = run_validation(problem)
    assert_allclose([member.weight for member in run.members(0.6)], [0.12] * 5)


def test_a_run_of_one_term_becomes_a_run_of_all(problem):
    task = problem.task(6).restrict(1)
    run = validate(task, GROWTH, [np.array([0, 4], dtype=np.int32)], "run")
    wide = run.widen(1, problem.training_set)
    assert_allclose(wide.out_of_fold[:, 1], run.out_of_fold[:, 0])
    assert_allclose(wide.out_of_fold[[0, 4], 0], 0.0)
    assert np.isnan(wide.out_of_fold[1]).all()


def test_a_task_of_one_term_is_the_problem_of_that_term(problem):
    task = problem.task().restrict(1)
    assert_allclose(task.training_set.stats.linear[:, 0], problem.stats.linear[:, 1])
    assert_allclose(task.training_set.stats.quadratic[:, 0], problem.stats.diagonal()[:, 1])
    assert_allclose(task.problem.penalty, problem.leaf.penalty[1:2, 1:2])


def test_a_task_of_some_individuals_has_their_rows(problem):
    rows = np.array([4, 1, 30])
    task = problem.task().take(rows)
    assert len(task) == 3
    assert_allclose(task.training_set.stats.linear, problem.stats.linear[rows])
    assert np.array_equal(task.training_set.features.bins, problem.features.bins[rows])


def test_growing_on_everybody_gives_the_trees_asked_for(problem):
    trees, _ = grow(problem.task(), GROWTH, 7, "trees")
    assert len(trees) == 7


def test_training_losses_are_means_after_every_tree(problem):
    trees, losses = grow(problem.task(), GROWTH, 3, "trees")
    expected = []
    for n_trees in (1, 2, 3):
        theta = np.array([sum_trees(trees[:n_trees], problem, row) for row in range(50)])
        expected.append(loss_of(problem, theta, problem.everybody).mean())
    assert_allclose(losses, expected)


def test_progress_is_reported_after_every_round(problem):
    seen = []
    task = problem.task(4)
    object.__setattr__(task, "report", lambda *news: seen.append(news[:2]))
    grow(task, GROWTH, 3, "trees")
    assert seen == [("trees", 1), ("trees", 2), ("trees", 3)]


def make_runs(problem, *max_leaves):
    return [
        run_validation(problem, GrowthParams(max_leaves=n, min_samples_leaf=3))[0]
        for n in max_leaves
    ]


def test_one_run_has_all_the_weight(problem):
    assert weigh_runs(problem.training_set, make_runs(problem, 3)).tolist() == [1.0]


def test_weights_are_not_negative(problem):
    weights = weigh_runs(problem.training_set, make_runs(problem, 2, 3, 8, 20))
    assert weights.min() >= 0.0


def test_weights_sum_to_about_one(problem):
    assert_allclose(
        weigh_runs(problem.training_set, make_runs(problem, 2, 3, 5)).sum(), 1, atol=0.4
    )


def test_nonsense_gets_no_weight_from_stacking(problem):
    good, bad = make_runs(problem, 3, 3)
    bad.out_of_fold[:] = -10.0
    weights = weigh_runs(problem.training_set, [good, bad])
    assert weights[1] < 0.01 < weights[0]


def test_runs_that_agree_share_evenly_by_distance():
    nothing = np.zeros((3, 3))  # by which they differ
    weights = _weigh_by_distance(np.full(3, -10.0), np.array(20), nothing[0], nothing)
    assert_allclose(weights, [1 / 3] * 3)


def test_weights_halve_with_every_third_of_a_standard_error(rng):
    losses = rng.normal(size=(3, 50))
    above = losses - losses[0]
    moments = losses.sum(axis=1), np.array(50), above.sum(axis=1), above @ above.T
    weights = _weigh_by_distance(*moments)
    best = np.argmin(losses.sum(axis=1))
    differences = losses - losses[best]
    errors = differences.std(axis=1) * np.sqrt(50)
    for run in set(range(3)) - {best}:
        expected = np.exp(-2.0 * differences[run].sum() / errors[run])
        assert_allclose(weights[run] / weights[best], expected)


def test_runs_without_predictions_are_weighed_all_the_same(problem):
    runs = make_runs(problem, 2, 3)
    for run in runs:
        run.out_of_fold[:] = 0.0
    assert_allclose(weigh_runs(problem.training_set, runs), [0.5, 0.5])


def test_stacking_solves_the_nonnegative_problem(rng):
    roots = rng.normal(size=(12, 4))
    quadratic, linear = roots.T @ roots, np.array([3.0, -2.0, 1.0, 4.0])
    found = minimize(
        oracles.objective,
        np.ones(4),
        (-linear, quadratic),
        bounds=[(0.0, None)] * 4,
        options={"ftol": 1e-14},
    )
    assert_allclose(_solve_nonnegative(quadratic, linear), found.x, atol=1e-4)


def test_weights_look_only_at_those_held_out(problem):
    held_out = np.arange(0, 50, 3).astype(np.int32)
    runs = [
        validate(problem.task(8), GrowthParams(max_leaves=n), [held_out], "run")
        for n in (2, 5)
    ]
    before = weigh_runs(problem.training_set, runs)
    problem.stats.linear[1] *= 1e6  # never held out
    assert_allclose(weigh_runs(problem.training_set, runs), before)


@pytest.fixture
def rivals(rng):
    """A run that learns, one that hardly does, and what they were grown with."""
    problem = make_problem(rng, 400)
    folds = draw_folds(len(problem), 5, 1, 3)
    task = problem.task(60, learning_rate=0.2, starts_at_mean=True)
    poor = GrowthParams(max_leaves=2, min_samples_leaf=180)
    good = validate(task, GROWTH, folds, "good")
    return task, poor, folds, good, validate(task, poor, folds, "poor")


def test_a_run_that_stays_behind_a_rival_is_given_up(rivals):
    task, poor, folds, good, whole = rivals
    assert is_clearly_worse(task.training_set, whole, good)
    stopped = validate(task, poor, folds, "poor", good)
    assert 20 <= len(stopped.curve) < len(whole.curve)
    assert np.array_equal(stopped.curve, whole.curve[: len(stopped.curve)])
    assert is_clearly_worse(task.training_set, stopped, good)


def test_a_run_that_is_ahead_of_its_rival_is_finished(rivals):
    task, _, folds, good, poor = rivals
    found = validate(task, GROWTH, folds, "good", poor)
    assert np.array_equal(found.curve, good.curve)


def test_a_run_is_not_worse_than_itself(rivals):
    task, _, _, good, poor = rivals
    assert not is_clearly_worse(task.training_set, good, good)
    assert not is_clearly_worse(task.training_set, good, poor)


@pytest.mark.parametrize("n_rounds", [20, 31, 200])
def test_hope_is_above_what_an_exponential_curve_gains_yet(n_rounds):
    curve = -1.0 + np.exp(-np.arange(n_rounds) / 50.0)
    gains_yet = curve[-1] + 1.0
    assert gains_yet <= _hope_for(curve.tolist()) <= 4.0 * gains_yet


def test_a_curve_that_does_not_fall_leaves_no_hope():
    assert _hope_for([0.0] + [1.0] * 39) == 0.0

import pickle
from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose
from tests import oracles
from tests.engine.problems import make_problem

from boostr._engine.ensemble import Ensemble, Member, gain_importance
from boostr.basis import CalendarClock, OperationalClock
from boostr.data import RecurrentEvents


@pytest.fixture
def problem(rng):
    return make_problem(rng, 60)


def make_members(problem, n_trees=(4, 2), weights=(0.75, 0.5)):
    members = []
    for seed, (n, weight) in enumerate(zip(n_trees, weights, strict=True)):
        booster = problem.booster(seed=seed, subsample=0.6)
        members.append(Member(tuple(booster.step() for _ in range(n)), weight))
    return tuple(members)


def make_ensemble(problem, members):
    return Ensemble(CalendarClock(), problem.basis, problem.mapper, 8.0, members)


def sum_by_hand(problem, members, n_rounds=99):
    missing = problem.features.missing_bin
    theta = np.zeros((len(problem), problem.stats.n_terms))
    for member in members:
        for tree in member.trees[:n_rounds]:
            for row, bins in enumerate(problem.features.bins):
                leaf = oracles.find_leaf(tree.nodes, bins, missing)
                theta[row] += member.weight * tree.nodes.value[leaf]
    return theta


def test_coefficients_are_the_weighted_sum_of_leaves(problem):
    members = make_members(problem)
    ensemble = make_ensemble(problem, members)
    assert_allclose(
        ensemble.coefficients(problem.x), sum_by_hand(problem, members), atol=1e-12
    )


def test_stages_add_one_tree_of_every_member(problem):
    members = make_members(problem)
    stages = list(make_ensemble(problem, members).staged_coefficients(problem.x))
    expected = [sum_by_hand(problem, members, n) for n in (1, 2, 3, 4)]
    assert_allclose(stages, expected, atol=1e-12)


def test_the_last_stage_is_the_whole(problem):
    ensemble = make_ensemble(problem, make_members(problem))
    *_, last = ensemble.staged_coefficients(problem.x)
    assert_allclose(last, ensemble.coefficients(problem.x), atol=1e-12)


def test_stages_are_arrays_of_their_own(problem):
    ensemble = make_ensemble(problem, make_members(problem))
    first, second, *_ = ensemble.staged_coefficients(problem.x)
    assert not np.array_equal(first, second)


def test_there_are_as_many_rounds_as_trees_in_the_longest_member(problem):
    assert make_ensemble(problem, make_members(problem)).n_rounds == 4


@pytest.mark.parametrize("members", [(), (Member((), 1.0),)])
def test_without_trees_everything_is_zero(problem, members):
    ensemble = make_ensemble(problem, members)
    assert np.array_equal(ensemble.coefficients(problem.x), np.zeros((60, 3)))


def test_without_trees_there_are_no_stages(problem):
    assert list(make_ensemble(problem, ()).staged_coefficients(problem.x)) == []


def test_predictions_change_no_pickle(problem):
    ensemble = make_ensemble(problem, make_members(problem))
    before = pickle.dumps(ensemble)
    theta = ensemble.coefficients(problem.x)
    assert pickle.dumps(ensemble) == before
    assert np.array_equal(pickle.loads(before).coefficients(problem.x), theta)


def test_the_order_of_members_does_not_matter(problem):
    members = make_members(problem)
    theta, turned = (
        make_ensemble(problem, own).coefficients(problem.x)
        for own in (members, members[::-1])
    )
    assert_allclose(theta, turned, atol=1e-12)


def test_threads_give_the_same_bits(problem, monkeypatch):
    ensemble = make_ensemble(problem, make_members(problem))
    serial = ensemble.coefficients(problem.x)
    monkeypatch.setattr("boostr._engine.ensemble._PARALLEL_FROM", 1)
    assert np.array_equal(ensemble.coefficients(problem.x, n_threads=2), serial)


def test_a_model_trained_on_the_data_predicts_what_training_saw(problem):
    booster = problem.booster()
    trees = tuple(booster.step() for _ in range(5))
    ensemble = make_ensemble(problem, (Member(trees, 1.0),))
    assert_allclose(ensemble.coefficients(problem.x), booster.state.theta, atol=1e-12)


def test_curves_live_on_the_clock_of_the_ensemble(problem):
    # 3 s - s^1.5 falls from s = 4 on: up to the horizon's s the fall is pooled, and the
    # pooled value is the mean over the evenly spaced times of the fall.
    events = RecurrentEvents.from_lists([[1.0, 2.0, 3.0, 4.0, 5.0, 7.0]], end=8.0)
    clock = OperationalClock.from_events(events)
    ensemble = Ensemble(clock, problem.basis, problem.mapper, 8.0, ())
    theta = np.array([[0.0, 3.0, -1.0]])
    end = clock.read(np.array([8.0]))
    low = (theta @ problem.basis.evaluate(end).T).item()
    assert low < ensemble.curves(theta).values(end).item() < 4.0


def test_curves_are_finite_however_far_the_clock_runs(problem):
    clock = OperationalClock.from_events(
        RecurrentEvents.from_lists([[7.0, 7.5, 7.9, 7.99]], end=8.0)
    )
    ensemble = Ensemble(clock, problem.basis, problem.mapper, 8.0, ())
    theta = np.array([[1.0, 1.0, 1.0], [1.0, -1.0, 1.0]])
    values = ensemble.curves(theta).values(clock.read(np.array([1e9])))
    assert np.all(np.isfinite(values))


@pytest.mark.parametrize("floor", [None, 0.4])
def test_scaled_ensembles_have_all_rates_multiplied(problem, floor):
    ensemble = replace(make_ensemble(problem, make_members(problem)), floor=floor)
    times, factor = np.array([0.5, 3.0, 20.0]), 1.7
    before, after = (
        one.curves(one.coefficients(problem.x))
        for one in (ensemble, ensemble.scaled(factor))
    )
    assert_allclose(after.values(times), factor * before.values(times), rtol=1e-9)
    assert_allclose(after.slopes(times), factor * before.slopes(times), rtol=1e-9)


def test_rates_stay_above_zero_with_a_floor_and_are_cut_off_without(problem):
    ensemble, theta = make_ensemble(problem, ()), np.array([[0.0, -1.0, 0.0]])
    times = np.array([2.0])
    slopes = [
        replace(ensemble, floor=floor).curves(theta).slopes(times).item()
        for floor in (None, 0.5)
    ]
    assert slopes == [0.0, oracles.bend_rate(-1.0, 0.5)]
    raw = replace(ensemble, floor=0.5).curves(theta, monotone=False)
    assert raw.slopes(times).item() == -1.0


def test_importance_is_gain_over_the_number_of_trees_squared(problem):
    (member,) = make_members(problem, (3,), (1.0,))
    expected = np.zeros(3)
    for tree in member.trees:
        for feature, gain in zip(tree.nodes.feature, tree.gain, strict=True):
            if feature >= 0:
                expected[feature] += gain / 3**2
    assert_allclose(gain_importance([member], 3)[0], expected)


def test_gains_and_counts_are_sums_over_splits(problem):
    (member,) = make_members(problem, (3,), (1.0,))
    _, gains, counts = gain_importance([member], 3)
    n_splits = sum(tree.n_leaves - 1 for tree in member.trees)
    total = sum(tree.gain.sum() for tree in member.trees)
    assert_allclose([gains.sum(), counts.sum()], [total, n_splits])


def test_members_are_important_by_their_share_of_all_weights(problem):
    first, second = make_members(problem)
    alone = [np.array(gain_importance([Member(m.trees, 1.0)], 3)) for m in (first, second)]
    both = np.array(gain_importance([first, second], 3))
    assert_allclose(both, (0.75 * alone[0] + 0.5 * alone[1]) / (0.75 + 0.5))


def test_a_member_without_trees_is_of_no_importance():
    assert np.array_equal(gain_importance([Member((), 1.0)], 2), np.zeros((3, 2)))

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from numpy.testing import assert_allclose
from tests import oracles
from tests.engine.problems import boosting
from tests.engine.test_penalty import Case

from boostr._engine.binning import BinMapper
from boostr._engine.penalty import sensor_problem
from boostr._engine.screening import (
    _FEW_CATEGORIES,
    _MOST_TRIED,
    _USEFUL,
    Screening,
    _deal_once,
    find_doubtful,
    join,
    keep_features,
    rise_without,
    screen,
    screen_features,
)
from boostr._engine.selection import Task, compare_runs, draw_folds, validate
from boostr._engine.statistics import SufficientStats, compute_suffstats, put_on_clock
from boostr._engine.training_set import LocalTrainingSet, add_shuffled
from boostr._engine.tree import GrowthParams, LeafProblem
from boostr._kernels.solve import SINGLE
from boostr.basis import OperationalClock, SensorBasis
from boostr.simulate import wells

GROWTH = GrowthParams(max_leaves=2, min_samples_leaf=3)


def bin_features(x, n_bins=8):
    numeric = np.zeros(x.shape[1], dtype=bool)
    mapper = BinMapper.from_quantiles(x, n_bins, numeric, numeric.astype(np.int32))
    return mapper.transform(x)


def training_set_of(case):
    n = len(case.stats.linear)
    return LocalTrainingSet(case.stats, bin_features(np.zeros((n, 1))), np.ones(n))


def make_task(features, stats, problem, n_rounds=2, **params):
    training_set = LocalTrainingSet(stats, features, np.ones(len(stats.linear)))
    return Task(
        training_set, problem, boosting(**params), n_rounds, 1, lambda *report: None
    )


@pytest.fixture
def case(rng):
    return Case(rng, "constant", n=20)


@pytest.fixture
def task(rng, case):
    features = bin_features(rng.random((20, 2)))
    return make_task(features, case.stats, case.problem())


# --- What a sensor is good for


def losses_of(stats, theta):
    """Return everybody's loss."""
    return np.array(
        [
            oracles.objective(own, -linear, oracles.full_matrix(triangle, len(own)))
            for own, linear, triangle in zip(
                theta, stats.linear, stats.quadratic, strict=True
            )
        ]
    )


def test_a_sensor_is_worth_what_the_loss_rises_by_without_it(rng, case):
    theta = rng.normal(size=case.stats.linear.shape)
    starts = case.problem().groups.starts
    rise, error, _ = rise_without(training_set_of(case), starts, theta)
    for group, (begin, end) in enumerate(pairwise(starts)):
        without = theta.copy()
        without[:, begin:end] = 0.0
        rises = losses_of(case.stats, without) - losses_of(case.stats, theta)
        assert_allclose(rise[group], rises.sum())
        assert_allclose(error[group], np.sqrt(len(rises)) * rises.std())


def test_a_sensor_without_coefficients_is_worth_nothing(rng, case):
    theta, starts = rng.normal(size=case.stats.linear.shape), case.problem().groups.starts
    theta[:, starts[2] : starts[3]] = 0.0
    rise, error, _ = rise_without(training_set_of(case), starts, theta)
    assert (rise[2], error[2]) == (0.0, 0.0)


def test_whoever_was_never_held_out_does_not_count(rng, case):
    theta, starts = rng.normal(size=case.stats.linear.shape), case.problem().groups.starts
    theta[[3, 7]] = np.nan
    known = np.setdiff1d(np.arange(20), [3, 7])
    expected = rise_without(training_set_of(case.take(known)), starts, theta[known])
    found = rise_without(training_set_of(case), starts, theta)
    assert found[2] == expected[2] == 18
    assert_allclose(found[:2], expected[:2])


# --- Shuffled copies


def test_every_feature_gets_a_copy_with_the_individuals_shuffled(rng):
    features = bin_features(rng.random((30, 3)))
    both = add_shuffled(features, 5)
    assert np.array_equal(both.bins[:, :3], features.bins)
    assert np.array_equal(np.sort(both.bins[:, 3:], axis=0), np.sort(features.bins, axis=0))
    assert np.array_equal(both.n_values, np.tile(features.n_values, 2))
    assert np.array_equal(both.is_categorical, np.tile(features.is_categorical, 2))
    assert both.missing_bin == features.missing_bin


def test_copies_are_shuffled_one_by_one(rng):
    column = rng.random((200, 1))
    shuffled = add_shuffled(bin_features(np.hstack([column, column])), 5).bins
    columns = [shuffled[:, place] for place in (0, 2, 3)]
    assert not any(np.array_equal(*pair) for pair in pairwise([*columns, columns[0]]))


def test_copies_depend_on_the_seed_alone(rng):
    features = bin_features(rng.random((50, 2)))
    first = add_shuffled(features, 5).bins
    assert np.array_equal(add_shuffled(features, 5).bins, first)
    assert not np.array_equal(add_shuffled(features, 6).bins, first)


# --- The judgement


def test_the_price_of_useless_sensors_is_raised_and_nothing_else(task):
    factors = np.array([1.0, 1.0, 30.0, 1.0])
    again = Screening(np.array([0], dtype=np.int32), factors).apply(task)
    prices = task.problem.groups.prices
    assert np.array_equal(again.problem.groups.prices, factors * prices)
    assert again.problem.penalty is task.problem.penalty
    assert again.training_set is task.training_set
    assert again.params == task.params


@pytest.mark.parametrize(
    ("penalty", "is_barred"),
    [("group_lasso", [False, True, True, True]), ("ridge", [False])],
)
def test_what_has_no_price_stays(case, task, penalty, is_barred):
    # Without any event nothing is of use, not even the baseline.
    quiet = replace(case.stats, linear=np.zeros_like(case.stats.linear))
    idle = make_task(task.training_set.features, quiet, case.problem(penalty))
    found = screen(idle, GROWTH, draw_folds(20, 2, 1, 0))
    assert np.array_equal(found.price_factors > 1.0, is_barred)


def test_sensors_of_prohibitive_price_are_of_no_use(task):
    barred = Screening((np.arange(2),), np.array([1.0, 1e9, 1e9, 1e9])).apply(task)
    found = screen(barred, GROWTH, draw_folds(20, 2, 1, 0))
    assert np.all(found.price_factors[1:] > 1.0)


def test_the_judgement_is_that_of_the_held_out_loss(case, task):
    # Where a rise stands out from its standard error; the steps are large anyway.
    folds = draw_folds(20, 2, 1, 0)
    found = screen(task, GROWTH, folds)
    features = add_shuffled(task.training_set.features, task.params.seed)
    trial = make_task(features, case.stats, task.problem)
    run = validate(trial, GROWTH, folds, "again")
    starts = task.problem.groups.starts
    rise, error, _ = rise_without(task.training_set, starts, run.out_of_fold)
    expected = (rise > _USEFUL * error)[1:]
    assert np.array_equal(found.price_factors[1:] == 1.0, expected)


def test_a_feature_that_tells_everything_beats_the_shuffled_ones(rng):
    case = Case(rng, "constant", n=40)
    x = np.column_stack([case.stats.linear[:, 0], rng.random(40)])
    task = make_task(bin_features(x), case.stats, case.problem(), n_rounds=3)
    assert 0 in screen(task, GROWTH, draw_folds(40, 2, 1, 0)).columns[0]


@pytest.mark.slow  # without the compiler
@pytest.mark.parametrize("seed", [0, 1])
def test_noise_is_barred_and_what_drives_events_is_not(seed):
    # Three sensors and two coordinates matter; the fourth sensor is noise.
    fleet = wells(n=400, n_sensors=4, random_state=seed, end=100.0, interpolation="last")
    clocked = put_on_clock(fleet.y, OperationalClock.from_events(fleet.y), fleet.Z)
    basis = SensorBasis().place(clocked, "intensity")
    stats = compute_suffstats(clocked, basis, "intensity")
    settings = "intensity", clocked.horizon, 1.0, "group_lasso"
    problem = sensor_problem(basis, lambda part: part(stats, np.ones(400)), *settings)
    task = make_task(bin_features(fleet.X[:, :4], 16), stats, problem, n_rounds=15)
    growth = GrowthParams(max_leaves=6, min_samples_leaf=20)
    found = screen(task, growth, draw_folds(400, 3, 1, seed))
    assert np.array_equal(found.price_factors > 1.0, [False, False, False, False, True])
    assert {0, 1} <= set(found.columns[0].tolist())


def test_every_fold_finds_what_tells_individuals_apart(rng):
    groups = np.repeat([0.0, 1.0], 60)
    x = np.column_stack([rng.random(120), groups, rng.random(120)])
    case = Case(rng, "constant", n=120)
    case.stats.linear[:, 0] += 9.0 * groups
    task = make_task(bin_features(x), case.stats, case.problem(), n_rounds=3)
    columns = screen_features(task, GROWTH, draw_folds(120, 3, 1, 0))
    assert [one.tolist() for one in columns] == [[1], [1], [1]]


@pytest.mark.parametrize(
    ("columns", "expected"),
    [([[0, 2], [2], [2, 3]], [2]), ([[0], [1], [2]], [0, 1, 2]), ([[1], [1, 3]], [1, 3])],
)
def test_half_of_the_folds_decide_for_all(columns, expected):
    assert join(tuple(np.array(one) for one in columns), 4).tolist() == expected


# --- Features of many categories


def test_two_runs_are_compared_by_their_held_out_losses(rng, task):
    folds = draw_folds(20, 2, 1, 0)
    one, other = (
        validate(replace(task, n_rounds=n_rounds), GROWTH, folds, "run")
        for n_rounds in (1, 2)
    )
    stats = task.training_set.stats
    above = losses_of(stats, one.out_of_fold) - losses_of(stats, other.out_of_fold)
    rise, error = compare_runs(task.training_set, one, other)
    assert_allclose([rise, error], [above.sum(), np.sqrt(20) * above.std()], atol=1e-9)


def layout_of(n_categories, is_categorical):
    thresholds = [np.zeros(number) for number in n_categories]
    return BinMapper.from_thresholds(thresholds, np.array(is_categorical)).layout


def test_features_of_many_categories_are_doubted_those_with_the_most_first():
    numbers = [_FEW_CATEGORIES, 20, 200, 200, 50]
    layout = layout_of(numbers, [True, True, False, True, True])
    assert find_doubtful(layout).tolist() == [3, 4, 1]


def test_only_a_few_features_are_doubted():
    layout = layout_of([30] * 9, [True] * 9)
    assert find_doubtful(layout).tolist() == list(range(_MOST_TRIED))


def rate_task(rng, *effects):
    """Return a task of one number and categories with the given effects on rates."""
    n = 400
    x = np.column_stack([rng.random(n), *(rng.integers(0, len(e), n) for e in effects)])
    is_categorical = np.array([False, *(True for _ in effects)])
    n_categories = np.array([0, *map(len, effects)], dtype=np.int32)
    features = BinMapper.from_quantiles(x, 8, is_categorical, n_categories).transform(x)
    rate = 2.0 + (x[:, 0] > 0.5)
    for place, effect in enumerate(effects, start=1):
        rate += np.asarray(effect)[x[:, place].astype(int)]
    stats = SufficientStats(rng.normal(rate)[:, None], np.ones((n, 1)))
    problem = LeafProblem(SINGLE, np.zeros((1, 1)))
    return make_task(features, stats, problem, n_rounds=60)


def judge(task):
    doubtful = find_doubtful(task.training_set.layout)
    growth = GrowthParams(max_leaves=3, min_samples_leaf=20)
    return keep_features(task, growth, draw_folds(400, 4, 1, 0), doubtful).tolist()


@pytest.mark.parametrize("seed", range(3))
def test_many_categories_without_an_effect_are_dropped_and_those_with_one_stay(seed):
    rng = np.random.default_rng(seed)
    task = rate_task(rng, np.zeros(80), rng.normal(size=40))
    assert judge(task) == [0, 2]


def test_of_two_features_that_tell_the_same_one_stays(rng):
    task = rate_task(rng, rng.normal(size=40), np.zeros(40))
    features = task.training_set.features
    bins = features.bins.copy()
    bins[:, 2] = bins[:, 1]
    training_set = replace(task.training_set, features=features.holding(bins))
    assert len(judge(replace(task, training_set=training_set))) == 2


def test_dropped_features_have_no_say_among_shuffled_ones(rng):
    task = replace(rate_task(rng, np.zeros(80)), features=np.array([0], dtype=np.int32))
    columns = screen_features(task, GROWTH, draw_folds(400, 2, 1, 0))
    assert [own.tolist() for own in columns] == [[0], [0]]


@pytest.mark.parametrize("n_repeats", [1, 2, 5])
def test_a_first_run_holds_everybody_out_once(n_repeats):
    folds = draw_folds(23, 4, n_repeats, 0)
    first = _deal_once(folds, 23)
    assert sorted(np.concatenate(first)) == list(range(23))


def test_a_single_fold_is_dealt_as_it_is():
    folds = [np.array([3, 5], dtype=np.int32)]
    assert _deal_once(folds, 23) == folds

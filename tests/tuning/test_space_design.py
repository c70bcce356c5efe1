import itertools

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from boostr.exceptions import InvalidParameterError
from boostr.tuning import max_pro_criterion, max_pro_design
from boostr.tuning._space import _find_best_swap, _nearness


def naive_criterion(design):
    pairs = list(itertools.combinations(design, 2))
    total = sum(1.0 / np.prod((a - b) ** 2) for a, b in pairs)
    return (total / len(pairs)) ** (1.0 / design.shape[1])


def random_hypercube(rng, n, p):
    return (np.column_stack([rng.permutation(n) for _ in range(p)]) + 0.5) / n


@pytest.mark.parametrize("shape", [(2, 1), (7, 2), (12, 5)])
def test_criterion_is_that_of_the_definition(rng, shape):
    design = rng.uniform(size=shape)
    assert_allclose(max_pro_criterion(design), naive_criterion(design))


def test_points_that_agree_in_a_factor_are_infinitely_bad():
    assert max_pro_criterion([[0.1, 0.5], [0.9, 0.5]]) == np.inf


def test_many_factors_do_not_overflow(rng):
    assert np.isfinite(max_pro_criterion(rng.uniform(size=(5, 200))))


@pytest.mark.parametrize("size", [(1, 1), (1, 3), (2, 2), (9, 1), (15, 2), (20, 6)])
def test_every_projection_is_latin(size):
    n, p = size
    design = max_pro_design(n, p, random_state=0, n_restarts=2)
    assert_allclose(np.sort(design, axis=0), np.tile((np.arange(n) + 0.5)[:, None] / n, p))


@pytest.mark.slow
@pytest.mark.parametrize("size", [(15, 2), (30, 5)])
def test_better_than_the_best_of_many_random_hypercubes(rng, size):
    best = min(max_pro_criterion(random_hypercube(rng, *size)) for _ in range(1000))
    assert max_pro_criterion(max_pro_design(*size, random_state=0)) < 0.9 * best


def test_finds_the_best_of_all_hypercubes_of_five_points():
    levels = np.arange(5)
    every = [np.array([levels, order]).T for order in itertools.permutations(range(5))]
    best = min(max_pro_criterion((design + 0.5) / 5) for design in every)
    assert_allclose(max_pro_criterion(max_pro_design(5, 2, random_state=0)), best)


def test_the_best_swap_changes_the_sum_as_it_says(rng):
    levels = np.column_stack([rng.permutation(9) for _ in range(3)])
    nearness = np.stack([_nearness(column) for column in levels.T])
    change, first, second = _find_best_swap(nearness[1:].prod(axis=0), nearness[0])
    levels[[first, second], 0] = levels[[second, first], 0]
    after = np.stack([_nearness(column) for column in levels.T])
    difference = after.prod(axis=0).sum() - nearness.prod(axis=0).sum()
    assert_allclose(change, difference)


def test_the_seed_makes_the_design():
    first, second = (max_pro_design(8, 3, random_state=4, n_restarts=2) for _ in range(2))
    assert_array_equal(first, second)


@pytest.mark.parametrize("wrong", [0, 2.5, True, "many"])
def test_wrong_numbers_are_refused(wrong):
    with pytest.raises(InvalidParameterError, match="n_points"):
        max_pro_design(wrong, 2)


def test_a_design_of_one_point_has_no_pairs():
    with pytest.raises(InvalidParameterError, match="at least two points"):
        max_pro_criterion([[0.5, 0.5]])

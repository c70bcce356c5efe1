import numpy as np
import pytest
from tests.engine.problems import make_problem

from boostr._engine.training_set import mark_individuals, sum_up


@pytest.fixture
def problem(rng):
    return make_problem(rng, 40)


def test_marks_of_parts_add_up_to_that_of_all(problem):
    parts = [problem.take(rows) for rows in np.split(problem.everybody, [7, 30])]
    marks = [
        mark_individuals(part.stats, part.features, first)
        for part, first in zip(parts, (0, 7, 30), strict=True)
    ]
    assert str(sum(marks) % 2**64) == problem.training_set.mark()


def flip(array, row, column):
    array[row, column] = np.nextafter(array[row, column], np.inf)


@pytest.mark.parametrize("row", [0, 39])
def test_the_mark_sees_the_last_bit_of_statistics(problem, row):
    marks = {problem.training_set.mark()}
    for array in (problem.stats.linear, problem.stats.quadratic):
        for column in range(array.shape[1]):
            flip(array, row, column)
            marks.add(problem.training_set.mark())
    n_changes = problem.stats.linear.shape[1] + problem.stats.quadratic.shape[1]
    assert len(marks) == 1 + n_changes


def test_the_mark_sees_bins_and_the_order_of_individuals(problem):
    other = problem.take(problem.everybody[::-1])
    before = problem.training_set.mark()
    assert other.training_set.mark() != before
    problem.features.bins[3, 2] += 1
    assert problem.training_set.mark() != before


def test_sums_of_one_part_are_those_of_its_function(problem):
    found = sum_up(problem.training_set, lambda stats: (stats.linear.sum(axis=0),))
    assert np.array_equal(found[0], problem.stats.linear.sum(axis=0))

import numpy as np
import pytest
from tests.engine.problems import make_problem

from boostr._engine.boosting import LocalBoostingState, draw_individuals

POSITIONS = np.arange(20_000)


@pytest.mark.parametrize("share", [0.01, 0.3, 0.9])
def test_everybody_is_drawn_with_the_same_chance(share):
    drawn = np.mean(
        [draw_individuals(POSITIONS, share, seed) for seed in range(30)], axis=0
    )
    deviation = np.sqrt(share * (1 - share) / 30)
    assert abs(drawn.mean() - share) < 5 * deviation / np.sqrt(len(POSITIONS))
    assert abs(drawn.std() / deviation - 1.0) < 0.05  # no more alike than by chance


def test_neighbours_are_drawn_independently_of_each_other():
    drawn = draw_individuals(POSITIONS, 0.5, 7)
    assert abs(np.corrcoef(drawn[1:], drawn[:-1])[0, 1]) < 0.03


def test_a_part_is_drawn_like_the_whole():
    whole = draw_individuals(POSITIONS, 0.4, 3)
    assert np.array_equal(draw_individuals(POSITIONS[500:900], 0.4, 3), whole[500:900])


@pytest.mark.parametrize(("share", "n_drawn"), [(0.0, 0), (1.0, 20_000)])
def test_the_ends_are_nobody_and_everybody(share, n_drawn):
    assert draw_individuals(POSITIONS, share, 1).sum() == n_drawn


def test_parts_of_the_individuals_sum_to_the_histograms_of_all(rng):
    problem = make_problem(rng, 60)
    features = np.arange(3, dtype=np.int32)

    def sum_part(rows):
        part = problem.take(rows)
        solver = problem.leaf.solver
        held_out = np.flatnonzero(rows % 5 == 0).astype(np.int32)
        state = LocalBoostingState(
            part.stats, part.features, solver, held_out, first=int(rows[0])
        )
        state.start(0.5, 11)
        return state.root(features)

    parts = [sum_part(problem.everybody[:25]), sum_part(problem.everybody[25:])]
    np.testing.assert_allclose(sum(parts), sum_part(problem.everybody), atol=1e-12)


def test_who_is_held_out_is_kept_as_of_the_time_of_asking(rng):
    problem = make_problem(rng, 40)
    booster = problem.booster(members=np.arange(30, dtype=np.int32))
    booster.step()
    booster.keep()
    before = booster.state.theta[30:].copy()
    booster.step()
    assert np.array_equal(booster.state.kept, before)

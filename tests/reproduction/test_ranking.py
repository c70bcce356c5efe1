from functools import partial

import numpy as np
import pytest
from tests.reproduction.scenes import TINY

from boostr.metrics import paper_concordance
from boostr.reproduction._models import DEFAULT, FOREST
from boostr.reproduction._ranking import (
    _judge_index,
    _judge_settings,
    _score,
    find_best,
)
from boostr.reproduction.problems import Problem
from boostr.simulate import dataset_a

PROBLEM = Problem("A", partial(dataset_a, end=(171.0, 228.0)), 200)


def score(name, split=0):
    return _score(name, split, TINY, PROBLEM, {})


def test_a_constant_ranks_nobody():
    assert score("MCF") == {"paper": 0.0, "half": pytest.approx(0.5)}


def test_the_truth_is_scored_on_fifty_individuals_that_are_set_aside():
    data = PROBLEM.draw(200, 40_003)
    aside = np.random.default_rng(3).permutation(200)[150:]
    horizon = float(data.y.end.min())
    expected = paper_concordance(data.y[aside], data.truth([horizon])[aside, 0], horizon)
    assert score("Truth", split=3)["paper"] == expected


def make_scores(forest, setting):
    names = {DEFAULT: 0.8, FOREST: forest, "one": setting, "HPP": 0.7, "Truth": 0.6}
    return {name: np.array([mean - 0.01, mean + 0.01]) for name, mean in names.items()}


def test_a_forest_above_a_setting_is_told():
    scores = make_scores(0.81, 0.79)
    assert "above 1 of the 1 chosen" in _judge_index(scores, scores, ["one"])


def test_a_forest_below_all_settings_is_not():
    scores = make_scores(0.78, 0.79)
    assert "RF-R" not in _judge_index(scores, scores, ["one"])


def make_settings(sizes, errors=None):
    return [
        {
            "params": {"gamma1": 1.0 * place, "gamma2": 2.0},
            "leaf_counts": [size],
            "error": error,
        }
        for place, (size, error) in enumerate(
            zip(sizes, errors or np.arange(len(sizes)), strict=True)
        )
    ]


def test_settings_nearest_to_four_to_eight_leaves_are_chosen():
    assert find_best(make_settings([1, 5, 9, 2, 8, 14])) == [1, 2, 4]


def test_ranks_of_chosen_settings_are_those_of_their_errors():
    text = _judge_settings(make_settings([5, 1, 6], [30.0, 10.0, 20.0]), [0, 2])
    assert "ranks 3, 2 of 3" in text
    assert "the best is setting 2 with 10" in text

from dataclasses import replace

import numpy as np
import pytest
from tests.reproduction.scenes import TINY, Recorder

from boostr.reproduction import _settings
from boostr.reproduction._comparison import Problem
from boostr.reproduction._settings import _judge, find_best, try_settings
from boostr.reproduction._work import Work
from boostr.simulate import dataset_a

PROBLEM = Problem("A", dataset_a, 20, {"end": (10.0, 20.0)})


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
    text = _judge(make_settings([5, 1, 6], [30.0, 10.0, 20.0]), [0, 2])
    assert "ranks 3, 2 of 3" in text
    assert "the best is setting 2 with 10" in text


@pytest.mark.parametrize(
    ("problem", "seed", "constants"),
    [
        (replace(PROBLEM, n_train=21), 0, {}),
        (replace(PROBLEM, options={"end": (10.0, 30.0)}), 0, {}),
        (PROBLEM, 1, {}),
        (PROBLEM, 0, {"_N_TEST": 31}),
        (PROBLEM, 0, {"_N_TIMES": 11}),
        (PROBLEM, 0, {"PAPER_SETTINGS": {"A": {"n_estimators": 3}}}),
    ],
)
def test_settings_of_other_data_are_tried_again(
    tmp_path, monkeypatch, problem, seed, constants
):
    n_tried = []

    def attempt(train, test, job):
        n_tried.append(len(train.X))
        return {}

    monkeypatch.setattr(_settings, "_N_TEST", 30)
    monkeypatch.setattr(_settings, "_try", attempt)
    work = Work(tmp_path, TINY, Recorder())
    for _ in range(2):  # the second time, all is known
        try_settings(work, PROBLEM, 0)
        assert len(n_tried) == TINY.n_design
    for name, value in constants.items():
        monkeypatch.setattr(_settings, name, value)
    try_settings(work, problem, seed)
    assert len(n_tried) == 2 * TINY.n_design

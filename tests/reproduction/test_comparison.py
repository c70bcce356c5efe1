import numpy as np
import pytest
from tests.reproduction.scenes import TINY

from boostr.baselines import HomogeneousPoisson, McfRegressor
from boostr.reproduction import _comparison
from boostr.reproduction._comparison import build_error_block, compare_models
from boostr.reproduction._models import DEFAULT, PAPER, POINTWISE
from boostr.reproduction._work import Work, rank, stack
from boostr.reproduction.problems import Problem
from boostr.simulate import dataset_a

PROBLEM = Problem("A", dataset_a, 40)
NAMES = {"default": DEFAULT, "paper": PAPER, "pointwise": POINTWISE, "baseline": "MCF"}
OTHERS = {"paper": [4.0, 5.0], "pointwise": [8.0, 9.0]}


def build_block(**errors):
    errors = {NAMES[key]: np.array(each) for key, each in errors.items()}
    return build_error_block(PROBLEM, TINY, errors, "nothing")


def test_models_stand_from_the_lowest_error_to_the_highest():
    block = build_block(default=[1.0, 2.0], baseline=[2.0, 3.0], **OTHERS)
    assert [row[0] for row in block.tables[0].rows] == [DEFAULT, "MCF", PAPER, POINTWISE]
    assert block.tables[0].rows[1][1:] == ("2.5", "0.5", "1.67", "0 of 2")


def test_nothing_is_said_against_a_default_that_is_best():
    assert not build_block(default=[1.0, 2.0], baseline=[2.0, 3.0], **OTHERS).caution


def test_models_that_beat_the_default_are_named_with_the_difference():
    block = build_block(default=[3.0, 5.0], baseline=[2.0, 3.0], **OTHERS)
    assert "MCF by 1.50 ± 0.50" in block.caution
    assert "4" in block.default


def test_errors_are_those_of_the_same_draws(monkeypatch, tmp_path):
    def make_two(kind, scale, random_state=0):
        return {"MCF": McfRegressor(), "HPP": HomogeneousPoisson()}

    monkeypatch.setattr(_comparison, "make_models", make_two)
    errors = stack(compare_models(Work(tmp_path, TINY), PROBLEM), "error")
    train, test = PROBLEM.draw(40, 10_000), PROBLEM.draw(1000, 20_000)
    times = np.linspace(0.0, 100.0, 201)
    predicted = McfRegressor().fit(train.X, train.y).predict_cumulative(test.X, times)
    squares = (predicted - test.truth(times)) ** 2
    expected = np.trapezoid(squares, times, axis=1).mean()
    assert errors["MCF"] == pytest.approx([expected])
    assert rank(errors) == ["HPP", "MCF"]

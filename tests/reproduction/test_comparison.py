import numpy as np
import pytest
from tests.reproduction.scenes import TINY, Recorder

from boostr.baselines import HomogeneousPoisson, McfRegressor
from boostr.reproduction import _comparison
from boostr.reproduction._comparison import (
    Comparison,
    Problem,
    build_error_block,
    compare_learners,
)
from boostr.reproduction._learners import DEFAULT, PAPER, POINTWISE
from boostr.reproduction._work import Work
from boostr.simulate import dataset_a

PROBLEM = Problem("A", dataset_a, 40, {"end": 100.0})


def make_comparison(**errors):
    names = {"default": DEFAULT, "paper": PAPER, "pointwise": POINTWISE, "rival": "MCF"}
    return Comparison({names[key]: np.array(each) for key, each in errors.items()}, {})


def build(**errors):
    return build_error_block(PROBLEM, TINY, make_comparison(**errors), "nothing")


OTHERS = {"paper": [4.0, 5.0], "pointwise": [8.0, 9.0]}


def test_learners_stand_from_the_lowest_error_to_the_highest():
    block = build(default=[1.0, 2.0], rival=[2.0, 3.0], **OTHERS)
    assert [row[0] for row in block.tables[0].rows] == [DEFAULT, "MCF", PAPER, POINTWISE]
    assert block.tables[0].rows[1][1:] == ("2.5", "0.5", "1.67", "0 of 2")


def test_nothing_is_said_against_a_default_that_is_best():
    assert not build(default=[1.0, 2.0], rival=[2.0, 3.0], **OTHERS).caution


def test_who_beats_the_default_is_named_with_the_difference():
    block = build(default=[3.0, 5.0], rival=[2.0, 3.0], **OTHERS)
    assert "MCF by 1.50 ± 0.50" in block.caution
    assert "4" in block.default


@pytest.fixture
def two_learners(monkeypatch):
    """Replace all learners by two that are quick."""

    def make(kind, scale, random_state=0):
        return {"MCF": McfRegressor(), "HPP": HomogeneousPoisson()}

    monkeypatch.setattr(_comparison, "make_learners", make)


def test_errors_are_those_of_the_same_draws(two_learners, tmp_path):
    found = compare_learners(Work(tmp_path, TINY, Recorder()), PROBLEM)
    train, test = PROBLEM.draw(40, 10_000), PROBLEM.draw(1000, 20_000)
    times = np.linspace(0.0, 100.0, 201)
    predicted = McfRegressor().fit(train.X, train.y).predict_cumulative(test.X, times)
    squares = (predicted - test.truth(times)) ** 2
    expected = np.trapezoid(squares, times, axis=1).mean()
    assert found.errors["MCF"] == pytest.approx([expected])
    assert found.ranking == ["HPP", "MCF"]

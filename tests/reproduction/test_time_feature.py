import numpy as np
import pytest
from numpy.testing import assert_allclose

from boostr.reproduction import _time_feature
from boostr.reproduction._time_feature import (
    HistTime,
    _count,
    _cross,
    find_library,
    make_time_learner,
    name_ad_hoc,
    say_library,
)
from boostr.simulate import dataset_a


def test_counts_are_those_of_a_plain_loop():
    y = dataset_a(n=20, random_state=3).y
    times = np.array([10.0, 40.0, 100.0])
    expected = [[np.sum(y[i].times <= t) for t in times] for i in range(len(y))]
    assert_allclose(_count(y, times), expected)


def test_every_individual_meets_every_time():
    rows = _cross(np.array([[1.0], [2.0]]), np.array([5.0, 6.0]))
    assert rows.tolist() == [[1.0, 5.0], [1.0, 6.0], [2.0, 5.0], [2.0, 6.0]]


def test_without_xgboost_another_library_stands_in_and_the_page_says_so(monkeypatch):
    monkeypatch.setattr(_time_feature, "find_spec", lambda name: None)
    assert find_library() == "HistGB"
    assert "XGBoost is not installed" in say_library()
    assert name_ad_hoc().startswith("HistGB")
    assert isinstance(make_time_learner(0.3, 10, 0), HistTime)


def test_with_xgboost_nothing_stands_in(monkeypatch):
    monkeypatch.setattr(_time_feature, "find_spec", lambda name: name)
    assert find_library() == "XGBoost"
    assert say_library() == ""
    assert make_time_learner(0.5, 10, 0).learning_rate == 0.5


@pytest.mark.slow
def test_counts_so_far_are_learned_and_stay_constant_after_the_end():
    train, test = dataset_a(n=400, random_state=0), dataset_a(n=50, random_state=1)
    model = HistTime(0.3, 20, 0).fit(train.X, train.y)
    curves = model.predict_cumulative(test.X, [0.0, 100.0, 150.0])
    assert_allclose(curves[:, 0], 0.0)
    assert_allclose(curves[:, 1], curves[:, 2])
    error = np.mean((curves[:, 1] - test.truth(100.0)[:, 0]) ** 2)
    assert error < 0.2 * test.truth(100.0).var()

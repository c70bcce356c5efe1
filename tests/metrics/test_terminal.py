"""Metrics of histories in which individuals die: death is not censoring."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from boostr import BoostR, RecurrentEvents, simulate
from boostr.metrics import recurrent_concordance, scorer, window_count_error

LISTS, END = [[1.0, 3.0], [4.0], [1.0]], [5.0, 5.0, 2.0]


def test_the_count_of_a_dead_individual_is_known():
    y = RecurrentEvents.from_lists(LISTS, end=END, terminal=[False, False, True])
    seen = RecurrentEvents.from_lists(LISTS, end=5.0)
    for weights in (None, "ipcw"):
        options = {"start": 0.0, "stop": 4.0, "weights": weights}
        found = window_count_error(y, [1.0, 1.0, 0.0], **options)
        assert found == window_count_error(seen, [1.0, 1.0, 0.0], **options)


def test_the_dead_are_compared_over_the_whole_time():
    y = RecurrentEvents.from_lists(LISTS, end=END, terminal=[False, False, True])
    seen = RecurrentEvents.from_lists(LISTS, end=5.0)
    for scores in ([3.0, 1.0, 2.0], [1.0, 2.0, 3.0]):
        assert recurrent_concordance(y, scores) == recurrent_concordance(seen, scores)


@pytest.fixture(scope="module")
def fitted():
    train = simulate.patients(n=150, random_state=1)
    return BoostR(n_estimators=10, random_state=0).fit(train.X, train.y)


@pytest.mark.parametrize("name", ["poisson_deviance", "point_process_log_likelihood"])
def test_what_was_observed_is_judged_by_the_rate_while_alive(fitted, name):
    new = simulate.patients(n=100, random_state=2)
    X, y = new.X, new.y
    censored = y.with_terminal(None)
    plain = BoostR(n_estimators=10, random_state=0)
    train = simulate.patients(n=150, random_state=1)
    plain.fit(train.X, train.y.with_terminal(None))
    assert_allclose(scorer(name)(fitted, X, y), scorer(name)(plain, X, censored))


def test_windows_are_judged_by_the_mean_number(fitted):
    new = simulate.patients(n=300, random_state=2)
    train = simulate.patients(n=150, random_state=1)
    plain = BoostR(n_estimators=10, random_state=0)
    plain.fit(train.X, train.y.with_terminal(None))
    measure = scorer("window_count_error", start=0.0, stop=100.0)
    assert measure(fitted, new.X, new.complete) > measure(plain, new.X, new.complete)
    assert np.isfinite(measure(fitted, new.X, new.complete))

import numpy as np
from numpy.testing import assert_allclose

from boostr.nonparametric import MeanCumulativeFunction
from boostr.simulate import patients


def test_two_fifths_die_under_observation():
    assert 0.37 < patients(n=4000, random_state=0).y.is_terminal.mean() < 0.46


def test_the_truth_is_that_of_the_complete_histories():
    simulation = patients(n=20_000, random_state=1)
    times = np.array([20.0, 60.0, 100.0, 200.0])
    complete = MeanCumulativeFunction().fit(simulation.complete)
    assert_allclose(
        complete.predict(times), simulation.truth(times).mean(axis=0), rtol=0.03
    )
    alive = simulation.survival(times).mean(axis=0)
    assert_allclose(complete.predict_survival(times), alive, atol=0.01)


def test_observed_histories_are_the_beginnings_of_the_complete_ones():
    simulation = patients(n=50, random_state=2)
    y, complete = simulation.y, simulation.complete
    assert np.all(y.end <= complete.end)
    assert np.all(complete.is_terminal[y.is_terminal])
    assert np.all(y.n_events[y.is_terminal] == complete.n_events[y.is_terminal])


def test_the_seed_decides():
    assert patients(n=30, random_state=1).y.equals(patients(n=30, random_state=1).y)
    assert not patients(n=30, random_state=1).y.equals(patients(n=30, random_state=2).y)

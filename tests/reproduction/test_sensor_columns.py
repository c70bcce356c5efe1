from itertools import pairwise

import numpy as np
import pytest
from numpy.testing import assert_allclose

from boostr.baselines import McfRegressor
from boostr.metrics import integrated_squared_error
from boostr.reproduction._sensor_columns import HistSensors, _count
from boostr.simulate import wells


def test_counts_in_cells_are_those_of_a_plain_loop():
    y = wells(n=15, random_state=2).y
    edges = np.array([0.0, 30.0, 60.0, 100.0])
    expected = [
        [np.sum((y[i].times > a) & (y[i].times <= b)) for a, b in pairwise(edges)]
        for i in range(len(y))
    ]
    assert_allclose(_count(y, edges), expected)


def test_rows_hold_features_the_time_and_means_of_sensors():
    fleet = wells(n=3, n_sensors=2, random_state=0)
    model = HistSensors(0)
    model.edges_ = np.array([0.0, 2.0, 4.0])
    rows = model._describe(fleet.X, fleet.Z)
    assert rows.shape == (6, 8 + 1 + 2)
    assert_allclose(rows[:2, 8], [1.0, 3.0])
    read = fleet.Z.read([2.25, 2.75, 3.25, 3.75]).mean(axis=1)
    assert_allclose(rows[1, 9:], read[0])


@pytest.mark.slow
def test_sensors_as_columns_beat_the_same_curve_for_all():
    train, test = wells(n=300, random_state=0), wells(n=100, random_state=1)
    times = np.linspace(0.0, 100.0, 51)
    true = test.truth(times)
    rival = HistSensors(0).fit(train.X, train.y, train.Z)
    curves = rival.predict_cumulative(test.X, times, test.Z)
    plain = McfRegressor().fit(train.X, train.y).predict_cumulative(test.X, times)
    assert (np.diff(curves, axis=1) >= 0.0).all()
    errors = [
        integrated_squared_error(each, true, times).mean() for each in (curves, plain)
    ]
    assert errors[0] < 0.6 * errors[1]

"""Cells of time, rows, and the means of sensors in cells."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from tests import oracles

from boostr.baselines import HistGradientBoostingPoisson
from boostr.baselines._rows import TimeCells, average_sensors
from boostr.data import RecurrentEvents, Trajectories
from boostr.simulate import dataset_a, wells


def make_data(y):
    model = HistGradientBoostingPoisson()
    return model._check_data(np.array([[7.0], [8.0]]), y, None, np.array([1.0, 2.0]))


@pytest.fixture(scope="module")
def fleet():
    return dataset_a(n=150, random_state=1, end=(40.0, 100.0))


@pytest.fixture
def gappy():
    table = pd.DataFrame(
        {
            "id": [1, 1, 1, 2, 2],
            "start": [0.0, 3.0, 6.0, 2.0, 5.0],
            "stop": [3.0, 4.0, 9.0, 5.0, 10.0],
            "event": [1, 0, 1, 1, 1],
        }
    )
    return RecurrentEvents.from_start_stop(table, "id", "start", "stop", "event")


def test_cells_count_events_and_time_observed(gappy):
    cells = TimeCells(np.array([0.0, 3.0, 5.0, 10.0]))
    assert_array_equal(cells.count(gappy), [[1.0, 0.0, 1.0], [0.0, 1.0, 1.0]])
    assert_array_equal(cells.observe(gappy), [[3.0, 1.0, 3.0], [1.0, 2.0, 5.0]])


def test_time_observed_is_that_of_a_fine_grid(gappy):
    cells = TimeCells(np.array([0.0, 2.5, 7.5, 10.0]))
    grid = np.arange(0.005, 10.0, 0.01)
    for number, own in enumerate(gappy):
        windows = list(zip(own.window_start, own.window_stop, strict=True))
        seen = [float(oracles.is_at_risk(windows, time)) for time in grid]
        sums = np.histogram(grid, cells.edges, weights=seen)[0] * 0.01
        assert_allclose(cells.observe(gappy)[number], sums, atol=0.02)


def test_rows_are_those_of_observed_cells(gappy):
    cells = TimeCells(np.array([0.0, 1.0, 10.0]))
    model = HistGradientBoostingPoisson(n_cells=2)
    model._describe(make_data(gappy))
    model._cut = lambda data: cells
    rows = model._make_rows(make_data(gappy))
    assert_array_equal(rows.features, [[7.0, 0.5], [7.0, 5.5], [8.0, 5.5]])
    assert_array_equal(rows.owner, [0, 0, 1])
    assert_array_equal(rows.weights, [1.0, 1.0, 2.0])


def test_cells_have_about_as_many_events_each(fleet):
    cells = TimeCells.from_events(fleet.y, np.ones(150), 8)
    per_cell = cells.count(fleet.y).sum(axis=0)
    assert_allclose(per_cell, fleet.y.times.size / 8, atol=1.0)


def test_means_of_sensors_are_those_of_a_fine_grid():
    Z = wells(n=4, n_sensors=2, random_state=0).Z
    starts = np.array([[0.0, 3.3]] * 4)
    stops = np.array([[2.0, 7.9]] * 4)
    found = average_sensors(Z, starts, stops)
    for cell in range(2):
        grid = np.linspace(starts[0, cell], stops[0, cell], 20_001)
        fine = Z.read(0.5 * (grid[1:] + grid[:-1])).mean(axis=1)
        assert_allclose(found[:, cell], fine, rtol=1e-3)


def test_unknown_time_does_not_count_in_means():
    Z = Trajectories.from_flat(
        [1.0, 3.0, 4.0, 2.0], [0, 3, 3, 4], [[5.0, np.nan, 9.0, 7.0]], ["load"]
    )
    spans = np.tile([[0.0, 2.0, 0.0]], (3, 1)), np.tile([[1.0, 5.0, 5.0]], (3, 1))
    found = average_sensors(Z, *spans)[:, :, 0]
    # A missing sample of a sensor keeps the value before it.
    expected = Z.read(np.linspace(0.0005, 4.9995, 5000))[:, :, 0]
    assert_allclose(found[0, 2], np.nanmean(expected[0]), rtol=1e-3)
    assert_array_equal(
        np.isnan(found), [[True, False, False], [True] * 3, [True, False, False]]
    )
    assert_allclose(found[2, 1:], 7.0)


def test_the_first_value_holds_before_it_where_it_is_said_so():
    Z = Trajectories.from_flat([2.0, 3.0], [0, 2], [[6.0, 8.0]], ["load"], before="first")
    found = average_sensors(Z, np.array([[0.0, 2.5]]), np.array([[1.0, 3.5]]))
    assert_allclose(found[0, :, 0], [6.0, 7.0])


def test_categories_are_read_in_the_middle():
    table = pd.DataFrame({"id": 0, "day": [0.0, 2.0], "mode": ["idle", "run"]})
    Z = Trajectories.from_long(table, "id", "day")
    found = average_sensors(Z, np.array([[0.0, 1.0]]), np.array([[2.0, 6.0]]))
    assert_array_equal(found[0, :, 0], [0.0, 1.0])

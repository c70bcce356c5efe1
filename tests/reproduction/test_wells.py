"""The wells: what is drawn, and what the paper's settings find."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose
from tests.reproduction.scenes import TINY

from boostr.inspection import sensor_effect
from boostr.reproduction import _wells
from boostr.reproduction._wells import (
    COORDINATES,
    ONE_SENSOR,
    PAPER_SENSOR,
    WellFleet,
    _count_trees,
    _make_paper,
    _sensors_of,
)
from boostr.simulate import wells
from boostr.simulate._wells import BASE_RATE

SCALE = replace(TINY, n_wells=300)


@pytest.fixture(scope="module")
def fleet():
    return WellFleet.simulate(SCALE, 0)


@pytest.fixture(scope="module")
def paper(fleet):
    one = _sensors_of(fleet.train, PAPER_SENSOR)
    model = _make_paper(6).set_params(n_origins=0)
    return model.fit(fleet.train.X, fleet.train.y, one)


def test_the_rate_without_sensors_is_that_of_the_simulator():
    assert _wells.BASE_RATE == BASE_RATE


def test_a_quick_run_has_fewer_trees_with_all_sensors():
    assert _count_trees(TINY) == 6
    assert _count_trees(replace(TINY, has_slow_baselines=True)) == 300


def test_the_paper_has_one_sensor():
    part = wells(5, 2, 0)
    assert _sensors_of(part, PAPER_SENSOR).names == (PAPER_SENSOR,)
    assert len(_sensors_of(part).names) == 2


@pytest.mark.slow
def test_coordinates_are_the_two_most_important_features(paper):
    order = np.argsort(-paper.feature_importances_)
    assert set(order[:COORDINATES].tolist()) == set(range(COORDINATES))


@pytest.mark.slow
def test_true_effects_are_zero_on_average_over_the_training_data(fleet, paper):
    effect = sensor_effect(paper, fleet.test.X, PAPER_SENSOR)
    for region in range(4):
        true = _wells._centre(fleet, 0, region, effect)
        assert_allclose(true @ effect.shares, 0.0, atol=1e-12)


@pytest.mark.slow
def test_an_effect_that_is_found_exactly_has_no_error(fleet, paper):
    effect = sensor_effect(paper, fleet.test.X, PAPER_SENSOR)
    true = _wells._centre(fleet, 0, 0, effect)
    assert _wells._measure_effect(replace(effect, mean=true), true) == 0.0
    assert _wells._measure_effect(effect, np.zeros_like(true)) is None


@pytest.mark.slow
def test_models_of_the_pictures_are_not_fitted_again(fleet, paper):
    ready = _wells._score(ONE_SENSOR, 0, SCALE, {ONE_SENSOR: paper})
    known = _sensors_of(fleet.test, PAPER_SENSOR)
    times = _wells._TIMES
    curves = paper.predict_cumulative(fleet.test.X, times, known)
    squared = (curves - fleet.test.truth(times)) ** 2
    assert ready["error"] == pytest.approx(np.trapezoid(squared, times, axis=1).mean())

"""The wells: what is drawn, and what the paper's settings find."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose
from tests.reproduction.few_trees import FewTrees
from tests.reproduction.scenes import TINY, Recorder

from boostr.inspection import sensor_effect
from boostr.reproduction import _wells, _wells_fleet, _wells_pictures
from boostr.reproduction._learners import DEFAULT
from boostr.reproduction._page import render
from boostr.reproduction._wells_fleet import (
    COORDINATES,
    ONE_SENSOR,
    PAPER_SENSOR,
    Fleet,
    count_fleets,
    count_paper_trees,
    draw_fleet,
    make_paper,
)
from boostr.reproduction._work import Work
from boostr.simulate import wells
from boostr.simulate._wells import BASE_RATE

SMALL = replace(TINY, n_wells=60, n_sensors=2)


@pytest.fixture(scope="module")
def fleet():
    return draw_fleet(replace(TINY, n_wells=400, n_sensors=2), 0)


@pytest.fixture(scope="module")
def paper(fleet):
    one = fleet.paths(fleet.train, PAPER_SENSOR)
    return make_paper(50).fit(fleet.train.X, fleet.train.y, one)


def test_the_rate_without_sensors_is_that_of_the_simulator():
    assert _wells_pictures.BASE_RATE == BASE_RATE


def test_a_quick_run_has_one_fleet_and_fewer_trees_with_all_sensors():
    full = replace(TINY, n_repetitions=20, has_slow_rivals=True)
    assert (count_fleets(TINY), count_paper_trees(TINY)) == (1, 6)
    assert (count_fleets(full), count_paper_trees(full)) == (5, 300)


def test_the_paper_has_one_sensor():
    fleet = Fleet(wells(5, 2, 0), wells(5, 2, 1))
    assert fleet.paths(fleet.train, PAPER_SENSOR).names == (PAPER_SENSOR,)
    assert len(fleet.paths(fleet.train).names) == 2


@pytest.mark.slow
def test_coordinates_are_the_two_most_important_features(paper):
    order = np.argsort(-paper.feature_importances_)
    assert set(order[:COORDINATES].tolist()) == set(range(COORDINATES))


@pytest.mark.slow
def test_true_effects_are_zero_on_average_over_the_training_data(fleet, paper):
    effect = sensor_effect(paper, fleet.test.X, PAPER_SENSOR)
    for region in range(4):
        true = _wells_pictures.centre(fleet, 0, region, effect)
        assert_allclose(true @ effect.shares, 0.0, atol=1e-12)


@pytest.mark.slow
def test_an_effect_that_is_found_exactly_has_no_error(fleet, paper):
    effect = sensor_effect(paper, fleet.test.X, PAPER_SENSOR)
    true = _wells_pictures.centre(fleet, 0, 0, effect)
    assert _wells._measure_effect(replace(effect, mean=true), true) == 0.0
    assert _wells._measure_effect(effect, np.zeros_like(true)) is None


@pytest.mark.slow
def test_models_of_the_pictures_are_not_fitted_again(fleet, paper):
    job = {"learner": ONE_SENSOR, "repetition": 0}
    scale = replace(TINY, n_wells=400, n_sensors=2)
    ready = _wells_fleet._score(scale, job, {ONE_SENSOR: paper})
    known = fleet.paths(fleet.test, PAPER_SENSOR)
    times = _wells_fleet._TIMES
    curves = paper.predict_cumulative(fleet.test.X, times, known)
    squared = (curves - fleet.test.truth(times)) ** 2
    assert ready["error"] == pytest.approx(np.trapezoid(squared, times, axis=1).mean())


def fit_few(model, X, y, Z, **options):
    return model.set_params(n_estimators=5).fit(X, y, Z)


@pytest.mark.slow
@pytest.mark.plot
@pytest.mark.usefixtures("draw_plainly")
def test_the_chapter_is_computed_once_and_then_read(tmp_path, monkeypatch):
    pytest.importorskip("jinja2")
    pyplot = pytest.importorskip("matplotlib.pyplot")
    pyplot.switch_backend("Agg")
    monkeypatch.setattr(_wells_fleet, "BoostR", FewTrees)
    monkeypatch.setattr(_wells_fleet, "_N_TEST", 80)
    monkeypatch.setattr(_wells_fleet, "_QUICK_TREES", 2)
    monkeypatch.setattr(_wells_fleet, "tune", fit_few)
    monkeypatch.setattr(_wells_pictures, "_N_GRID", 10)
    first, again = Recorder(), Recorder()
    chapter = _wells.build(Work(tmp_path, SMALL, first))
    _wells_fleet.compare_fleet(Work(tmp_path, SMALL, again), {})
    assert first.n_advanced > 0
    assert again.n_advanced == 0
    assert len(chapter.blocks) == 6
    assert "8232" in chapter.introduction
    assert DEFAULT in render([chapter], [])
    assert not pyplot.get_fignums()

"""Appendix B: what the chapter says holds, and where the paper's score misleads."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose
from tests.reproduction.scenes import TINY

from boostr.metrics import observed_l2
from boostr.reproduction import _kelly
from boostr.reproduction._kelly import (
    _GRID,
    TRUTH,
    _count_trials,
    _list_paper,
    _list_rates,
    _make_models,
)
from boostr.reproduction._models import DEFAULT
from boostr.simulate import kelly

SIZE = replace(TINY, n_subjects=600)


def score(model, sigma=0.1):
    return _kelly._score((sigma, model), 0, SIZE)


@pytest.fixture(scope="module")
def scores():
    return {name: score(name) for name in (TRUTH, DEFAULT, *_list_paper())}


def test_distances_of_subjects_average_to_the_metric():
    trial = kelly(n=30, random_state=1)
    curves = trial.truth(_GRID)
    distances = _kelly._measure_each(trial.y, curves)
    assert_allclose(distances.mean(), observed_l2(trial.y, curves, _GRID))


def test_models_are_the_eight_of_the_paper_and_ours():
    names = list(_make_models(TINY, 0))
    assert names[:8] == [*_list_paper(), "RF-R", *_list_rates()]
    assert DEFAULT in names


def test_a_quick_run_has_one_trial_as_the_paper_has():
    assert _count_trials(replace(TINY, n_repetitions=2)) == 1
    assert _count_trials(replace(TINY, n_repetitions=20)) == 10


@pytest.mark.slow
def test_the_truth_loses_by_the_distance_from_the_observed_process(scores):
    best = min(np.mean(scores[name]["observed"]) for name in _list_paper())
    assert best < np.mean(scores[TRUTH]["observed"])


@pytest.mark.slow
def test_the_truth_wins_that_distance_where_nobody_is_stopped(scores):
    baselines = [scores[name]["unstopped"] for name in (DEFAULT, *_list_paper())]
    assert scores[TRUTH]["unstopped"] < min(baselines)


@pytest.mark.slow
def test_the_default_is_far_closer_to_the_truth_than_the_papers_settings(scores):
    best = min(scores[name]["error"] for name in _list_paper())
    assert scores[DEFAULT]["error"] < 0.5 * best


@pytest.mark.slow
def test_the_default_predicts_day_240_better_than_the_papers_settings(scores):
    best = min(np.mean(scores[name]["squared"]) for name in _list_paper())
    assert np.mean(scores[DEFAULT]["squared"]) < best
    low = max(scores[name]["expected"] for name in _list_paper())
    assert low < scores[DEFAULT]["expected"]

"""Appendix B: what the chapter says holds, and where the paper's score misleads."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose
from tests.reproduction.few_trees import FewTrees
from tests.reproduction.scenes import TINY, Recorder

from boostr.metrics import observed_l2
from boostr.reproduction import _kelly, _kelly_trial
from boostr.reproduction._kelly_trial import (
    TRUTH,
    count_trials,
    list_paper,
    list_rates,
    make_trial_learners,
)
from boostr.reproduction._learners import DEFAULT
from boostr.reproduction._page import render
from boostr.reproduction._work import Work
from boostr.simulate import kelly

SIZE = replace(TINY, n_subjects=1000, n_forest_trees=50)


def score(learner, sigma=0.1):
    job = {"sigma": sigma, "repetition": 0, "learner": learner}
    return _kelly_trial._score(Work("", SIZE, Recorder()), job)


@pytest.fixture(scope="module")
def scores():
    return {name: score(name) for name in (TRUTH, DEFAULT, *list_paper())}


def test_distances_of_subjects_average_to_the_metric():
    trial = kelly(n=30, random_state=1)
    curves = trial.truth(_kelly_trial._GRID)
    distances = _kelly_trial._measure(trial.y, curves)
    assert_allclose(distances.mean(), observed_l2(trial.y, curves, _kelly_trial._GRID))


def test_learners_are_the_eight_of_the_paper_and_ours():
    names = list(make_trial_learners(TINY, 0))
    assert names[:8] == [*list_paper(), "RF-R", *list_rates()]
    assert DEFAULT in names


def test_a_quick_run_has_one_trial_as_the_paper_has():
    assert count_trials(replace(TINY, n_repetitions=2)) == 1
    assert count_trials(replace(TINY, n_repetitions=20)) == 10


@pytest.mark.slow
def test_the_truth_loses_by_the_distance_from_the_observed_process(scores):
    best = min(np.mean(scores[name]["observed"]) for name in list_paper())
    assert best < np.mean(scores[TRUTH]["observed"])


@pytest.mark.slow
def test_the_truth_wins_that_distance_where_nobody_is_stopped(scores):
    rivals = [scores[name]["unstopped"] for name in (DEFAULT, *list_paper())]
    assert scores[TRUTH]["unstopped"] < min(rivals)


@pytest.mark.slow
def test_the_default_is_far_closer_to_the_truth_than_the_papers_settings(scores):
    best = min(scores[name]["error"] for name in list_paper())
    assert scores[DEFAULT]["error"] < 0.5 * best


@pytest.mark.slow
def test_the_default_predicts_day_240_better_than_the_papers_settings(scores):
    best = min(np.mean(scores[name]["squared"]) for name in list_paper())
    assert np.mean(scores[DEFAULT]["squared"]) < best
    low = max(scores[name]["expected"] for name in list_paper())
    assert low < scores[DEFAULT]["expected"]


@pytest.mark.slow
@pytest.mark.plot
@pytest.mark.usefixtures("draw_plainly")
def test_the_chapter_is_computed_once_and_then_read(tmp_path, monkeypatch):
    pytest.importorskip("jinja2")
    pyplot = pytest.importorskip("matplotlib.pyplot")
    pyplot.switch_backend("Agg")
    monkeypatch.setattr(_kelly_trial, "BoostR", FewTrees)
    first, again = Recorder(), Recorder()
    chapter = _kelly.build(Work(tmp_path, TINY, first))
    _kelly_trial.run_trials(Work(tmp_path, TINY, again))
    assert first.n_advanced > 0
    assert again.n_advanced == 0
    assert "nan" not in render([chapter], []).split("base64")[0]
    assert len(chapter.blocks) == 3
    assert all(block.pictures and block.tables for block in chapter.blocks)
    assert not pyplot.get_fignums()

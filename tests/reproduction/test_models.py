from dataclasses import replace

import pytest
from tests.reproduction.scenes import TINY

from boostr.reproduction import _models
from boostr.reproduction._models import (
    DEFAULT,
    FOREST,
    PAPER,
    POINTWISE,
    absent_baselines,
    make_models,
)

OWN = "HistGradientBoosting rate x MCF"
KINDS = ["A", "B", "C", "D", "kelly", "wells"]


@pytest.mark.parametrize("kind", KINDS)
def test_models_and_those_left_out_are_all_there_are(kind):
    made = set(make_models(kind, TINY))
    absent = set(absent_baselines(kind, TINY))
    known = {DEFAULT, PAPER, FOREST, "MCF", "MCF-K", "HPP", "Power law", OWN}
    known |= {"XGBoost, Poisson", "LightGBM, Poisson"}
    known |= {"XGBoost, time as a feature", "Andersen-Gill"}
    assert made.isdisjoint(absent)
    assert (made | absent) - {POINTWISE} == known


def test_baselines_without_their_package_are_left_out_and_named(monkeypatch):
    monkeypatch.setattr(_models, "find_spec", lambda name: None)
    absent = absent_baselines("A", TINY)
    assert absent["LightGBM, Poisson"] == "needs lightgbm, which is not installed"
    assert set(absent).isdisjoint(make_models("A", TINY))


def test_slow_baselines_run_where_there_is_time(monkeypatch):
    monkeypatch.setattr(_models, "find_spec", lambda name: object())
    patient = replace(TINY, has_slow_baselines=True)
    assert "Andersen-Gill" in absent_baselines("C", TINY)
    assert not absent_baselines("C", patient)
    assert not absent_baselines("A", TINY)


def test_settings_are_those_of_the_paper():
    paper = make_models("C", TINY)[PAPER]
    assert (paper.n_estimators, paper.gamma1, paper.gamma2) == (500, 10.0, 5.0)
    assert paper.loss == "cumulative"
    assert make_models("C", TINY)[POINTWISE].leaf == "step"


@pytest.mark.parametrize("name", [FOREST, OWN])
def test_the_seed_decides(name):
    seeds = [make_models("A", TINY, seed)[name].random_state for seed in (3, 4)]
    assert seeds == [3, 4]

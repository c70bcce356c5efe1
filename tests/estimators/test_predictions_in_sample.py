"""Figures on individuals that were trained on are called in-sample, others are not."""

import warnings

import numpy as np
import pytest
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from tests.fitted import without_attributes

import boostr
from boostr import BoostR, BoostRSearch, RecurrentEvents
from boostr.exceptions import InSampleWarning
from boostr.inspection import permutation_importance
from boostr.io import from_bytes, to_bytes
from boostr.metrics import scorer
from boostr.simulate import dataset_a

SETTINGS = {"n_estimators": 3, "validation": None, "random_state": 0}


def with_ids(fleet):
    ids = np.array([f"M{k}" for k in range(len(fleet.y))], dtype=object)
    return fleet.y._with(ids=ids, has_ids=True)


@pytest.fixture(scope="module")
def fleet():
    return dataset_a(n=80, random_state=1)


@pytest.fixture(scope="module", params=["with ids", "without"])
def data(request, fleet):
    return fleet.X, with_ids(fleet) if request.param == "with ids" else fleet.y


@pytest.fixture(scope="module")
def model(data):
    return BoostR(**SETTINGS).fit(*data)


@pytest.fixture
def strict():
    """Turn every warning into an error, that of in-sample figures included."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


EVALUATIONS = {
    "score": lambda model, X, y: model.score(X, y),
    "scorer": scorer("capture_curve"),
    "importance": lambda model, X, y: permutation_importance(model, X, y, n_repeats=1),
}


@pytest.mark.parametrize("name", EVALUATIONS)
def test_evaluations_on_training_individuals_warn(model, data, name):
    X, y = data
    with pytest.warns(InSampleWarning, match="These 80 individuals were used in training"):
        EVALUATIONS[name](model, X, y)
    with pytest.warns(InSampleWarning, match="These 30 individuals were used in training"):
        EVALUATIONS[name](model, X[10:40], y[10:40])


def test_a_mixture_is_told_as_such(model, data):
    X, y = data
    other = dataset_a(n=80, random_state=2)
    names = np.array([f"N{k}" for k in range(80)], dtype=object)
    more = other.y._with(ids=names, has_ids=True) if y.has_ids else other.y
    both = RecurrentEvents.concatenate([y, more])
    with pytest.warns(InSampleWarning, match=r"About \d+ of these 160 individuals"):
        model.score(np.concatenate([X, other.X]), both)


@pytest.mark.usefixtures("strict")
@pytest.mark.parametrize("name", EVALUATIONS)
def test_evaluations_on_others_are_silent(model, data, name):
    fresh = dataset_a(n=80, random_state=2)
    y = with_ids(fresh) if data[1].has_ids else fresh.y
    EVALUATIONS[name](model, fresh.X, y)


@pytest.mark.slow
@pytest.mark.usefixtures("strict")
def test_tools_that_hold_individuals_out_are_silent(model, data):
    X, y = data
    plain = BoostR(**SETTINGS)
    cross_val_score(plain, X, y, cv=4)
    cross_val_score(plain, X, y, cv=4, scoring=scorer("recurrent_concordance"))
    BoostRSearch(plain, {"gamma2": (0.5, 2.0)}, n_points=2, splits=2).fit(X, y)
    boostr.backtest(plain, X, y, as_of=[60.0], horizon=20.0)
    model.forecast(X, y, horizon=20.0)


def test_pipelines_are_looked_into(data):
    X, y = data
    pipeline = make_pipeline(StandardScaler(), BoostR(**SETTINGS)).fit(X, y)
    with pytest.warns(InSampleWarning):
        scorer("capture_curve")(pipeline, X, y)


def test_weights_of_zero_are_not_trained_on(fleet, strict):
    weights = np.repeat([1.0, 0.0], 40)
    model = BoostR(**SETTINGS).fit(fleet.X, fleet.y, sample_weight=weights)
    model.score(fleet.X[40:], fleet.y[40:])


def test_files_keep_it_and_early_ones_are_silent(model, data, strict):
    X, y = data
    loaded = from_bytes(to_bytes(model))
    with pytest.warns(InSampleWarning):
        loaded.score(X, y)
    early = without_attributes(loaded, "fingerprint_")
    assert np.isfinite(early.score(X, y))

import joblib
import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import clone
from sklearn.model_selection import (
    GridSearchCV,
    RandomizedSearchCV,
    cross_val_predict,
    cross_val_score,
    train_test_split,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from boostr import BoostR


@pytest.fixture
def quick():
    return BoostR(n_estimators=5, validation=None, n_origins=0, random_state=0)


def test_train_test_split_keeps_features_and_histories_together(fleet):
    X_train, X_test, y_train, y_test = train_test_split(fleet.X, fleet.y, random_state=0)
    counts = dict(zip(fleet.X[:, 0], fleet.y.n_events, strict=True))
    assert [counts[x] for x in X_test[:, 0]] == y_test.n_events.tolist()
    assert len(X_train) == len(y_train) == 90


def test_cross_val_score_gives_finite_scores(quick, fleet):
    assert np.all(np.isfinite(cross_val_score(quick, fleet.X, fleet.y, cv=3)))


def test_cross_val_predict_predicts_everybody(quick, fleet):
    assert np.all(cross_val_predict(quick, fleet.X, fleet.y, cv=3) > 0)


@pytest.mark.slow
def test_grid_search_finds_that_trees_help(quick, fleet):
    search = GridSearchCV(quick, {"n_estimators": [1, 40]}, cv=3, error_score="raise")
    assert search.fit(fleet.X, fleet.y).best_params_ == {"n_estimators": 40}


@pytest.mark.slow
def test_randomized_search_runs(quick, fleet):
    search = RandomizedSearchCV(
        quick,
        {"gamma2": [0.1, 1.0, 10.0], "loss": ["intensity", "cumulative"]},
        n_iter=3,
        cv=2,
        random_state=0,
        error_score="raise",
    )
    assert np.isfinite(search.fit(fleet.X, fleet.y).best_score_)


def test_pipeline_with_a_scaler_predicts_like_the_estimator(quick, fleet):
    pipeline = make_pipeline(StandardScaler(), clone(quick)).fit(fleet.X, fleet.y)
    alone = quick.fit(fleet.X, fleet.y)
    assert_array_equal(pipeline.predict(fleet.X), alone.predict(fleet.X))


def test_joblib_round_trip_predicts_the_same(quick, fleet, tmp_path):
    model = quick.fit(fleet.X, fleet.y)
    joblib.dump((model, fleet.y), tmp_path / "model.joblib")
    loaded, y = joblib.load(tmp_path / "model.joblib")
    assert_array_equal(loaded.predict(fleet.X), model.predict(fleet.X))
    assert y.equals(fleet.y)


def test_clone_keeps_parameters_and_forgets_the_fit(quick, fleet):
    copy = clone(quick.fit(fleet.X, fleet.y))
    assert copy.get_params() == quick.get_params()
    assert not hasattr(copy, "ensemble_")

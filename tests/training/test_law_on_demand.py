import copy
import pickle
from unittest.mock import patch

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import clone
from sklearn.model_selection import cross_val_score

from boostr import BoostR, io
from boostr._training import finish
from boostr._training.law import learn_law


@pytest.fixture
def counted():
    """The calls that learn laws."""
    with patch.object(finish, "learn_law", side_effect=learn_law) as calls:
        yield calls


@pytest.fixture
def model(counted, fleet):
    return BoostR(n_estimators=10, random_state=0).fit(fleet.X, fleet.y)


def test_predictions_and_scores_learn_no_law(model, counted, fleet):
    model.predict(fleet.X)
    model.predict_intensity(fleet.X, [1.0])
    cross_val_score(model, fleet.X, fleet.y, cv=2)
    assert not counted.called


def test_forecasts_learn_the_law_once(model, counted, fleet):
    first = model.forecast(fleet.X, fleet.y, horizon=1.0)
    again = model.forecast(fleet.X, fleet.y, horizon=1.0)
    assert counted.call_count == 1
    pd.testing.assert_frame_equal(first, again)


def test_a_new_fit_learns_a_new_law(model, counted, fleet):
    old = model.forecast_law_
    model.fit(fleet.X[:80], fleet.y[:80])
    assert model.forecast_law_.frailty != old.frailty
    assert counted.call_count == 2


@pytest.mark.parametrize(
    "copied",
    [
        lambda model: pickle.loads(pickle.dumps(model)),
        copy.deepcopy,
        lambda model: io.from_bytes(io.to_bytes(model)),
    ],
    ids=["pickle", "deepcopy", "model file"],
)
def test_copies_hold_the_law(model, counted, fleet, copied):
    forecast = copied(model).forecast(fleet.X, fleet.y, horizon=1.0)
    assert counted.call_count == 1
    pd.testing.assert_frame_equal(forecast, model.forecast(fleet.X, fleet.y, horizon=1.0))


def test_the_law_is_that_of_the_parameters_of_the_fit(model, fleet):
    known = clone(model).fit(fleet.X, fleet.y).forecast_law_.shock.errors
    model.set_params(n_origins=0)
    assert_array_equal(model.forecast_law_.shock.errors, known)
    assert known.size


def test_features_may_change_after_the_fit(fleet):
    X = np.array(fleet.X, dtype=np.float64)
    model = BoostR(n_estimators=10, validation=None, random_state=0)
    known = clone(model).fit(X, fleet.y).forecast_law_
    model.fit(X, fleet.y)
    X[:] = np.nan
    assert model.forecast_law_.frailty == known.frailty
    assert model.forecast_law_.level == known.level


def test_a_law_that_could_not_be_learned_is_tried_again(model, fleet):
    with (
        patch("boostr._training.law.find_lead", side_effect=KeyboardInterrupt),
        pytest.raises(KeyboardInterrupt),
    ):
        model.forecast(fleet.X, fleet.y, horizon=1.0)
    assert model.forecast(fleet.X, fleet.y, horizon=1.0)["expected"].notna().all()

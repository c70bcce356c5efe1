"""Models of counts over intervals."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

from boostr import BoostR, RecurrentEvents
from boostr.exceptions import InvalidEventsError
from boostr.metrics import poisson_deviance
from boostr.simulate import dataset_d

ROLES = ("id", "start", "stop", "count")


@pytest.fixture(scope="module")
def fleet():
    return dataset_d(n=200, random_state=1)


@pytest.fixture(scope="module")
def counted(fleet):
    """The same histories, inspected ten times each."""
    y, n = fleet.y, len(fleet.y)
    cuts = y.end[:, None] * np.linspace(0.0, 1.0, 11)
    counts = [np.histogram(y[i].times, cuts[i])[0] for i in range(n)]
    table = pd.DataFrame(
        {
            "id": np.repeat(np.arange(n), 10),
            "start": cuts[:, :-1].ravel(),
            "stop": cuts[:, 1:].ravel(),
            "count": np.concatenate(counts),
        }
    )
    return RecurrentEvents.from_counts(table, *ROLES)


@pytest.fixture(scope="module")
def model(fleet, counted):
    return BoostR(n_estimators=20, n_origins=2, random_state=0).fit(fleet.X, counted)


def test_curves_are_those_of_exact_times_but_for_little(fleet, model):
    exact = BoostR(n_estimators=20, n_origins=2, random_state=0).fit(fleet.X, fleet.y)
    times = fleet.horizon * np.array([0.25, 0.5, 1.0])
    ours, theirs = (m.predict_cumulative(fleet.X, times) for m in (model, exact))
    assert_allclose(ours, theirs, rtol=0.08)


def test_forecasts_scores_and_metrics_of_counts_work(fleet, counted, model):
    table = model.forecast(fleet.X, counted, horizon=10.0)
    assert np.isfinite(table["expected"]).all()
    assert model.score(fleet.X, counted) > 0.0
    expected = model.predict_count(fleet.X, 0.0, counted.end)
    assert np.isfinite(poisson_deviance(counted, expected))


def test_the_model_knows_whom_it_was_trained_on(fleet, counted, model):
    with pytest.warns(UserWarning, match="in-sample"):
        model.score(fleet.X, counted)


def test_without_features_all_events_are_expected(counted):
    X = np.zeros((len(counted), 1))
    model = BoostR(n_estimators=5, n_origins=0, random_state=0).fit(X, counted)
    expected = model.predict_count(X, 0.0, counted.end)
    assert_allclose(expected.sum(), counted.n_events.sum(), rtol=0.02)


def test_event_sensors_need_times(fleet, counted):
    from boostr import Trajectories

    def since(y, until):
        return Trajectories.from_events(y).time_since_event(y, until=until)

    with pytest.raises(InvalidEventsError, match="needs the times of events"):
        BoostR(n_estimators=5).fit(fleet.X, counted, Z=since)

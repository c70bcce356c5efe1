import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from boostr.baselines import (
    HistGradientBoostingPoisson,
    HistGradientBoostingRate,
    HistGradientBoostingTime,
    LightGBMPoisson,
    McfRegressor,
    XGBoostPoisson,
    XGBoostTime,
)
from boostr.data import RecurrentEvents, Trajectories
from boostr.exceptions import InvalidEventsError, InvalidParameterError, InvalidSensorsError
from boostr.metrics import integrated_squared_error
from boostr.nonparametric import MeanCumulativeFunction
from boostr.simulate import dataset_a, wells

BOOSTED = [
    pytest.param(XGBoostPoisson, id="xgboost"),
    pytest.param(LightGBMPoisson, id="lightgbm"),
    pytest.param(HistGradientBoostingPoisson, id="scikit-learn"),
]
PACKAGES = {XGBoostPoisson: "xgboost", LightGBMPoisson: "lightgbm"}


@pytest.fixture(scope="module")
def fleet():
    return dataset_a(n=150, random_state=1, end=(40.0, 100.0))


@pytest.mark.parametrize("make", BOOSTED)
def test_explains_new_events_better_than_the_mean(make, fleet):
    pytest.importorskip(PACKAGES.get(make, "sklearn"))
    test = dataset_a(n=200, random_state=2)
    assert make(random_state=0).fit(fleet.X, fleet.y).score(test.X, test.y) > 0.5


@pytest.mark.parametrize("make", BOOSTED)
def test_expects_as_many_events_as_there_are(make, fleet):
    pytest.importorskip(PACKAGES.get(make, "sklearn"))
    model = make(random_state=0).fit(fleet.X, fleet.y)
    expected = model.predict_count(fleet.X, 0.0, fleet.y.end).sum()
    assert_allclose(expected, fleet.y.times.size, rtol=0.05)


@pytest.mark.parametrize("make", BOOSTED)
def test_curves_stay_constant_after_the_last_cell(make, fleet):
    pytest.importorskip(PACKAGES.get(make, "sklearn"))
    model = make(n_estimators=5).fit(fleet.X, fleet.y)
    late = model.predict_cumulative(fleet.X, [fleet.y.end.max(), 300.0])
    assert_array_equal(late[:, 0], late[:, 1])


def test_rate_without_features_is_the_mean(fleet):
    X = np.zeros((150, 1))
    model = HistGradientBoostingRate(n_estimators=5).fit(X, fleet.y)
    assert_allclose(model.predict(X), McfRegressor().fit(X, fleet.y).predict(X), rtol=1e-6)


def test_curves_of_the_rate_are_proportional_to_the_mean(fleet):
    model = HistGradientBoostingRate(n_estimators=20).fit(fleet.X, fleet.y)
    times = [20.0, 50.0, 90.0]
    mean = MeanCumulativeFunction().fit(fleet.y).predict(times)
    curves = model.predict_cumulative(fleet.X, times)
    assert_allclose(curves, np.multiply.outer(curves[:, 2], mean / mean[2]))


@pytest.mark.parametrize("make", [XGBoostTime, HistGradientBoostingTime])
def test_count_so_far_is_learned_and_cannot_be_extrapolated(make, fleet):
    pytest.importorskip("xgboost")
    model = make(min_samples_leaf=5).fit(fleet.X, fleet.y)
    curves = model.predict_cumulative(fleet.X, [50.0, fleet.y.end.max(), 300.0])
    assert_array_equal(curves[:, 1], curves[:, 2])
    assert np.corrcoef(curves[:, 0], fleet.truth([50.0])[:, 0])[0, 1] > 0.8


@pytest.mark.slow
def test_plain_count_so_far_may_fall(fleet):
    pytest.importorskip("xgboost")
    settings = {"min_samples_leaf": 1, "n_times": 50, "max_leaf_nodes": 60}
    times = np.linspace(0.0, 100.0, 51)
    plain, bent = (
        XGBoostTime(monotone=monotone, **settings).fit(fleet.X, fleet.y)
        for monotone in (False, True)
    )
    curves = plain.predict_cumulative(fleet.X, times)
    assert np.diff(curves, axis=1).min() < 0.0
    assert_allclose(
        bent.predict_cumulative(fleet.X, bent.edges_),
        np.maximum.accumulate(plain.predict_cumulative(fleet.X, plain.edges_), axis=1),
    )


def test_count_so_far_needs_somebody_observed_from_zero():
    pytest.importorskip("xgboost")
    y = RecurrentEvents.from_lists([[3.0], [2.0]], start=1.0, end=4.0)
    with pytest.raises(InvalidEventsError, match="Poisson take late entry"):
        XGBoostTime().fit(np.zeros((2, 1)), y)


@pytest.fixture(scope="module")
def field():
    return wells(n=300, random_state=0), wells(n=100, random_state=1)


@pytest.mark.slow
@pytest.mark.parametrize("make", BOOSTED)
def test_sensors_as_columns_beat_the_same_curve_for_all(make, field):
    pytest.importorskip(PACKAGES.get(make, "sklearn"))
    train, test = field
    times = np.linspace(0.0, 100.0, 51)
    model = make(max_leaf_nodes=12, random_state=0).fit(train.X, train.y, train.Z)
    curves = model.predict_cumulative(test.X, times, test.Z)
    plain = McfRegressor().fit(train.X, train.y).predict_cumulative(test.X, times)
    errors = [
        integrated_squared_error(each, test.truth(times), times).mean()
        for each in (curves, plain)
    ]
    assert (np.diff(curves, axis=1) >= 0.0).all()
    assert errors[0] < 0.7 * errors[1]
    without = make(max_leaf_nodes=12, random_state=0).fit(train.X, train.y)
    assert model.score(test.X, test.y, Z=test.Z) > without.score(test.X, test.y)


@pytest.fixture(scope="module")
def sensed(field):
    train, _ = field
    return HistGradientBoostingPoisson(n_estimators=5).fit(train.X, train.y, train.Z)


def test_sensors_are_matched_by_name_and_id(sensed, field):
    train, _ = field
    Z = train.Z.select(train.Z.names[::-1])
    expected = sensed.predict(train.X, train.Z)
    assert_array_equal(sensed.predict(train.X, Z), expected)
    order = np.arange(len(Z))[::-1]
    named = Trajectories.from_flat(
        Z.times, Z.offsets, Z.values, Z.names, ids=[f"W{i}" for i in range(len(Z))]
    )
    rows = pd.DataFrame(train.X, index=named.ids)
    y = train.y
    model = HistGradientBoostingPoisson(n_estimators=5).fit(rows, y, named[order])
    assert_array_equal(model.predict(rows, named[order]), expected)


def test_a_model_with_sensors_needs_them_all(sensed, field):
    train, _ = field
    with pytest.raises(InvalidSensorsError, match="fitted with sensors"):
        sensed.predict(train.X)
    with pytest.raises(InvalidParameterError, match="There must be a sensor"):
        sensed.predict(train.X, train.Z.select(train.Z.names[1:]))


def test_a_model_without_sensors_refuses_them(field):
    train, _ = field
    model = HistGradientBoostingPoisson(n_estimators=5).fit(train.X, train.y)
    with pytest.raises(InvalidSensorsError, match="fitted without sensors"):
        model.predict(train.X, train.Z)


@pytest.mark.parametrize("make", BOOSTED)
def test_categories_of_sensors_are_known_by_name(make, rng):
    pytest.importorskip(PACKAGES.get(make, "sklearn"))
    n = 80
    mode = np.array(["idle", "run"])[np.arange(n) % 2]
    events = [rng.uniform(0.0, 10.0, 8) if each == "run" else [] for each in mode]
    y = RecurrentEvents.from_lists([sorted(each) for each in events], end=10.0)
    table = pd.DataFrame({"id": np.arange(n), "day": 0.0, "mode": mode})
    Z = Trajectories.from_long(table, "id", "day")
    model = make(min_samples_leaf=5, random_state=0).fit(np.zeros((n, 1)), y, Z)
    other = pd.DataFrame({"id": [0, 1], "day": 0.0, "mode": ["run", "broken"]})
    many, unknown = model.predict(
        np.zeros((2, 1)), Trajectories.from_long(other, "id", "day")
    )
    assert many > 6.0
    assert np.isfinite(unknown)

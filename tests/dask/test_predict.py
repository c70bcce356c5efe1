import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError
from tests.dask.scenes import COLUMNS, make_fleet, spread, write

from boostr import BoostR, RecurrentEvents
from boostr.dask import DaskBoostR
from boostr.exceptions import InvalidFeaturesError, InvalidParameterError

SETTINGS = {"n_estimators": 8, "max_leaf_nodes": 4, "validation": 0.3, "random_state": 0}


@pytest.fixture(scope="module")
def fleet():
    return make_fleet(120)


@pytest.fixture(scope="module")
def model(fleet):
    return BoostR(**SETTINGS).fit(fleet.X, fleet.y)


@pytest.fixture(scope="module")
def with_sensors(fleet):
    return BoostR(**SETTINGS).fit(fleet.X, fleet.y, fleet.Z)


@pytest.fixture(scope="module")
def shuffled(fleet):
    return fleet.shuffled(1)


def test_nothing_is_computed_before_it_is_asked_for(model, shuffled):
    table = spread(shuffled.static, 3).map_partitions(fail, meta=shuffled.static)
    lazy = DaskBoostR.from_model(model, **COLUMNS)
    asked = lazy.predict(table)
    assert asked.npartitions == 3
    with pytest.raises(ZeroDivisionError):
        asked.compute(scheduler="synchronous")


def fail(frame):
    return 1 / 0


def test_predictions_are_those_of_one_machine(model, fleet, shuffled, client):
    lazy = DaskBoostR.from_model(model, **COLUMNS)
    table = spread(shuffled.static, 3)
    found = lazy.predict(table, horizon=12.0).compute()
    assert found.name == "expected"
    assert found.index.name == "unit"
    assert found.index.tolist() == shuffled.static["unit"].tolist()
    expected = model.predict(fleet.X, horizon=12.0)
    np.testing.assert_array_equal(found.sort_index(), expected)
    times = [1.0, 7.5, 30.0]
    curves = lazy.predict_cumulative(table, times).compute().sort_index()
    assert curves.columns.tolist() == times
    np.testing.assert_array_equal(curves, model.predict_cumulative(fleet.X, times))


def test_windows_may_be_columns(model, fleet, shuffled, client, tmp_path):
    lazy = DaskBoostR.from_model(model, **COLUMNS)
    table = shuffled.static.assign(since=shuffled.static["age"] * 1.0)
    found = lazy.predict_count(write(table, tmp_path / "X", 2), "since", 20.0).compute()
    since = fleet.X["age"].to_numpy() * 1.0
    np.testing.assert_array_equal(
        found.sort_index(), model.predict_count(fleet.X, since, 20.0)
    )


def test_sensors_come_along_in_any_order(with_sensors, fleet, shuffled, client):
    lazy = DaskBoostR.from_model(with_sensors, **COLUMNS)
    table, sensors = spread(shuffled.static, 2), spread(shuffled.sensors, 3)
    found = lazy.predict(table, sensors, horizon=9.0).compute()
    expected = with_sensors.predict(fleet.X, fleet.Z, horizon=9.0)
    np.testing.assert_array_equal(found.sort_index(), expected)


def test_forecasts_are_those_of_one_machine(with_sensors, fleet, client, tmp_path):
    lazy = DaskBoostR.from_model(with_sensors, **COLUMNS)
    asked = lazy.forecast(
        write(fleet.static, tmp_path / "X", 2),
        write(fleet.events, tmp_path / "events", 3),
        5.0,
        write(fleet.sensors, tmp_path / "sensors", 2),
        quantiles=[0.1],
        level=0.8,
    )
    found = asked.compute()
    expected = with_sensors.forecast(
        fleet.X, fleet.y, 5.0, fleet.Z, quantiles=[0.1], level=0.8
    ).set_index("id")
    assert found.index.is_monotonic_increasing
    assert found.columns.tolist() == expected.columns.tolist()
    expected = expected.loc[found.index.tolist()]
    np.testing.assert_array_equal(found.to_numpy(), expected.to_numpy())


def test_new_individuals_and_some_of_all_can_be_forecast(model, fleet, client):
    lazy = DaskBoostR.from_model(model, **COLUMNS)
    some = fleet.static.iloc[10:40]
    found = lazy.forecast(spread(some, 2), horizon=5.0).compute()
    rows = slice(10, 40)
    expected = model.forecast(fleet.X[rows], horizon=5.0).set_index("id").sort_index()
    np.testing.assert_array_equal(found.to_numpy(), expected.to_numpy())
    found = lazy.forecast(spread(some, 2), spread(fleet.events, 3), 5.0).compute()
    expected = model.forecast(fleet.X[rows], fleet.y[rows], 5.0).set_index("id")
    expected = expected.sort_index()
    np.testing.assert_array_equal(found.sort_index().to_numpy(), expected.to_numpy())


def test_known_divisions_stay_known(model, fleet, client):
    lazy = DaskBoostR.from_model(model, **COLUMNS)
    table = spread(fleet.static, 2).set_index("unit", sorted=True)
    asked = lazy.predict(table)
    assert asked.divisions == table.divisions
    np.testing.assert_array_equal(asked.compute(), model.predict(fleet.X))


def test_missing_features_are_named(model, fleet):
    lazy = DaskBoostR.from_model(model, **COLUMNS)
    with pytest.raises(InvalidFeaturesError, match=r"1 are missing \(kind\)"):
        lazy.predict(spread(fleet.static.drop(columns="kind"), 2))


def test_there_must_be_a_model(fleet):
    with pytest.raises(NotFittedError, match="no model yet"):
        DaskBoostR().predict(spread(fleet.static, 2))
    with pytest.raises(NotFittedError, match="no model yet"):
        DaskBoostR().forecast(spread(fleet.static, 2), spread(fleet.events, 2))


def test_a_window_must_be_there_when_it_is_asked_for(model, fleet):
    lazy = DaskBoostR.from_model(model, **COLUMNS)
    with pytest.raises(InvalidParameterError, match="there is no 'since'"):
        lazy.predict_count(spread(fleet.static, 2), "since", 20.0)


@pytest.mark.parametrize("has_stamps", [False, True], ids=["numbers", "stamps"])
def test_the_present_is_a_date_only_where_times_are(model, fleet, client, has_stamps):
    events = fleet.events.assign(since=0.0)
    if has_stamps:
        for name in ("day", "since"):
            passed = pd.to_timedelta(events[name], unit="D")
            events[name] = pd.Timestamp("2024-01-01") + passed
    roles = {"start": "since", "origin": "individual"}
    lazy = DaskBoostR.from_model(model, **COLUMNS, **roles)
    asked = lazy.forecast(spread(fleet.static, 2), spread(events, 2), 5.0)
    y = RecurrentEvents.from_long(events, **COLUMNS, **roles)
    expected = model.forecast(fleet.X, y, 5.0).set_index("id").sort_index()
    found = asked.compute().sort_index()
    assert asked.dtypes["now"].kind == found.dtypes["now"].kind == "fM"[has_stamps]
    np.testing.assert_array_equal(found["now"], expected["now"])
    np.testing.assert_array_equal(found["expected"], expected["expected"])


def test_a_model_of_unnamed_features_takes_all_columns(fleet, client):
    numbers = fleet.X[["size", "age"]].to_numpy()
    model = BoostR(n_estimators=3, validation=None).fit(numbers, fleet.y)
    table = pd.DataFrame({"unit": fleet.y.ids, "a": numbers[:, 0], "b": numbers[:, 1]})
    found = DaskBoostR.from_model(model, **COLUMNS).predict(spread(table, 2))
    np.testing.assert_array_equal(found.compute(), model.predict(numbers))

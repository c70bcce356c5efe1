import numpy as np
import pandas as pd
import pytest
from tests.dask.scenes import COLUMNS, Fleet, make_fleet, spread, write

import boostr
from boostr import BoostR
from boostr.dask import DaskBoostR
from boostr.exceptions import (
    InvalidEventsError,
    InvalidFeaturesError,
    InvalidParameterError,
    InvalidSensorsError,
)

SETTINGS = {
    "n_estimators": 3,
    "max_leaf_nodes": 4,
    "splitter": "best",
    "validation": 0.3,
    "random_state": 0,
}
TIMES = np.linspace(0.0, 25.0, 6)


@pytest.fixture(scope="module")
def fleet():
    return make_fleet(160, seed=3)


@pytest.fixture(scope="module")
def local(fleet):
    return BoostR(**SETTINGS).fit(fleet.X, fleet.y, sample_weight=fleet.weights)


def scatter(fleet, n):
    return spread(fleet.static, n), spread(fleet.events, n + 1)


def fit(client, *tables, **options):
    settings = {name: options.pop(name) for name in list(options) if name in KNOWN}
    estimator = DaskBoostR(**(SETTINGS | settings))
    return estimator.fit(*tables, **COLUMNS, client=client, **options)


KNOWN = {*BoostR().get_params(), "bins", "local_below"}


def assert_same_model(found, expected, fleet, sensors=None, y=None):
    assert type(found) is BoostR
    assert found.get_params() == expected.get_params()
    curves = found.predict_cumulative(fleet.X, TIMES, sensors)
    own = expected.predict_cumulative(fleet.X, TIMES, sensors)
    np.testing.assert_allclose(curves, own, rtol=1e-9, atol=1e-12)
    for name in ("horizon_", "frailty_variance_", "n_features_in_", "has_costs_"):
        assert getattr(found, name) == pytest.approx(getattr(expected, name), rel=1e-6)
    np.testing.assert_allclose(
        found.out_of_fold_coefficients_,
        expected.out_of_fold_coefficients_,
        rtol=1e-9,
        atol=1e-12,
    )
    y = fleet.y if y is None else y
    forecasts = found.forecast(fleet.X, y, 4.0, sensors).sort_values("id")
    own = expected.forecast(fleet.X, y, 4.0, sensors).sort_values("id")
    np.testing.assert_allclose(forecasts["expected"], own["expected"], rtol=1e-6)


@pytest.mark.parametrize(
    ("local_below", "bins"),
    [(50_000, "exact"), (0, "sketch")],
    ids=["trees here", "trees there"],
)
def test_the_model_is_that_of_one_machine(client, fleet, local, local_below, bins):
    tables = scatter(fleet.shuffled(1), 3)
    options = {"local_below": local_below, "bins": bins, "weight": "weight"}
    found = fit(client, *tables, **options)
    assert_same_model(found.model_, local, fleet)


def test_files_and_their_order_do_not_matter(client, fleet, local, tmp_path):
    shuffled = fleet.shuffled(2)
    static = write(shuffled.static, tmp_path / "X", 2)
    write(fleet.events, tmp_path / "events", 5)
    events = sorted(map(str, (tmp_path / "events").iterdir()), reverse=True)
    found = fit(client, static, events, weight="weight")
    assert_same_model(found.model_, local, fleet)


def test_sensors_are_learned_from(client, fleet):
    expected = BoostR(**SETTINGS).fit(fleet.X, fleet.y, fleet.Z)
    shuffled = fleet.shuffled(3)
    static, events = scatter(shuffled, 2)
    found = fit(client, static.drop(columns="weight"), events, spread(shuffled.sensors, 3))
    assert_same_model(found.model_, expected, fleet, fleet.Z)
    assert found.model_.sensor_usefulness_.keys() == expected.sensor_usefulness_.keys()


def test_costs_and_late_starts_are_read(client, fleet):
    rng = np.random.default_rng(0)
    events = fleet.events.assign(since=0.0)
    is_event = events["failed"] == 1
    events["price"] = np.where(is_event, rng.uniform(1, 5, len(events)), 0.0)
    own = boostr.RecurrentEvents.from_long(events, **COLUMNS, cost="price", start="since")
    expected = BoostR(**SETTINGS).fit(fleet.X, own)
    static = spread(fleet.static.drop(columns="weight"), 2)
    found = fit(client, static, spread(events, 3), cost="price", start="since")
    assert found.model_.has_costs_
    assert_same_model(found.model_, expected, fleet, y=own)


def test_time_stamps_count_from_the_origin(client, fleet, local):
    origin = pd.Timestamp("2024-01-01")
    stamps = origin + pd.to_timedelta(fleet.events["day"], unit="D")
    events = fleet.events.assign(day=stamps)
    own = boostr.RecurrentEvents.from_long(events, **COLUMNS, origin=origin)
    expected = BoostR(**SETTINGS).fit(fleet.X, own, sample_weight=fleet.weights)
    tables = spread(fleet.static, 2), spread(events, 2)
    found = fit(client, *tables, weight="weight", origin="2024-01-01")
    assert found.model_.time_origin_ == np.datetime64("2024-01-01")
    np.testing.assert_allclose(
        found.model_.predict_cumulative(fleet.X, TIMES),
        expected.predict_cumulative(fleet.X, TIMES),
    )


def test_the_model_is_saved_and_predicts_without_dask(client, fleet, tmp_path):
    found = fit(client, *scatter(fleet, 2), weight="weight")
    found.model_.save(tmp_path / "fleet.boostr")
    loaded = boostr.load(tmp_path / "fleet.boostr")
    np.testing.assert_array_equal(loaded.predict(fleet.X), found.model_.predict(fleet.X))
    lazy = found.predict(spread(fleet.static, 3)).compute()
    np.testing.assert_array_equal(lazy, found.model_.predict(fleet.X))


def test_a_checkpoint_goes_on(client, fleet, tmp_path):
    tables, path = scatter(fleet, 2), tmp_path / "trees.ckpt"
    whole = fit(client, *tables, weight="weight", checkpoint=path)
    again = fit(client, *tables, weight="weight", checkpoint=path)
    np.testing.assert_array_equal(
        whole.model_.predict(fleet.X), again.model_.predict(fleet.X)
    )


def test_it_is_a_name_of_the_package():
    assert boostr.dask.DaskBoostR is DaskBoostR


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"bins": "few"}, "`bins` must be"),
        ({"warm_start": True, "validation": None}, "not on a cluster"),
        ({"n_estimators": 0}, "`n_estimators` must be"),
        ({"sensor_options": {"interpolation": "linear"}}, "need `step`"),
    ],
)
def test_impossible_settings_are_refused(client, fleet, settings, message):
    with pytest.raises(InvalidParameterError, match=message):
        fit(client, *scatter(fleet, 2), **settings)


def test_columns_that_are_not_there_are_named(client, fleet):
    with pytest.raises(InvalidParameterError, match=r"`X` must have.* lacks 'mass'"):
        fit(client, *scatter(fleet, 2), weight="mass")
    with pytest.raises(InvalidParameterError, match=r"`events` must have.* lacks 'price'"):
        fit(client, *scatter(fleet, 2), cost="price")


def test_ids_of_different_kinds_are_refused(client, fleet):
    numbers = fleet.static.assign(unit=range(len(fleet.static)))
    with pytest.raises(InvalidParameterError, match="of one kind"):
        fit(client, spread(numbers, 2), spread(fleet.events, 2))


def break_events(fleet, change):
    events = fleet.events.reset_index(drop=True)
    return Fleet(fleet.static, change(events), fleet.sensors)


def double_end(events):
    end = events.index[(events["unit"] == "u000070") & (events["failed"] == 0)]
    return events.loc[[*events.index, end[0]]].sort_index()


def lose_time(events):
    events.loc[events["unit"] == "u000070", "day"] = np.nan
    return events


@pytest.mark.parametrize(
    ("change", "message"),
    [(double_end, "only one row for its end"), (lose_time, "a known, finite")],
)
def test_bad_histories_are_named_with_their_file(client, fleet, tmp_path, change, message):
    broken = break_events(fleet, change)
    static = write(broken.static, tmp_path / "X", 2)
    events = write(broken.events, tmp_path / "events", 4)
    where = [
        path.name
        for path in sorted((tmp_path / "events").iterdir())
        if "u000070" in set(pd.read_parquet(path)["unit"])
    ]
    with pytest.raises(InvalidEventsError, match=message) as caught:
        fit(client, static, events)
    assert "u000070" in str(caught.value)
    assert any(name in str(caught.value) for name in where)
    assert "Hint: " in str(caught.value)


def test_bad_features_weights_and_sensors_are_named(client, fleet):
    static, events = fleet.static, spread(fleet.events, 2)
    infinite = static.assign(size=np.where(static["unit"] == "u000007", np.inf, 0.0))
    with pytest.raises(InvalidFeaturesError, match=r"finite or missing 'size'.*u000007"):
        fit(client, spread(infinite, 2), events)
    negative = static.assign(weight=np.where(static["unit"] == "u000007", -1.0, 1.0))
    with pytest.raises(InvalidFeaturesError, match=r"not negative.*u000007"):
        fit(client, spread(negative, 2), events, weight="weight")
    with pytest.raises(InvalidParameterError, match="all weights are zero"):
        fit(client, spread(static.assign(weight=0.0), 2), events, weight="weight")
    twice = static.iloc[[*range(len(static)), 7]]
    with pytest.raises(InvalidFeaturesError, match=r"several \(u000007\)"):
        fit(client, spread(twice, 2), events)
    sensors = fleet.sensors.assign(load=np.inf)
    with pytest.raises(InvalidSensorsError, match="finite or missing 'load'"):
        fit(client, spread(static, 2), events, spread(sensors, 2))


def test_individuals_must_be_in_all_tables(client, fleet):
    static, events = fleet.static, fleet.events
    with pytest.raises(InvalidFeaturesError, match=r"none in `X` \(ids u000005\)"):
        fit(client, spread(static[static["unit"] != "u000005"], 2), spread(events, 2))
    with pytest.raises(InvalidFeaturesError, match=r"no row in `events` \(ids u000005\)"):
        fit(client, spread(static, 2), spread(events[events["unit"] != "u000005"], 2))
    stranger = fleet.sensors.assign(unit="z")
    with pytest.raises(InvalidSensorsError, match="not"):
        fit(client, spread(static, 2), spread(events, 2), spread(stranger, 2))

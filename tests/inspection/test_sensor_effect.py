import copy

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_allclose
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV

from boostr import BoostR, Panel, RecurrentEvents, Trajectories
from boostr.exceptions import InvalidParameterError, InvalidSensorsError
from boostr.inspection import sensor_effect

GRID = [0.1, 0.3, 0.5, 0.9]


def constant_paths(n, values):
    columns = np.tile(np.asarray(values, dtype=np.float64)[:, None], n)
    names = [f"sensor{number}" for number in range(1, len(values) + 1)]
    return Trajectories.from_flat(np.zeros(n), np.arange(n + 1), columns, names)


def unrestricted(model):
    """The plain sum of the trees, which may fall below zero."""
    return copy.copy(model).set_params(monotone=False)


def test_effect_on_a_set_is_the_mean_of_the_effects_on_its_parts(model, fleet):
    parts = [sensor_effect(model, part, "sensor1") for part in (fleet.X[:20], fleet.X[20:])]
    whole = sensor_effect(model, fleet.X, "sensor1")
    assert_allclose(whole.mean, 0.25 * parts[0].mean + 0.75 * parts[1].mean, atol=1e-12)


def test_weight_two_is_the_individual_twice(model, fleet):
    twice = np.concatenate([fleet.X, fleet.X[:10]])
    weights = np.where(np.arange(80) < 10, 2.0, 1.0)
    once = sensor_effect(model, fleet.X, 0, sample_weight=weights)
    again = sensor_effect(model, twice, 0)
    assert_allclose(once.mean, again.mean, atol=1e-12)
    assert_allclose([once.lower, once.upper], [again.lower, again.upper], atol=1e-12)


@pytest.mark.parametrize("sensor", [0, 2])
def test_intensities_of_constant_sensors_differ_by_their_effects(model, fleet, sensor):
    low, high = [0.3, 0.5, 0.6], [0.3, 0.5, 0.6]
    low[sensor], high[sensor] = 0.2, 0.8
    effect = sensor_effect(model, fleet.X, sensor, grid=[0.2, 0.8])
    plain = unrestricted(model)
    change = [
        plain.predict_intensity(fleet.X, 40.0, constant_paths(80, values))[:, 0]
        for values in (low, high)
    ]
    speed = model.clock_.rate(np.array([40.0])) / effect.speed
    assert_allclose(change[1] - change[0], speed * np.diff(effect.curves)[:, 0], atol=1e-12)


def test_without_a_baseline_effects_are_all_there_is(bare, fleet):
    values = [0.3, 0.5, 0.6]
    effects = [
        sensor_effect(bare, fleet.X, place, grid=[value])
        for place, value in enumerate(values)
    ]
    rates = unrestricted(bare).predict_intensity(fleet.X, 5.0, constant_paths(80, values))
    assert not effects[0].is_centred
    assert_allclose(sum(effect.curves for effect in effects), rates, atol=1e-12)


def test_on_the_calendar_the_clock_runs_at_speed_one(bare, fleet):
    assert sensor_effect(bare, fleet.X, 0).speed == pytest.approx(1.0)


def test_speed_turns_the_observed_time_into_time_on_the_clock(model, fleet):
    effect = sensor_effect(model, fleet.X, 0)
    passed = model.clock_.read(np.array([model.horizon_]))[0]
    assert effect.speed * model.horizon_ == pytest.approx(passed)


def test_time_before_anybody_is_observed_does_not_count(fleet):
    late = RecurrentEvents.from_lists(
        [[times + 1000.0 for times in one] for one in np.asarray(fleet.y)],
        start=np.full(80, 1000.0),
        end=fleet.y.end + 1000.0,
    )
    sensors = fleet.Z._with(times=fleet.Z.times + 1000.0)
    shifted = BoostR(n_estimators=1, validation=None, max_bins=4)
    shifted = shifted.fit(fleet.X, late, sensors)
    speed = sensor_effect(shifted, fleet.X, 0).speed
    assert speed * (shifted.horizon_ - 1000.0) == pytest.approx(
        shifted.clock_.read(np.array([shifted.horizon_]))[0]
    )


def test_zero_is_the_average_over_the_training_time(model, fleet):
    effect = sensor_effect(model, fleet.X, "sensor3", n_grid=51)
    assert effect.is_centred
    assert abs(effect.shares @ effect.mean) < 0.02 * np.ptp(effect.mean)


@pytest.mark.filterwarnings("ignore::boostr.exceptions.UnusedInputWarning")
def test_a_sensor_that_no_leaf_uses_adds_nothing(pumps):
    effect = sensor_effect(pumps.model, pumps.X, "stuck", grid=[1.0, 3.0])
    assert effect.shares is None
    assert not effect.curves.any()


@pytest.mark.filterwarnings("ignore::boostr.exceptions.UnusedInputWarning")
def test_a_constant_sensor_takes_its_grid_from_the_paths(pumps):
    effect = sensor_effect(pumps.model, pumps.X, "stuck", Z=pumps.Z)
    assert_allclose(effect.grid, [3.0])
    assert_allclose(effect.shares, [1.0])


def test_mean_and_band_are_those_of_the_curves(model, fleet):
    effect = sensor_effect(model, fleet.X, "sensor2", grid=GRID)
    assert effect.curves.shape == (80, 4)
    assert_allclose(effect.mean, effect.curves.mean(axis=0), atol=1e-12)
    assert_allclose(effect.lower, np.sort(effect.curves, axis=0)[7], atol=1e-12)
    assert_allclose(effect.upper, np.sort(effect.curves, axis=0)[71], atol=1e-12)


def test_grid_spans_the_training_range(model, fleet):
    grid = sensor_effect(model, fleet.X, "sensor1", n_grid=11).grid
    assert_allclose(grid, np.linspace(grid[0], grid[-1], 11))
    sensor = model.ensemble_.basis.sensors[0]
    assert (grid[0], grid[-1]) == (sensor.low, sensor.high)


def test_values_out_of_range_count_as_the_nearest_seen(model, fleet):
    sensor = model.ensemble_.basis.sensors[0]
    ends = sensor_effect(model, fleet.X, 0, grid=[sensor.low, sensor.high])
    beyond = sensor_effect(model, fleet.X, 0, grid=[-5.0, 9.0])
    assert_allclose(beyond.mean, ends.mean)


@pytest.mark.parametrize("grid", [None, GRID, [0.9, 0.1]])
def test_shares_sum_to_one(model, fleet, grid):
    for paths in (None, fleet.Z):
        effect = sensor_effect(model, fleet.X, "sensor1", grid=grid, Z=paths)
        assert effect.shares.sum() == pytest.approx(1.0)
        assert np.all(np.diff(effect.grid) > 0.0)


def test_shares_of_training_are_those_of_its_time(fleet):
    # Everybody is watched to the end on the calendar clock: training time is path time.
    y = fleet.y._with(window_stop=np.full(80, 100.0))
    model = BoostR(n_estimators=1, validation=None, max_bins=4, clock="calendar")
    model = model.fit(fleet.X, y, fleet.Z)
    grid = np.linspace(0.0, 1.0, 6)
    training = sensor_effect(model, fleet.X, 0, grid=grid).shares
    paths = sensor_effect(model, fleet.X, 0, grid=grid, Z=fleet.Z).shares
    assert_allclose(training, paths, atol=0.005)


def test_shares_of_paths_are_what_they_show_over_time(model, fleet):
    times = np.linspace(0.0, model.horizon_, 1001)[1:]
    shown = fleet.Z.read(times)[:, :, 0].ravel()
    cells = np.searchsorted([0.2, 0.4, 0.7], shown)
    effect = sensor_effect(model, fleet.X, 0, grid=GRID, Z=fleet.Z)
    assert_allclose(effect.shares, np.bincount(cells) / cells.size, atol=2e-3)


def test_shares_count_individuals_by_weight(model, fleet):
    weights = (np.arange(80) < 40).astype(float)
    part = sensor_effect(model, fleet.X[:40], 0, Z=fleet.Z[:40])
    whole = sensor_effect(model, fleet.X, 0, Z=fleet.Z, sample_weight=weights)
    assert_allclose(whole.shares, part.shares, atol=1e-12)


def test_paths_that_know_nothing_have_no_shares(model, fleet):
    unknown = fleet.Z.assign(sensor1=np.full(fleet.Z.times.size, np.nan))
    shares = sensor_effect(model, fleet.X, "sensor1", Z=unknown).shares
    assert not shares.any()


def test_categories_are_named_and_counted(pumps):
    effect = sensor_effect(pumps.model, pumps.X, "mode", Z=pumps.Z)
    shown = pd.Series(pumps.Z.to_long()["mode"]).value_counts(normalize=True)
    assert effect.is_categorical
    assert effect.grid.tolist() == ["idle", "run", "rush"]
    assert_allclose(effect.shares, shown[effect.grid].to_numpy(), atol=1e-12)
    assert effect.mean.argmax() == 2


def test_some_categories_can_be_asked_for(pumps):
    every = sensor_effect(pumps.model, pumps.X, "mode")
    some = sensor_effect(pumps.model, pumps.X, "mode", grid=["rush", "idle"])
    assert some.grid.tolist() == ["idle", "rush"]
    assert_allclose(some.mean, every.mean[[0, 2]])
    assert_allclose(some.shares, every.shares[[0, 2]])


def test_unit_of_time_is_that_of_the_sensors(pumps, model, fleet):
    assert sensor_effect(pumps.model, pumps.X, "load").time_unit == "D"
    assert sensor_effect(model, fleet.X, 0).time_unit is None


def test_sensors_are_matched_by_the_ids_of_the_table(pumps):
    turned = pumps.X.iloc[::-1]
    weights = np.linspace(0.1, 1.0, 60)
    straight = sensor_effect(pumps.model, pumps.X, "load", Z=pumps.Z, sample_weight=weights)
    other = sensor_effect(
        pumps.model, turned, "load", Z=pumps.Z, sample_weight=weights[::-1]
    )
    assert_allclose(straight.shares, other.shares)


@pytest.mark.parametrize("kind", ["polars", "panel"])
def test_tables_of_all_kinds_give_the_same(pumps, kind):
    table = {
        "polars": pl.DataFrame({name: pumps.X[name].to_list() for name in pumps.X}),
        "panel": Panel(pumps.X, pumps.Z),
    }[kind]
    expected = sensor_effect(pumps.model, pumps.X, "load", Z=pumps.Z)
    paths = pumps.Z if kind == "polars" else None
    effect = sensor_effect(pumps.model, table, "load", Z=paths)
    assert_allclose(effect.mean, expected.mean)
    assert_allclose(effect.shares, expected.shares)


def test_lists_are_taken_as_arrays(model, fleet):
    rows = fleet.X[:3].tolist()
    listed = sensor_effect(model, rows, 0, Z=fleet.Z[:3])
    assert_allclose(listed.mean, sensor_effect(model, fleet.X[:3], 0).mean)


@pytest.mark.parametrize("wanted", ["torque", 3, -1, True, None])
def test_unknown_sensors_are_named_with_those_that_there_are(model, fleet, wanted):
    message = rf"sensor {wanted!r}.*\n\n.*'sensor1', 'sensor2', 'sensor3'"
    with pytest.raises(InvalidParameterError, match=message):
        sensor_effect(model, fleet.X, wanted)


def test_unknown_categories_are_named_with_those_that_there_are(pumps):
    with pytest.raises(InvalidParameterError, match=r"'off'.*\n\n.*'idle', 'run', 'rush'"):
        sensor_effect(pumps.model, pumps.X, "mode", grid=["off"])


@pytest.mark.parametrize("grid", [[], [np.nan], [[0.1]], ["low"]])
def test_grids_must_be_finite_numbers(model, fleet, grid):
    with pytest.raises(InvalidParameterError, match="`grid` must be"):
        sensor_effect(model, fleet.X, 0, grid=grid)


@pytest.mark.parametrize("n_grid", [1, 2.5, True])
def test_the_number_of_values_must_be_at_least_two(model, fleet, n_grid):
    with pytest.raises(InvalidParameterError, match="`n_grid`"):
        sensor_effect(model, fleet.X, 0, n_grid=n_grid)


def test_a_sensor_without_a_range_needs_a_grid(pumps):
    with pytest.raises(InvalidParameterError, match="'stuck' was constant"):
        sensor_effect(pumps.model, pumps.X, "stuck")


def test_a_model_without_sensors_has_no_effects(plain):
    with pytest.raises(InvalidSensorsError, match="fitted without"):
        sensor_effect(plain, np.zeros((1, 2)), 0)


def test_sensors_must_come_once(pumps):
    with pytest.raises(InvalidSensorsError, match="come once"):
        sensor_effect(pumps.model, Panel(pumps.X, pumps.Z), "load", Z=pumps.Z)


def test_a_model_must_be_fitted(fleet):
    with pytest.raises(NotFittedError):
        sensor_effect(BoostR(), fleet.X, 0)


def test_other_objects_are_no_models(fleet):
    with pytest.raises(InvalidParameterError, match="fitted BoostR, but it is a str"):
        sensor_effect("model", fleet.X, 0)


def test_the_model_of_a_search_is_pointed_to(model, fleet):
    search = GridSearchCV(model, {})
    search.best_estimator_ = model
    with pytest.raises(InvalidParameterError, match="best_estimator_"):
        sensor_effect(search, fleet.X, 0)


def test_a_wrong_number_of_features_is_refused(model, fleet):
    with pytest.raises(ValueError, match="features"):
        sensor_effect(model, fleet.X[:, :2], 0)

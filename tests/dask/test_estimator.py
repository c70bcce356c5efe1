import os
import signal

import numpy as np
import pandas as pd
import pytest
from distributed import Client
from sklearn.base import clone
from tests.dask.scenes import COLUMNS, Fleet, make_fleet, spread, write

import boostr
from boostr import BoostR
from boostr._engine import boosting as booster_module
from boostr._training.run import Progress
from boostr.basis import StepBasis
from boostr.dask import DaskBoostR
from boostr.dask._partition import open_tables
from boostr.dask._parts import Roles
from boostr.exceptions import (
    DataWarning,
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
    np.testing.assert_array_equal(found.fingerprint_.marks, expected.fingerprint_.marks)
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


def test_an_individual_that_outweighs_all_others_is_named(client, fleet):
    events, costly = fleet.events, fleet.events.index[fleet.events["failed"] == 1][7]
    events = events.assign(price=1.0 * (events["failed"] == 1))
    events.loc[costly, "price"] = 1e9
    name = events.loc[costly, COLUMNS["id"]]
    static = spread(fleet.static.drop(columns="weight"), 2)
    with pytest.warns(DataWarning, match=rf"of 1e\+09 costs .* 160 .*\(ids {name}\)"):
        fit(client, static, spread(events, 3), cost="price")


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


class StoppedError(Exception):
    """Somebody pulled the plug."""


def after_rounds(monkeypatch, n_rounds, act):
    """Let something happen once, when so many rounds of trees are there."""
    rounds = []

    def report(self, label, n_trees, loss):
        rounds.append(n_trees)
        if len(rounds) == n_rounds:
            act()

    monkeypatch.setattr(Progress, "report", report)
    return rounds


def count_grown(monkeypatch):
    grown, grow = [], booster_module.grow_tree

    def count(*arguments, **options):
        grown.append(1)
        return grow(*arguments, **options)

    monkeypatch.setattr(booster_module, "grow_tree", count)
    return grown


def stop():
    raise StoppedError


def test_a_checkpoint_goes_on(client, fleet, tmp_path, monkeypatch):
    tables, path = scatter(fleet, 2), tmp_path / "trees.ckpt"
    options = {"weight": "weight", "local_below": 0}
    grown = count_grown(monkeypatch)
    whole = fit(client, *tables, **options)
    n_all = len(grown)
    with monkeypatch.context() as patch:
        after_rounds(patch, 2, stop)
        with pytest.raises(StoppedError):
            fit(client, *tables, **options, checkpoint=path)
    n_before = len(grown) - n_all
    again = fit(client, *tables, **options, checkpoint=path)
    assert 0 < n_before < n_all
    assert len(grown) == 2 * n_all
    np.testing.assert_array_equal(
        whole.model_.predict(fleet.X), again.model_.predict(fleet.X)
    )


@pytest.mark.slow
def test_a_worker_lost_on_the_way_changes_nothing(mortal, fleet, monkeypatch):
    folds = {"validation": "cv", "n_folds": 2}
    expected = BoostR(**(SETTINGS | folds)).fit(fleet.X, fleet.y)
    static, events = scatter(fleet, 2)

    def kill():
        pids = mortal.run(os.getpid)
        os.kill(pids[min(pids)], signal.SIGKILL)

    rounds = after_rounds(monkeypatch, 2, kill)
    options = {"local_below": 0, **folds}
    found = fit(mortal, static.drop(columns="weight"), events, **options)
    assert len(rounds) > 2
    assert_same_model(found.model_, expected, fleet)


def test_the_client_need_not_be_the_default_one(cluster, fleet, local, monkeypatch):
    monkeypatch.setattr("distributed.client._global_clients", {})
    tables = scatter(fleet.shuffled(1), 3)
    options = {"local_below": 0, "bins": "exact", "weight": "weight"}
    with Client(cluster, set_as_default=False) as own:
        found = fit(own, *tables, **options)
    assert_same_model(found.model_, local, fleet)


def test_out_of_fold_coefficients_are_kept_by_their_real_number(client, fleet, monkeypatch):
    monkeypatch.setattr("boostr.dask._estimator._MOST_KEPT", len(fleet.static) + 1)
    tables = scatter(fleet, 2)
    one = fit(client, *tables, leaf=StepBasis(n_cells=1), n_estimators=1)
    assert one.model_.out_of_fold_coefficients_.shape == (len(fleet.static), 1)
    two = fit(client, *tables, leaf=StepBasis(n_cells=2), n_estimators=1)
    assert two.model_.out_of_fold_coefficients_ is None


def test_parameters_are_those_of_scikit_learn():
    estimator = DaskBoostR(n_estimators=7, local_below=5)
    assert estimator.get_params().keys() == KNOWN
    twin = clone(estimator).set_params(bins="exact", n_estimators=9)
    assert twin.get_params() == estimator.get_params() | {
        "bins": "exact",
        "n_estimators": 9,
    }
    assert estimator.get_params()["n_estimators"] == 7
    with pytest.raises(ValueError, match="Invalid parameter 'trees'"):
        twin.set_params(trees=3)


def test_it_is_a_name_of_the_package():
    assert boostr.dask.DaskBoostR is DaskBoostR


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"bins": "few"}, "`bins` must be"),
        ({"local_below": "x"}, "`local_below` must be a whole number"),
        ({"local_below": -1}, "`local_below` must be a whole number"),
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


@pytest.mark.parametrize("name", ["events", "sensors"])
def test_time_stamps_without_an_origin_are_refused_unread(fleet, name):
    tables = {"events": fleet.events, "sensors": fleet.sensors}
    stamps = pd.Timestamp("2024-01-01") + pd.to_timedelta(tables[name]["day"], unit="D")
    tables[name] = tables[name].assign(day=stamps)
    sources = {"X": fleet.static, **tables}
    with pytest.raises(
        InvalidParameterError, match=rf"'day' of `{name}`.*\n\nHint: origin"
    ):
        open_tables(Roles(**COLUMNS), {key: spread(t, 2) for key, t in sources.items()})


def test_columns_and_ids_that_cannot_be_used_are_refused(client, fleet, tmp_path):
    events = spread(fleet.events, 2)
    numbered = fleet.static.rename(columns={"size": 3})
    with pytest.raises(
        InvalidParameterError, match=r"texts as names, but 1 have not \(3\)"
    ):
        fit(client, spread(numbered, 2), events)
    coded = fleet.static.astype({"unit": "category"})
    for source in (spread(coded, 2), write(coded, tmp_path / "X", 1)):
        with pytest.raises(InvalidParameterError, match="'unit' of `X` holds categories"):
            fit(client, source, events)


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
    with pytest.raises(InvalidSensorsError, match=r"of individuals in `ids`.*\(ids z\)"):
        fit(client, spread(static, 2), spread(events, 2), spread(stranger, 2))


def test_exposures_are_a_column_of_the_features(client, fleet):
    rng = np.random.default_rng(4)
    static = fleet.static.assign(km=rng.uniform(0.5, 5.0, len(fleet.static)))
    length = static.sort_values("unit")["km"].to_numpy()
    exposed = fleet.y.with_exposure(length)
    expected = BoostR(**SETTINGS).fit(fleet.X, exposed, sample_weight=fleet.weights)
    tables = spread(static, 3), spread(fleet.events, 2)
    found = fit(client, *tables, weight="weight", exposure="km")
    assert_same_model(found.model_, expected, fleet, y=exposed)
    curves = found.predict(tables[0], horizon=9.0).compute().sort_index()
    own = expected.predict(fleet.X, horizon=9.0, exposure=length)
    np.testing.assert_allclose(curves, own, rtol=1e-9)
    ahead = found.forecast(*tables, 4.0).compute().sort_index()
    own = expected.forecast(fleet.X, exposed, 4.0).sort_values("id")
    np.testing.assert_allclose(ahead["expected"], own["expected"], rtol=1e-6)


def test_callbacks_are_called_by_the_client_and_end_a_run(client, fleet):
    seen = []

    def note(progress):
        seen.append(progress.n_trees)
        return progress.n_trees == 2

    found = fit(client, *scatter(fleet, 2), local_below=0, callbacks=[note])
    assert found.model_.n_estimators_ == 2
    assert max(seen) == 2


def test_limits_hold_on_a_cluster(client, fleet):
    limits = {"monotonic_cst": {"size": -1}, "interaction_cst": "no_interactions"}
    tables, options = scatter(fleet, 2), {"weight": "weight", "bins": "exact"}
    found = fit(client, *tables, local_below=0, **options, **limits)
    here = BoostR(**(SETTINGS | limits)).fit(fleet.X, fleet.y, sample_weight=fleet.weights)
    assert_same_model(found.model_, here, fleet)


def test_the_terminal_hazard_is_that_of_one_machine(client, fleet):
    events = fleet.events.copy()
    died = events["unit"].str[-1].isin(list("0369"))
    events["died"] = ((events["failed"] == 0) & died).astype(int)
    y = boostr.RecurrentEvents.from_long(events, "unit", "day", "failed", terminal="died")
    local = BoostR(**SETTINGS).fit(fleet.X, y, sample_weight=fleet.weights)
    tables = spread(fleet.static, 2), spread(events, 3)
    found = fit(client, *tables, weight="weight", terminal="died")
    expected = local.predict_survival(fleet.X, TIMES)
    np.testing.assert_allclose(found.model_.predict_survival(fleet.X, TIMES), expected)
    table = found.forecast(*tables, horizon=5.0).compute()
    assert np.array_equal(table["expected"] == 0.0, y.is_terminal)
    assert np.all((table["terminal"] > 0.0) == ~y.is_terminal)


def test_kinds_are_learned_as_on_one_machine(client, fleet):
    events = fleet.events.copy()
    number = np.arange(len(events)) % 3
    events["mode"] = np.where(number == 0, "seal", "motor")
    y = boostr.RecurrentEvents.from_long(events, "unit", "day", "failed", kind="mode")
    local = BoostR(**SETTINGS).fit(fleet.X, y, sample_weight=fleet.weights)
    tables = spread(fleet.static, 2), spread(events, 3)
    found = fit(client, *tables, weight="weight", kind="mode")
    assert found.model_.kind_labels_ == local.kind_labels_ == ("motor", "seal")
    for kind in (None, "seal"):
        expected = local.predict_cumulative(fleet.X, TIMES, kind=kind)
        np.testing.assert_allclose(
            found.model_.predict_cumulative(fleet.X, TIMES, kind=kind), expected
        )

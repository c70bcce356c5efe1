"""A fit to scanned files is the fit to the same data in memory, to the bit."""

import os
import subprocess
import sys
import tracemalloc
from types import SimpleNamespace

import numba
import numpy as np
import pytest

from boostr import BoostR
from boostr._training import statistics as _statistics
from boostr._training import streamed as _scanned
from boostr.data import Panel, RecurrentEvents, Trajectories
from boostr.exceptions import (
    InvalidEventsError,
    InvalidFeaturesError,
    InvalidParameterError,
    InvalidSensorsError,
    SensorTypeError,
)
from boostr.simulate import dataset_a, wells

pa = pytest.importorskip("pyarrow")
pd = pytest.importorskip("pandas")
pq = pytest.importorskip("pyarrow.parquet")

SETTINGS = {"n_estimators": 5, "validation": 0.25, "random_state": 0, "max_leaf_nodes": 3}
SENSOR_SETTINGS = SETTINGS | {"sensor_penalty": "ridge", "gamma2": 0.1}


def write(frame, path, **options):
    pq.write_table(pa.Table.from_pandas(frame, preserve_index=False), path, **options)


@pytest.fixture(scope="module")
def machines(tmp_path_factory):
    """Machines with costs, gaps in their ids and some missing features, in files."""
    folder = tmp_path_factory.mktemp("machines")
    data = dataset_a(n=120, random_state=1)
    rng = np.random.default_rng(0)
    y = RecurrentEvents.from_flat(
        data.y.times,
        data.y.event_offsets,
        end=data.y.end,
        costs=rng.uniform(0.5, 2.0, data.y.times.size),
        ids=1000 + 7 * np.arange(120),
    )
    X = np.array(data.X)
    X[rng.random(X.shape) < 0.1] = np.nan
    rows = y.to_long(backend="pandas")
    cut = len(rows) // 2
    write(rows.iloc[cut:], folder / "a.parquet", row_group_size=50)
    write(rows.iloc[:cut], folder / "b.parquet", row_group_size=50)
    return X, y, folder


def scan(folder, **options):
    roles = {"id": "id", "time": "time", "event": "event", "cost": "cost"}
    return RecurrentEvents.scan_parquet(folder, **(roles | options))


def assert_same_model(one, other, X, **options):
    """Everything that is fitted agrees to the bit."""
    times = np.linspace(0.0, one.horizon_, 7)
    for name in ("frailty_variance_", "n_estimators_", "horizon_", "time_unit_"):
        assert getattr(one, name) == getattr(other, name)
    for name in ("forecast_scores_", "cost_moments_", "feature_gains_"):
        assert np.array_equal(getattr(one, name), getattr(other, name))
    assert one.has_costs_ == other.has_costs_
    assert np.array_equal(one.fingerprint_.marks, other.fingerprint_.marks)
    ours, theirs = one.out_of_fold_coefficients_, other.out_of_fold_coefficients_
    assert (ours is None) == (theirs is None)
    assert ours is None or np.array_equal(ours, theirs, equal_nan=True)
    assert np.array_equal(
        one.predict_cumulative(X, times, **options),
        other.predict_cumulative(X, times, **options),
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"loss": "cumulative", "clock": "calendar"},
        {"leaf": "step", "validation": None},
        {"n_jobs": 1},
    ],
)
def test_a_fit_to_files_is_the_fit_in_memory(machines, monkeypatch, options):
    X, y, folder = machines
    monkeypatch.setattr("boostr.data.parquet.rows._MOST_ROWS", 70)
    here = BoostR(**(SETTINGS | options)).fit(X, y)
    there = BoostR(**(SETTINGS | options)).fit(X, scan(folder))
    assert_same_model(here, there, X)


@pytest.mark.slow  # a process of its own
def test_the_plainest_of_the_threading_layers_is_enough(machines):
    # It ends the process where two threads of Python use it at once.
    _, _, folder = machines
    script = f"""
import numpy as np
from boostr import BoostR
from boostr.data import RecurrentEvents
from boostr.data.parquet import rows as _scan_rows
_scan_rows._MOST_ROWS = 20
y = RecurrentEvents.scan_parquet({str(folder)!r}, id="id", time="time", event="event")
BoostR(n_estimators=1, validation=None, n_jobs=2).fit(np.zeros((len(y), 1)), y)
"""
    settings = {"NUMBA_THREADING_LAYER": "workqueue", "NUMBA_NUM_THREADS": "2"}
    done = subprocess.run(
        [sys.executable, "-c", script],
        env=os.environ | settings,
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr.decode()


@pytest.mark.slow
def test_kernels_run_on_as_many_threads_as_asked_for(machines, monkeypatch):
    X, _, folder = machines
    monkeypatch.setattr("boostr.data.parquet.rows._MOST_ROWS", 40)
    numbers = []
    compute = _statistics.Plan.compute

    def spy(*given):
        numbers.append(numba.get_num_threads())
        return compute(*given)

    monkeypatch.setattr(_statistics.Plan, "compute", spy)
    for n_jobs in range(1, min(numba.config.NUMBA_NUM_THREADS, 2) + 1):
        numbers.clear()
        BoostR(**(SETTINGS | {"n_estimators": 1}), n_jobs=n_jobs).fit(X, scan(folder))
        assert len(numbers) > 2
        assert set(numbers) == {n_jobs}


@pytest.mark.slow
def test_weights_leave_out_and_count_the_same_individuals(machines, monkeypatch):
    X, y, folder = machines
    weights = np.random.default_rng(3).integers(0, 3, len(y)).astype(float)
    weights[20:60] = 0.0  # whole chunks of nobody
    monkeypatch.setattr("boostr.data.parquet.rows._MOST_ROWS", 40)
    here = BoostR(**SETTINGS).fit(X, y, sample_weight=weights)
    there = BoostR(**SETTINGS).fit(X, scan(folder), sample_weight=weights)
    assert_same_model(here, there, X)


@pytest.mark.slow
def test_a_checkpoint_of_memory_goes_on_with_files(machines, tmp_path):
    X, y, folder = machines
    here = BoostR(**SETTINGS).fit(X, y, checkpoint=tmp_path / "trees")
    there = BoostR(**SETTINGS).fit(X, scan(folder), checkpoint=tmp_path / "trees")
    assert_same_model(here, there, X)


@pytest.fixture(scope="module")
def fleet(tmp_path_factory):
    """Wells with two sensors, in files whose rows are in any order."""
    pytest.importorskip("duckdb")
    folder = tmp_path_factory.mktemp("wells")
    data = wells(n=60, n_sensors=2, random_state=0)
    tables = []
    for name, container in (("events", data.y), ("samples", data.Z)):
        tables.append(container.to_long(backend="pandas"))
        rows = tables[-1].sample(frac=1.0, random_state=0)
        write(rows, folder / f"{name}.parquet", row_group_size=1000)
    y = RecurrentEvents.from_long(tables[0], "id", "time", "event", start="start")
    Z = Trajectories.from_long(tables[1], "id", "time")
    return SimpleNamespace(X=data.X, y=y, Z=Z), folder


def scan_fleet(folder):
    events = RecurrentEvents.scan_parquet(
        folder / "events.parquet", id="id", time="time", event="event", start="start"
    )
    samples = Trajectories.scan_parquet(folder / "samples.parquet", id="id", time="time")
    return events, samples


@pytest.fixture(scope="module")
def fleet_model(fleet):
    data, _ = fleet
    return BoostR(**SENSOR_SETTINGS).fit(data.X, data.y, data.Z)


def test_the_model_of_the_fleet_reads_its_sensors(fleet, fleet_model):
    data, _ = fleet
    others = data.Z[::-1].align(data.y.ids)._with(values=data.Z.values[::-1].copy())
    one = fleet_model.predict(data.X, horizon=50.0, Z=data.Z, hold_last=True)
    other = fleet_model.predict(data.X, horizon=50.0, Z=others, hold_last=True)
    assert np.abs(one - other).max() > 0.01


@pytest.mark.slow
@pytest.mark.parametrize("in_memory", ["neither", "events", "sensors", "panel"])
def test_sensors_in_files_give_the_model_of_those_in_memory(
    fleet, fleet_model, monkeypatch, in_memory
):
    data, folder = fleet
    events, samples = scan_fleet(folder)
    monkeypatch.setattr("boostr.data.parquet.rows._MOST_ROWS", 3000)
    if in_memory == "panel":
        model = BoostR(**SENSOR_SETTINGS).fit(Panel(data.X, data.Z), events)
    else:
        events = data.y if in_memory == "events" else events
        samples = data.Z[::-1] if in_memory == "sensors" else samples
        model = BoostR(**SENSOR_SETTINGS).fit(data.X, events, samples)
    assert_same_model(fleet_model, model, data.X, Z=data.Z, hold_last=True)
    assert model.sensor_usefulness_ == fleet_model.sensor_usefulness_


@pytest.mark.slow
@pytest.mark.parametrize("bound", ["individuals", "values"])
def test_those_who_stand_for_all_are_the_same_ones(fleet, monkeypatch, bound):
    data, folder = fleet
    for room in (_statistics, _scanned):
        if bound == "individuals":
            monkeypatch.setattr(room, "N_CLOCK_SAMPLE", 19)
            monkeypatch.setattr(room, "N_SAMPLE", 7)
        else:
            monkeypatch.setattr(room, "MOST_EVENTS", len(data.y.times) // 3)
            monkeypatch.setattr(room, "MOST_VALUES", data.Z.values.size // 5)
    monkeypatch.setattr("boostr.data.parquet.rows._MOST_ROWS", 2000)
    here = BoostR(**SENSOR_SETTINGS).fit(data.X, data.y, data.Z)
    there = BoostR(**SENSOR_SETTINGS).fit(data.X, *scan_fleet(folder))
    assert_same_model(here, there, data.X, Z=data.Z, hold_last=True)


@pytest.mark.slow
def test_sensors_of_three_times_as_many_files_need_little_more_memory(
    fleet, monkeypatch, tmp_path
):
    data, _ = fleet
    monkeypatch.setattr("boostr.data.parquet.rows._MOST_ROWS", 1500)
    monkeypatch.setattr(_scanned, "MOST_VALUES", 3000)
    peaks = []
    for n_copies in (1, 3):
        for name, container in (("events", data.y), ("samples", data.Z)):
            rows = container.to_long(backend="pandas")
            copies = [rows.assign(id=rows["id"] + 60 * copy) for copy in range(n_copies)]
            write(pd.concat(copies), tmp_path / f"{name}.parquet", row_group_size=1000)
        n = 60 * n_copies
        events, samples = scan_fleet(tmp_path)
        scanned = _scanned.ScannedData(
            np.zeros((n, 1)), events, np.ones(n), samples, np.ones(n, dtype=bool)
        )
        assert len(events) == len(samples) == n
        tracemalloc.start()
        _, clock_sample, sample = _scanned._survey(scanned, scanned.parts(1))
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
        assert len(clock_sample) == n
        assert sample.sensors.values.size < 3000
    raw = data.Z.values.nbytes + data.Z.times.nbytes
    assert peaks[1] < 0.5 * 3 * raw
    assert peaks[1] - peaks[0] < 0.3 * 2 * raw  # events and lists of what is where


def test_the_bar_tells_how_far_the_files_are_read(machines, capsys):
    X, _, folder = machines
    BoostR(**(SETTINGS | {"n_estimators": 1}), verbose=1).fit(X, scan(folder))
    shown = capsys.readouterr().err
    assert "survey, 100% of the files" in shown
    assert "statistics, 100% of the files" in shown


@pytest.mark.slow
def test_dates_stay_with_the_model(machines, tmp_path):
    X, y, _ = machines
    rows = y.to_long(backend="pandas")
    for name in ("start", "time"):
        rows[name] = pd.Timestamp("2024-01-01") + pd.to_timedelta(rows[name], unit="D")
    write(rows, tmp_path / "events.parquet", row_group_size=60)
    here = BoostR(**SETTINGS).fit(
        X, RecurrentEvents.from_long(rows, "id", "time", "event", "cost", start="start")
    )
    there = BoostR(**SETTINGS).fit(X, scan(tmp_path, start="start"))
    assert there.time_origin_ == here.time_origin_ == np.datetime64("2024-01-01")
    assert_same_model(here, there, X)


def test_rows_that_do_not_match_the_ids_are_refused(machines):
    X, y, folder = machines
    with pytest.raises(InvalidFeaturesError, match="119 rows for 120 individuals"):
        BoostR().fit(X[1:], scan(folder))
    labelled = pd.DataFrame(X, index=pd.Index(y.ids[::-1], name="id"))
    with pytest.raises(InvalidFeaturesError, match="in the same order"):
        BoostR().fit(labelled, scan(folder))
    with pytest.raises(InvalidParameterError, match="sample_weight"):
        BoostR().fit(X, scan(folder), sample_weight=np.ones(3))


def test_a_bad_row_stops_the_fit_and_names_file_and_id(machines, tmp_path):
    X, y, _ = machines
    rows = y.to_long(backend="pandas")
    rows.loc[rows.index[-2], "time"] = -1.0
    cut = len(rows) // 2
    write(rows.iloc[:cut], tmp_path / "a.parquet")
    write(rows.iloc[cut:], tmp_path / "b.parquet")
    with pytest.raises(
        InvalidEventsError, match=r"(?s)b\.parquet'.*\(ids 1833\)"
    ) as caught:
        BoostR().fit(X, scan(tmp_path))
    assert "a.parquet" not in str(caught.value)


def test_sensors_of_other_clocks_or_others_are_refused(fleet):
    data, folder = fleet
    events, samples = scan_fleet(folder)
    hours = Trajectories.scan_parquet(
        folder / "samples.parquet", id="id", time="time", unit="h"
    )
    with pytest.raises(InvalidSensorsError, match="the same unit"):
        BoostR().fit(data.X, events, hours)
    with pytest.raises(InvalidSensorsError, match="1 of 60 individuals have no sensors"):
        BoostR().fit(data.X, events, data.Z[1:])
    with pytest.raises(InvalidSensorsError, match="none of them"):
        BoostR().fit(data.X[1:], data.y[1:], samples)
    with pytest.raises(SensorTypeError, match="`Z` must be a Trajectories"):
        BoostR().fit(data.X, events, np.zeros(60))


def test_predictions_with_sensors_in_files_go_chunk_by_chunk(fleet, fleet_model):
    data, folder = fleet
    _, samples = scan_fleet(folder)
    with pytest.raises(SensorTypeError, match=r"Z\.chunks\(\)"):
        fleet_model.predict(data.X, horizon=10.0, Z=samples)
    parts = [
        fleet_model.predict(data.X[part.ids], horizon=10.0, Z=part, hold_last=True)
        for part in samples.chunks(3000)
    ]
    assert len(parts) > 2
    expected = fleet_model.predict(data.X, horizon=10.0, Z=data.Z, hold_last=True)
    np.testing.assert_allclose(np.concatenate(parts), expected, rtol=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("as_mapping", [False, True])
def test_exposures_of_scanned_individuals_are_in_memory(machines, as_mapping):
    X, y, folder = machines
    length = np.random.default_rng(3).uniform(0.5, 5.0, len(y))
    exposure = dict(zip(y.ids.tolist(), length, strict=True)) if as_mapping else length
    expected = BoostR(**SETTINGS).fit(X, y, exposure=length)
    found = BoostR(**SETTINGS).fit(X, scan(folder, exposure=exposure))
    assert found.has_exposure_
    np.testing.assert_array_equal(found.predict(X), expected.predict(X))
    assert scan(folder).with_exposure(exposure).collect().equals(y.with_exposure(length))


def test_exposures_of_scanned_individuals_are_checked(machines):
    X, _, folder = machines
    with pytest.raises(InvalidParameterError, match="each of the 120 individuals"):
        BoostR(**SETTINGS).fit(X, scan(folder), exposure=np.ones(3))

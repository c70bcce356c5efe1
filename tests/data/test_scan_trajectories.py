"""Sensors scanned from Parquet files are those that are read from the whole table."""

import time
from datetime import datetime, timedelta

import numpy as np
import pytest

from boostr.data import RecurrentEvents, Trajectories
from boostr.data.parquet.pairs import put_in_step, read_in_step
from boostr.data.sensors.checks import match_ids
from boostr.exceptions import InvalidParameterError, InvalidSensorsError

pa = pytest.importorskip("pyarrow")
pd = pytest.importorskip("pandas")
pq = pytest.importorskip("pyarrow.parquet")

ROLES = {"id": "well", "time": "day"}


def table(n=15, seed=0):
    """Samples of ``n`` wells, sorted by well: two sensors with gaps, one of texts."""
    rng = np.random.default_rng(seed)
    well = np.repeat(3 * np.arange(n), rng.integers(1, 12, n))
    frame = pd.DataFrame(
        {
            "well": well,
            "day": rng.integers(0, 20, len(well)).astype(float),  # with ties
            "load": rng.normal(size=len(well)),
            "heat": rng.normal(size=len(well)),
            "mode": rng.choice(["idle", "run", "stop", None], len(well)),
        }
    )
    frame.loc[rng.random(len(frame)) < 0.3, "heat"] = np.nan
    frame.loc[frame["well"] < 9, "mode"] = "idle"  # the first chunks see no other
    return frame


def write(frame, path, **options):
    pq.write_table(pa.Table.from_pandas(frame, preserve_index=False), path, **options)


def whole(frame, **options):
    return Trajectories.from_long(frame, **(ROLES | options))


def scan(path, **options):
    return Trajectories.scan_parquet(path, **(ROLES | options))


@pytest.mark.parametrize("n_rows", [1, 17, None])
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"columns": ["heat", "mode"]},
        {"columns": "load"},
        {"before": "first"},
        {"max_gap": 2.0, "columns": ["load", "heat"]},
        {"interpolation": "linear", "step": 0.5, "columns": ["load"]},
        {"unit": "h"},
    ],
)
def test_chunks_hold_the_series_of_the_whole_table(tmp_path, options, n_rows):
    frame = table()
    write(frame, tmp_path / "samples.parquet", row_group_size=13)
    Z, expected = scan(tmp_path, **options), whole(frame, **options)
    assert Trajectories.concatenate(list(Z.chunks(n_rows))).equals(expected)
    assert (Z.names, Z.categories) == (expected.names, expected.categories)
    assert (Z.time_unit, Z.origin, Z.before) == (
        expected.time_unit,
        expected.origin,
        expected.before,
    )
    assert all(part.categories == expected.categories for part in Z.chunks(n_rows))


def test_the_later_of_two_rows_wins_after_sorting_as_well(tmp_path):
    pytest.importorskip("duckdb")
    frame = table(seed=3).sample(frac=1.0, random_state=0)
    half = len(frame) // 2
    write(frame.iloc[:half], tmp_path / "a.parquet", row_group_size=7)
    write(frame.iloc[half:], tmp_path / "b.parquet")
    assert frame.duplicated(["well", "day"]).any()
    assert scan(tmp_path).collect().equals(whole(frame))


@pytest.mark.parametrize("names", ["ab", "ba"])
@pytest.mark.parametrize("cut", [1, 2, 3])
def test_of_two_files_the_later_wins_whichever_holds_the_first_ids(tmp_path, names, cut):
    pytest.importorskip("duckdb")
    frame = pd.DataFrame(
        {"well": [1, 2, 2, 3], "day": [0.0, 1.0, 1.0, 0.0], "load": [1.0, 2.0, 3.0, 4.0]}
    )
    write(frame.iloc[:cut], tmp_path / f"{names[0]}.parquet")
    write(frame.iloc[cut:], tmp_path / f"{names[1]}.parquet")
    expected = Trajectories.from_long(tmp_path, **ROLES)
    assert scan(tmp_path).collect().equals(expected.align(np.unique(frame["well"])))


@pytest.mark.parametrize("is_sorted", [True, False])
@pytest.mark.parametrize("kind", ["uint64", "datetime64[ns]", "datetime64[us]"])
def test_ids_are_compared_as_what_they_are(tmp_path, kind, is_sorted):
    if not is_sorted:
        pytest.importorskip("duckdb")
    frame = table()
    wells = frame["well"].to_numpy().astype("uint64")
    if kind == "uint64":
        frame["well"] = np.uint64(2**60) + wells
    else:
        frame["well"] = (np.datetime64("2024-01-01") + wells.astype(int)).astype(kind)
    rows = frame if is_sorted else frame.iloc[::-1]
    write(rows, tmp_path / "samples.parquet", row_group_size=13)
    expected = whole(rows).align(np.unique(whole(rows).ids))
    for ids in (None, expected.ids):
        Z = Trajectories.concatenate(list(scan(tmp_path, ids=ids).chunks(5)))
        assert Z.equals(expected)


def test_files_that_lose_rows_between_passes_are_noticed(tmp_path):
    frame = table()
    for ids in (None, np.unique(frame["well"])):
        write(frame, tmp_path / "samples.parquet")
        Z = scan(tmp_path, ids=ids)
        assert len(Z) == 15
        assert len(Z.categories) == 3  # rows were looked at
        write(frame[frame["well"] < 20], tmp_path / "samples.parquet")
        with pytest.raises(InvalidSensorsError, match="must not change"):
            Z.collect()


def test_ids_are_matched_in_a_time_that_grows_with_their_number():
    ids = np.arange(20_000)
    started = time.perf_counter()
    assert np.array_equal(match_ids(ids, ids[::-1]), ids[::-1])
    assert time.perf_counter() - started < 1.0


def test_individuals_without_rows_are_kept_where_ids_are_given(tmp_path):
    frame = table()
    write(frame, tmp_path / "samples.parquet", row_group_size=13)
    ids = np.arange(-2, 60)
    for n_rows in (5, None):
        parts = list(scan(tmp_path, ids=ids[::-1]).chunks(n_rows))
        assert Trajectories.concatenate(parts).equals(whole(frame, ids=ids))


def test_rows_of_strangers_name_the_file_and_the_ids(tmp_path):
    frame = table()
    write(frame[frame["well"] < 20], tmp_path / "a.parquet")
    write(frame[frame["well"] > 20], tmp_path / "b.parquet")
    ids = np.setdiff1d(frame["well"], [27])
    with pytest.raises(InvalidSensorsError, match=r"(?s)b\.parquet'.*\(ids 27\)"):
        scan(tmp_path, ids=ids).collect()
    with pytest.raises(InvalidSensorsError, match=r"2 ids are repeated \(1, 4\)"):
        scan(tmp_path, ids=[1, 4, 1, 4])
    with pytest.raises(InvalidParameterError, match=r"of several \(int, str\)"):
        scan(tmp_path, ids=[1, "1"])


def test_infinite_values_and_unknown_times_name_the_file_and_the_ids(tmp_path):
    for column, value in (("load", np.inf), ("day", np.nan)):
        frame = table()
        frame.loc[frame.index[-1], column] = value
        write(frame[frame["well"] < 20], tmp_path / "a.parquet")
        write(frame[frame["well"] > 20], tmp_path / "b.parquet")
        with pytest.raises(InvalidSensorsError, match=r"(?s)b\.parquet'.*\(ids 42\)"):
            scan(tmp_path).collect()


def test_dates_count_from_the_origin_given_or_from_a_column(tmp_path):
    frame = table()
    begin = datetime(2024, 1, 1)
    frame["day"] = [begin + timedelta(days=day) for day in frame["day"]]
    frame["entry"] = [begin - timedelta(days=well % 5) for well in frame["well"]]
    write(frame, tmp_path / "samples.parquet", row_group_size=13)
    for origin in ("2023-12-31", "entry"):
        for columns in (["load"], None):
            options = {"origin": origin, "unit": "h", "columns": columns}
            if columns is None and origin != "entry":
                continue  # the entry is no sensor
            Z = scan(tmp_path, **options)
            assert Z.collect().equals(whole(frame, **options))
    with pytest.raises(InvalidSensorsError, match="counted from the origin of the events"):
        scan(tmp_path, columns=["load"])


def test_lines_need_a_step_and_files_need_rows(tmp_path):
    write(table().iloc[:0], tmp_path / "samples.parquet")
    with pytest.raises(InvalidParameterError, match="`step` must be given"):
        scan(tmp_path, interpolation="linear")
    with pytest.raises(InvalidSensorsError, match="at least one individual"):
        len(scan(tmp_path))
    assert len(scan(tmp_path, ids=[1, 2]).collect()) == 2
    with pytest.raises(InvalidParameterError, match="lacks 'torque'"):
        scan(tmp_path, columns=["torque"])


def test_an_index_that_pandas_wrote_is_no_sensor(tmp_path):
    frame = table().iloc[::-1]
    frame.to_parquet(tmp_path / "samples.parquet")
    assert scan(tmp_path).names == ("load", "heat", "mode")


def test_repr_tells_how_much_there_is(tmp_path):
    frame = table()
    write(frame, tmp_path / "samples.parquet")
    assert (
        repr(scan(tmp_path)) == f"ScannedTrajectories(1 file, {len(frame)} rows, 3 sensors)"
    )


@pytest.fixture
def both(tmp_path):
    """Events and sensors of the same wells, scanned and in memory."""
    frame = table()
    wells = np.unique(frame["well"])
    y = RecurrentEvents.from_lists(
        [[1.0, 2.0][: well // 3 % 3] for well in wells], end=20.0, ids=wells
    )
    write(frame, tmp_path / "samples.parquet", row_group_size=13)
    write(y.to_long(backend="pandas"), tmp_path / "events.parquet", row_group_size=4)
    events = RecurrentEvents.scan_parquet(
        tmp_path / "events.parquet", id="id", time="time", event="event"
    )
    return y, whole(frame), events, scan(tmp_path / "samples.parquet")


@pytest.mark.parametrize("n_threads", [1, 2])
@pytest.mark.parametrize("in_memory", ["neither", "events", "sensors"])
def test_events_and_sensors_come_in_step(both, monkeypatch, in_memory, n_threads):
    y, Z, events, sensors = both
    monkeypatch.setattr("boostr.data.parquet.rows._MOST_ROWS", 9)
    events = y if in_memory == "events" else events
    sensors = Z if in_memory == "sensors" else sensors
    pairs = list(read_in_step(events, put_in_step(events, sensors), n_threads))
    assert len(pairs) > 2
    assert all(np.array_equal(part.ids, series.ids) for part, series in pairs)
    assert RecurrentEvents.concatenate([part for part, _ in pairs]).equals(y)
    assert Trajectories.concatenate([series for _, series in pairs]).equals(Z)


def test_sensors_of_others_or_in_another_order_are_refused(both):
    y, Z, events, sensors = both
    with pytest.raises(InvalidSensorsError, match="1 of 15 individuals have no sensors"):
        put_in_step(events, Z[1:])
    with pytest.raises(InvalidSensorsError, match="none of them"):
        put_in_step(y[1:], sensors)
    with pytest.raises(InvalidSensorsError, match="ascending order"):
        put_in_step(y[::-1], sensors)
    assert put_in_step(events, Z[::-1]).equals(Z)

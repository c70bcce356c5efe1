"""Events scanned from Parquet files are those that are read from the whole table."""

import threading
import time
import tracemalloc
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.data.scan_scenes import scan, table, whole, write

from boostr.data import RecurrentEvents, check_target
from boostr.data.parquet.rows import map_ahead
from boostr.exceptions import InvalidEventsError, InvalidParameterError, TargetTypeError

pa = pytest.importorskip("pyarrow")
pd = pytest.importorskip("pandas")
pq = pytest.importorskip("pyarrow.parquet")


@pytest.mark.parametrize("text", [False, True])
@pytest.mark.parametrize("n_rows", [1, 7, 50, None])
def test_chunks_hold_all_individuals_whatever_their_size(tmp_path, text, n_rows):
    frame = table(text=text)
    write(frame, tmp_path / "events.parquet", row_group_size=11)
    chunks = list(scan(tmp_path).chunks(n_rows))
    assert RecurrentEvents.concatenate(chunks).equals(whole(frame))
    if n_rows is not None:
        most = max(n_rows, frame.groupby("well").size().max())
        assert all(len(chunk) + chunk.times.size <= most for chunk in chunks)


@pytest.mark.slow
@settings(
    max_examples=8,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(
    st.integers(0, 1000),
    st.integers(1, 40),
    st.integers(1, 40),
    st.lists(st.integers(0, 99)),
)
def test_files_and_groups_cut_anywhere_and_in_any_order_give_the_same(
    tmp_path_factory, seed, group, n_rows, cuts
):
    frame = table(n=12, seed=seed)
    folder = tmp_path_factory.mktemp("parts")
    edges = [0, *sorted({cut % len(frame) for cut in cuts} - {0}), len(frame)]
    names = np.random.default_rng(seed).permutation(len(edges) - 1)
    for name, first, last in zip(names, edges[:-1], edges[1:], strict=True):
        file = folder / f"part-{name:03d}.parquet"
        write(frame.iloc[first:last], file, row_group_size=group)
    parts = list(scan(folder).chunks(n_rows))
    assert RecurrentEvents.concatenate(parts).equals(whole(frame))


def test_windows_with_gaps_are_scanned_like_the_table_of_them(tmp_path):
    frame = pd.DataFrame(
        {
            "well": [1, 1, 2, 2, 2],
            "from": [0.0, 5.0, 1.0, 2.0, 7.0],
            "to": [3.0, 9.0, 2.0, 4.0, 8.0],
            "failed": [True, False, True, False, True],
            "cost": [2.0, 0.0, 1.5, 0.0, 3.0],
        }
    )
    write(frame, tmp_path / "windows.parquet", row_group_size=2)
    columns = {"id": "well", "start": "from", "stop": "to", "event": "failed"}
    y = RecurrentEvents.scan_parquet(tmp_path, **columns, cost="cost")
    assert y.collect().equals(
        RecurrentEvents.from_start_stop(frame, **columns, cost="cost")
    )
    assert y.has_costs


def stamped(seed=0):
    frame = table(n=9, seed=seed)
    begin = datetime(2024, 1, 1, tzinfo=UTC)
    frame["day"] = [begin + timedelta(days=float(day)) for day in frame["day"]]
    frame["entry"] = [begin - timedelta(days=1 + well % 4) for well in frame["well"]]
    return frame


@pytest.mark.parametrize("kind", ["us", "ns", "tz"])
@pytest.mark.parametrize("unit", [None, "h"])
@pytest.mark.parametrize(
    "options",
    [
        {"start": "entry"},
        {"start": "entry", "origin": "individual"},
        {"start": "entry", "origin": datetime(2023, 12, 1)},
        {"start": datetime(2023, 12, 24)},
        {"origin": "2023-12-24T12:00:00"},
    ],
)
def test_dates_count_from_one_origin_for_all_chunks(tmp_path, options, unit, kind):
    frame = stamped()
    if kind != "tz":
        for name in ("day", "entry"):
            frame[name] = frame[name].dt.tz_localize(None).astype(f"datetime64[{kind}]")
    write(frame, tmp_path / "events.parquet", row_group_size=5)
    y = scan(tmp_path, unit=unit, **options)
    expected = whole(frame, unit=unit, **options)
    assert (y.origin, y.time_unit) == (expected.origin, expected.time_unit)
    assert RecurrentEvents.concatenate(list(y.chunks(10))).equals(expected)


def test_a_scan_knows_what_the_container_knows(tmp_path):
    frame = table()
    write(frame, tmp_path / "events.parquet")
    y, expected = scan(tmp_path, unit="h"), whole(frame, unit="h")
    assert repr(y) == f"ScannedEvents(1 file, {len(frame)} rows)"
    assert len(y) == len(expected)
    assert np.array_equal(y.ids, expected.ids)
    assert np.array_equal(y.n_events, expected.n_events)
    assert (y.time_unit, y.origin, y.id_name) == ("h", None, "well")
    assert (y.has_ids, y.has_costs) == (True, False)


def test_where_events_must_be_in_memory_a_scan_says_how(tmp_path):
    write(table(), tmp_path / "events.parquet")
    with pytest.raises(TargetTypeError, match=r"y\.collect\(\)"):
        check_target(scan(tmp_path))


@pytest.mark.parametrize("is_sorted", [True, False])
@pytest.mark.parametrize(
    ("column", "row", "value", "rule"),
    [
        ("day", 12, np.nan, "Event times must be finite numbers"),
        ("day", 12, -1.0, "Event times must not be negative"),
        ("day", 12, 99.0, "Events must not come after the end of follow-up"),
        ("failed", 12, 0, "only one row for its end of follow-up"),
        ("failed", 12, 3, "must be True or False"),
        ("cost", 12, -1.0, "Costs of events must be finite and not negative"),
    ],
)
def test_errors_name_the_file_and_the_ids(tmp_path, is_sorted, column, row, value, rule):
    if not is_sorted:
        pytest.importorskip("duckdb")
    frame = table().astype({"failed": "int64"})
    frame.loc[row, column] = value
    third = len(frame) // 3
    parts = [frame.iloc[:third], frame.iloc[third : 2 * third], frame.iloc[2 * third :]]
    for name, part in zip("abc", parts, strict=True):
        rows = part if is_sorted else part.iloc[::-1]
        write(rows, tmp_path / f"{name}.parquet", row_group_size=9)
    with pytest.raises(InvalidEventsError) as caught:
        scan(tmp_path, cost="cost").collect()
    assert str(tmp_path / "a.parquet") in str(caught.value)
    assert "b.parquet" not in str(caught.value)
    assert rule in str(caught.value)
    assert f"(ids {frame['well'][row]})" in str(caught.value)
    assert "Hint: " in str(caught.value)


def test_a_missing_id_names_the_file(tmp_path):
    frame = table().astype({"well": "Int64"})
    write(frame.iloc[:50], tmp_path / "a.parquet")
    frame.loc[60, "well"] = None
    write(frame.iloc[50:], tmp_path / "b.parquet")
    with pytest.raises(InvalidEventsError, match=r"b\.parquet'.*Every row must have an id"):
        len(scan(tmp_path))


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"time": "hour"}, r"events\.parquet' lacks 'hour'"),
        ({"event": "day"}, None),
        ({"time": None}, "neither is"),
        ({"stop": "day"}, "both are"),
        ({"time": None, "stop": "day", "start": 0.0}, "`start` must be the name"),
        ({"origin": "2024-01-01"}, "`origin` must be None or 'individual'"),
    ],
)
def test_wrong_roles_are_refused_before_any_row_is_read(tmp_path, options, match):
    write(table(), tmp_path / "events.parquet")
    if match is None:
        with pytest.raises(InvalidEventsError, match="must be True or False"):
            scan(tmp_path, **options).collect()
        return
    with pytest.raises(InvalidParameterError, match=match):
        scan(tmp_path, **options)


def test_dates_without_an_origin_are_refused_at_once(tmp_path):
    write(stamped(), tmp_path / "events.parquet")
    with pytest.raises(InvalidEventsError, match="start of follow-up must be known"):
        scan(tmp_path)


def test_files_without_rows_have_no_individual(tmp_path):
    write(table().iloc[:0], tmp_path / "events.parquet")
    with pytest.raises(InvalidEventsError, match="at least one individual"):
        len(scan(tmp_path))


def test_files_that_change_between_passes_are_noticed(tmp_path):
    write(table(), tmp_path / "events.parquet")
    y = scan(tmp_path)
    assert len(y) == 40
    write(table().assign(well=lambda frame: frame["well"] + 1), tmp_path / "events.parquet")
    with pytest.raises(InvalidEventsError, match="must not change"):
        y.collect()


@pytest.mark.parametrize("n_kept", [0, 1, 20, 39])
@pytest.mark.parametrize("group", [30, 1000])
def test_files_that_lose_individuals_between_passes_are_noticed(tmp_path, n_kept, group):
    frame = table()
    write(frame, tmp_path / "events.parquet", row_group_size=group)
    y = scan(tmp_path)
    assert len(y) == 40
    rest = frame[frame["well"] < y.ids[n_kept]]
    write(rest, tmp_path / "events.parquet", row_group_size=group)
    with pytest.raises(InvalidEventsError, match="must not change"):
        y.collect()


def test_files_with_as_many_rows_of_fewer_individuals_are_noticed(tmp_path):
    frame = table()
    write(frame, tmp_path / "events.parquet")
    y = scan(tmp_path)
    assert len(y) == 40
    gone = frame["well"] == y.ids[-1]
    rest = frame.assign(
        well=frame["well"].mask(gone, y.ids[-2]),
        failed=frame["failed"].mask(frame["well"] == y.ids[-2], 1),
        day=frame["day"].mask(frame["well"] == y.ids[-2], 1.0),
    )
    write(rest, tmp_path / "events.parquet")
    with pytest.raises(InvalidEventsError, match="must not change"):
        y.collect()


@pytest.mark.slow
def test_memory_does_not_grow_with_the_files(tmp_path):
    n, rng = 60_000, np.random.default_rng(0)
    peaks = []
    for n_files in (1, 4):
        folder = tmp_path / str(n_files)
        folder.mkdir()
        for part in range(n_files):
            wells = np.arange(n) + part * n
            frame = pd.DataFrame({"well": wells, "day": rng.random(n) + 1.0, "failed": 0})
            write(frame, folder / f"{part}.parquet", row_group_size=5000)
        y = scan(folder)
        assert len(y) == n * n_files
        tracemalloc.start()
        n_chunks = sum(1 for _ in y.chunks(10_000))
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
        assert n_chunks >= 6 * n_files
    assert peaks[1] < 1.2 * peaks[0]


def test_mapping_ahead_keeps_the_order_and_looks_only_a_little_ahead():
    started = []

    def items():
        for item in range(20):
            started.append(item)
            yield item

    results = map_ahead(lambda item: item**2, items(), 3)
    assert next(results) == 0
    assert len(started) <= 5
    assert list(results) == [item**2 for item in range(1, 20)]


def test_mapping_ahead_in_turn_takes_one_item_at_a_time():
    busy = threading.Lock()

    def square(item):
        assert busy.acquire(blocking=False)
        time.sleep(0.002)
        busy.release()
        return item**2

    results = map_ahead(square, range(20), 3, in_turn=True)
    assert list(results) == [item**2 for item in range(20)]


def test_mapping_ahead_passes_on_errors_in_their_place():
    results = map_ahead(lambda item: 1 // item, [1, 0, 1], 2)
    assert next(results) == 1
    with pytest.raises(ZeroDivisionError):
        next(results)

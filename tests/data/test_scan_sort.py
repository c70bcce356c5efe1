"""Rows in any order, once sorted on disk, are those of the table in memory."""

import logging
from datetime import datetime

import pytest
from tests.data.scan_scenes import scan, table, whole, write

from boostr.data.parquet.rows import _sort_errors
from boostr.exceptions import InvalidParameterError

duckdb = pytest.importorskip("duckdb")
pa = pytest.importorskip("pyarrow")
pd = pytest.importorskip("pandas")
pq = pytest.importorskip("pyarrow.parquet")


@pytest.mark.parametrize("text", [False, True])
def test_rows_in_any_order_are_sorted_once_and_said_so(tmp_path, caplog, text):
    frame = table(text=text).sample(frac=1.0, random_state=0)
    write(frame.iloc[:60], tmp_path / "a.parquet", row_group_size=20)
    write(frame.iloc[60:], tmp_path / "b.parquet")
    y = scan(tmp_path, cost="cost")
    with caplog.at_level(logging.INFO, logger="boostr"):
        assert y.collect().equals(whole(frame, cost="cost"))
        assert y.collect().equals(whole(frame, cost="cost"))
    said = [record.message for record in caplog.records]
    assert [message.startswith("Rows are not sorted by 'well'") for message in said] == [
        True,
        False,
    ]
    assert f"sorting {len(frame)} rows of 2 files" in said[0]


def test_a_cache_keeps_sorted_rows_until_the_files_change(tmp_path, caplog):
    frame = table().sample(frac=1.0, random_state=0)
    file, cache = tmp_path / "events.parquet", tmp_path / "cache"
    write(frame, file)
    with caplog.at_level(logging.WARNING, logger="boostr"):
        for _ in range(2):
            assert scan(file, cache=cache).collect().equals(whole(frame))
    assert [record.levelname for record in caplog.records] == ["WARNING"]
    other = table(seed=1).sample(frac=1.0, random_state=0)
    write(other, file)
    assert scan(file, cache=cache).collect().equals(whole(other))
    assert len(list(cache.iterdir())) == 2  # and nothing that was only spilled


def test_sorted_rows_without_a_cache_go_with_the_scan(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "temporary"))
    (tmp_path / "temporary").mkdir()
    write(table().iloc[::-1], tmp_path / "events.parquet")
    y = scan(tmp_path / "events.parquet")
    assert len(y) == 40
    assert list((tmp_path / "temporary").iterdir())
    del y
    assert not list((tmp_path / "temporary").iterdir())


def test_names_of_folders_are_no_columns(tmp_path):
    frame = table()
    folder = tmp_path / "well=3" / "day=2024-01-01"
    folder.mkdir(parents=True)
    write(frame.iloc[::-1], folder / "events.parquet")
    assert scan(tmp_path).collect().equals(whole(frame))


@pytest.mark.parametrize("kind", ["s", "ms", "us", "ns", "date"])
def test_durations_and_dates_are_the_same_after_a_sort(tmp_path, kind):
    frame = table(n=9)
    options = {"unit": "D"}
    days = pd.to_timedelta(frame["day"].round(), unit="D")
    if kind == "date":
        frame["day"] = (pd.Timestamp("2024-01-01") + days).dt.date
        options["origin"] = datetime(2023, 12, 24)
    else:
        frame["day"] = days.astype(f"timedelta64[{kind}]")
    write(frame, tmp_path / "events.parquet")
    expected = scan(tmp_path, **options).collect()
    write(frame.iloc[::-1], tmp_path / "events.parquet")
    assert scan(tmp_path, **options).collect().equals(expected)
    assert expected.end.max() < 90.0


@pytest.mark.parametrize("is_sorted", [True, False])
def test_a_failed_sort_leaves_nothing_and_says_what_to_give_it(tmp_path, is_sorted):
    frame = table()
    write(frame if is_sorted else frame.iloc[::-1], tmp_path / "events.parquet")
    y = scan(tmp_path / "events.parquet", cache=tmp_path / "cache", sort_memory="much")
    if is_sorted:
        assert y.collect().equals(whole(frame))
        return
    with pytest.raises(InvalidParameterError, match=r"(?s)sorting them failed.*'much'"):
        len(y)
    assert not list((tmp_path / "cache").iterdir())


@pytest.mark.parametrize("kind", ["InterruptException", "RuntimeError"])
def test_the_key_that_interrupts_interrupts_a_sort(kind):
    error = getattr(duckdb, kind, RuntimeError)
    with pytest.raises(KeyboardInterrupt), _sort_errors(duckdb, "1GB"):
        raise error("Query interrupted")
    with pytest.raises(RuntimeError, match="other"), _sort_errors(duckdb, "1GB"):
        raise RuntimeError("other")


@pytest.mark.parametrize("where", [".", "cache"])
def test_a_cache_inside_of_the_folder_is_no_data(tmp_path, where):
    frame = table().iloc[::-1]
    write(frame, tmp_path / "events.parquet")
    for _ in range(2):
        y = scan(tmp_path, cache=tmp_path / where)
        assert y.collect().equals(whole(frame))
        assert repr(y) == f"ScannedEvents(1 file, {len(frame)} rows)"
    assert len(list((tmp_path / where).glob("sorted-*"))) == 1

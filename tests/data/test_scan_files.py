"""Files are found wherever they are, and united or refused whatever they hold."""

import numpy as np
import pytest
from tests.data.scan_scenes import scan, table, whole, write

from boostr.data.parquet.row_groups import open_files
from boostr.exceptions import InvalidParameterError

pa = pytest.importorskip("pyarrow")
pd = pytest.importorskip("pandas")
pq = pytest.importorskip("pyarrow.parquet")


def test_row_groups_without_statistics_are_read_in_the_order_given(tmp_path, monkeypatch):
    frame = table()
    half = len(frame) // 2
    write(frame.iloc[:half], tmp_path / "z.parquet", write_statistics=False)
    write(frame.iloc[half:], tmp_path / "a.parquet", write_statistics=False)
    monkeypatch.setattr("boostr.data.parquet.rows.sort_files", None)  # no sort is needed
    y = scan([tmp_path / "z.parquet", tmp_path / "a.parquet"])
    assert y.collect().equals(whole(frame))


def test_folders_may_be_named_like_files_and_suffixes_be_in_capitals(tmp_path):
    frame = table()
    half = len(frame) // 2
    (tmp_path / "parts.parquet").mkdir()
    write(frame.iloc[:half], tmp_path / "parts.parquet" / "A.PARQUET")
    write(frame.iloc[half:], tmp_path / "parts.parquet" / "b.Pq")
    assert scan(tmp_path).collect().equals(whole(frame))


def test_paths_may_be_files_folders_patterns_and_lists_of_them(tmp_path):
    frame = table()
    (tmp_path / "deep" / "er").mkdir(parents=True)
    half = len(frame) // 2
    write(frame.iloc[:half], tmp_path / "deep" / "a.parquet")
    write(frame.iloc[half:], tmp_path / "deep" / "er" / "b.pq")
    deep = tmp_path / "deep"
    for path in (
        deep,
        str(deep),
        str(deep / "**" / "*.p*q*"),
        [deep / "a.parquet", str(deep / "er")],
        [deep, deep / "a.parquet"],
    ):
        assert scan(path).collect().equals(whole(frame))


def test_types_that_differ_between_files_are_united(tmp_path):
    frame = table().astype({"well": "int32", "day": "float32"})
    half = int(np.searchsorted(frame["well"], 100))
    write(frame.iloc[:half], tmp_path / "a.parquet")
    write(frame.iloc[half:].astype({"well": "int64"}), tmp_path / "b.parquet")
    assert scan(tmp_path).collect().equals(whole(frame.astype({"well": "int64"})))


def test_integers_and_floats_as_ids_are_refused(tmp_path):
    frame = table()
    write(frame.iloc[:50], tmp_path / "a.parquet")
    write(frame.iloc[50:].astype({"well": "float64"}), tmp_path / "b.parquet")
    with pytest.raises(
        InvalidParameterError,
        match=r"b\.parquet' differs.*'well' is double in it and int64",
    ):
        scan(tmp_path)


def test_durations_of_several_units_are_refused(tmp_path):
    frame = table()
    for name, unit in (("a", "s"), ("b", "ms")):
        days = pd.to_timedelta(frame["day"], unit="D").astype(f"timedelta64[{unit}]")
        write(frame.assign(day=days), tmp_path / f"{name}.parquet")
    with pytest.raises(InvalidParameterError, match=r"b\.parquet' differs.*duration"):
        scan(tmp_path)


def test_values_that_do_not_fit_the_types_of_all_name_the_file(tmp_path):
    frame = table()
    write(frame.iloc[:50].assign(well=-1), tmp_path / "a.parquet")
    large = frame.iloc[50:].assign(well=np.uint64(2**64 - 1))
    write(large, tmp_path / "b.parquet")
    with pytest.raises(InvalidParameterError, match=r"[ab]\.parquet' do not fit"):
        len(scan(tmp_path))


def test_categories_as_ids_are_the_texts_they_stand_for(tmp_path):
    frame = table(text=True)
    write(frame.astype({"well": "category"}), tmp_path / "events.parquet")
    assert scan(tmp_path).collect().equals(whole(frame))


def test_files_that_cannot_be_read_or_do_not_match_are_named(tmp_path):
    write(table(), tmp_path / "a.parquet")
    (tmp_path / "b.parquet").write_bytes(b"no table")
    with pytest.raises(InvalidParameterError, match=r"b\.parquet' cannot be read"):
        scan(tmp_path)
    write(table().drop(columns="day"), tmp_path / "b.parquet")
    with pytest.raises(InvalidParameterError, match=r"b\.parquet' lacks 'day'"):
        scan(tmp_path)
    write(table(text=True), tmp_path / "b.parquet")
    with pytest.raises(InvalidParameterError, match=r"b\.parquet' differs"):
        scan(tmp_path)
    with pytest.raises(InvalidParameterError, match="at least one Parquet file"):
        scan([])
    with pytest.raises(InvalidParameterError, match="must exist"):
        scan(tmp_path / "nothing")


def test_a_row_group_is_not_read_whole(tmp_path):
    n = 1_000_000
    rng = np.random.default_rng(0)
    rows = {"well": np.arange(n), "day": rng.random(n), "failed": np.zeros(n, dtype=bool)}
    pq.write_table(pa.table(rows), tmp_path / "events.parquet", row_group_size=n)
    files = open_files([tmp_path / "events.parquet"], list(rows), "well")
    before = pa.total_allocated_bytes()
    batches = files.batches(list(rows), 1000)
    next(batches)
    size = (tmp_path / "events.parquet").stat().st_size
    assert pa.total_allocated_bytes() - before < 0.75 * size
    batches.close()

"""Parquet files that are damaged: an error with their name, and never the process' end."""

import subprocess
import sys
from datetime import date, timedelta

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

from boostr import RecurrentEvents  # noqa: E402
from boostr.data.parquet.footers import read_ranges  # noqa: E402
from boostr.exceptions import InvalidParameterError  # noqa: E402

N = 60
IDS = {
    "text": pa.array([f"ü{place:04d}" for place in range(N)]),
    "large text": pa.array([f"{place:04d}" for place in range(N)], pa.large_string()),
    "categories": pa.array([f"{place:04d}" for place in range(N)]).dictionary_encode(),
    "int64": pa.array(range(-9, N - 9)),
    "int8": pa.array(range(N), pa.int8()),
    "uint64": pa.array([2**64 - 1 - place for place in range(N)], pa.uint64()),
    "uint32": pa.array([2**32 - 1 - place for place in range(N)], pa.uint32()),
    "float32": pa.array(np.linspace(-1.0, 1.0, N), pa.float32()),
    "float64": pa.array(np.linspace(-1e300, 1e300, N)),
    "days": pa.array([date(1969, 12, 1) + timedelta(days=place) for place in range(N)]),
}
OTHERS = {
    "missing": pa.array([None, *range(N - 1)]),
    "stamps": pa.array(np.arange(N).astype("datetime64[s]")),
    "truth": pa.array([place % 2 == 0 for place in range(N)]),
    "nan": pa.array([np.nan] * N),
}


def write(path, ids, **options):
    """Write ids behind a column with parts, in three row groups."""
    parts = pa.array([{"a": 1.0, "b": 2} for _ in range(N)])
    table = pa.table({"parts": parts, "id": ids, "time": np.arange(N, dtype=float)})
    pq.write_table(table, path, row_group_size=N // 3, **options)
    return path


def find_ranges(path):
    opened = pq.ParquetFile(path)
    kind = opened.schema_arrow.field("id").type
    with path.open("rb") as file:
        return read_ranges(file, 2, kind, opened.num_row_groups)


@pytest.mark.parametrize("kind", IDS)
def test_ranges_are_those_of_the_rows(tmp_path, kind):
    path = write(tmp_path / "x.parquet", IDS[kind])
    values = IDS[kind].to_pylist()
    thirds = [values[first : first + N // 3] for first in range(0, N, N // 3)]
    assert find_ranges(path) == [(min(third), max(third)) for third in thirds]


@pytest.mark.parametrize("kind", OTHERS)
def test_ranges_of_other_ids_are_unknown(tmp_path, kind):
    found = find_ranges(write(tmp_path / "x.parquet", OTHERS[kind]))
    assert found[0] == (None, None)
    assert len(found) == 3


def test_without_statistics_ranges_are_unknown(tmp_path):
    path = write(tmp_path / "x.parquet", IDS["int64"], write_statistics=False)
    assert find_ranges(path) == [(None, None)] * 3


@pytest.fixture(scope="module")
def content(tmp_path_factory):
    path = tmp_path_factory.mktemp("parquet") / "x.parquet"
    return write(path, IDS["text"]).read_bytes()


@given(data=st.data())
def test_damaged_footers_have_ranges_or_none(content, tmp_path, data):
    size = int.from_bytes(content[-8:-4], "little") + 8
    damaged = bytearray(content)
    for place in data.draw(st.lists(st.integers(1, size), min_size=1, max_size=3)):
        damaged[-place] = data.draw(st.integers(0, 255))
    path = tmp_path / "x.parquet"
    path.write_bytes(damaged)
    with path.open("rb") as file:
        found = read_ranges(file, 2, pa.string(), 3)
    assert len(found) == 3
    for first, last in found:
        assert (first is None) == (last is None)
        assert first is None or first <= last


def write_events(folder, n_files):
    """Write histories of ten individuals in order, two events each, into files."""
    owner = np.repeat(np.arange(10), 3)
    table = pa.table(
        {
            "id": owner,
            "time": np.tile([1.0, 2.0, 9.0], 10),
            "event": np.tile([1, 1, 0], 10),
        }
    )
    files = []
    for number, rows in enumerate(np.array_split(np.arange(30), n_files)):
        files.append(folder / f"part-{number}.parquet")
        pq.write_table(table.take(rows), files[-1], row_group_size=8)
    return files


def test_a_damaged_page_names_its_file(tmp_path):
    files = write_events(tmp_path, 2)
    content = bytearray(files[1].read_bytes())
    content[4:40] = bytes(36)  # the first page, behind the magic word
    files[1].write_bytes(content)
    with pytest.raises(InvalidParameterError, match=r"part-1.parquet' cannot be read"):
        RecurrentEvents.scan_parquet(
            tmp_path, id="id", time="time", event="event"
        ).collect()


# Every byte of a short footer, in a process that must not end by it.
CODE = """
import sys
from pathlib import Path
from boostr import RecurrentEvents
from boostr.exceptions import BoostrError

path = Path(sys.argv[1])
content = path.read_bytes()
begin = len(content) - 8 - int.from_bytes(content[-8:-4], "little")
names = {"id": "id", "time": "time", "event": "event"}
n_refused = 0
for place in range(begin, len(content)):
    damaged = bytearray(content)
    damaged[place] ^= 2
    path.write_bytes(damaged)
    try:
        RecurrentEvents.scan_parquet(path, **names).collect()
    except (BoostrError, ValueError, TypeError, MemoryError):
        n_refused += 1
print(n_refused)
"""


@pytest.mark.slow
def test_no_byte_of_a_footer_ends_the_process(tmp_path):
    path = tmp_path / "x.parquet"
    table = pa.table({"id": [1, 1], "time": [1.0, 2.0], "event": [1, 0]})
    pq.write_table(table, path, store_schema=False)
    shown = subprocess.run(
        [sys.executable, "-c", CODE, path], capture_output=True, text=True, check=False
    )
    assert shown.returncode == 0, shown.stderr[-1000:]
    assert int(shown.stdout) > 100

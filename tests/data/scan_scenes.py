"""Wells with failures as tables, Parquet files and scans of them."""

import numpy as np
import pytest

from boostr.data import RecurrentEvents

pa = pytest.importorskip("pyarrow")
pd = pytest.importorskip("pandas")
pq = pytest.importorskip("pyarrow.parquet")

ROLES = {"id": "well", "time": "day", "event": "failed"}


def table(n=40, seed=0, text=False):
    """Rows of ``n`` wells, sorted by well; every third has no event."""
    rng = np.random.default_rng(seed)
    rows = []
    for well in range(n):
        times = np.sort(rng.uniform(0.0, 50.0, 0 if well % 3 == 0 else rng.integers(1, 9)))
        name = f"W{well:03d}" if text else 7 * well - 5
        rows += [(name, time, 1, rng.uniform(0, 2)) for time in times]
        rows.append((name, rng.uniform(50.0, 60.0), 0, 0.0))
    return pd.DataFrame(rows, columns=["well", "day", "failed", "cost"])


def write(frame, path, **options):
    pq.write_table(pa.Table.from_pandas(frame, preserve_index=False), path, **options)


def whole(frame, **options):
    return RecurrentEvents.from_long(frame, **(ROLES | options))


def scan(path, **options):
    return RecurrentEvents.scan_parquet(path, **(ROLES | options))

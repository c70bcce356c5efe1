"""Histories, features and sensors as tables, in memory, on disk and on a cluster."""

from dataclasses import dataclass
from typing import Any

import dask.dataframe as dd
import numpy as np
import pandas as pd

from boostr import RecurrentEvents, Trajectories

COLUMNS = {"id": "unit", "time": "day", "event": "failed"}


@dataclass(frozen=True)
class Fleet:
    """The same individuals in three long tables."""

    static: pd.DataFrame
    events: pd.DataFrame
    sensors: pd.DataFrame

    @property
    def X(self) -> pd.DataFrame:  # noqa: N802 - as in scikit-learn
        return self.static.sort_values("unit").drop(columns=["unit", "weight"])

    @property
    def weights(self) -> np.ndarray:
        return self.static.sort_values("unit")["weight"].to_numpy()

    @property
    def y(self) -> RecurrentEvents:
        return RecurrentEvents.from_long(self.events, "unit", "day", "failed")

    @property
    def Z(self) -> Trajectories:  # noqa: N802
        return Trajectories.from_long(self.sensors, "unit", "day", ids=self.y.ids)

    def shuffled(self, seed: int) -> "Fleet":
        tables = (self.static, self.events, self.sensors)
        return Fleet(*(table.sample(frac=1.0, random_state=seed) for table in tables))


def make_fleet(n: int, seed: int = 0, text_ids: bool = True) -> Fleet:
    """Simulate individuals with numbers, gaps, categories, weights and two sensors."""
    rng = np.random.default_rng(seed)
    ids = np.array([f"u{place:06d}" for place in range(n)]) if text_ids else np.arange(n)
    kind = rng.choice(["old", "new", "odd"], n)
    static = pd.DataFrame(
        {
            "unit": ids,
            "size": np.where(rng.random(n) < 0.1, np.nan, rng.normal(size=n)),
            "kind": kind,
            "age": rng.integers(0, 9, n),
            "weight": rng.choice([0.0, 1.0, 2.0], n, p=[0.05, 0.75, 0.2]),
        }
    )
    end = rng.uniform(5.0, 20.0, n)
    rate = np.where(kind == "old", 0.4, 0.1) * np.where(static["size"] > 0, 2.0, 1.0)
    n_events = rng.poisson(rate * end)
    owner = np.repeat(np.arange(n), n_events)
    rows = {
        "unit": np.concatenate([ids[owner], ids]),
        "day": np.concatenate([rng.uniform(0, 1, len(owner)) * end[owner] + 1e-9, end]),
        "failed": np.concatenate([np.ones(len(owner), int), np.zeros(n, int)]),
    }
    samples = np.repeat(np.arange(n), 4)
    sensors = pd.DataFrame(
        {
            "unit": ids[samples],
            "day": np.tile([0.0, 2.0, 5.0, 9.0], n),
            "load": rng.normal(size=4 * n),
            "mode": rng.choice(["idle", "run"], 4 * n),
        }
    )
    return Fleet(static, pd.DataFrame(rows).sort_values("unit"), sensors)


def spread(table: pd.DataFrame, n: int) -> Any:
    """Return a table as a Dask DataFrame whose rows are in no order."""
    return dd.from_pandas(table.reset_index(drop=True), npartitions=n, sort=False)


def write(table: pd.DataFrame, folder: Any, n_files: int, row_group_size: int = 500) -> str:
    """Write a table into Parquet files of consecutive rows."""
    folder.mkdir()
    limits = np.linspace(0, len(table), n_files + 1).astype(int)
    for number in range(n_files):
        part = table.iloc[limits[number] : limits[number + 1]]
        path = folder / f"part-{number:03d}.parquet"
        part.to_parquet(path, index=False, row_group_size=row_group_size)
    return str(folder)

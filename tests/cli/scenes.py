"""A small fleet of pumps in files, as users have them."""

import numpy as np
import polars as pl

TINY = ("--n-estimators", "5", "--validation", "none")


def draw_pumps(n=40, seed=0):
    """Return tables of events, features and samples; the first feature matters."""
    rng = np.random.default_rng(seed)
    names = [f"P{number:02d}" for number in range(n)]
    load = rng.uniform(size=n)
    rows = []
    for name, rate in zip(names, np.where(load > 0.5, 6.0, 1.0), strict=True):
        times = np.sort(rng.uniform(0.0, 100.0, rng.poisson(rate))).round(3)
        rows += [(name, float(time), 1) for time in times] + [(name, 100.0, 0)]
    events = pl.DataFrame(rows, schema=["pump", "day", "failed"], orient="row")
    static = pl.DataFrame(
        {"pump": names, "load": load, "site": ["north", "south"] * (n // 2)}
    )
    sensors = pl.DataFrame(
        {
            "pump": np.repeat(names, 3),
            "day": np.tile([0.0, 30.0, 60.0], n),
            "torque": rng.uniform(size=3 * n),
            "mode": rng.choice(["a", "b"], 3 * n),
        }
    )
    return events, static, sensors


def write_pumps(folder, **options):
    """Write the three tables as CSV, features in another order than the events."""
    events, static, sensors = draw_pumps(**options)
    paths = [folder / name for name in ("events.csv", "pumps.csv", "sensors.csv")]
    for table, path in zip((events, static.reverse(), sensors), paths, strict=True):
        table.write_csv(path)
    return paths

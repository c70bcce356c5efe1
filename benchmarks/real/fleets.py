"""Real fleets as tables: histories in calendar time and in age, features, candidates."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from benchmarks._repeat_buying import ParetoNBD
from benchmarks.real.gamma_poisson import GammaPoisson
from benchmarks.real.landmarks import LandmarkLightGBM
from boostr import BoostR, RecurrentEvents, Trajectories

LANL_FEATURES = (
    *("system", "machine_type", "n_nodes", "procs_total", "procs_in_node", "cpu_type"),
    *("mem_type", "n_interconnects", "fru_type", "purpose"),
)
LANL_CODES = ["system", "cpu_type", "mem_type"]
BUS_FEATURES = ["model", "group", "year_purchased", "odometer_at_begin"]


@dataclass(frozen=True)
class Fleet:
    """A fleet, the dates at which it is forecast, and how far."""

    name: str
    X: pd.DataFrame
    y: RecurrentEvents  # in calendar time
    dates: list[Any]
    horizon: float
    models: dict[str, Any] = field(default_factory=dict)

    def thin(self, n_dates: int) -> Fleet:
        """Return the same fleet with the last few dates."""
        return Fleet(
            self.name, self.X, self.y, self.dates[-n_dates:], self.horizon, self.models
        )


def read_fleets(
    folder: Path, boostr: BoostR, names: list[str] | None
) -> list[Callable[[], list[Fleet]]]:
    """Return what reads the fleets whose folders are there."""
    chosen = [name for name in READERS if names is None or name in names]
    return [
        (lambda name=name: READERS[name](folder / name, boostr))
        for name in chosen
        if (folder / name).is_dir()
    ]


def _read(folder: Path, name: str) -> pd.DataFrame:
    plain = folder / f"{name}.csv"
    return pd.read_csv(plain if plain.exists() else plain.with_suffix(".csv.gz"))


def _read_long(folder: Path, unit: str, ids: Any = None) -> RecurrentEvents:
    events = _read(folder, "events")
    if ids is not None:
        events = events[events["id"].isin(ids)]
    return RecurrentEvents.from_long(
        events, "id", "time", "event", unit=unit, duplicates="keep"
    )


def _read_static(folder: Path, y: RecurrentEvents) -> pd.DataFrame:
    return _read(folder, "static").set_index("id").loc[y.ids]


def _steps(last: str, days: int, n_dates: int) -> list[np.datetime64]:
    """Return evenly spaced days up to the last one."""
    back = np.arange(n_dates)[::-1] * np.timedelta64(days, "D")
    return list(np.datetime64(last, "D") - back)


def read_cdnow(folder: Path, boostr: BoostR) -> list[Fleet]:
    static = _read(folder, "static")
    sample = static.loc[static["in_classic_2357_sample"] == 1, "id"]
    age = _read_long(folder, "D", sample)
    static = _read_static(folder, age)
    first = static["first_purchase_day_1997"].to_numpy().astype("timedelta64[D]")
    y = age.in_calendar_time(np.datetime64("1997-01-01") + first)
    X = static[["first_n_cds", "first_dollars"]].astype(float)
    fleets = [
        ("cdnow, 91 days", _steps("1998-03-31", 30, 10), 91.0),
        ("cdnow, 273 days", [np.datetime64("1997-09-30")], 273.0),
    ]
    return [
        Fleet(name, X, y, dates, horizon, _customers(boostr, y, horizon))
        for name, dates, horizon in fleets
    ]


def read_retail(folder: Path, boostr: BoostR) -> list[Fleet]:
    age = _read_long(folder, "D")
    static = _read_static(folder, age)
    first = static["first_purchase_day"].to_numpy().astype("timedelta64[D]")
    y = age.in_calendar_time(np.datetime64("2010-12-01") + first)
    X = static[["country", "first_value_gbp", "first_items", "first_lines"]]
    dates = _steps("2011-10-10", 21, 10)
    models = _customers(boostr, y, 60.0)
    return [Fleet("online retail, 60 days", X, y, dates, 60.0, models)]


def _customers(boostr: BoostR, y: RecurrentEvents, horizon: float) -> dict[str, Any]:
    age = y.in_age()
    return {
        "BoostR": (boostr, age),
        "Pareto/NBD": (ParetoNBD(), age),
        "gamma-Poisson": GammaPoisson(),
        "LightGBM on landmarks": LandmarkLightGBM(horizon),
    }


def read_lanl(folder: Path, boostr: BoostR) -> list[Fleet]:
    age = _read_long(folder, "D")
    static = _read_static(folder, age)
    y = age.in_calendar_time(static["time0_date"].to_numpy().astype("datetime64[D]"))
    X = static[list(LANL_FEATURES)].copy()
    X[LANL_CODES] = X[LANL_CODES].astype(str)
    models = {
        "BoostR, age": (boostr, y.in_age()),
        "BoostR, calendar": boostr,
        "gamma-Poisson by system": GammaPoisson("system"),
        "LightGBM on landmarks": LandmarkLightGBM(365.0),
    }
    # The last one is the single split with a whole year after it.
    dates = _steps("2004-09-09", 182, 10)
    return [Fleet("LANL nodes, 365 days", X, y, dates, 365.0, models)]


def read_buses(folder: Path, boostr: BoostR) -> list[Fleet]:
    age = _read_long(folder, "months")
    static = _read_static(folder, age)
    month = 12.0 * static["year_begin"] + static["month_begin"]
    y = age.in_calendar_time((month - month.min()).to_numpy())
    dynamic = pd.read_parquet(folder / "dynamic.parquet")
    Z = Trajectories.from_long(dynamic, "id", "time", ids=age.ids, unit="months")
    models = {
        "BoostR": (boostr, age),
        "BoostR, sensors": (boostr, age, Z),
        "gamma-Poisson": GammaPoisson(),
        "gamma-Poisson by group": GammaPoisson("group"),
        "LightGBM on landmarks": LandmarkLightGBM(12.0, (3.0, 12.0, 36.0)),
    }
    last = float(y.end.max()) - 12.0
    dates = [last - 6.0 * back for back in reversed(range(10))]
    return [Fleet("Rust's buses, 12 months", static[BUS_FEATURES], y, dates, 12.0, models)]


def _read_small(
    name: str,
    unit: str,
    horizon: float,
    dates: list[float],
    windows: tuple[float, ...],
) -> Callable[[Path, BoostR], list[Fleet]]:
    """Return what reads a fleet whose individuals all start at time 0."""

    def read(folder: Path, boostr: BoostR) -> list[Fleet]:
        events = _read(folder, "events")
        if "start" in events:
            y = RecurrentEvents.from_start_stop(
                events, "id", "start", "stop", "event", unit=unit
            )
        else:
            y = RecurrentEvents.from_long(
                events, "id", "time", "event", unit=unit, duplicates="keep"
            )
        X = pd.DataFrame({"constant": np.zeros(len(y))}, index=y.ids)
        if (folder / "static.csv").exists():
            X = _read_static(folder, y)
        models = {
            "BoostR": boostr,
            "gamma-Poisson": GammaPoisson(),
            "LightGBM on landmarks": LandmarkLightGBM(horizon, windows),
        }
        return [Fleet(name, X, y, list(dates), horizon, models)]

    return read


READERS: dict[str, Callable[[Path, BoostR], list[Fleet]]] = {
    "cdnow": read_cdnow,
    "lanl_hpc": read_lanl,
    "online_retail": read_retail,
    "rust_buses": read_buses,
    "bladder1": _read_small(
        "bladder, 6 months", "months", 6.0, [12.0, 18.0, 24.0, 30.0], (3.0, 6.0, 12.0)
    ),
    "cgd": _read_small(
        "CGD, 90 days", "D", 90.0, [150.0, 180.0, 210.0, 240.0], (30.0, 90.0, 365.0)
    ),
    "valve_seats": _read_small(
        "valve seats, 100 days", "D", 100.0, [350.0, 400.0, 450.0, 500.0], (30.0, 90.0)
    ),
    "lhd_hydraulic": _read_small(
        "LHD hydraulics, 500 hours", "h", 500.0, [1000.0, 1500.0, 2000.0], (100.0, 500.0)
    ),
}

"""Repeat purchases of CDNOW's customers: forecasts of nine months from nine months.

    python -m benchmarks.cdnow FOLDER

FOLDER holds ``events.csv.gz`` (id, time, event; days since the first purchase) and
``static.csv.gz`` (one row per customer). The 2357 customers of the usual sample made their
first purchase in the first quarter of 1997. Models learn from what was known on 1997-09-30
and forecast every customer's purchases up to 1998-06-30. Pareto/NBD and the power law with
gamma frailties, which know no features, are fitted here by maximum likelihood, too.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.optimize import minimize
from scipy.special import gammaln

from benchmarks._repeat_buying import ParetoNBD
from benchmarks._timing import format_table, record
from boostr import BoostR, RecurrentEvents, Trajectories

CALIBRATION_DAY = 272.0  # 1997-09-30, counted from 1997-01-01
HORIZON = 273.0  # days to 1998-06-30
FEATURES = ["first_n_cds", "first_dollars"]
N_PATHS = 50
STEP = 3.0  # days: pieces of the time since the last purchase
HALF_YEAR = 182.0  # days

Memory = Callable[[RecurrentEvents, np.ndarray], Trajectories]


@dataclass(frozen=True)
class Customers:
    """What was known of the customers, and what they bought later."""

    features: pd.DataFrame
    y: RecurrentEvents
    later: np.ndarray  # (n,)

    @classmethod
    def read(cls, folder: Path) -> Customers:
        static = pd.read_csv(folder / "static.csv.gz").set_index("id").sort_index()
        static = static[static["in_classic_2357_sample"] == 1]
        events = pd.read_csv(folder / "events.csv.gz")
        events = events[events["id"].isin(static.index) & (events["event"] == 1)]
        age = CALIBRATION_DAY - static["first_purchase_day_1997"]
        is_later = events["time"] > events["id"].map(age)
        known = events[~is_later].groupby("id")["time"].apply(list).reindex(static.index)
        y = RecurrentEvents.from_lists(
            [times if isinstance(times, list) else [] for times in known],
            end=age.to_numpy(dtype=float),
            ids=static.index.to_numpy(),
        )
        later = events[is_later].groupby("id").size().reindex(static.index, fill_value=0)
        return cls(static[FEATURES].astype(float), y, later.to_numpy())


def pareto_nbd(customers: Customers) -> np.ndarray:
    """Forecast with purchases at a constant rate up to a dropout, both gamma-mixed."""
    model = ParetoNBD().fit(None, customers.y)
    return model.forecast(None, customers.y, HORIZON)["expected"].to_numpy()


def power_law(customers: Customers) -> np.ndarray:
    """Forecast with one power law for all, and a permanent gamma frailty for each."""
    n, end = customers.y.n_events, customers.y.end
    log_times = np.log(customers.y.times).sum()

    def loss(point: np.ndarray) -> float:
        scale, exponent, shape = np.exp(point)
        curve = scale * end**exponent
        log_rates = n.sum() * np.log(scale * exponent) + (exponent - 1.0) * log_times
        mixed = gammaln(n + shape) - gammaln(shape) + shape * np.log(shape)
        return -float(log_rates + np.sum(mixed - (n + shape) * np.log(shape + curve)))

    found = minimize(
        loss, [-5.0, 0.0, 0.0], method="Nelder-Mead", options={"maxiter": 4000}
    )
    scale, exponent, shape = np.exp(found.x)
    ahead = scale * ((end + HORIZON) ** exponent - end**exponent)
    return ahead * (n + shape) / (scale * end**exponent + shape)


def boosted(customers: Customers, X: np.ndarray, *, own_history: bool = True) -> np.ndarray:
    """Forecast with `BoostR` and what every customer did so far."""
    model = BoostR(random_state=0).fit(X, customers.y)
    return _expected(model.forecast(X, customers.y, HORIZON, own_history=own_history))


def since_last(y: RecurrentEvents, until: np.ndarray) -> Trajectories:
    """Return the time since the last purchase as a sensor."""
    return Trajectories.from_events(y).time_since_event(y, step=STEP, until=until)


def lately(y: RecurrentEvents, until: np.ndarray) -> Trajectories:
    """Return the number of purchases in the last half year as a sensor."""
    return Trajectories.from_events(y).events_in_window(y, HALF_YEAR)


def both(y: RecurrentEvents, until: np.ndarray) -> Trajectories:
    """Return the two sensors beside each other."""
    return since_last(y, until).events_in_window(y, HALF_YEAR)


def with_sensors(
    customers: Customers, X: np.ndarray, memory: Memory, *, is_first: bool = False
) -> np.ndarray:
    """The same with sensors that follow from purchases, and drawn futures.

    Their effects are learned beside frailties, or before them.
    """
    y = customers.y
    model = BoostR(random_state=0).fit(X, y, memory(y, y.end) if is_first else memory)
    return _expected(model.forecast(X, y, HORIZON, memory, n_paths=N_PATHS))


def forecasts(customers: Customers) -> Iterator[tuple[str, Callable[[], np.ndarray]]]:
    nothing = np.zeros((len(customers.y), 1))
    first = customers.features.to_numpy()
    drawn = partial(with_sensors, customers, nothing)
    yield "Pareto/NBD", lambda: pareto_nbd(customers)
    yield "power law with gamma frailty", lambda: power_law(customers)
    yield (
        "boostr, no features, plain",
        lambda: boosted(customers, nothing, own_history=False),
    )
    yield "boostr, no features, own history", lambda: boosted(customers, nothing)
    yield "boostr, first purchase, own history", lambda: boosted(customers, first)
    yield "boostr, time since purchase", partial(drawn, since_last)
    yield "boostr, purchases lately", partial(drawn, lately)
    yield "boostr, both sensors", partial(drawn, both)
    yield "boostr, both sensors, learned first", partial(drawn, both, is_first=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    asked = parser.parse_args()
    customers = Customers.read(asked.folder)
    observed = int(customers.later.sum())
    print(f"{len(customers.y)} customers, {observed} purchases to forecast\n", flush=True)
    rows = []
    for name, forecast in forecasts(customers):
        expected = forecast()
        error = expected - customers.later
        figures = {
            "rmse": float(np.sqrt(np.mean(error**2))),
            "mae": float(np.mean(np.abs(error))),
            "total": float(expected.sum()),
        }
        record("cdnow.jsonl", name=name, observed=observed, **figures)
        share = figures["total"] / observed - 1.0
        rows.append(
            [
                name,
                f"{figures['rmse']:.3f}",
                f"{figures['mae']:.3f}",
                f"{figures['total']:.0f}",
                f"{share:+.1%}",
            ]
        )
        print("; ".join(rows[-1]), flush=True)
    print(f"\n{format_table(['forecast', 'RMSE', 'MAE', 'total', 'off by'], rows)}")


def _expected(table: pd.DataFrame) -> np.ndarray:
    """Return expected numbers in the order of the customers."""
    return table.sort_values("id")["expected"].to_numpy()


if __name__ == "__main__":
    main()

"""How often prediction intervals hold: simulated fleets with and without frailty.

    python -m benchmarks.coverage
    python -m benchmarks.coverage --quick
    python -m benchmarks.coverage --means 5,20 --variances 0.3,1 --totals 20
    python -m benchmarks.coverage --kinds gaps,costs,sensor,drift --means 5 --variances 0.3
    python -m benchmarks.coverage --small --repetitions 0 --totals 40

Every line is the share of fresh individuals, with a history of their own, whose number of
events in the time ahead lies in its 90 % interval, beside the mean width of the intervals,
and the share of fleets whose total lies in theirs. All fleets of a fit share its errors:
the standard error of that share is that of the means of fits, and widths are relative to
the total. Kinds of fleets: plain; with late entries and gaps; with random costs of events;
with a sensor whose future is planned; with frailties that drift.
"""

from __future__ import annotations

import argparse
from itertools import product
from typing import Any

import numpy as np

from benchmarks._frail_fleet import KINDS, FrailFleet, Kind
from benchmarks._timing import format_table, record
from boostr import BoostR

LEVEL = 0.9
HORIZON = 30.0
MEANS = (0.3, 1.0, 5.0, 20.0)  # events ahead of the average individual
VARIANCES = (0.0, 0.3, 1.0)
INTERVALS = ("frailty", "conformal", "calibrated")
PROMISED = (0.88, 0.93)
FLEET_SIZE = 100
SMALL = {"n_estimators": 100, "max_leaf_nodes": 4, "splitter": "best"}


def fit_and_draw(
    kind: Kind, mean: float, variance: float, asked: argparse.Namespace, seed: int
) -> tuple[BoostR, FrailFleet, FrailFleet]:
    """Return a fitted model, the fleet it was fitted to, and a fresh one."""
    rng = np.random.default_rng([seed, int(10 * mean), int(10 * variance)])
    train = FrailFleet.draw(asked.train, mean, variance, HORIZON, rng, kind)
    fresh = FrailFleet.draw(asked.fresh, mean, variance, HORIZON, rng, kind)
    settings: dict[str, Any] = SMALL if asked.small else {}
    model = BoostR(random_state=seed, **settings)
    return model.fit(train.X, train.y, train.Z), train, fresh


def cover_individuals(
    model: BoostR, train: FrailFleet, fresh: FrailFleet
) -> dict[str, tuple[float, float]]:
    """Return the share of individuals that is covered, and the mean width."""
    calibration = model.calibrate_forecast(
        train.X, train.y, HORIZON, train.Z, train.Z, out_of_fold=True
    )
    kinds: dict[str, Any] = dict(
        zip(INTERVALS, ("frailty", "conformal", calibration), strict=True)
    )
    found = {}
    for name, intervals in kinds.items():
        table = model.forecast(
            fresh.X, fresh.y, HORIZON, fresh.Z, fresh.Z, LEVEL, intervals=intervals
        )
        seen = fresh.ahead[table["id"]]
        lower, upper = table["lower"].to_numpy(), table["upper"].to_numpy()
        is_covered = (lower <= seen) & (seen <= upper)
        found[name] = float(np.mean(is_covered)), float(np.mean(upper - lower))
    return found


def cover_totals(model: BoostR, fresh: FrailFleet) -> tuple[float, float]:
    """Return the share of fleets that is covered, and the mean width over the total."""
    n_fleets = max(len(fresh) // FLEET_SIZE, 1)
    is_covered, width = [], []
    for rows in np.array_split(np.arange(len(fresh)), n_fleets):
        fleet = fresh.part(rows)
        total = model.forecast_fleet(fleet.X, fleet.y, HORIZON, fleet.Z, fleet.Z, LEVEL)
        is_covered.append(total.lower <= fleet.ahead.sum() <= total.upper)
        width.append((total.upper - total.lower) / total.expected)
    return float(np.mean(is_covered)), float(np.mean(width))


def measure(
    kind: Kind, mean: float, variance: float, asked: argparse.Namespace
) -> dict[str, Any]:
    """Return coverages and widths of one setting, and how sure that of totals is."""
    runs: dict[str, list[tuple[float, float]]] = {}
    for seed in range(max(asked.repetitions, asked.totals)):
        model, train, fresh = fit_and_draw(kind, mean, variance, asked, seed)
        runs.setdefault("fleet", []).append(cover_totals(model, fresh))
        if seed < asked.repetitions:
            for name, found in cover_individuals(model, train, fresh).items():
                runs.setdefault(name, []).append(found)
    shares = {name: np.array(pairs)[:, 0] for name, pairs in runs.items()}
    totals = shares["fleet"]
    error = np.std(totals, ddof=1) / np.sqrt(len(totals)) if len(totals) > 1 else np.nan
    return {
        "coverage": {name: float(np.mean(each)) for name, each in shares.items()},
        "width": {name: float(np.mean(pairs, axis=0)[1]) for name, pairs in runs.items()},
        "fleet_error": float(error),
        "n_fits": len(totals),
    }


def describe(found: dict[str, Any]) -> list[str]:
    """Return the cells of a line."""
    shares, size = found["coverage"], found["width"]
    cells = [
        f"{shares[name]:.3f} ({size[name]:.1f})" if name in shares else ""
        for name in INTERVALS
    ]
    fleet = f"{shares['fleet']:.3f} +- {found['fleet_error']:.3f} ({size['fleet']:.3f})"
    is_kept = PROMISED[0] <= shares.get("frailty", np.nan) <= PROMISED[1]
    return [*cells, fleet, "yes" if is_kept else "no" if "frailty" in shares else ""]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repetitions", type=int, default=5, help="fits for individuals")
    parser.add_argument("--totals", type=int, default=5, help="fits for totals")
    parser.add_argument("--train", type=int, default=1000)
    parser.add_argument("--fresh", type=int, default=2000)
    parser.add_argument("--kinds", default="plain", help=f"of {','.join(KINDS)}")
    parser.add_argument("--means", default=",".join(f"{mean:g}" for mean in MEANS))
    parser.add_argument("--variances", default=",".join(f"{each:g}" for each in VARIANCES))
    parser.add_argument("--small", action="store_true", help="100 trees of four leaves")
    parser.add_argument("--quick", action="store_true")
    asked = parser.parse_args()
    if asked.quick:
        asked.repetitions = asked.totals = 1
        asked.train = asked.fresh = 100
    kinds = [kind for kind in KINDS if kind in asked.kinds.split(",")]
    rows = []
    for kind, mean, variance in product(
        kinds, map(float, asked.means.split(",")), map(float, asked.variances.split(","))
    ):
        found = measure(kind, mean, variance, asked)
        record(
            "coverage.jsonl",
            kind=kind,
            mean=mean,
            variance=variance,
            level=LEVEL,
            repetitions=asked.repetitions,
            n_train=asked.train,
            n_fresh=asked.fresh,
            is_quick=asked.quick,
            is_small=asked.small,
            **found,
        )
        rows.append([kind, f"{mean:g}", f"{variance:g}", *describe(found)])
        print("; ".join(rows[-1]), flush=True)
    header = ["kind", "events ahead", "variance", *(f"{one} (width)" for one in INTERVALS)]
    header += ["fleets of 100 (width)", "in 0.88-0.93"]
    print(f"\n{format_table(header, rows)}")


if __name__ == "__main__":
    main()

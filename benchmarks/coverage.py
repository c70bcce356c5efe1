"""How often prediction intervals hold: simulated fleets with and without frailty.

    python -m benchmarks.coverage
    python -m benchmarks.coverage --quick

Every line is the share of fresh individuals, with a history of their own, whose number of
events in the time ahead lies in its 90 % interval, beside the mean width of the intervals,
and the share of fleets whose total lies in theirs.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator

import numpy as np

from benchmarks._frail_fleet import FrailFleet
from benchmarks._timing import format_table, record
from boostr import BoostR

LEVEL = 0.9
HORIZON = 30.0
MEANS = (0.3, 1.0, 5.0, 20.0)  # events ahead of the average individual
VARIANCES = (0.0, 0.3, 1.0)
KINDS = ("frailty", "conformal", "calibrated")
PROMISED = (0.88, 0.93)


def measure(
    mean: float, variance: float, n_train: int, n_fresh: int, seed: int
) -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
    """Fit one fleet; yield for each kind who of a fresh one was covered, and the widths."""
    rng = np.random.default_rng([seed, int(10 * mean), int(10 * variance)])
    train = FrailFleet.draw(n_train, mean, variance, HORIZON, rng)
    fresh = FrailFleet.draw(n_fresh, mean, variance, HORIZON, rng)
    model = BoostR(random_state=seed).fit(train.X, train.y)
    calibration = model.calibrate_forecast(train.X, train.y, HORIZON, out_of_fold=True)
    for kind in KINDS:
        intervals = calibration if kind == "calibrated" else kind
        table = model.forecast(fresh.X, fresh.y, HORIZON, level=LEVEL, intervals=intervals)
        seen = fresh.ahead[table["id"]]
        lower, upper = table["lower"].to_numpy(), table["upper"].to_numpy()
        yield kind, (lower <= seen) & (seen <= upper), upper - lower
    totals = []
    for part in np.array_split(np.arange(n_fresh), 20):
        total = model.forecast_fleet(fresh.X[part], fresh.y[part], HORIZON, level=LEVEL)
        totals.append(total.lower <= fresh.ahead[part].sum() <= total.upper)
    yield "fleet", np.array(totals), np.zeros(1)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repetitions", type=int, default=5)
    parser.add_argument("--train", type=int, default=1000)
    parser.add_argument("--fresh", type=int, default=2000)
    parser.add_argument("--means", default=",".join(f"{mean:g}" for mean in MEANS))
    parser.add_argument("--quick", action="store_true")
    asked = parser.parse_args()
    repetitions = 1 if asked.quick else asked.repetitions
    n_train, n_fresh = (100, 100) if asked.quick else (asked.train, asked.fresh)
    rows = []
    for mean in map(float, asked.means.split(",")):
        for variance in VARIANCES:
            covered: dict[str, list[np.ndarray]] = {}
            widths: dict[str, list[np.ndarray]] = {}
            for seed in range(repetitions):
                for kind, is_covered, width in measure(
                    mean, variance, n_train, n_fresh, seed
                ):
                    covered.setdefault(kind, []).append(is_covered)
                    widths.setdefault(kind, []).append(width)
            shares = {kind: float(np.mean(parts)) for kind, parts in covered.items()}
            size = {kind: float(np.mean(parts)) for kind, parts in widths.items()}
            record(
                "coverage.jsonl",
                mean=mean,
                variance=variance,
                level=LEVEL,
                repetitions=repetitions,
                n_train=n_train,
                n_fresh=n_fresh,
                is_quick=asked.quick,
                coverage=shares,
                width=size,
            )
            is_kept = PROMISED[0] <= shares["frailty"] <= PROMISED[1]
            cells = [f"{mean:g}", f"{variance:g}"]
            cells += [f"{shares[kind]:.3f} ({size[kind]:.1f})" for kind in KINDS]
            rows.append([*cells, f"{shares['fleet']:.2f}", "yes" if is_kept else "no"])
            print("; ".join(rows[-1]), flush=True)
    header = ["events ahead", "variance", *(f"{kind} (width)" for kind in KINDS)]
    print(f"\n{format_table([*header, 'fleets of 100', 'in 0.88-0.93'], rows)}")


if __name__ == "__main__":
    main()

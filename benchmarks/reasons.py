"""How long exact reasons take beside their limit: ``python -m benchmarks.reasons``.

10,000 individuals with 20 features, explained by a model of 500 trees of 8 leaves, on all
threads: the Shapley values of the coefficients alone, and `explain` from the table of
features to the amounts. The last figure is how far the amounts of the reasons are from
adding up to the prediction.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator

import numba
import numpy as np

from benchmarks._parts import run_parts
from benchmarks._timing import time_repeatedly
from benchmarks.measurements._finding import Finding, Scale
from benchmarks.measurements._workload import draw_events, draw_features, make_boostr
from boostr.inspection import explain
from boostr.inspection._explain import CoefficientShares
from boostr.simulate import wells

RESULTS_FILE = "reasons.jsonl"
_LIMIT = 10.0  # seconds
_N_TRAINED = 20_000
_N_EXPLAINED = 10_000
_N_TREES = 500
_N_WELLS = 2_000


def measure_features(scale: Scale) -> Iterator[Finding]:
    """Time the reasons of static features."""
    n = 1_000 if scale.is_quick else _N_EXPLAINED
    n_trees = 50 if scale.is_quick else _N_TREES
    X = draw_features(_N_TRAINED if not scale.is_quick else 2_000)
    model = make_boostr(-1, n_estimators=n_trees).fit(X, draw_events(X))
    fresh = draw_features(n, seed=2)
    trees = CoefficientShares.of(model.ensemble_)
    binned = model.ensemble_.mapper.transform(fresh)
    n_threads = int(numba.get_num_threads())
    size = f"{n:,} individuals x {X.shape[1]} features x {n_trees} trees of 8 leaves"
    tasks = {
        "Shapley values": lambda: trees.compute(binned, n_threads=n_threads),
        "explain at 1 time": lambda: explain(model, fresh, horizon=1.0),
        "explain at 10 times": lambda: explain(model, fresh, np.linspace(0.1, 1.0, 10)),
    }
    for name, task in tasks.items():
        seconds = time_repeatedly(task, 3)
        busy = _measure_cpu(task)
        yield Finding.at_most(
            f"{name}, {size}",
            seconds["median_s"],
            "s",
            _LIMIT,
            note=f"{busy:.2g} s of CPU on all threads",
            details={"n": n, "cpu_s": busy} | seconds,
        )
    explanation = explain(model, fresh, horizon=1.0)
    gaps = explanation.base + explanation.amounts.sum(axis=1) - explanation.prediction
    is_bent = explanation.above_zero != 0.0  # there the remainder makes the sum
    gap = float(np.abs(gaps[~is_bent]).max())
    note = f"{int(is_bent.sum())} of {n:,} curves were kept above zero"
    yield Finding.at_most("largest gap of the sums", gap, "events", 1e-9, note=note)


def _measure_cpu(task: Callable[[], object]) -> float:
    """Return the CPU seconds of one call, which a busy machine disturbs less."""
    before = time.process_time()
    task()
    return time.process_time() - before


def measure_sensors(scale: Scale) -> Iterator[Finding]:
    """Time the reasons of features and sensors."""
    n = 200 if scale.is_quick else _N_WELLS
    fleet = wells(n=n, random_state=1)
    model = make_boostr(-1, n_estimators=20 if scale.is_quick else 100)
    model = model.fit(fleet.X, fleet.y, fleet.Z)
    seconds = time_repeatedly(lambda: explain(model, fleet.X, 60.0, fleet.Z), 3)
    predict = time_repeatedly(lambda: model.predict(fleet.X, fleet.Z, horizon=60.0), 3)
    name = f"explain {n:,} wells with 3 sensors, {fleet.Z.values.shape[1]:,} samples"
    note = f"predict: {predict['median_s']:.2g} s"
    yield Finding(name, seconds["median_s"], "s", note=note, details={"n": n} | seconds)


MEASUREMENTS = {"features": measure_features, "sensors": measure_sensors}


def main() -> None:
    """Run both parts, show each figure as it is made, then print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="small; proves that it runs")
    scale = Scale((_N_EXPLAINED,), parser.parse_args().quick)
    run_parts(RESULTS_FILE, MEASUREMENTS, ",".join(MEASUREMENTS), scale)


if __name__ == "__main__":
    main()

"""Read a field and do one thing with it, in a process of its own; see ``reading``.

Prints one JSON line. What is measured has been compiled before, on a small field.
"""

from __future__ import annotations

import gc
import json
import pickle
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import psutil

from benchmarks.measurements.memory_child import read_peak_mb
from boostr import BoostR, RecurrentEvents, Trajectories
from boostr._engine.binning import BinMapper
from boostr._engine.boosting import Booster, BoostingParams
from boostr._engine.statistics import compute_suffstats, put_on_clock
from boostr._engine.training_set import LocalTrainingSet
from boostr._engine.tree import GrowthParams
from boostr._training.inputs import TrainingData
from boostr._training.settings import Settings
from boostr._training.statistics import Prepared, compute_statistics
from boostr.basis import OperationalClock, SensorBasis

_N_LEAVES = 8
_LEAST_MEMBERS = 20
_HELD_OUT = 0.2
_N_THREADS = 2
_COMPILING_TREES = 2


class Stages:
    """Seconds and peak memory of one stage after the other."""

    def __init__(self) -> None:
        gc.collect()
        _forget_peak()
        self.before_mb = psutil.Process().memory_info().rss / 2**20
        self.seconds: dict[str, float] = {}
        self.cpu_seconds: dict[str, float] = {}  # of all threads
        self.peaks_mb: dict[str, float] = {}  # above what was there before
        self._last = time.perf_counter(), time.process_time()

    def finish(self, stage: str) -> None:
        now = time.perf_counter(), time.process_time()
        self.seconds[stage] = now[0] - self._last[0]
        self.cpu_seconds[stage] = now[1] - self._last[1]
        self.peaks_mb[stage] = read_peak_mb() - self.before_mb
        self._last = time.perf_counter(), time.process_time()

    def describe(self) -> dict[str, Any]:
        return {
            "seconds": self.seconds,
            "cpu_seconds": self.cpu_seconds,
            "peaks_mb": self.peaks_mb,
            "before_mb": self.before_mb,
        }


def measure_reading(folder: Path) -> dict[str, Any]:
    """Time the way from the file to the statistics, and find its peak memory."""
    y = _read_events(folder)
    stages = Stages()
    sensors = Trajectories.from_long(folder / "sensors.parquet", id="well", time="day")
    stages.finish("read")
    clock = OperationalClock.from_events(y)
    clocked = put_on_clock(y, clock, sensors)
    stages.finish("clock")
    basis = SensorBasis(n_knots=2, order=3).place(clocked, "intensity")
    stages.finish("place knots")
    compute_suffstats(clocked, basis, "intensity")
    stages.finish("statistics")
    return stages.describe()


def measure_boosting(folder: Path, n_trees: int) -> dict[str, Any]:
    """Time trees on four fifths of the wells, statistics apart."""
    data = _read_data(folder)
    settings = Settings(**BoostR(n_knots=2, spline_order=3).get_params(deep=False))
    prepared = compute_statistics(settings, data)
    binned = BinMapper.from_quantiles(data.features, 255).transform(data.features)
    stages = Stages()
    order = np.random.default_rng(0).permutation(len(data.features)).astype(np.int32)
    n_held_out = round(_HELD_OUT * len(order))
    booster = _make_booster(prepared, binned, np.sort(order[n_held_out:]))
    booster.step()  # the average alone
    for _ in range(n_trees):
        booster.step()  # with the loss of those held out
    stages.finish("trees")
    return {**stages.describe(), "n_terms": prepared.stats.n_terms}


def measure_fit(folder: Path, n_trees: int) -> dict[str, Any]:
    """Time a whole fit with one share held out: statistics, screening, all shapes."""
    data = _read_data(folder)
    model = BoostR(
        n_estimators=n_trees + 1,
        max_leaf_nodes=_N_LEAVES,
        n_knots=2,
        spline_order=3,
        validation=_HELD_OUT,
        random_state=0,
        n_jobs=_N_THREADS,
    )
    stages = Stages()
    model.fit(data.features, data.events, data.sensors)
    stages.finish("fit")
    runs = [(run["label"], len(run["curve"])) for run in model.validation_results_]
    return {**stages.describe(), "runs": runs}


def _make_booster(prepared: Prepared, binned: Any, members: Any) -> Booster:
    params = BoostingParams(
        growth=GrowthParams(max_leaves=_N_LEAVES, min_samples_leaf=_LEAST_MEMBERS),
        learning_rate=0.05,
    )
    everybody = np.arange(len(binned.bins), dtype=np.int32)
    held_out = np.setdiff1d(everybody, members)
    training_set = LocalTrainingSet(prepared.stats, binned, np.ones(len(binned.bins)))
    state = training_set.follow(prepared.problem.solver, held_out, _N_THREADS)
    return Booster(state, binned, prepared.problem, params)


def _read_data(folder: Path) -> TrainingData:
    features = np.load(folder / "features.npy")
    return TrainingData(
        features,
        _read_events(folder),
        np.ones(len(features)),
        Trajectories.from_long(folder / "sensors.parquet", id="well", time="day"),
        np.ones(len(features), dtype=bool),
    )


def _read_events(folder: Path) -> RecurrentEvents:
    events: RecurrentEvents = pickle.loads((folder / "events.pkl").read_bytes())
    return events


def _forget_peak() -> None:
    """Set the largest resident size to that of now, where Linux allows it."""
    try:
        Path("/proc/self/clear_refs").write_text("5", encoding="utf-8")
    except OSError:
        print("the peak is that of the whole process", file=sys.stderr)


def main() -> None:
    task, folder, n_trees = sys.argv[1], Path(sys.argv[2]), int(sys.argv[3])
    small, large = folder / "small", folder / "large"
    if task == "reading":
        measure_reading(small)
        result = measure_reading(large)
    else:
        measure = measure_boosting if task == "boosting" else measure_fit
        measure(small, _COMPILING_TREES)
        result = measure(large, n_trees)
    print(json.dumps(result))


if __name__ == "__main__":
    main()

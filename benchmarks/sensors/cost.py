"""Time and memory with sensors, on a field as large as a real one."""

from __future__ import annotations

import gc
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks._timing import REPOSITORY, Task, time_repeatedly
from benchmarks.measurements._finding import Finding
from benchmarks.sensors._field import Field, draw_field
from benchmarks.sensors._fleet import N_TREES, Scale
from boostr import BoostR, Trajectories
from boostr._engine.statistics import compute_suffstats, put_on_clock
from boostr.basis import OperationalClock, SensorBasis

_CHILD = "benchmarks.sensors._child"
_N_THREADS = 2
_N_SMALL = 120  # wells and samples of the field that is compiled with
_N_QUICK = 300  # wells of a quick run

_LIMIT_READING_S = 20.0
_LIMIT_MEMORY = 2.0  # times the memory of the input
_LIMIT_BOOSTING_S = 60.0

_SAMPLES = (274, 548, 1_095, 2_190)
_LARGEST_EXPONENT = 1.1  # "linear"

# One tree of the R code that was published with the paper, on its own example of 100 wells
# with one sensor and 100 samples each; measured with that code on one core.
_PUBLISHED_S = 266.0
_REPETITIONS = 7


def measure_reading(scale: Scale) -> list[Finding]:
    """From a Parquet file to the statistics: seconds, and memory beside the input's."""
    field = _draw_large(scale)
    result = _run_child("reading", field, scale.n_trees)
    seconds, cpu, peaks = (result[key] for key in ("seconds", "cpu_seconds", "peaks_mb"))
    input_mb = field.n_bytes / 2**20
    peak_mb = max(peaks.values())
    rows = f"{len(field.X):,} wells, {field.times.size:,} rows"
    memory_note = f"{peak_mb:.0f} MB / {input_mb:.0f} MB; after "
    memory_note += ", ".join(f"{stage} {peak:.0f}" for stage, peak in peaks.items())
    return [
        Finding.at_most(
            f"from Parquet to statistics, {rows}",
            sum(seconds.values()),
            "s",
            _LIMIT_READING_S,
            note=f"{_list_seconds(seconds)}; CPU {sum(cpu.values()):.3g} s",
            details=result,
        ),
        Finding.at_most(
            "from Parquet to statistics, peak memory over the input's",
            peak_mb / input_mb,
            "x",
            _LIMIT_MEMORY,
            note=memory_note,
            details={**result, "input_mb": input_mb},
        ),
    ]


def measure_boosting(scale: Scale) -> list[Finding]:
    """Trees on four fifths of the wells, their statistics computed before."""
    field = _draw_large(scale)
    result = _run_child("boosting", field, scale.n_trees)
    name = f"{scale.n_trees} trees, one fold, {len(field.X):,} wells"
    seconds = sum(result["seconds"].values())
    note = f"{result['n_terms']} terms, 8 leaves, statistics apart"
    note += f"; CPU {sum(result['cpu_seconds'].values()):.3g} s"
    if scale.n_trees != N_TREES:
        return [Finding(name, seconds, "s", note=note, details=result)]
    limit = _LIMIT_BOOSTING_S
    return [Finding.at_most(name, seconds, "s", limit, note=note, details=result)]


def measure_fit(scale: Scale) -> list[Finding]:
    """All that a fit does with a fifth held out: screening, and trees of several shapes."""
    field = _draw_large(scale)
    result = _run_child("fit", field, scale.n_trees)
    name = f"BoostR.fit, a fifth held out, at most {scale.n_trees} trees in a run"
    seconds = sum(result["seconds"].values())
    note = "; ".join(f"{label}: {n_trees} trees" for label, n_trees in result["runs"])
    return [Finding(name, seconds, "s", note=note, details=result)]


def measure_growth(scale: Scale) -> list[Finding]:
    """How the time of the statistics grows with the samples of every well.

    Time is that of the processor, on all threads: a shared machine would bend the curve.
    """
    _compute(draw_field(_N_SMALL, _N_SMALL))  # compile
    seconds = {}
    for n_samples in _SAMPLES:
        field = _draw_large(scale, n_samples)
        sensors = field.trajectories()
        runs = [_time_cpu(lambda f=field, s=sensors: _compute(f, s)) for _ in range(3)]
        seconds[n_samples] = float(np.median(runs))
    times = np.array(list(seconds.values()))
    exponent = float(np.polyfit(np.log(_SAMPLES), np.log(times), 1)[0])
    doubled = np.log2(times[1:] / times[:-1])
    note = _list_seconds({f"{n:,}": s for n, s in seconds.items()})
    note += "; exponent of each doubling " + ", ".join(f"{step:.2f}" for step in doubled)
    name = "statistics, growth exponent of CPU time with the samples of a well"
    details = {"cpu_seconds": {str(n): s for n, s in seconds.items()}}
    limit = _LARGEST_EXPONENT
    return [Finding.at_most(name, exponent, "", limit, note=note, details=details)]


def measure_published(scale: Scale) -> list[Finding]:
    """One tree of the plain algorithm beside the published R code."""
    field = draw_field(n_wells=100, n_samples=100, n_sensors=1)
    sensors = field.trajectories()
    model = BoostR.paper(n_estimators=1)
    timing = time_repeatedly(lambda: model.fit(field.X, field.y, sensors), _REPETITIONS)
    seconds = timing["median_s"]
    note = f"{seconds:.3g} s; the R code takes {_PUBLISHED_S:g} s"
    name = "one tree, 100 wells, 1 sensor, 100 samples, times faster than published R code"
    details = {**timing, "published_s": _PUBLISHED_S}
    return [Finding(name, _PUBLISHED_S / seconds, "x", note=note, details=details)]


MEASUREMENTS: dict[str, Callable[[Scale], list[Finding]]] = {
    "reading": measure_reading,
    "boosting": measure_boosting,
    "fit": measure_fit,
    "growth": measure_growth,
    "published": measure_published,
}


def _draw_large(scale: Scale, n_samples: int | None = None) -> Field:
    sizes: dict[str, int] = {} if n_samples is None else {"n_samples": n_samples}
    return draw_field(n_wells=_N_QUICK, **sizes) if scale.is_quick else draw_field(**sizes)


def _compute(field: Field, sensors: Trajectories | None = None) -> None:
    """Do what `BoostR.fit` does before the first tree."""
    clock = OperationalClock.from_events(field.y)
    clocked = put_on_clock(field.y, clock, sensors or field.trajectories())
    basis = SensorBasis(n_knots=2, order=3).place(clocked, "intensity")
    compute_suffstats(clocked, basis, "intensity")


def _time_cpu(task: Task) -> float:
    gc.collect()
    start = time.process_time()
    task()
    return time.process_time() - start


def _run_child(task: str, field: Field, n_trees: int) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        draw_field(_N_SMALL, _N_SMALL).write(Path(folder) / "small")
        field.write(Path(folder) / "large")
        threads = {"NUMBA_NUM_THREADS": _N_THREADS, "POLARS_MAX_THREADS": _N_THREADS}
        done = subprocess.run(
            [sys.executable, "-m", _CHILD, task, folder, str(n_trees)],
            cwd=REPOSITORY,
            env={**os.environ, **{name: str(n) for name, n in threads.items()}},
            check=True,
            stdout=subprocess.PIPE,
            text=True,
        )
    result: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return result


def _list_seconds(seconds: dict[str, float]) -> str:
    return ", ".join(f"{stage} {second:.3g} s" for stage, second in seconds.items())

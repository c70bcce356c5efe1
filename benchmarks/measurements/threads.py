"""Two threads against one, and whether the predictions are the same bits."""

from __future__ import annotations

import numba
import numpy as np

from benchmarks._timing import alternate, median_ratio
from benchmarks.measurements._finding import Finding, Scale
from benchmarks.measurements._workload import (
    FloatArray,
    compile_kernels,
    draw_events,
    draw_features,
    make_boostr,
)
from boostr import BoostR

_LIMIT = 1.7
_N_COMPARED = 20_000  # individuals whose predictions are compared


def measure(scale: Scale) -> list[Finding]:
    n = scale.largest
    if numba.config.NUMBA_NUM_THREADS < 2:
        note = "not measured: NUMBA_NUM_THREADS or the machine allows one thread only"
        return [Finding("fit, two threads against one", float("nan"), "x", note=note)]
    compile_kernels()
    compile_kernels(n_jobs=2)
    X = draw_features(n)
    y = draw_events(X)
    models = {"one": make_boostr(n_jobs=1), "two": make_boostr(n_jobs=2)}
    tasks = {
        "one": lambda: models["one"].fit(X, y),
        "two": lambda: models["two"].fit(X, y),
    }
    seconds = alternate(tasks, scale.repetitions(n))
    speedup = median_ratio(seconds["one"], seconds["two"])
    medians = [float(np.median(seconds[name])) for name in ("one", "two")]
    name = f"fit, n = {n:,}, speed-up by two threads"
    note = f"{medians[0]:.3g} s / {medians[1]:.3g} s"
    details = {"n": n, "seconds": seconds}
    return [
        Finding.at_least(name, speedup, "x", _LIMIT, note=note, details=details),
        _compare_bits(*models.values(), X[:_N_COMPARED]),
    ]


def _compare_bits(one: BoostR, two: BoostR, X: FloatArray) -> Finding:
    times = np.linspace(0.1, 1.0, 10)
    first, second = (model.predict_cumulative(X, times) for model in (one, two))
    n_different = int(np.count_nonzero(first != second))
    name = "fit, predictions that differ between one and two threads"
    return Finding.at_most(name, n_different, "", 0.0, note=f"of {first.size:,}")

"""Curves at ten times against LightGBM's one number, one thread each."""

from __future__ import annotations

import numpy as np

from benchmarks._timing import alternate, median_ratio
from benchmarks.measurements._finding import Finding, Scale
from benchmarks.measurements._workload import (
    compile_kernels,
    draw_events,
    draw_features,
    make_boostr,
    make_lightgbm,
)

_LIMIT = 2.0
_N_TRAINED = 100_000
_N_PREDICTED = 1_000_000
_TIMES = np.linspace(0.1, 1.0, 10)


def measure(scale: Scale) -> list[Finding]:
    compile_kernels()
    n_trained = min(_N_TRAINED, scale.largest)
    n = scale.largest if scale.is_quick else _N_PREDICTED
    X = draw_features(n_trained)
    y = draw_events(X)
    ours = make_boostr().fit(X, y)
    theirs = make_lightgbm().fit(X, y.n_events.astype(np.float64))
    fresh = draw_features(n, seed=2)
    tasks = {
        "boostr": lambda: ours.predict_cumulative(fresh, _TIMES),
        "lightgbm": lambda: theirs.predict(fresh, num_threads=1),
    }
    seconds = alternate(tasks, scale.repetitions(n))
    ratio = median_ratio(seconds["boostr"], seconds["lightgbm"])
    medians = [float(np.median(seconds[name])) for name in ("boostr", "lightgbm")]
    name = f"predict_cumulative, n = {n:,}, 10 times, time over LightGBM's predict"
    note = f"{medians[0]:.3g} s / {medians[1]:.3g} s"
    details = {"n": n, "seconds": seconds}
    return [Finding.at_most(name, ratio, "x", _LIMIT, note=note, details=details)]

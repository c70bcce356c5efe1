"""Two threads against one, and whether the predictions are the same bits.

How much two threads gain depends on the machine, too: LightGBM is measured beside, and
arithmetic that needs no memory, which tells what the machine has to give. The law of own
histories is learned after a fit, when the first forecast needs it, from a few thousand
individuals and on one thread; it is measured apart, and LightGBM has no such thing.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from functools import partial
from hashlib import pbkdf2_hmac

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
    make_lightgbm,
)
from boostr import BoostR

_LIMIT = 1.7
_N_COMPARED = 20_000  # individuals whose predictions are compared
_TIMES_AS_OFTEN = 3  # as other fits: neighbours of the machine disturb two threads more
_N_HASHES = 300_000  # of a piece of arithmetic, a tenth of a second


def measure(scale: Scale) -> list[Finding]:
    if numba.config.NUMBA_NUM_THREADS < 2:
        note = "not measured: NUMBA_NUM_THREADS or the machine allows one thread only"
        return [Finding("fit, two threads against one", float("nan"), "x", note=note)]
    compile_kernels()
    compile_kernels(n_jobs=2)
    often = 1 if scale.is_quick else _TIMES_AS_OFTEN
    return [
        finding
        for n in scale.sizes
        for finding in _compare(n, often * scale.repetitions(n))
    ]


def _compute(n_threads: int) -> None:
    """Do two pieces of arithmetic."""
    with ThreadPoolExecutor(n_threads) as threads:
        for _ in range(2):
            threads.submit(pbkdf2_hmac, "sha256", b"", b"", _N_HASHES)


def _compare(n: int, repetitions: int) -> list[Finding]:
    X = draw_features(n)
    y = draw_events(X)
    counts = y.n_events.astype(np.float64)
    models = {n_jobs: make_boostr(n_jobs=n_jobs) for n_jobs in (1, 2)}
    tasks = {}
    for n_jobs, model in models.items():
        tasks[f"fit {n_jobs}"] = partial(model.fit, X, y)
        tasks[f"law {n_jobs}"] = partial(getattr, model, "forecast_law_")
        tasks[f"LightGBM {n_jobs}"] = partial(make_lightgbm(n_jobs).fit, X, counts)
        tasks[f"arithmetic {n_jobs}"] = partial(_compute, n_jobs)
    found = alternate(tasks, repetitions)
    seconds = {name: np.array(own) for name, own in found.items()}
    parts = ("fit", "law", "LightGBM", "arithmetic")
    findings = [_find_speedup(n, part, seconds) for part in parts]
    return [*findings, _compare_bits(*models.values(), X[:_N_COMPARED])]


def _find_speedup(n: int, part: str, seconds: dict[str, FloatArray]) -> Finding:
    one, two = seconds[f"{part} 1"], seconds[f"{part} 2"]
    speedup = median_ratio(one, two)
    name = f"{part}, n = {n:,}, speed-up by two threads"
    note = f"{np.median(one):.3g} s / {np.median(two):.3g} s"
    details = {"n": n, "seconds": {1: one.tolist(), 2: two.tolist()}}
    if part != "fit":
        return Finding(name, speedup, "x", note=note, details=details)
    return Finding.at_least(name, speedup, "x", _LIMIT, note=note, details=details)


def _compare_bits(one: BoostR, two: BoostR, X: FloatArray) -> Finding:
    times = np.linspace(0.1, 1.0, 10)
    first, second = (model.predict_cumulative(X, times) for model in (one, two))
    n_different = int(np.count_nonzero(first != second))
    name = "fit, predictions that differ between one and two threads"
    return Finding.at_most(name, n_different, "", 0.0, note=f"of {first.size:,}")

"""Time to fit, against LightGBM on one number per individual, and how it grows."""

from __future__ import annotations

from itertools import pairwise

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

_LIMIT = 1.8
_AIM = 1.2
_LARGEST_EXPONENT = 1.1  # "about 1"


def measure(scale: Scale) -> list[Finding]:
    compile_kernels()
    seconds = {n: _time_fits(n, scale.repetitions(n)) for n in scale.sizes}
    findings = [_compare(n, both) for n, both in seconds.items()]
    medians = {n: float(np.median(both["boostr"])) for n, both in seconds.items()}
    for smaller, larger in pairwise(scale.sizes):
        growth = np.log(medians[larger] / medians[smaller]) / np.log(larger / smaller)
        name = f"fit, growth exponent from {smaller:,} to {larger:,}"
        findings.append(Finding.at_most(name, float(growth), "", _LARGEST_EXPONENT))
    return findings


def _time_fits(n: int, repetitions: int) -> dict[str, list[float]]:
    X = draw_features(n)
    y = draw_events(X)
    counts = y.n_events.astype(np.float64)
    tasks = {
        "boostr": lambda: make_boostr().fit(X, y),
        "lightgbm": lambda: make_lightgbm().fit(X, counts),
    }
    return alternate(tasks, repetitions)


def _compare(n: int, seconds: dict[str, list[float]]) -> Finding:
    ratio = median_ratio(seconds["boostr"], seconds["lightgbm"])
    ours, theirs = (float(np.median(seconds[name])) for name in ("boostr", "lightgbm"))
    reached = f"aim {_AIM} x {'met' if ratio <= _AIM else 'missed'}"
    return Finding.at_most(
        f"fit, n = {n:,}, time over LightGBM's",
        ratio,
        "x",
        _LIMIT,
        note=f"{ours:.3g} s / {theirs:.3g} s; {reached}",
        details={"n": n, "seconds": seconds, "aim": _AIM},
    )

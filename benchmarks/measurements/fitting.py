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

# Functions of time in a leaf, with how many times LightGBM's time is allowed, and aimed at.
_LIMITS = {"two exponents": (1.8, 1.2), "one exponent": (1.2, 0.9)}
_LARGEST_EXPONENT = 1.1  # "about 1"


def measure(scale: Scale) -> list[Finding]:
    compile_kernels()
    seconds = {n: _time_fits(n, scale.repetitions(n)) for n in scale.sizes}
    findings = [_compare(n, leaf, own) for n, own in seconds.items() for leaf in _LIMITS]
    medians = {n: float(np.median(own["two exponents"])) for n, own in seconds.items()}
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
        "two exponents": lambda: make_boostr().fit(X, y),
        "one exponent": lambda: make_boostr(exponents=(1.0,)).fit(X, y),
        "lightgbm": lambda: make_lightgbm().fit(X, counts),
    }
    return alternate(tasks, repetitions)


def _compare(n: int, leaf: str, seconds: dict[str, list[float]]) -> Finding:
    ratio = median_ratio(seconds[leaf], seconds["lightgbm"])
    ours, theirs = (float(np.median(seconds[name])) for name in (leaf, "lightgbm"))
    limit, aim = _LIMITS[leaf]
    reached = f"aim {aim} x {'met' if ratio <= aim else 'missed'}"
    return Finding.at_most(
        f"fit, n = {n:,}, {leaf}, time over LightGBM's",
        ratio,
        "x",
        limit,
        note=f"{ours:.3g} s / {theirs:.3g} s; {reached}",
        details={"n": n, "seconds": seconds, "aim": aim},
    )

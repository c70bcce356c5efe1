"""The default fit, which chooses everything by itself, beside LightGBM tuned as well."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

from benchmarks.measurements._finding import Finding, Scale
from boostr import BoostR
from boostr.baselines import LightGBMPoisson, tune
from boostr.simulate import dataset_b

# CPU seconds at most, by the number of individuals with ten features.
_LIMITS = {200: 1.5, 2_000: 3.0, 20_000: 8.0, 200_000: 30.0}
_WIDE = ((200, 60), (200, 500), (2_000, 60))  # individuals, and features with noise
_QUICK = 2_000  # individuals at most of a quick run


def measure(scale: Scale) -> list[Finding]:
    small = dataset_b(100, random_state=0)
    BoostR(n_estimators=2, random_state=0).fit(small.X, small.y)  # compiles
    sizes = [n for n in _LIMITS if n <= (_QUICK if scale.is_quick else scale.largest)]
    wide = [] if scale.is_quick else [size for size in _WIDE if size[0] <= scale.largest]
    return [_compare(n) for n in sizes] + [_compare(*size) for size in wide]


def _compare(n: int, n_features: int = 10) -> Finding:
    """Time fits to ten features, and others that are noise; only ten have a limit."""
    train = dataset_b(n, random_state=1)
    noise = np.random.default_rng(2).random((n, n_features - train.X.shape[1]))
    X = np.hstack([train.X, noise])
    default = BoostR(random_state=0, n_jobs=1)
    ours = _time_cpu(lambda: default.fit(X, train.y))
    law = _time_cpu(lambda: default.forecast_law_)
    model = LightGBMPoisson(random_state=0, n_jobs=1)
    theirs = _time_cpu(lambda: tune(model, X, train.y, random_state=0))
    name = f"default fit, n = {n:,}, {n_features} features"
    note = f"own histories, if needed, {law:.2g} s; LightGBM tuned {theirs:.3g} s"
    details = {"n": n, "n_features": n_features, "law_s": law, "lightgbm_s": theirs}
    if n_features > train.X.shape[1]:
        return Finding(name, ours, "s", note=note, details=details)
    return Finding.at_most(name, ours, "s", _LIMITS[n], note=note, details=details)


def _time_cpu(task: Callable[[], object]) -> float:
    start = time.process_time()
    task()
    return time.process_time() - start

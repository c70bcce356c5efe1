"""The default fit, which chooses everything by itself, beside LightGBM tuned as well."""

from __future__ import annotations

import time
from collections.abc import Callable

from benchmarks.measurements._finding import Finding, Scale
from boostr import BoostR
from boostr.baselines import LightGBMPoisson, tune
from boostr.simulate import dataset_b

# CPU seconds at most, by the number of individuals with ten features.
_LIMITS = {200: 1.5, 2_000: 3.0, 20_000: 8.0, 200_000: 30.0}
_QUICK = 2_000  # individuals at most of a quick run


def measure(scale: Scale) -> list[Finding]:
    small = dataset_b(100, random_state=0)
    BoostR(n_estimators=2, random_state=0).fit(small.X, small.y)  # compiles
    sizes = [n for n in _LIMITS if n <= (_QUICK if scale.is_quick else scale.largest)]
    return [_compare(n) for n in sizes]


def _compare(n: int) -> Finding:
    train = dataset_b(n, random_state=1)
    ours = _time_cpu(lambda: BoostR(random_state=0, n_jobs=1).fit(train.X, train.y))
    model = LightGBMPoisson(random_state=0, n_jobs=1)
    theirs = _time_cpu(lambda: tune(model, train.X, train.y, random_state=0))
    return Finding.at_most(
        f"default fit, n = {n:,}, ten features",
        ours,
        "s",
        _LIMITS[n],
        note=f"LightGBM tuned by cross-validation {theirs:.3g} s",
        details={"n": n, "lightgbm_s": theirs},
    )


def _time_cpu(task: Callable[[], object]) -> float:
    start = time.process_time()
    task()
    return time.process_time() - start

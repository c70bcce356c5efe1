"""Import and first fit in a new process, with and without compiled kernels on disk."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile

import numpy as np

from benchmarks._timing import REPOSITORY
from benchmarks.measurements._finding import Finding, Scale

_LIMIT_CACHED = 3.0
_LIMIT_FROM_NOTHING = 30.0
_REPETITIONS = 3

_CHILD = """
import json, time
start = time.perf_counter()
import boostr
from boostr.simulate import dataset_a
imported = time.perf_counter()
data = dataset_a()
ready = time.perf_counter()
boostr.BoostR(n_estimators=50, validation=None, random_state=0).fit(data.X, data.y)
done = time.perf_counter()
print(json.dumps({"import_s": imported - start, "fit_s": done - ready}))
"""


def measure(scale: Scale) -> list[Finding]:
    with tempfile.TemporaryDirectory() as cache:
        from_nothing = _run_child(cache)
        runs = [_run_child(cache) for _ in range(_REPETITIONS)]
    cached = {key: float(np.median([run[key] for run in runs])) for key in runs[0]}
    return [
        _judge("kernels cached", cached, _LIMIT_CACHED),
        _judge("from nothing", from_nothing, _LIMIT_FROM_NOTHING),
    ]


def _judge(how: str, seconds: dict[str, float], limit: float) -> Finding:
    name = f"import and first fit in a new process, {how}"
    note = f"import {seconds['import_s']:.3g} s, fit {seconds['fit_s']:.3g} s"
    total = sum(seconds.values())
    return Finding.at_most(name, total, "s", limit, note=note, details=seconds)


def _run_child(cache: str) -> dict[str, float]:
    done = subprocess.run(
        [sys.executable, "-c", _CHILD],
        cwd=REPOSITORY,
        env={**os.environ, "NUMBA_CACHE_DIR": cache},
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    )
    result: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return result

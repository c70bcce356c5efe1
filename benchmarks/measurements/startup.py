"""Import, help and first fit in a new process, with and without kernels on disk."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time

import numpy as np

from benchmarks._timing import REPOSITORY
from benchmarks.measurements._finding import Finding, Scale

_LIMIT_IMPORT = 0.5
_LIMIT_HELP = 0.6
_LIMIT_CACHED = 4.0
_LIMIT_FROM_NOTHING = 8.0
_LIMIT_SENSORS = 20.0
_REPETITIONS = 5

_FIT = """
from boostr import BoostR, simulate
data = simulate.dataset_a()
BoostR(n_estimators=50, validation=None, random_state=0).fit(data.X, data.y)
"""
_FIT_SENSORS = """
from boostr import BoostR, simulate
data = simulate.wells(40, random_state=0)
BoostR(n_estimators=10, random_state=0).fit(data.X, data.y, data.Z)
"""


def measure(scale: Scale) -> list[Finding]:
    del scale  # the same however large the rest of the run is
    numpy, package = _time_code("import numpy"), _time_code("import numpy, boostr")
    shown = _time_often("-m", "boostr", "--help")
    findings = [
        Finding.at_most("import boostr, beyond numpy", package - numpy, "s", _LIMIT_IMPORT),
        Finding.at_most("boostr --help", shown, "s", _LIMIT_HELP),
    ]
    for name, code, limit in (
        ("a first fit", _FIT, _LIMIT_FROM_NOTHING),
        ("a first fit with sensors", _FIT_SENSORS, _LIMIT_SENSORS),
    ):
        with tempfile.TemporaryDirectory() as cache:
            from_nothing = _time_process("-c", code, cache=cache)
            cached = _time_process("-c", code, cache=cache)
        findings += [
            Finding.at_most(f"{name}, nothing compiled", from_nothing, "s", limit),
            Finding.at_most(f"{name}, kernels on disk", cached, "s", _LIMIT_CACHED),
        ]
    return findings


def _time_code(code: str) -> float:
    return _time_often("-c", code)


def _time_often(*arguments: str) -> float:
    """Return the median of a few runs."""
    return float(np.median([_time_process(*arguments) for _ in range(_REPETITIONS)]))


def _time_process(*arguments: str, cache: str | None = None) -> float:
    """Return the seconds from the start of a Python to its end."""
    own = {} if cache is None else {"NUMBA_CACHE_DIR": cache}
    start = time.perf_counter()
    subprocess.run(
        [sys.executable, *arguments],
        cwd=REPOSITORY,
        env={**os.environ, **own},
        check=True,
        stdout=subprocess.DEVNULL,
    )
    return time.perf_counter() - start

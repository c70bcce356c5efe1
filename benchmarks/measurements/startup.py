"""Import, help and first uses in a new process, with and without kernels on disk.

Byte code of libraries is on disk, as pip leaves it, whatever the environment prefers.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from benchmarks._timing import REPOSITORY
from benchmarks.measurements._finding import Finding, Scale

_LIMIT_IMPORT = 0.5
_LIMIT_HELP = 0.6
_LIMIT_CACHED = 4.0
_LIMIT_FROM_NOTHING = 8.0
_LIMIT_SENSORS = 20.0
_REPETITIONS = 5
_LONGEST_KERNEL = 12.0  # seconds that one takes to compile

_FIT = """
from boostr import BoostR, simulate
data = simulate.dataset_a()
BoostR(n_estimators=50, validation=None, random_state=0).fit(data.X, data.y)
"""
_FIT_DEFAULT = """
from boostr import BoostR, simulate
data = simulate.dataset_a()
BoostR(random_state=0).fit(data.X, data.y)
"""
_FIT_SENSORS = """
from boostr import BoostR, simulate
data = simulate.wells(120, random_state=0)
BoostR(n_estimators=10, random_state=0).fit(data.X, data.y, data.Z)
"""
_SAVE = """
from boostr import BoostR, simulate
data = simulate.{data}
BoostR(n_estimators=50, random_state=0).fit(data.X, data.y{sensors}).save({model!r})
"""
_LOAD = """
import warnings
import boostr
from boostr import simulate
warnings.simplefilter("ignore")  # histories of training: how long it takes is the question
data, model = simulate.{data}, boostr.load({model!r})
"""
_USES = {
    "forecast": "model.forecast(data.X, data.y{sensors}, horizon=5.0)",
    "explanation": "boostr.inspection.explain(model, data.X{sensors})",
    "report": "model.report(data.X, data.y{sensors}, path={model!r} + '.html')",
}


def measure(scale: Scale) -> list[Finding]:
    del scale  # the same however large the rest of the run is
    _time_process("-c", _FIT_SENSORS)  # leaves byte code
    numpy, package = _time_code("import numpy"), _time_code("import numpy, boostr")
    shown = _time_often("-m", "boostr", "--help")
    findings = [
        Finding.at_most("import boostr, beyond numpy", package - numpy, "s", _LIMIT_IMPORT),
        Finding.at_most("boostr --help", shown, "s", _LIMIT_HELP),
    ]
    for name, code, limit in (
        ("a first fit", _FIT, _LIMIT_FROM_NOTHING),
        ("a first default fit", _FIT_DEFAULT, _LIMIT_FROM_NOTHING),
        ("a first fit with sensors", _FIT_SENSORS, _LIMIT_SENSORS),
    ):
        # A process that compiles for later fits may still write to it in the end.
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as cache:
            from_nothing = _time_result(code, cache)
            _wait_for(cache)
            cached = _time_result(code, cache)
        findings += [
            Finding.at_most(f"{name}, nothing compiled", from_nothing, "s", limit),
            Finding.at_most(f"{name}, kernels on disk", cached, "s", _LIMIT_CACHED),
        ]
    findings += _measure_uses("", "dataset_a()", _LIMIT_FROM_NOTHING)
    wells = "wells(120, random_state=0)"
    findings += _measure_uses(" with sensors", wells, _LIMIT_SENSORS, has_sensors=True)
    return findings


def _measure_uses(
    ending: str, data: str, limit: float, *, has_sensors: bool = False
) -> list[Finding]:
    """Time first uses of a saved model, each with nothing compiled."""
    findings = []
    with tempfile.TemporaryDirectory() as folder:
        parts = {
            "data": data,
            "model": str(Path(folder) / "model.boostr"),
            "sensors": ", Z=data.Z" if has_sensors else "",
        }
        _time_process("-c", _SAVE.format(**parts))
        for name, use in _USES.items():
            with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as cache:
                seconds = _time_result((_LOAD + use).format(**parts), cache)
            what = f"a first {name}{ending}, model loaded, nothing compiled"
            findings.append(Finding.at_most(what, seconds, "s", limit))
    return findings


def _time_code(code: str) -> float:
    return _time_often("-c", code)


def _time_often(*arguments: str) -> float:
    """Return the median of a few runs."""
    return float(np.median([_time_process(*arguments) for _ in range(_REPETITIONS)]))


def _time_process(*arguments: str) -> float:
    """Return the seconds from the start of a Python to its end."""
    start = time.perf_counter()
    subprocess.run(
        [sys.executable, *arguments],
        cwd=REPOSITORY,
        env=_state_environment(),
        check=True,
        stdout=subprocess.DEVNULL,
    )
    return time.perf_counter() - start


def _time_result(code: str, cache: str) -> float:
    """Return the seconds from the start of a Python to its result."""
    start = time.perf_counter()
    with subprocess.Popen(
        [sys.executable, "-c", f"{code}\nprint('done', flush=True)"],
        cwd=REPOSITORY,
        env=_state_environment() | {"NUMBA_CACHE_DIR": cache},
        stdout=subprocess.PIPE,
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"done\n"
        return time.perf_counter() - start


def _state_environment() -> dict[str, str]:
    """Return the environment of processes, which write byte code."""
    unwanted = "PYTHONDONTWRITEBYTECODE"
    return {name: value for name, value in os.environ.items() if name != unwanted}


def _wait_for(cache: str) -> None:
    """Wait until no process leaves kernels on disk any more."""
    n_before = -1
    while (n_files := sum(1 for _ in Path(cache).rglob("*.nbc"))) > n_before:
        n_before = n_files
        time.sleep(_LONGEST_KERNEL)

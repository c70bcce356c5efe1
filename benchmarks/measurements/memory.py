"""Peak memory of a fit, each library in a process of its own with the same features."""

from __future__ import annotations

import json
import pickle
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from benchmarks._timing import REPOSITORY
from benchmarks.measurements._finding import Finding, Scale
from benchmarks.measurements._workload import (
    compile_kernels,
    draw_events,
    draw_features,
)

_LIMIT = 1.5
_CHILD = "benchmarks.measurements.memory_child"


def measure(scale: Scale) -> list[Finding]:
    compile_kernels()
    return [_compare(n) for n in scale.sizes]


def _compare(n: int) -> Finding:
    with tempfile.TemporaryDirectory() as folder:
        _write_data(n, Path(folder))
        ours, theirs = (_run_child(name, folder) for name in ("boostr", "lightgbm"))
    name = f"fit, n = {n:,}, peak memory over LightGBM's"
    ratio = ours["peak_mb"] / theirs["peak_mb"]
    note = f"{ours['peak_mb']:.0f} MB / {theirs['peak_mb']:.0f} MB"
    note += f"; before the fit {ours['before_mb']:.0f} / {theirs['before_mb']:.0f}"
    note += f"; pages of libraries {ours['files_mb']:.0f} / {theirs['files_mb']:.0f}"
    details = {"n": n, "boostr": ours, "lightgbm": theirs}
    return Finding.at_most(name, ratio, "x", _LIMIT, note=note, details=details)


def _write_data(n: int, folder: Path) -> None:
    X = draw_features(n)
    y = draw_events(X)
    np.save(folder / "features.npy", X)
    np.save(folder / "counts.npy", y.n_events.astype(np.float64))
    with (folder / "events.pkl").open("wb") as file:
        pickle.dump(y, file, protocol=5)


def _run_child(library: str, folder: str) -> dict[str, float]:
    command = [sys.executable, "-m", _CHILD, library, folder]
    done = subprocess.run(
        command, cwd=REPOSITORY, check=True, stdout=subprocess.PIPE, text=True
    )
    result: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return result

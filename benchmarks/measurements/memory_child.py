"""Fit one library and print the peak memory of this process; see ``memory``."""

from __future__ import annotations

import json
import pickle
import resource
import sys
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.measurements._workload import make_boostr, make_lightgbm

_STATUS = Path("/proc/self/status")  # on Linux


def read_peak_mb() -> float:
    """Return the largest resident size so far.

    ``ru_maxrss`` of a new process starts from that of the one that started it, so Linux's
    own count for this process goes first.
    """
    if _STATUS.exists():
        return _read_status("VmHWM")
    unit = 1024**2 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit


def read_files_mb() -> float:
    """Return how much of the resident size are files of libraries; NaN if unknown.

    The system may drop these pages at any time. How many of them it counts varies by
    100 MB with how long ago the libraries were installed.
    """
    return _read_status("RssFile") if _STATUS.exists() else float("nan")


def _read_status(name: str) -> float:
    lines = _STATUS.read_text(encoding="utf-8").splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if name in line)


def main() -> None:
    library, folder = sys.argv[1], Path(sys.argv[2])
    X = np.load(folder / "features.npy")
    model: Any
    target: Any
    if library == "boostr":
        target = pickle.loads((folder / "events.pkl").read_bytes())
        model = make_boostr()
    else:
        target = np.load(folder / "counts.npy")
        model = make_lightgbm()
    before = read_peak_mb()
    model.fit(X, target)
    peak, files = read_peak_mb(), read_files_mb()
    print(json.dumps({"before_mb": before, "peak_mb": peak, "files_mb": files}))


if __name__ == "__main__":
    main()

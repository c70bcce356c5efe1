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


def read_peak_mb() -> float:
    """Return the largest resident size so far.

    ``ru_maxrss`` of a new process starts from that of the one that started it, so Linux's
    own count for this process goes first.
    """
    status = Path("/proc/self/status")
    if status.exists():
        lines = status.read_text(encoding="utf-8").splitlines()
        return next(int(line.split()[1]) / 1024 for line in lines if "VmHWM" in line)
    unit = 1024**2 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit


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
    print(json.dumps({"before_mb": before, "peak_mb": read_peak_mb()}))


if __name__ == "__main__":
    main()

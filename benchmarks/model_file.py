"""Size of a saved model, and the time to save, load and resume: python -m
benchmarks.model_file"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from benchmarks._timing import format_table, record, time_repeatedly
from boostr import BoostR, load
from boostr.simulate import dataset_a, wells

_LIMIT_MB = 2.0
_LIMIT_S = 0.2
_REPETITIONS = 7

_CHILD = """
import json, sys, time
import boostr
start = time.perf_counter()
boostr.load(sys.argv[1])
print(json.dumps(time.perf_counter() - start))
"""


def fit_models() -> dict[str, BoostR]:
    plain, fleet = dataset_a(n=2000, random_state=1), wells(n=500, random_state=1)
    grown = {"n_estimators": 500, "validation": None, "random_state": 0}
    sensors = {"max_leaf_nodes": 8, "n_estimators": 500, "validation": None}
    return {
        "500 trees of 8 leaves": BoostR(**grown).fit(plain.X, plain.y),
        "500 trees, 3 sensors": BoostR(**sensors).fit(fleet.X, fleet.y, fleet.Z),
        "defaults, all folds": BoostR(random_state=0).fit(plain.X, plain.y),
    }


def measure(name: str, model: BoostR, path: Path) -> dict[str, float]:
    saved = time_repeatedly(lambda: model.save(path), _REPETITIONS)
    loaded = time_repeatedly(lambda: load(path), _REPETITIONS)
    members = model.ensemble_.members
    return {
        "trees": sum(len(member.trees) for member in members),
        "nodes": sum(len(tree.gain) for member in members for tree in member.trees),
        "megabytes": path.stat().st_size / 1e6,
        "save_s": saved["median_s"],
        "load_s": loaded["median_s"],
        "new_process_s": float(np.median([_load_in_child(path) for _ in range(3)])),
    }


def measure_checkpoint(path: Path) -> dict[str, float]:
    """Time a fit without a checkpoint, with one, and from a finished one."""
    data = dataset_a(n=2000, random_state=1)
    model = BoostR(n_estimators=100, random_state=0)
    seconds = {}
    for name, given in (("plain", None), ("checkpoint", path), ("finished", path)):
        start = time.perf_counter()
        model.fit(data.X, data.y, checkpoint=given)
        seconds[f"{name}_s"] = time.perf_counter() - start
    return {**seconds, "megabytes": path.stat().st_size / 1e6}


def _load_in_child(path: Path) -> float:
    done = subprocess.run(
        [sys.executable, "-c", _CHILD, str(path)],
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    )
    return float(json.loads(done.stdout))


def main() -> None:
    BoostR(n_estimators=2).fit(*_warm_up())  # compile before anything is timed
    header = ["", "trees", "nodes", "MB", "save s", "load s", "load s, new process"]
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for name, model in fit_models().items():
            found = measure(name, model, Path(folder) / "model.boostr")
            record("model_file.jsonl", name=name, **found)
            rows.append([name, *(f"{value:.4g}" for value in found.values())])
        resumed = measure_checkpoint(Path(folder) / "training.checkpoint")
    record("model_file.jsonl", name="checkpoint", **resumed)
    print(format_table(header, rows))
    print(f"aims for 500 trees: {_LIMIT_MB:g} MB, loaded in {_LIMIT_S:g} s after import\n")
    print("fit, 2000 individuals, folds: " + json.dumps(resumed))


def _warm_up() -> tuple[object, object]:
    data = dataset_a(n=40, random_state=0)
    return data.X, data.y


if __name__ == "__main__":
    main()

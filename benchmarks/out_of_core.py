"""Fits to Parquet files in a process whose memory is limited:
python -m benchmarks.out_of_core events --individuals 10000000 --limit 8
python -m benchmarks.out_of_core sensors --limit 1"""

from __future__ import annotations

import argparse
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks._timing import format_table, record

_PER_FILE = 250_000  # individuals with events of a file, which also is a range of ids
_TIMES_LIMIT = 10.0  # raw sensors over the limit of memory
_GB = 1e9


def write_events(folder: Path, n: int, n_features: int, n_events: int) -> None:
    """Write events and ends of follow-up, and the table of features as an array."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    X = np.lib.format.open_memmap(folder / "X.npy", "w+", np.float64, (n, n_features))
    for part, first in enumerate(range(0, n, _PER_FILE)):
        rng = np.random.default_rng(part)
        ids = np.arange(first, min(first + _PER_FILE, n))
        X[ids] = rng.random((ids.size, n_features))
        end = rng.uniform(50.0, 100.0, ids.size)
        rate = n_events / 75.0 * (0.5 + X[ids, 0]) * np.where(X[ids, 1] > 0.5, 1.5, 0.5)
        counts = rng.poisson(rate * end)
        owner = np.repeat(np.arange(ids.size), counts)
        times = np.concatenate([rng.random(owner.size) * end[owner], end])
        is_event = np.arange(times.size) < owner.size
        owner = np.concatenate([owner, np.arange(ids.size)])
        order = np.lexsort((times, owner))
        columns = {"id": ids[owner], "time": times, "event": is_event}
        table = pa.table({name: values[order] for name, values in columns.items()})
        pq.write_table(table, folder / f"part-{part:05d}.parquet")
    X.flush()


def write_sensors(folder: Path, n: int, n_samples: int, n_sensors: int) -> None:
    """Write samples of sensors and a few events, more of them where the first is high."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    (folder / "samples").mkdir()
    times = np.arange(n_samples) * (100.0 / n_samples)
    per_file = max(5_000_000 // n_samples, 1)
    rng = np.random.default_rng(0)
    histories: dict[str, list[Any]] = {"id": [], "time": [], "event": []}
    for part, first in enumerate(range(0, n, per_file)):
        ids = np.arange(first, min(first + per_file, n))
        shape = (n_sensors, ids.size, n_samples)
        walks = np.cumsum(rng.normal(scale=n_samples**-0.5, size=shape), axis=2)
        columns = {"id": np.repeat(ids, n_samples), "time": np.tile(times, ids.size)}
        columns |= {f"sensor{i}": np.round(walk, 2).ravel() for i, walk in enumerate(walks)}
        pq.write_table(pa.table(columns), folder / "samples" / f"part-{part:05d}.parquet")
        rate = 0.1 * np.exp(np.clip(walks[0], -2.0, 2.0))
        happens = rng.random((ids.size, n_samples)) < rate * (100.0 / n_samples)
        owner, place = np.nonzero(happens)
        histories["id"] += [ids[owner], ids]
        histories["time"] += [times[place] + 50.0 / n_samples, np.full(ids.size, 100.0)]
        histories["event"] += [np.ones(owner.size, bool), np.zeros(ids.size, bool)]
    events = {name: np.concatenate(parts) for name, parts in histories.items()}
    order = np.lexsort((events["time"], events["id"]))
    table = pa.table({name: values[order] for name, values in events.items()})
    pq.write_table(table, folder / "events.parquet")


def write_once(
    folder: Path, case: str, sizes: list[Any], write: Callable[..., None]
) -> None:
    """Write the files, unless those of the same sizes are there and whole."""
    marker = folder / f"{case}.json"
    if marker.exists() and json.loads(marker.read_text()) == sizes:
        return
    marker.unlink(missing_ok=True)
    if case == "events":
        for file in folder.glob("part-*.parquet"):  # there may have been more of them
            file.unlink()
    else:
        shutil.rmtree(folder / "samples", ignore_errors=True)
    write(folder, *sizes)
    marker.write_text(json.dumps(sizes))


def fit_in_child(folder: Path, case: str, limit: float, threads: int, trees: int) -> Any:
    """Fit in a process of its own whose data may not take more than the limit, in GB."""
    # Arrow's own allocator reserves a gigabyte that it never uses, and the limit counts it.
    settings = {"ARROW_DEFAULT_MEMORY_POOL": "system", "NUMBA_NUM_THREADS": str(threads)}
    command = [sys.executable, "-m", "benchmarks.out_of_core", "child", str(folder), case]
    done = subprocess.run(
        [*command, str(limit), str(threads), str(trees)],
        check=True,
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | settings,
    )
    return json.loads(done.stdout.splitlines()[-1])


def fit_limited(folder: Path, case: str, limit: float, threads: int, trees: int) -> None:
    """Set the limit, fit, and print the times of the steps and the peak of memory."""
    resource.setrlimit(resource.RLIMIT_DATA, (int(limit * _GB), int(limit * _GB)))
    from boostr import BoostR
    from boostr._training import streamed as _scanned
    from boostr.data import RecurrentEvents, Trajectories

    seconds: dict[str, float] = {}
    for name in ("_survey", "plan_statistics", "_compute_parts"):
        setattr(_scanned, name, _timed(getattr(_scanned, name), name, seconds))
    roles = {"id": "id", "time": "time", "event": "event"}
    settings = {"n_estimators": trees, "max_leaf_nodes": 8, "validation": None}
    model = BoostR(**settings, n_jobs=threads, random_state=0)
    start = time.perf_counter()
    if case == "events":
        y = RecurrentEvents.scan_parquet(str(folder / "part-*.parquet"), **roles)
        seconds["ids"] = _seconds_of(lambda: len(y))
        model.fit(np.load(folder / "X.npy"), y)
    else:
        y = RecurrentEvents.scan_parquet(folder / "events.parquet", **roles)
        Z = Trajectories.scan_parquet(folder / "samples", id="id", time="time")
        seconds["ids"] = _seconds_of(lambda: len(y) + len(Z))
        model.fit(np.zeros((len(y), 1)), y, Z)
    seconds["all"] = time.perf_counter() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / _GB
    print(json.dumps({"seconds": seconds, "peak_gb": peak, "individuals": len(y)}))


def _timed(
    function: Callable[..., Any], name: str, seconds: dict[str, float]
) -> Callable[..., Any]:
    def run(*given: Any) -> Any:
        start, busy = time.perf_counter(), time.process_time()
        result = function(*given)
        seconds[name.removeprefix("_")] = time.perf_counter() - start
        seconds[name.removeprefix("_") + "_cpu"] = time.process_time() - busy
        return result

    return run


def _seconds_of(task: Callable[[], object]) -> float:
    start = time.perf_counter()
    task()
    return time.perf_counter() - start


def _count_rows(pattern: list[Path]) -> int:
    import pyarrow.parquet as pq

    return sum(pq.read_metadata(file).num_rows for file in pattern)


def measure(case: str, options: argparse.Namespace, folder: Path) -> dict[str, Any]:
    """Write the files unless they are there, fit, and put the figures together."""
    if case == "events":
        n = options.individuals
        sizes = [n, options.features, options.events]
        write_once(folder, case, sizes, write_events)
        rows = _count_rows(list(folder.glob("part-*.parquet"))) - n
        raw = 24.0 * (rows + n) / _GB
    else:
        values = _TIMES_LIMIT * options.limit * _GB / 8
        n = int(values / (options.samples * (options.sensors + 1)))
        sizes = [n, options.samples, options.sensors]
        write_once(folder, case, sizes, write_sensors)
        rows = _count_rows(list((folder / "samples").glob("*.parquet")))
        raw = 8.0 * rows * (options.sensors + 1) / _GB
    found = fit_in_child(folder, case, options.limit, options.threads, options.trees)
    seconds = found["seconds"]
    streaming = seconds["survey"] + seconds["compute_parts"]
    return {
        "case": case,
        "individuals": found["individuals"],
        "rows": rows,  # events, or samples of sensors
        "raw_gb": raw,
        "limit_gb": options.limit,
        "peak_gb": found["peak_gb"],
        "threads": options.threads,
        "million_a_second": rows / streaming / 1e6,
        **{f"{name}_s": value for name, value in seconds.items()},
    }


def _show(value: Any) -> str:
    return f"{value:.3g}" if isinstance(value, float) else str(value)


def main() -> None:
    if sys.argv[1:2] == ["child"]:
        folder, case, limit, threads, trees = sys.argv[2:]
        fit_limited(Path(folder), case, float(limit), int(threads), int(trees))
        return
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("case", choices=["events", "sensors"])
    parser.add_argument("--individuals", type=int, default=1_000_000)
    parser.add_argument("--events", type=float, default=10.0, help="of an individual")
    parser.add_argument("--features", type=int, default=20)
    parser.add_argument("--samples", type=int, default=10_000, help="of an individual")
    parser.add_argument("--sensors", type=int, default=4)
    parser.add_argument("--limit", type=float, default=2.0, help="GB of memory")
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--trees", type=int, default=20)
    parser.add_argument("--folder", type=Path, help="where the files are kept")
    parser.add_argument("--quick", action="store_true", help="small, and proves nothing")
    options = parser.parse_args()
    if options.quick:
        options.individuals, options.limit = 20_000, 1.5
        options.samples, options.trees = 5000, 2
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.folder or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        row = measure(options.case, options, folder)
    print(format_table(("figure", "value"), [(name, _show(row[name])) for name in row]))
    record("out_of_core.jsonl", **row)


if __name__ == "__main__":
    main()

"""Times, tables and the JSON lines that every benchmark leaves behind."""

from __future__ import annotations

import gc
import json
import math
import os
import platform
import time
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from boostr._optional import find_version

REPOSITORY = Path(__file__).resolve().parents[1]
RESULTS = Path(__file__).resolve().parent / "results"

_PACKAGES = ("numpy", "numba", "scikit-learn", "polars", "lightgbm", "xgboost", "lifelines")

Task = Callable[[], object]


def time_once(task: Task) -> float:
    """Return the seconds of one call, with the garbage of earlier ones out of the way."""
    gc.collect()
    start = time.perf_counter()
    task()
    return time.perf_counter() - start


def time_repeatedly(task: Task, repetitions: int) -> dict[str, float]:
    """Time the first call, which may compile, apart from those after it."""
    first = time_once(task)
    seconds = [time_once(task) for _ in range(repetitions)]
    return {
        "first_s": first,
        "median_s": float(np.median(seconds)),
        "worst_s": max(seconds),
    }


def alternate(tasks: Mapping[str, Task], repetitions: int) -> dict[str, list[float]]:
    """Time tasks in turn, so that a slow minute of the machine hits all of them alike."""
    seconds: dict[str, list[float]] = {name: [] for name in tasks}
    for _ in range(repetitions):
        for name, task in tasks.items():
            seconds[name].append(time_once(task))
    return seconds


def median_ratio(numerators: Sequence[float], denominators: Sequence[float]) -> float:
    """Return the median over the pairs of an alternating run."""
    return float(np.median(np.divide(numerators, denominators)))


def describe_environment() -> dict[str, Any]:
    """Return versions and the machine, for the JSON lines."""
    import boostr

    return {
        "boostr": boostr.__version__,
        "python": platform.python_version(),
        **{name: find_version(name) for name in _PACKAGES},
        "machine": platform.machine(),
        "cores": os.cpu_count(),
    }


def record(file_name: str, **fields: Any) -> None:
    """Append one measurement to a file in ``benchmarks/results``."""
    RESULTS.mkdir(exist_ok=True)
    when = datetime.now(UTC).isoformat(timespec="seconds")
    fields = {name: _drop_nan(value) for name, value in fields.items()}
    line = json.dumps({**fields, "when": when, **describe_environment()})
    with (RESULTS / file_name).open("a", encoding="utf-8") as file:
        file.write(f"{line}\n")


def format_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a text table: the first column to the left, the others to the right."""
    lines = [list(header), *[list(row) for row in rows]]
    widths = [max(len(line[column]) for line in lines) for column in range(len(header))]
    texts = [
        "  ".join(
            cell.ljust(width) if column == 0 else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in lines
    ]
    return "\n".join([texts[0], "-" * max(map(len, texts)), *texts[1:]])


def _drop_nan(value: Any) -> Any:
    """Return None for NaN, which JSON does not have."""
    return None if isinstance(value, float) and math.isnan(value) else value

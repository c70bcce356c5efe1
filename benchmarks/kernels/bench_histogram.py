"""Sums per feature and bin: ``python -m benchmarks.kernels.bench_histogram``."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any

import numba
import numpy as np

from benchmarks._timing import format_table, record, time_repeatedly
from boostr._kernels.histogram import (
    accumulate_histograms,
    accumulate_histograms_parallel,
)

RESULTS_FILE = "kernels.jsonl"
SIZES = (1_000, 10_000, 100_000, 1_000_000)
QUICK_SIZES = (1_000, 10_000)
N_FEATURES = 20
N_BINS = 256
N_CHANNELS = 3  # one term: gradient, curvature, count
REPETITIONS = 7


def make_node(n: int) -> tuple[Any, ...]:
    """Return the arguments of the kernel for a root node of ``n`` individuals."""
    rng = np.random.default_rng(0)
    return (
        rng.integers(0, N_BINS - 1, (n, N_FEATURES), dtype=np.uint8),
        rng.standard_normal((n, 1)),
        rng.standard_normal((n, 1)),
        np.arange(n, dtype=np.int32),
        np.arange(N_FEATURES, dtype=np.int32),
        np.empty((N_FEATURES, N_BINS, N_CHANNELS)),
    )


def report(name: str, task: Callable[[], None], n: int, threads: int) -> list[str]:
    """Time one task, leave a JSON line, and return a row of the table."""
    timing = time_repeatedly(task, REPETITIONS)
    sizes = {"n": n, "features": N_FEATURES, "bins": N_BINS, "channels": N_CHANNELS}
    record(RESULTS_FILE, name=name, threads=threads, **sizes, **timing)
    milliseconds = [f"{1e3 * seconds:.3f}" for seconds in timing.values()]
    per_value = 1e9 * timing["median_s"] / (n * N_FEATURES)
    return [name, f"{n:,}", str(threads), *milliseconds, f"{per_value:.2f}"]


def main() -> None:
    """Time the serial kernel and its parallel twin at all sizes."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="small sizes only")
    sizes = QUICK_SIZES if parser.parse_args().quick else SIZES
    n_threads = numba.get_num_threads()
    rows = []
    for n in sizes:
        node = make_node(n)
        tasks = {
            ("accumulate_histograms", 1): lambda node=node: accumulate_histograms(*node),
            ("accumulate_histograms_parallel", n_threads): lambda node=node: (
                accumulate_histograms_parallel(*node, n_threads)
            ),
        }
        rows += [report(name, task, n, count) for (name, count), task in tasks.items()]
    header = ["kernel", "n", "threads", "first ms", "median ms", "worst ms", "ns a value"]
    print(format_table(header, rows))


if __name__ == "__main__":
    main()

"""Speed and memory of boostr beside their limits: ``python -m benchmarks.speed``.

What is compared with LightGBM alternates with it in one process, on one thread each; the
figure is the median of the ratios.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable

from benchmarks._parts import check_parts, run_parts
from benchmarks.measurements import (
    default,
    fitting,
    memory,
    prediction,
    small,
    startup,
    statistics,
    threads,
)
from benchmarks.measurements._finding import Finding, Scale

RESULTS_FILE = "speed.jsonl"
SIZES = (10_000, 100_000, 1_000_000)
QUICK_SIZES = (2_000, 20_000)

MEASUREMENTS: dict[str, Callable[[Scale], list[Finding]]] = {
    "fit": fitting.measure,
    "memory": memory.measure,
    "threads": threads.measure,
    "statistics": statistics.measure,
    "predict": prediction.measure,
    "small": small.measure,
    "default": default.measure,
    "startup": startup.measure,
}


def _parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default=",".join(MEASUREMENTS), help="comma-separated")
    parser.add_argument("--sizes", help="numbers of individuals, such as 10000,100000")
    parser.add_argument(
        "--quick", action="store_true", help="small sizes; proves that it runs"
    )
    arguments = parser.parse_args()
    check_parts(parser, arguments.only, MEASUREMENTS)
    return arguments


def _read_scale(arguments: argparse.Namespace) -> Scale:
    sizes: tuple[int, ...] = QUICK_SIZES if arguments.quick else SIZES
    if arguments.sizes:
        sizes = tuple(sorted(int(float(size)) for size in arguments.sizes.split(",")))
    return Scale(sizes, arguments.quick)


def main() -> None:
    """Run the parts asked for, show each as it is done, then print the table."""
    arguments = _parse_arguments()
    scale = _read_scale(arguments)
    run_parts(RESULTS_FILE, MEASUREMENTS, arguments.only, scale)


if __name__ == "__main__":
    main()

"""Speed and memory of boostr beside their limits: ``python -m benchmarks.speed``.

What is compared with LightGBM alternates with it in one process, on one thread each; the
figure is the median of the ratios.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable

import numba

from benchmarks._timing import format_table, record
from benchmarks.measurements import (
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
    unknown = set(arguments.only.split(",")) - set(MEASUREMENTS)
    if unknown:
        parser.error(f"unknown parts {sorted(unknown)}; known: {', '.join(MEASUREMENTS)}")
    return arguments


def _read_scale(arguments: argparse.Namespace) -> Scale:
    sizes: tuple[int, ...] = QUICK_SIZES if arguments.quick else SIZES
    if arguments.sizes:
        sizes = tuple(sorted(int(float(size)) for size in arguments.sizes.split(",")))
    return Scale(sizes, arguments.quick)


def _record(part: str, scale: Scale, finding: Finding) -> None:
    record(
        RESULTS_FILE,
        part=part,
        name=finding.name,
        value=finding.value,
        unit=finding.unit,
        limit=finding.limit,
        is_met=finding.is_met,
        is_quick=scale.is_quick,
        threads=numba.config.NUMBA_NUM_THREADS,
        details=finding.details,
    )


def main() -> None:
    """Run the parts asked for, show each as it is done, then print the table."""
    arguments = _parse_arguments()
    scale = _read_scale(arguments)
    rows = []
    for part in arguments.only.split(","):
        for finding in MEASUREMENTS[part](scale):
            _record(part, scale, finding)
            rows.append(finding.cells())
            print("; ".join(cell for cell in finding.cells() if cell), flush=True)
    header = ["figure", "measured", "limit", "verdict", "note"]
    print(f"\n{format_table(header, rows)}")
    if scale.is_quick:
        print("\nLimits are for the full sizes; a quick run only proves that it runs.")


if __name__ == "__main__":
    main()

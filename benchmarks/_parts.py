"""A benchmark of several parts: which to run, what to print and to record of them."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Protocol, TypeVar

import numba

from benchmarks._timing import format_table, record
from benchmarks.measurements._finding import Finding


class AnyScale(Protocol):
    """How large a run is."""

    @property
    def is_quick(self) -> bool: ...


S = TypeVar("S", bound=AnyScale)


def check_parts(
    parser: argparse.ArgumentParser, asked: str, known: Collection[str]
) -> None:
    """Refuse names, separated by commas, that no part has."""
    unknown = set(asked.split(",")) - set(known)
    if unknown:
        parser.error(f"unknown {sorted(unknown)}; known: {', '.join(known)}")


def run_parts(
    results_file: str,
    measurements: Mapping[str, Callable[[S], Iterable[Finding]]],
    asked: str,
    scale: S,
) -> None:
    """Run the parts asked for, show each finding as it is made, then print the table."""
    rows = []
    for part in asked.split(","):
        for finding in measurements[part](scale):
            _record(results_file, part, scale.is_quick, finding)
            rows.append(finding.cells())
            print("; ".join(cell for cell in finding.cells() if cell), flush=True)
    header = ["figure", "measured", "limit", "verdict", "note"]
    print(f"\n{format_table(header, rows)}")
    if scale.is_quick:
        print("\nLimits are for the full sizes; a quick run only proves that it runs.")


def _record(results_file: str, part: str, is_quick: bool, finding: Finding) -> None:
    record(
        results_file,
        part=part,
        name=finding.name,
        value=finding.value,
        unit=finding.unit,
        limit=finding.limit,
        is_met=finding.is_met,
        is_quick=is_quick,
        threads=numba.config.NUMBA_NUM_THREADS,
        details=finding.details,
    )

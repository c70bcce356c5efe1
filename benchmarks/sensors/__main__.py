"""boostr with sensors beside its limits: ``python -m benchmarks.sensors``."""

from __future__ import annotations

import argparse
from collections.abc import Callable

from benchmarks._parts import check_parts, run_parts
from benchmarks.measurements._finding import Finding
from benchmarks.sensors import accuracy, cost, effects, inert
from benchmarks.sensors._fleet import N_SEEDS, N_TREES, RESULTS_FILE, Scale
from benchmarks.sensors._models import SENSOR_MODELS

_QUICK_SEEDS = 1
_QUICK_TREES = 10
_PARTS = f"comma-separated; cost is {', '.join(cost.MEASUREMENTS)}"

MEASUREMENTS: dict[str, Callable[[Scale], list[Finding]]] = {
    "accuracy": accuracy.measure,
    "inert": inert.measure,
    "effects": effects.measure,
    **cost.MEASUREMENTS,
}


def _parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default=",".join(MEASUREMENTS), help=_PARTS)
    parser.add_argument(
        "--models", default=",".join(SENSOR_MODELS), help="of accuracy, comma-separated"
    )
    parser.add_argument("--seeds", type=int, help="repetitions of all but the cost")
    parser.add_argument("--trees", type=int, help="of the parts boosting and fit")
    parser.add_argument(
        "--quick", action="store_true", help="small sizes; proves that it runs"
    )
    arguments = parser.parse_args()
    parts = ",".join(cost.MEASUREMENTS)
    asked = [parts if part == "cost" else part for part in arguments.only.split(",")]
    arguments.only = ",".join(asked)
    check_parts(parser, arguments.only, MEASUREMENTS)
    check_parts(parser, arguments.models, SENSOR_MODELS)
    return arguments


def _read_scale(arguments: argparse.Namespace) -> Scale:
    return Scale(
        is_quick=arguments.quick,
        n_seeds=arguments.seeds or (_QUICK_SEEDS if arguments.quick else N_SEEDS),
        models=tuple(arguments.models.split(",")),
        n_trees=arguments.trees or (_QUICK_TREES if arguments.quick else N_TREES),
    )


def main() -> None:
    """Run the parts asked for, show each as it is done, then print the table."""
    arguments = _parse_arguments()
    run_parts(RESULTS_FILE, MEASUREMENTS, arguments.only, _read_scale(arguments))


if __name__ == "__main__":
    main()

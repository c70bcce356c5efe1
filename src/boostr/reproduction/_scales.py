"""Amount of computation: enough to see every figure, or as much as in the paper."""

from __future__ import annotations

from boostr.reproduction._work import Scale

__all__ = ["FULL", "QUICK"]

QUICK = Scale(
    name="quick",
    n_splits=3,
    n_forest_trees=50,
    n_design=10,
    n_repetitions=2,
    n_subjects=1000,
    n_wells=400,
    n_maps=1000,
    n_sensors=2,
    has_slow_rivals=False,
)
FULL = Scale(
    name="full",
    n_splits=500,
    n_forest_trees=500,
    n_design=15,
    n_repetitions=20,
    n_subjects=1000,
    n_wells=2000,
    n_maps=1000,
)

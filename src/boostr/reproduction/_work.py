"""Amount of computation, and jobs whose results joblib keeps on disk."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import joblib
import numpy as np

import boostr
from boostr._optional import require
from boostr._typing import FloatArray

__all__ = ["FULL", "QUICK", "Result", "Results", "Scale", "Work", "rank", "stack"]

Result = dict[str, Any]
Results = Mapping[Any, Sequence[Result]]  # by case, one result per repetition


@dataclass(frozen=True, slots=True)
class Scale:
    """Amount of computation."""

    name: str
    n_splits: int  # splits of A into 150 and 50
    n_forest_trees: int
    n_design: int  # settings of the search
    n_repetitions: int  # of simulations in which models are compared
    n_subjects: int  # of the Kelly data
    n_wells: int
    n_maps: int  # individuals of C and D
    n_sensors: int = 3  # of the wells; more cost more than anything else
    has_slow_baselines: bool = True  # those that take most of a minute for a fit


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
    has_slow_baselines=False,
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


class Work:
    """Runs jobs and keeps their results in a folder, so that a run can be resumed."""

    def __init__(
        self, folder: Path, scale: Scale, *, progress: bool = False, n_processes: int = 1
    ) -> None:
        self.scale = scale
        self._memory = joblib.Memory(folder / boostr.__version__, verbose=0)
        self._has_bar = progress
        self._n_processes = n_processes

    def run(
        self,
        stage: str,
        compute: Callable[..., Result],
        cases: Sequence[Any],
        n_repetitions: int = 1,
        *,
        ready: Mapping[str, Any] | None = None,
        **shared: Any,
    ) -> dict[Any, list[Result]]:
        """Return ``compute(case, repetition, scale, **shared)`` for all, by case.

        A result is read from disk if all arguments and the source of ``compute`` are the
        same. ``ready`` is handed on, too, but does not change results; jobs then run in
        this process.
        """
        shared |= {"scale": self.scale}
        extra = {} if ready is None else {"ready": ready}
        known = self._memory.cache(compute, ignore=list(extra))
        jobs = [
            {"case": case, "repetition": repetition, **shared, **extra}
            for repetition in range(n_repetitions)
            for case in cases
        ]
        missing = [job for job in jobs if not known.check_call_in_cache(**job)]
        n_processes = 1 if extra else max(1, min(self._n_processes, len(missing)))
        with (
            joblib.parallel_config("loky", n_jobs=n_processes, inner_max_num_threads=1)
            if n_processes > 1
            else joblib.parallel_config("sequential")
        ):
            pool = joblib.Parallel(return_as="generator_unordered", batch_size=1)
            done = pool(joblib.delayed(known)(**job) for job in missing)
            if self._has_bar:
                tqdm = require("tqdm", extra="progress", feature="A progress bar").tqdm
                n_done = len(jobs) - len(missing)
                done = tqdm(done, desc=stage, total=len(jobs), initial=n_done)
            for _ in done:
                pass  # results are on disk
        found: dict[Any, list[Result]] = {case: [] for case in cases}
        for job in jobs:
            found[job["case"]].append(known(**job))
        return found


def stack(results: Results, name: str) -> dict[Any, FloatArray]:
    """Return one number of the results as an array over repetitions, by case."""
    return {
        case: np.array([run[name] for run in runs])
        for case, runs in results.items()
        if name in runs[0]
    }


def rank(values: Mapping[str, FloatArray]) -> list[str]:
    """Return the names from the lowest mean to the highest."""
    return sorted(values, key=lambda name: float(values[name].mean()))

"""Jobs that are done once: each result is kept on disk, and a run can go on later."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Protocol

import boostr
from boostr._optional import require
from boostr.io._atomic import check_output

__all__ = ["Bar", "Job", "Result", "Scale", "Work"]

Job = dict[str, Any]  # what JSON can hold
Result = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Scale:
    """How much is computed."""

    name: str
    n_splits: int  # splits of A and B into 150 and 50
    n_forest_trees: int
    n_design: int  # settings of the search
    n_repetitions: int  # of simulations in which learners are compared
    n_subjects: int  # of the Kelly data
    n_wells: int
    n_maps: int  # individuals of C and D
    n_sensors: int = 3  # of the wells; more cost more than anything else
    has_slow_rivals: bool = True  # those that take most of a minute for a fit


class Bar(Protocol):
    """What shows how far the work is."""

    def begin(self, label: str, n_jobs: int, n_done: int) -> None:
        """Start a stage, part of which may be done already."""
        ...

    def advance(self) -> None:
        """Count a job of the stage."""
        ...


class Work:
    """Runs jobs, keeps their results in a folder, and skips what is there already.

    A stage's results are one file of JSON lines; its name carries a fingerprint of the
    version, the scale and the settings, so that other settings never meet old results. A
    line counts only if it is complete.
    """

    def __init__(self, folder: Path, scale: Scale, bar: Bar, n_processes: int = 1) -> None:
        self.scale = scale
        self._folder = folder
        self._bar = bar
        self._n_processes = n_processes

    def __getstate__(self) -> dict[str, Any]:
        """Give other processes what jobs need: the scale."""
        return {"scale": self.scale}

    def run(
        self,
        stage: str,
        jobs: Sequence[Job],
        compute: Callable[[Job], Result],
        *,
        settings: Job | None = None,
        keeps: bool = False,
    ) -> list[Result]:
        """Return the result of every job, in order.

        Parameters
        ----------
        stage : str
            Name of the stage, shown beside the bar and part of the file's name.
        jobs : sequence of dict
            What JSON can hold; a job is known by its content.
        compute : callable
            Returns the result of a job, again what JSON can hold (lists, not arrays).
        settings : dict, optional
            All else that results depend on, such as numbers that stand in the code.
        keeps : bool, default=False
            Whether `compute` also keeps something in memory, and so must run here.
        """
        self._folder.mkdir(parents=True, exist_ok=True)
        path = self._path(stage, settings or {})
        check_output(path, appends=True)
        known = _read(path)
        keys = [json.dumps(job, sort_keys=True) for job in jobs]
        missing = [place for place, key in enumerate(keys) if key not in known]
        self._bar.begin(stage, len(jobs), len(jobs) - len(missing))
        n_processes = 1 if keeps else min(self._n_processes, len(missing))
        asked = [jobs[place] for place in missing]
        for place, result in _compute_all(compute, asked, n_processes):
            key = keys[missing[place]]
            known[key] = result
            _append(path, key, result)
            self._bar.advance()
        return [known[key] for key in keys]

    def _path(self, stage: str, settings: Job) -> Path:
        parts = [boostr.__version__, asdict(self.scale), settings]
        content = json.dumps(parts, sort_keys=True).encode()
        name = "".join(sign if sign.isalnum() else "-" for sign in stage)
        return self._folder / f"{name}-{hashlib.sha256(content).hexdigest()[:12]}.jsonl"


def _compute_all(
    compute: Callable[[Job], Result], jobs: Sequence[Job], n_processes: int
) -> Iterator[tuple[int, Result]]:
    """Yield the place and the result of every job, in the order in which they are done."""

    def compute_one(place: int) -> tuple[int, Result]:
        return place, compute(jobs[place])

    if n_processes < 2:
        yield from map(compute_one, range(len(jobs)))
        return
    joblib = require("joblib", extra="report", feature="boostr reproduce")
    with joblib.parallel_config("loky", n_jobs=n_processes, inner_max_num_threads=1):
        pool = joblib.Parallel(return_as="generator_unordered", batch_size=1)
        yield from pool(joblib.delayed(compute_one)(place) for place in range(len(jobs)))


def _read(path: Path) -> dict[str, Result]:
    """Read whole lines; those that are damaged do not count.

    What a crash has left of the last line is cut off, so that the next one begins anew.
    """
    if not path.exists():
        return {}
    content = path.read_bytes()
    complete = content[: content.rfind(b"\n") + 1]
    if len(complete) < len(content):
        os.truncate(path, len(complete))
    known: dict[str, Result] = {}
    for line in complete.split(b"\n"):
        with contextlib.suppress(ValueError, KeyError, TypeError):
            entry = json.loads(line)
            known[entry["job"]] = entry["result"]
    return known


def _append(path: Path, key: str, result: Result) -> None:
    line = json.dumps({"job": key, "result": result}) + "\n"
    with path.open("ab") as file:
        file.write(line.encode())
        file.flush()
        os.fsync(file.fileno())

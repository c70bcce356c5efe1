"""Jobs whose results are kept on disk, so that a run can be resumed."""

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
from boostr.io.files import check_output

__all__ = ["Bar", "Job", "Result", "Scale", "Work"]

Job = dict[str, Any]  # what JSON can hold
Result = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Scale:
    """Amount of computation."""

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
    """A progress bar."""

    def begin(self, label: str, n_jobs: int, n_done: int) -> None:
        """Start a stage, part of which may be done already."""
        ...

    def advance(self) -> None:
        """Count a job of the stage."""
        ...


class Work:
    """Runs jobs, keeps their results in a folder, and skips those that are done.

    Each stage has one file of JSON lines, named by a fingerprint of version, scale and
    settings, so other settings never mix. Only complete lines count.
    """

    def __init__(self, folder: Path, scale: Scale, bar: Bar, n_processes: int = 1) -> None:
        self.scale = scale
        self._folder = folder
        self._bar = bar
        self._n_processes = n_processes

    def __getstate__(self) -> dict[str, Any]:
        """Return the scale, all that jobs in other processes need."""
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
        """Return the result of every job, in order; jobs and results are JSON values.

        ``settings`` are all else that results depend on. ``keeps``: ``compute`` also
        keeps something in memory, so it runs in this process.
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
    """Yield position and result of every job, in order of completion."""

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
    """Return the results in complete, undamaged lines.

    The rest of a crash is cut off, so that the next line begins anew.
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

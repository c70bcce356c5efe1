"""Threads, progress bar and checkpoint of a fit; none changes the result."""

from __future__ import annotations

import importlib
import math
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from types import TracebackType
from typing import Any, Self

import numba
import numpy as np

from boostr._engine.selection import Report
from boostr._kernels.split import find_best_split
from boostr._optional import require
from boostr._training.settings import Settings
from boostr.exceptions import InterruptedFitError

__all__ = [
    "Progress",
    "RunOptions",
    "forget",
    "name_interrupt",
    "show_share",
    "use_threads",
]

# Without the time to come: runs end early, and the first tree may wait for the compiler.
_FORMAT = "{desc}{percentage:3.0f}%|{bar}| {n_fmt}/{total_fmt} trees [{elapsed}{postfix}]"


@contextmanager
def use_threads(n_jobs: int | None) -> Iterator[int]:
    """Run kernels on ``n_jobs`` threads (all of them by default); yield their number."""
    available = int(numba.config.NUMBA_NUM_THREADS)  # type: ignore[attr-defined]
    before = numba.get_num_threads()
    if n_jobs is None:
        wanted = before
    elif n_jobs < 0:
        wanted = available + 1 + n_jobs
    else:
        wanted = n_jobs
    n_threads = int(np.clip(wanted, 1, available))
    numba.set_num_threads(n_threads)
    try:
        yield n_threads
    finally:
        numba.set_num_threads(before)


@dataclass(frozen=True, slots=True)
class RunOptions:
    """Threads, progress callback and checkpoint; none changes the result."""

    n_threads: int
    report: Report
    checkpoint: str | os.PathLike[str] | None = None


class Progress:
    """Progress bar over the trees, with the held-out loss; silent unless verbose.

    The bar's length is an upper bound, as runs may stop early; it is closed when a run
    ends.
    """

    def __init__(self, *, is_shown: bool, n_runs: int, n_rounds: int) -> None:
        self._bar: Any = None
        self._n_rounds = n_rounds
        self._label = ""
        self._n_done = 0
        if is_shown:
            tqdm = require("tqdm.auto", extra="progress", feature="verbose=1")
            self._bar = tqdm.tqdm(
                total=n_runs * n_rounds, mininterval=0.2, bar_format=_FORMAT
            )

    @classmethod
    def of_fit(cls, settings: Settings, *, has_sensors: bool) -> Self:
        """Return the bar of a fit with given settings."""
        n_runs, n_shapes = 1, len(settings.shapes(has_sensors=has_sensors))
        if settings.validation is not None:
            # Two more than the shapes: the best one with all terms, or all features, and
            # one that judges features and sensors.
            n_runs = n_shapes + (2 if has_sensors or n_shapes > 1 else 1)
        is_shown = settings.verbose > 0
        return cls(is_shown=is_shown, n_runs=n_runs, n_rounds=settings.n_estimators)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._bar is not None:
            if kind is None:
                self._bar.update(self._bar.total - self._bar.n)
            self._bar.close()

    def announce(self, stage: str) -> None:
        """Show the stage before the first tree."""
        if self._bar is None:
            return
        is_first_use = not getattr(find_best_split, "signatures", True)
        note = " (first use in this process: loading or compiling kernels)"
        self._bar.set_description(stage + (note if is_first_use else ""))

    def report(self, label: str, n_trees: int, loss: float) -> None:
        """Show that a run has grown ``n_trees`` trees."""
        if self._bar is None:
            return
        if label != self._label:
            self._bar.set_description(label, refresh=False)
            if self._label:  # the last run may have ended early
                self._n_done += self._n_rounds
                self._bar.total = max(self._bar.total, self._n_done + self._n_rounds)
                self._bar.update(self._n_done - self._bar.n)
            self._label = label
        note = "" if math.isnan(loss) else f"validation loss {loss:.4f}"
        self._bar.set_postfix_str(note, refresh=False)
        self._bar.update(self._n_done + n_trees - self._bar.n)


@contextmanager
def show_share(n: int, unit: str, *, is_shown: bool) -> Iterator[Callable[[int], object]]:
    """Yield a callback that counts how many of ``n`` are done, with a bar if shown.

    Without tqdm there is no bar: prediction must not need it.
    """
    if not is_shown or find_spec("tqdm") is None:
        yield lambda n_more: None
        return
    tqdm = importlib.import_module("tqdm.auto")
    with tqdm.tqdm(total=n, unit=f" {unit}", mininterval=0.2) as bar:
        yield bar.update


def forget(model: object, *names: str) -> None:
    """Delete the results of an earlier fit, so that an interrupted one leaves none."""
    for name in names:
        if hasattr(model, name):
            delattr(model, name)


@contextmanager
def name_interrupt() -> Iterator[None]:
    """Turn a keyboard interrupt into an error that says that nothing is fitted."""
    try:
        yield
    except KeyboardInterrupt as interrupt:
        raise InterruptedFitError(
            "Training was interrupted; the estimator is not fitted.\n\n"
            "Hint: fewer trees (`n_estimators`) or `validation=0.2` take less time."
        ) from interrupt

"""Threads, progress bar, checkpoint and callbacks of a fit."""

from __future__ import annotations

import importlib
import math
import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from importlib.util import find_spec
from types import TracebackType
from typing import Any, Self

import numba
import numpy as np

from boostr._engine.selection import FitProgress, Report
from boostr._kernels.growth import grow_best_first
from boostr._kernels.split import find_best_split
from boostr._optional import require
from boostr._training.settings import Settings
from boostr.exceptions import InterruptedFitError, InvalidParameterError
from boostr.io.files import check_checkpoint

__all__ = [
    "Callback",
    "Hooks",
    "Progress",
    "RunOptions",
    "forget",
    "name_interrupt",
    "show_share",
    "use_threads",
]

_FORMAT = "{desc}{percentage:3.0f}%|{bar}| [{elapsed}{postfix}]"
_TREES = 95.0  # per cent of the bar; the rest is what comes after them
_TELLING = 2.0  # per cent of the bar after which the trees tell the time that is left
_USUAL_SHARE = 0.5  # of the trees that a run may grow: most stop early


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


Callback = Callable[[FitProgress], object]


@dataclass(frozen=True, slots=True)
class Hooks:
    """Checkpoint file and callbacks of a fit, checked."""

    checkpoint: str | os.PathLike[str] | None = None
    callbacks: Sequence[Callback] | None = None

    def __post_init__(self) -> None:
        check_checkpoint(self.checkpoint)
        given = self.callbacks
        is_list = given is None or isinstance(given, Sequence)
        if not is_list or not all(map(callable, given or ())):
            raise InvalidParameterError(
                f"`callbacks` must be a list of functions, but it is {given!r}.\n\n"
                "Hint: callbacks=[function], where function(progress) may return True to "
                "end a run of trees."
            )

    def within(self, part: str) -> Hooks:
        """Return the hooks of a part of the model, with a checkpoint file of its own."""
        path = self.checkpoint
        if path is None:
            return self
        return replace(self, checkpoint=f"{os.fspath(path)}.{part}")

    def stops(self, progress: FitProgress) -> bool:
        """Call all callbacks; return whether one of them ends the run."""
        answers = [callback(progress) for callback in self.callbacks or ()]
        # Whatever else a function returns is not meant as an answer.
        is_end = any(isinstance(one, bool | np.bool_) and bool(one) for one in answers)
        if is_end and self.checkpoint is not None:
            raise InvalidParameterError(
                "Callbacks must not end runs of a fit with `checkpoint`, whose trees could "
                "not be told apart later, but one returned True after "
                f"{progress.n_trees} trees of {progress.label!r}.\n\n"
                "Hint: leave out `checkpoint`, or a callback that only looks on."
            )
        return is_end


@dataclass(frozen=True, slots=True)
class RunOptions:
    """Threads, progress bar, checkpoint and callbacks; only these may change results."""

    n_threads: int
    report: Report
    hooks: Hooks = Hooks()


class Progress:
    """Progress bar of a fit, with the held-out loss; silent unless verbose.

    How many runs there are and when they stop is not known before: the bar shows the share
    of the usual number. It never goes back, and ends at 100 %. The time that is left is
    told by the trees so far, and not by kernels that were compiled before them.
    """

    def __init__(self, *, is_shown: bool, n_runs: int, n_rounds: int) -> None:
        self._bar: Any = None
        self._n_runs = n_runs  # as many as usual
        self._n_rounds = n_rounds  # at most
        self._label = ""
        self._n_done = -1  # runs; the first one has not begun
        self._loss = ""
        self._began = math.nan  # when the first tree was grown
        if is_shown:
            tqdm = require("tqdm.auto", extra="progress", feature="verbose=1")
            self._bar = tqdm.tqdm(
                total=100.0, mininterval=0.2, miniters=0, bar_format=_FORMAT
            )

    @classmethod
    def of_fit(cls, settings: Settings, *, has_sensors: bool) -> Self:
        """Return the bar of a fit with given settings."""
        n_runs, n_shapes = 1, len(settings.shapes(has_sensors=has_sensors))
        if settings.validation is not None:
            # One more with all terms or features, and one that judges features and sensors;
            # often one of the hopeful shapes is tried again with useful features alone.
            n_more = 2 if has_sensors else 3
            n_runs = n_shapes + (n_more if has_sensors or n_shapes > 1 else 1)
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
                self._bar.set_postfix_str(self._loss, refresh=False)
                self._bar.update(self._bar.total - self._bar.n)
            self._bar.close()

    def announce(self, stage: str) -> None:
        """Show a stage before the first tree or after the last one."""
        if self._bar is None:
            return
        is_early = self._n_done < 0
        note = _note_first_use(find_best_split, grow_best_first) if is_early else ""
        self._bar.set_description(stage + note)

    def report(self, label: str, n_trees: int, loss: float) -> None:
        """Show that a run has grown ``n_trees`` trees."""
        if self._bar is None:
            return
        if label != self._label:
            self._bar.set_description(label, refresh=False)
            self._label = label
            self._n_done += 1
        usual = self._n_rounds if self._n_runs == 1 else _USUAL_SHARE * self._n_rounds
        n_runs = max(self._n_runs, self._n_done + 1)
        share = (self._n_done + min(n_trees / usual, 1.0)) / n_runs
        done = max(_TREES * share, self._bar.n)
        self._loss = "" if math.isnan(loss) else f"validation loss {loss:.4f}"
        notes = filter(None, [self._tell_left(done), self._loss])
        self._bar.set_postfix_str(", ".join(notes), refresh=False)
        self._bar.update(done - self._bar.n)

    def _tell_left(self, done: float) -> str:
        """Return the time that is left after so many per cent; nothing if it is unknown."""
        now = time.monotonic()
        if math.isnan(self._began):
            self._began = now
        if done < _TELLING:
            return ""
        left = (now - self._began) * (self._bar.total - done) / done
        return f"{self._bar.format_interval(left)} left"


def _note_first_use(*kernels: Any) -> str:
    """Return why it takes longer, if no kernel has been called in this process."""
    is_first_use = not any(getattr(one, "signatures", True) for one in kernels)
    note = " (first use in this process: loading or compiling kernels)"
    return note if is_first_use else ""


@contextmanager
def show_share(
    n: int, unit: str, *kernels: Any, is_shown: bool
) -> Iterator[Callable[[int], object]]:
    """Yield a callback that counts how many of ``n`` are done, with a bar if shown.

    Without tqdm there is no bar: prediction must not need it. The bar says if the
    kernels are called for the first time.
    """
    if not is_shown or find_spec("tqdm") is None:
        yield lambda n_more: None
        return
    tqdm = importlib.import_module("tqdm.auto")
    note = _note_first_use(*kernels) if kernels else ""
    name = unit + note if note else None
    with tqdm.tqdm(total=n, unit=f" {unit}", desc=name, mininterval=0.2) as bar:

        def count(n_more: int) -> None:
            bar.set_description(refresh=False)
            bar.update(n_more)

        yield count


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

"""Progress bar of a fit, and clean-up after an interrupt."""

from __future__ import annotations

import importlib
import math
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from importlib.util import find_spec
from types import TracebackType
from typing import Any, Self

from boostr._kernels.split import find_best_split
from boostr._optional import require
from boostr._training.settings import list_shapes
from boostr.exceptions import InterruptedFitError

__all__ = ["Progress", "forget", "forget_if_interrupted", "show_share"]

# Without the time to come: runs end early, and the first tree may wait for the compiler.
_FORMAT = "{desc}{percentage:3.0f}%|{bar}| {n_fmt}/{total_fmt} trees [{elapsed}{postfix}]"


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
    def of_fit(cls, params: Mapping[str, Any], *, has_sensors: bool) -> Self:
        """Return the bar of a fit with given parameters."""
        n_runs, n_shapes = 1, len(list_shapes(params, has_sensors=has_sensors))
        if params["validation"] is not None:
            # Two more than the shapes: the best one with all terms, or all features, and
            # one that judges features and sensors.
            n_runs = n_shapes + (2 if has_sensors or n_shapes > 1 else 1)
        is_shown = params["verbose"] > 0
        return cls(is_shown=is_shown, n_runs=n_runs, n_rounds=params["n_estimators"])

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


def forget(model: object) -> None:
    """Delete the results of an earlier fit, so that an interrupted one leaves none."""
    for name in [name for name in vars(model) if name.endswith("_")]:
        delattr(model, name)


@contextmanager
def forget_if_interrupted(model: object) -> Iterator[None]:
    """Turn a keyboard interrupt into an error that leaves the model unfitted."""
    try:
        yield
    except KeyboardInterrupt as interrupt:
        forget(model)
        raise InterruptedFitError(
            "Training was interrupted; the estimator is not fitted.\n\n"
            "Hint: fewer trees (`n_estimators`) or `validation=0.2` take less time."
        ) from interrupt

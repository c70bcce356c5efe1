"""Progress bar over the runs of a search."""

from __future__ import annotations

import math
from types import TracebackType
from typing import Any, Self

from boostr._optional import require

__all__ = ["RunProgress"]


class RunProgress:
    """Bar over runs with the best mean score so far; silent unless verbose."""

    def __init__(self, *, is_shown: bool, n_runs: int, n_done: int) -> None:
        self._bar: Any = None
        if is_shown:
            tqdm = require("tqdm.auto", extra="progress", feature="verbose=1")
            self._bar = tqdm.tqdm(total=n_runs, initial=n_done, unit="run")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._bar is not None:
            self._bar.close()

    def advance(self) -> None:
        """Count a finished run."""
        if self._bar is not None:
            self._bar.update(1)

    def show_best(self, score: float) -> None:
        """Show the best mean score so far."""
        if self._bar is not None and math.isfinite(score):
            self._bar.set_postfix_str(f"best score {score:.4f}")

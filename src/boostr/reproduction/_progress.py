"""Progress bars of the reproduction."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from boostr._optional import require
from boostr.reproduction._work import Bar

__all__ = ["SilentBar", "open_bar"]


class SilentBar:
    """A bar that shows nothing."""

    def begin(self, label: str, n_jobs: int, n_done: int) -> None:
        """Start a stage."""

    def advance(self) -> None:
        """Count a job of the stage."""


class RichBar:
    """One line per stage, with elapsed and remaining time."""

    def __init__(self, display: Any) -> None:
        self._display = display
        self._stage: Any = None

    def begin(self, label: str, n_jobs: int, n_done: int) -> None:
        """Start a stage, part of which may be done already."""
        self._stage = self._display.add_task(label, total=n_jobs, completed=n_done)

    def advance(self) -> None:
        """Count a job of the stage."""
        self._display.advance(self._stage)


@contextmanager
def open_bar(*, is_shown: bool) -> Iterator[Bar]:
    """Yield progress bars on the standard error stream, or silent ones."""
    if not is_shown:
        yield SilentBar()
        return
    progress = require("rich.progress", extra="cli", feature="A progress bar")
    console = require("rich.console", extra="cli", feature="A progress bar")
    columns = (
        progress.TextColumn("{task.description}"),
        progress.BarColumn(),
        progress.MofNCompleteColumn(),
        progress.TimeElapsedColumn(),
        progress.TimeRemainingColumn(),
    )
    with progress.Progress(*columns, console=console.Console(stderr=True)) as display:
        yield RichBar(display)

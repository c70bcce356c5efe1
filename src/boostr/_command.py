"""Ctrl-C while the command ``boostr`` starts: status 130, and no traceback.

To import this module is to be ready for it, so the package imports it first.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from pathlib import Path
from typing import Any

__all__ = ["INTERRUPTED", "end"]

INTERRUPTED = 130  # as shells call what a user has stopped


def _is_command() -> bool:
    """Return whether Python runs the command, not a program that uses the package."""
    script = Path(sys.argv[0]).stem if sys.argv else ""
    return script == "boostr" or sys.orig_argv[1:3] == ["-m", "boostr"]


def _begin() -> None:
    """Exit at once if interrupted while modules are imported.

    Libraries would catch Python's exception or show a traceback.
    """
    is_main = threading.current_thread() is threading.main_thread()
    is_usual = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if is_main and is_usual and _is_command():
        signal.signal(signal.SIGINT, _leave)


def end() -> None:
    """Restore Python's handling of interrupts, so that code can clean up."""
    if signal.getsignal(signal.SIGINT) is _leave:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def _leave(_number: int, _frame: Any) -> None:
    os.write(2, b"Stopped.\n")
    os._exit(INTERRUPTED)


_begin()

"""Another process, which compiles kernels for this one.

Numba compiles a kernel when it is first called and keeps it on disk. The other process is
started with the first estimator of an installation, while this one still loads libraries,
and told what to compile once a fit has begun; or with the first model that is loaded, and
told to compile what reports and explanations need. This module needs nothing but Python's
own library.
"""

from __future__ import annotations

import atexit
import multiprocessing
import os
import pickle
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

__all__ = [
    "REPORTS",
    "is_busy",
    "start",
    "start_early",
    "start_for_reports",
    "tell",
    "wait",
    "wait_while",
]

REPORTS = "reports"  # what the process is told after a model is loaded

_PROGRAM = "boostr._training.dozen"
_LAST = "growth.grow_best_first"  # kernel of all default fits, compiled after the others
_LONGEST = "shap.add_shares"  # kernel of reports and explanations
_MOMENT = 0.02  # seconds
_waiting: list[subprocess.Popen[bytes]] = []  # for what to compile, at most one
_busy: list[subprocess.Popen[bytes]] = []
_reporting: list[subprocess.Popen[bytes]] = []  # those of them that were told of reports


def start_early() -> None:
    """Start the process if kernels of fits are missing."""
    if not _waiting and _is_missing(_LAST):
        start()


def start_for_reports() -> None:
    """Let the process compile what reports need, if it is missing."""
    if not _waiting and not _reporting and _is_missing(_LONGEST) and start():
        _reporting.append(_waiting[0])
        tell(REPORTS)


def _is_missing(kernel: str) -> bool:
    """Return whether a kernel is missing where Numba looks first, and may be kept there."""
    is_alone = (os.cpu_count() or 1) < 2 or multiprocessing.parent_process() is not None
    if is_alone or "NUMBA_DISABLE_JIT" in os.environ:
        return False
    own = Path(__file__).parents[1] / "_kernels" / "__pycache__"
    elsewhere = os.environ.get("NUMBA_CACHE_DIR")
    if elsewhere is None and not os.access(own if own.exists() else own.parent, os.W_OK):
        return False  # Numba keeps them in a place that only a fit knows
    folders = [own] if elsewhere is None else [*Path(elsewhere).glob("*")]
    return not any(any(folder.glob(f"{kernel}-*.nbi")) for folder in folders)


def start() -> bool:
    """Start the process unless one is waiting; return whether there is one."""
    if _waiting and _waiting[0].poll() is None:
        return True
    while _waiting:
        _close(_waiting.pop())
    if not Path(sys.executable or "").stem.startswith("python"):
        return False
    try:
        process = subprocess.Popen(  # noqa: S603 - our own program
            [sys.executable, "-P", "-m", _PROGRAM],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
    except OSError:  # processes are not allowed here
        return False
    _waiting.append(process)
    return True


def tell(*news: object) -> Callable[[], bool]:
    """Tell the process that waits what is fitted; return how to ask if it runs."""
    message = pickle.dumps(news)
    process = _waiting.pop()
    _busy.append(process)
    assert process.stdin is not None  # noqa: S101 - it is a pipe
    with suppress(OSError), process.stdin as pipe:  # it may have ended already
        pipe.write(message)
    return lambda: process.poll() is None


def is_busy() -> bool:
    """Return whether a process compiles what it was told."""
    return any(process.poll() is None for process in _busy)


def wait_while(is_missing: Callable[[], bool]) -> None:
    """Wait until a kernel of reports is on disk, while the process may compile it."""
    while any(process.poll() is None for process in _reporting) and is_missing():
        time.sleep(_MOMENT)


def wait() -> None:
    """Wait until all that processes were told to compile is on disk."""
    for process in _busy:
        process.wait()


def _close(process: subprocess.Popen[bytes]) -> None:
    """Tell a process nothing, upon which it ends."""
    assert process.stdin is not None  # noqa: S101 - it is a pipe
    process.stdin.close()


@atexit.register
def _let_go() -> None:
    """Let other processes end on their own, which Python would warn about."""
    for process in _waiting:
        _close(process)
    for process in (*_waiting, *_busy):
        if process.poll() is None:
            process.returncode = 0

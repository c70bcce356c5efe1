"""Another process, which compiles kernels for this one.

Numba compiles a kernel when it is first called and keeps it on disk. The other process is
started with the first estimator of an installation, while this one still loads libraries,
and told what to compile once a fit has begun. It needs nothing but Python's own library.
"""

from __future__ import annotations

import atexit
import multiprocessing
import os
import pickle
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

__all__ = ["is_busy", "start", "start_early", "tell", "wait"]

_PROGRAM = "boostr._training.dozen"
_LAST = "growth.grow_best_first"  # kernel of all default fits, compiled after the others
_waiting: list[subprocess.Popen[bytes]] = []  # for what to compile, at most one
_busy: list[subprocess.Popen[bytes]] = []


def start_early() -> None:
    """Start the process if kernels are missing where Numba looks for them first."""
    is_alone = (os.cpu_count() or 1) < 2 or multiprocessing.parent_process() is not None
    if is_alone or _waiting or "NUMBA_DISABLE_JIT" in os.environ:
        return
    own = Path(__file__).parents[1] / "_kernels" / "__pycache__"
    elsewhere = os.environ.get("NUMBA_CACHE_DIR")
    if elsewhere is None and not os.access(own if own.exists() else own.parent, os.W_OK):
        return  # Numba keeps them in a place that only a fit knows
    folders = [own] if elsewhere is None else [*Path(elsewhere).glob("*")]
    if not any(any(folder.glob(f"{_LAST}-*.nbi")) for folder in folders):
        start()


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

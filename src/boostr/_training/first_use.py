"""Kernels of a first fit, compiled by two processes side by side.

Numba compiles a kernel when it is first called and keeps it on disk. At the first fit of an
installation, the kernels that search for splits take about as long as all others together:
this process compiles the former while another one compiles the latter.
"""

from __future__ import annotations

import pickle
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import numba

from boostr._engine.tree import compile_search
from boostr._kernels.growth import grow_best_first
from boostr._kernels.scan_groups import scan_groups
from boostr._training.settings import Settings
from boostr._typing import BoolArray

__all__ = ["compile_side_by_side"]

_PROGRAM = "boostr._training.dozen"


@contextmanager
def compile_side_by_side(
    settings: Settings, n_threads: int, is_categorical: BoolArray, *, has_sensors: bool
) -> Iterator[None]:
    """Compile the kernels of a default fit, if they are not on disk and cores are free.

    The other process goes on meanwhile: what it has not compiled when it is needed, this
    one compiles itself.
    """
    is_usual = settings.growth == "best" and settings.leaf == "power"
    has_limits = settings.monotonic_cst is not None or settings.interaction_cst is not None
    kernel = scan_groups if has_sensors else grow_best_first
    other = None
    if n_threads > 1 and is_usual and not has_limits and _is_missing(kernel):
        other = _start(settings, has_sensors)
    if other is None:
        yield
        return
    try:
        compile_search(is_categorical, has_groups=has_sensors)
        yield
    finally:
        other.kill()
        other.wait()


def _start(settings: Settings, has_sensors: bool) -> subprocess.Popen[bytes] | None:
    """Start the other process; without it, a first fit is only slower."""
    try:
        message = pickle.dumps((settings, has_sensors))
    except Exception:  # an object of the user's that cannot be pickled
        return None
    try:
        other = subprocess.Popen(  # noqa: S603 - our own program
            [sys.executable, "-P", "-m", _PROGRAM],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
    except OSError:  # processes are not allowed here
        return None
    assert other.stdin is not None  # noqa: S101 - it is a pipe
    with suppress(OSError), other.stdin as pipe:  # it may have ended already
        pipe.write(message)
    return other


def _is_missing(kernel: Any) -> bool:
    """Return whether a kernel must be compiled, and can be kept for other processes."""
    if numba.config.DISABLE_JIT or kernel.signatures:  # type: ignore[attr-defined]
        return False
    folder = kernel.stats.cache_path
    is_python = Path(sys.executable or "").stem.startswith("python")
    if folder is None or not is_python:
        return False
    name = f"{kernel.__module__.rpartition('.')[2]}.{kernel.__name__}-"
    return not any(Path(folder).glob(f"{name}*.nbi"))

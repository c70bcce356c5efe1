"""Kernels of a first fit, compiled by two processes side by side.

Numba compiles a kernel when it is first called and keeps it on disk. At the first fit of an
installation, the kernels that search for splits take about as long as all others together:
this process compiles the former while another one compiles the latter.
"""

from __future__ import annotations

import pickle
import subprocess
import sys
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
_PATIENCE = 300.0  # seconds that it may take; without it, a fit is only slower


def compile_side_by_side(
    settings: Settings, n_threads: int, is_categorical: BoolArray, *, has_sensors: bool
) -> None:
    """Compile the kernels of a default fit, if they are not on disk and cores are free."""
    is_usual = settings.growth == "best" and settings.leaf == "power"
    has_limits = settings.monotonic_cst is not None or settings.interaction_cst is not None
    kernel = scan_groups if has_sensors else grow_best_first
    if n_threads == 1 or not is_usual or has_limits or not _is_missing(kernel):
        return
    try:
        message = pickle.dumps((settings, has_sensors))
    except Exception:  # an object of the user's that cannot be pickled
        return
    with subprocess.Popen(  # noqa: S603 - our own program
        [sys.executable, "-m", _PROGRAM],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    ) as other:
        assert other.stdin is not None  # noqa: S101 - it is a pipe
        other.stdin.write(message)
        other.stdin.close()
        try:
            compile_search(is_categorical, has_groups=has_sensors)
            other.wait(_PATIENCE)
        except BaseException:
            other.kill()
            raise


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

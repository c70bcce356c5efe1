"""Compilation of kernels ahead of their first call."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba

__all__ = ["compile_for", "do_without", "has_kernel", "is_missing"]

_MOMENT = 0.1  # seconds
_compiling: list[Callable[[], bool]] = []  # whether other processes do
_asked: dict[Any, float] = {}  # when each kernel was missing
_found: set[Any] = set()  # kernels that are not


def compile_for(kernel: Any, *args: Any) -> None:
    """Compile a kernel for such arguments without calling it, or load it from disk."""
    if not numba.config.DISABLE_JIT:  # type: ignore[attr-defined]
        kernel.compile(tuple(map(numba.typeof, args)))


def is_missing(kernel: Any) -> bool:
    """Return whether a kernel must be compiled, and can be kept for other processes."""
    if numba.config.DISABLE_JIT or kernel.signatures:  # type: ignore[attr-defined]
        return False
    folder = kernel.stats.cache_path
    if folder is None:
        return False
    name = f"{kernel.__module__.rpartition('.')[2]}.{kernel.__name__}-"
    return not any(Path(folder).glob(f"{name}*.nbc"))  # written after the .nbi


def do_without(is_compiling: Callable[[], bool]) -> None:
    """Let kernels that can be done without wait for another process, while it compiles."""
    _compiling.append(is_compiling)


def has_kernel(kernel: Any) -> bool:
    """Return whether no other process is about to leave the kernel on disk."""
    if not _compiling or kernel in _found:
        return True
    if time.monotonic() - _asked.get(kernel, -_MOMENT) < _MOMENT:
        return False
    if is_missing(kernel):
        _compiling[:] = [is_compiling for is_compiling in _compiling if is_compiling()]
        _asked[kernel] = time.monotonic()
        return not _compiling
    _found.add(kernel)
    return True

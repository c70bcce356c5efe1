"""Compilation of kernels ahead of their first call."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numba

__all__ = ["compile_for", "is_missing"]


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

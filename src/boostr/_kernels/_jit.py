"""The only callers of Numba's decorators, typed so that kernels keep their signatures."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba

F = TypeVar("F", bound=Callable[..., Any])

__all__ = ["kernel", "parallel_kernel"]


def kernel(function: F) -> F:
    """Compile one serial kernel; the machine code is cached on disk."""
    jit = numba.njit(cache=True, nogil=True, error_model="numpy")
    return cast("F", jit(function))


def parallel_kernel(function: F) -> F:
    """Compile one kernel whose ``prange`` loops run on all threads."""
    jit = numba.njit(cache=True, nogil=True, error_model="numpy", parallel=True)
    return cast("F", jit(function))

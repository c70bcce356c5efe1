"""The only callers of Numba's decorators, typed so that kernels keep their signatures.

A kernel is compiled when it is first needed, while somebody waits. Some of what takes long
has a plain substitute: operations between whole arrays, which bring a message about shapes
along (4 s), and NumPy's stable sort (5 s).
"""

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

"""The only callers of Numba's decorators, typed so that kernels keep their signatures.

A kernel is compiled when it is first needed, while somebody waits. Some of what takes long
has a plain substitute: operations between whole arrays, which bring a message about shapes
along (4 s), and NumPy's stable sort (5 s). Numba takes a number in the code for a type of
its own, and would compile ``f`` twice for ``f(0)`` and ``f(n)``; kernels do not.

Processes may be forked after kernels have run, as Gunicorn and ``multiprocessing`` do.
GNU's OpenMP, which runs Numba's threads on Linux, does not survive that: a child would wait
for threads that only its parent has, so Numba ends the child. Threads are therefore ended
before a fork, and begin again where they are needed.
"""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import wraps
from itertools import pairwise
from typing import Any, Concatenate, ParamSpec, TypeVar, cast

import numba

F = TypeVar("F", bound=Callable[..., Any])
P = ParamSpec("P")
Part = tuple[int, int]  # the first individual, and the one after the last

_OPENMP = "numba.np.ufunc.omppool"  # loaded with the first parallel kernel, where there is
_SHARED_FROM = 2_000  # individuals from which waking up threads pays
_PARTS = 4  # of the individuals for each thread: some parts take longer than others
_PAUSE_HARD = 2  # OpenMP's word for: free all that can be made again

__all__ = [
    "Part",
    "inlined_kernel",
    "inner_kernel",
    "kernel",
    "parallel_kernel",
    "shared_kernel",
]


def kernel(function: F) -> F:
    """Compile one serial kernel; the machine code is cached on disk."""
    jit = numba.njit(cache=True, nogil=True, error_model="numpy")
    return cast("F", _without_literals(jit(function)))


def inner_kernel(function: F) -> F:
    """Compile one kernel that others call, but not Python: without a wrapper for that."""
    wrappers: dict[str, Any] = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
    jit = numba.njit(cache=True, nogil=True, error_model="numpy", **wrappers)
    return cast("F", _without_literals(jit(function)))


def inlined_kernel(function: F) -> F:
    """Compile one kernel as a part of the only other one that calls it, which is faster."""
    jit = numba.njit(nogil=True, error_model="numpy", inline="always")
    return cast("F", jit(function))


def parallel_kernel(function: F) -> F:
    """Compile one kernel whose ``prange`` loops run on all threads."""
    jit = numba.njit(cache=True, nogil=True, error_model="numpy", parallel=True)
    return cast("F", _without_literals(jit(function)))


def shared_kernel(
    function: Callable[Concatenate[Part, P], None],
) -> Callable[Concatenate[int, P], None]:
    """Compile one kernel for a part of the individuals, so that threads can share them.

    The kernel is called with the number of individuals in the place of the part. Threads
    are Python's: a ``prange`` loop would take twice as long to compile.
    """
    serial = kernel(function)

    def run(n: int, *args: P.args, **kwargs: P.kwargs) -> None:
        n_threads = numba.get_num_threads() if n >= _SHARED_FROM else 1
        if n_threads == 1:
            serial((0, n), *args, **kwargs)
            return
        n_parts = _PARTS * n_threads
        edges = [n * part // n_parts for part in range(n_parts + 1)]
        with ThreadPoolExecutor(n_threads) as pool:
            parts = [pool.submit(serial, own, *args, **kwargs) for own in pairwise(edges)]
        for part in parts:
            part.result()

    return cast("Callable[Concatenate[int, P], None]", wraps(function)(run))


def _without_literals(dispatcher: Any) -> Any:
    """Return the kernel, which other kernels call by types alone, not by values."""
    resolve = getattr(dispatcher, "get_call_template", None)
    unliteral: Any = numba.types.unliteral
    if resolve is not None:  # there is none where Numba is switched off

        def get_call_template(args: Any, kws: Any) -> Any:
            plain = {name: unliteral(own) for name, own in kws.items()}
            return resolve(tuple(unliteral(own) for own in args), plain)

        dispatcher.get_call_template = get_call_template
    return dispatcher


class _ForkGuard:
    """Ends Numba's threads before a fork, and lets a child have its own."""

    def __init__(self) -> None:
        self._is_ready = False  # whether the threads of the forking thread have ended

    def before(self) -> None:
        """End the threads that kernels of this thread have run on."""
        library: Any = sys.modules.get(_OPENMP)
        if library is not None:
            pause = getattr(ctypes.CDLL(library.__file__), "omp_pause_resource_all", None)
            # GNU's has it since GCC 9; without it Numba says why it ends the child.
            self._is_ready = pause is not None and pause(_PAUSE_HARD) == 0

    def in_child(self) -> None:
        """Tell Numba that this is not the process that it knows; then it ends no child."""
        library: Any = sys.modules.get(_OPENMP)
        if self._is_ready and hasattr(library, "launch_threads"):
            launch = ctypes.CFUNCTYPE(None, ctypes.c_int)(library.launch_threads)
            launch(numba.config.NUMBA_NUM_THREADS)  # type: ignore[attr-defined]


if sys.platform == "linux":  # elsewhere OpenMP is LLVM's, which minds forks itself
    _GUARD = _ForkGuard()
    os.register_at_fork(before=_GUARD.before, after_in_child=_GUARD.in_child)

"""Threads of a worker: one task at a time has all of them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from threading import RLock

import numba
from distributed import get_worker
from threadpoolctl import ThreadpoolController

from boostr.estimators._curves import use_threads

__all__ = ["use_worker_threads"]

# Numba's threads take one caller at a time, and two callers would share the same cores.
_KERNELS = RLock()


@contextmanager
def use_worker_threads() -> Iterator[int]:
    """Run kernels on all threads of this worker; yield their number.

    Tasks of a worker take turns here, so they never use more threads than it has,
    whatever the number of cores. Linear algebra runs on one.
    """
    with (
        _KERNELS,
        use_threads(_count_threads()) as n_threads,
        _find_libraries().limit(limits=1, user_api="blas"),
    ):
        yield n_threads


@cache
def _find_libraries() -> ThreadpoolController:
    """Return the linear algebra libraries; cached, as it takes milliseconds."""
    return ThreadpoolController()


def _count_threads() -> int:
    try:
        n_threads = int(get_worker().state.nthreads)
    except ValueError:  # not inside of a worker: a scheduler of threads, or none
        return int(numba.get_num_threads())
    return n_threads

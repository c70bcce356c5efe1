"""Threads inside of workers: as many as the worker has, one piece of work at a time."""

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
    """Run kernels on the threads of this worker, nobody else beside; yield their number.

    A worker with several threads runs several tasks at once. Each of them waits here for
    the others, and then has all threads of the worker: never more than those, whatever the
    number of cores and of workers on the machine. Linear algebra runs on one.
    """
    with (
        _KERNELS,
        use_threads(_count_threads()) as n_threads,
        _find_libraries().limit(limits=1, user_api="blas"),
    ):
        yield n_threads


@cache
def _find_libraries() -> ThreadpoolController:
    """Look for libraries of linear algebra; once, since that takes milliseconds."""
    return ThreadpoolController()


def _count_threads() -> int:
    try:
        n_threads = int(get_worker().state.nthreads)
    except ValueError:  # not inside of a worker: a scheduler of threads, or none
        return int(numba.get_num_threads())
    return n_threads

"""Threads of Python for kernels, which let go of the interpreter while they run.

Numba's own threads would need a second compilation of everything that runs on them, and do
not survive a fork.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from functools import cache
from itertools import pairwise
from typing import TypeVar, cast

import numba

T = TypeVar("T")

__all__ = ["run_in_parts"]


def run_in_parts(n: int, n_parts: int, work: Callable[[slice], T]) -> list[T]:
    """Return what ``work`` makes of each of the parts of ``range(n)``, in their order.

    The calling thread works on parts, too. So ``work`` may call this function itself,
    whether or not other threads are free.
    """
    n_threads = min(numba.get_num_threads(), n_parts)
    edges = [n * part // n_parts for part in range(n_parts + 1)]
    parts = [slice(*pair) for pair in pairwise(edges)]
    if n_threads == 1:
        return [work(part) for part in parts]
    waiting, results = iter(range(n_parts)), [cast("T", None)] * n_parts

    def run() -> None:
        try:
            for place in waiting:
                results[place] = work(parts[place])
        finally:
            list(waiting)  # after an error nobody takes another part

    # What the caller has set for itself, as `numpy.errstate` does, holds for all.
    others = [
        _pool(n_threads - 1).submit(copy_context().run, run) for _ in range(n_threads - 1)
    ]
    try:
        run()
    finally:
        for other in others:
            if not other.cancel():
                other.result()
    return results


@cache
def _pool(n_threads: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(n_threads, thread_name_prefix="boostr")


if hasattr(os, "register_at_fork"):  # a child has none of its parent's threads
    os.register_at_fork(after_in_child=_pool.cache_clear)

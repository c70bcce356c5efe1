"""Threads of Python for kernels, which let go of the interpreter while they run.

Numba's own threads would need a second compilation of everything that runs on them, and do
not survive a fork.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import Future
from contextvars import copy_context
from functools import cache
from itertools import pairwise
from queue import SimpleQueue
from threading import Thread
from typing import Any, TypeVar, cast

import numba

T = TypeVar("T")
S = TypeVar("S")

__all__ = ["run_in_parts", "run_side_by_side", "run_soon"]


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
    others: list[Future[None]] = [Future() for _ in range(n_threads - 1)]
    for other in others:
        run_soon(n_threads - 1, _keep_promise, other, copy_context().run, run)
    try:
        run()
    finally:
        for other in others:
            if not other.cancel():
                other.result()
    return results


def run_side_by_side(
    first: Callable[[], T], second: Callable[[], S], *, is_worth_it: bool
) -> tuple[T, S]:
    """Return what two calls return, made at the same time if that is worth it.

    The first one is made by the thread that asks.
    """
    n_others = numba.get_num_threads() - 1
    if not is_worth_it or n_others == 0:
        return first(), second()
    other: Future[S] = Future()
    run_soon(n_others, _keep_promise, other, copy_context().run, second)
    try:
        one = first()
    except BaseException:
        other.cancel()
        raise
    return one, second() if other.cancel() else other.result()


def _keep_promise(promise: Future[T], run: Callable[..., T], *args: Any) -> None:
    """Run what is promised unless nobody waits for it any more."""
    if promise.set_running_or_notify_cancel():
        try:
            promise.set_result(run(*args))
        except BaseException as error:  # who waits raises it
            promise.set_exception(error)


def run_soon(n_threads: int, call: Callable[..., None], *args: Any) -> None:
    """Let one of so many threads make a call, which must not raise, when it is free."""
    _start_threads(n_threads).put((call, args))


@cache
def _start_threads(n_threads: int) -> SimpleQueue[tuple[Callable[..., None], Any]]:
    """Start threads that make calls; return where these wait.

    An executor of Python's library does the same, but takes longer to pass on a call than
    a small kernel runs.
    """
    calls: SimpleQueue[tuple[Callable[..., None], Any]] = SimpleQueue()

    def work() -> None:
        while True:
            call, args = calls.get()
            call(*args)
            del call, args  # arrays, until the next call

    for number in range(n_threads):
        Thread(target=work, name=f"boostr-{number}", daemon=True).start()
    return calls


if hasattr(os, "register_at_fork"):  # a child has none of its parent's threads
    os.register_at_fork(after_in_child=_start_threads.cache_clear)

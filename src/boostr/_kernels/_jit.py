"""The only callers of Numba's decorators, typed so that kernels keep their signatures.

A kernel is compiled when it is first needed, while somebody waits. Some of what takes long
has a plain substitute: operations between whole arrays, which bring a message about shapes
along (4 s), NumPy's stable sort (5 s), and, on the way of a first fit, ``min`` and ``max``
(0.2 s for every combination of types). Numba takes a number in the code for a type of
its own, and would compile ``f`` twice for ``f(0)`` and ``f(n)``; kernels do not.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar, cast

import numba

from boostr._kernels.threads import run_in_parts

F = TypeVar("F", bound=Callable[..., Any])
P = ParamSpec("P")
Part = tuple[int, int]  # the first individual, and the one after the last

_SHARED_FROM = 2_000  # individuals from which waking up threads pays
_PARTS = 4  # of the individuals for each thread: some parts take longer than others

__all__ = [
    "Part",
    "inlined_kernel",
    "inner_kernel",
    "kernel",
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


def shared_kernel(
    function: Callable[Concatenate[Part, P], None],
) -> Callable[Concatenate[int, P], None]:
    """Compile one kernel for a part of the individuals, so that threads can share them.

    The kernel is called with the number of individuals in the place of the part.
    """
    serial = kernel(function)

    def run(n: int, *args: P.args, **kwargs: P.kwargs) -> None:
        n_parts = _PARTS * numba.get_num_threads() if n >= _SHARED_FROM else 1
        run_in_parts(n, n_parts, lambda own: serial((own.start, own.stop), *args, **kwargs))

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

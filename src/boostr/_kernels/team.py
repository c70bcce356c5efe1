"""Threads that share the steps of one kernel.

To wake up a thread of Python takes as long as a small step. So other threads run the same
kernel beside the first one, as helpers: they wait in it for steps, and take parts of them.
The first thread never waits for a part that nobody has taken, so that a step ends also
where helpers come late or not at all.

Half of the threads take the first part that is left, the others the last one. So each of
two threads meets the same individuals and features in all steps, and finds in its cache
what it has written there; a faster one still does more.
"""

from __future__ import annotations

import platform
from collections.abc import Callable
from contextlib import suppress
from typing import Any, NamedTuple, Self, TypeVar

import numba
import numpy as np
from llvmlite import ir
from numba.extending import intrinsic

from boostr._kernels._jit import inner_kernel, types
from boostr._kernels.compiling import has_kernel
from boostr._kernels.threads import run_soon
from boostr._typing import PositionArray

__all__ = [
    "RESULTS",
    "Team",
    "begin_step",
    "can_share",
    "cut",
    "dismiss",
    "next_part",
    "read_step",
    "run_together",
]

T = TypeVar("T")

# Places of the board. Those that several threads write have cache lines of their own.
_TICKET = 0  # numbers of the step, of its parts, and of those taken from either end
_N_DONE = 16  # parts of the step
_STEP = 32  # what the step is: two numbers that the kernel knows, and how many parts it has
RESULTS = 40  # of parts, a number each
_MOST_PARTS = 1 << 14
_DISMISSED = -1  # in the place of a ticket
# Of processors on which a thread that waits may slow down another on the same core.
_PAUSES = {"x86_64": "llvm.x86.sse2.pause", "AMD64": "llvm.x86.sse2.pause"}
# Looks at the board, some tenths of a millisecond, after which a thread that waits sleeps.
_PATIENCE = 30_000 if platform.machine() in _PAUSES else 100_000
_MOMENT = 50  # microseconds that it sleeps
_SLEEP = "usleep"  # a function of the system's library; Windows has none


class Team(NamedTuple):
    """The threads that run a kernel, as one of them sees it."""

    board: PositionArray  # what they tell each other
    n_threads: int
    number: int = 0  # of the thread; others than the first are helpers

    @classmethod
    def of(cls, n_threads: int) -> Self:
        """Return a team with a new board, as the first thread sees it."""
        return cls(np.zeros(RESULTS + n_threads, dtype=np.int64), n_threads)


def can_share(n_threads: int, kernel: Any) -> bool:
    """Return whether several threads can run a kernel: not while it is still compiled."""
    is_compiled = not numba.config.DISABLE_JIT  # type: ignore[attr-defined]
    return n_threads > 1 and is_compiled and has_kernel(kernel)


def run_together(n_threads: int, kernel: Callable[..., T], *args: Any) -> T:
    """Return what a kernel returns to the first of the threads that run it.

    Its last argument is the team.
    """
    # Helpers that come late must not disturb the next call: every call has its own board.
    team = Team.of(n_threads)
    for number in range(1, n_threads):
        run_soon(n_threads - 1, _help, kernel, *args, team._replace(number=number))
    return kernel(*args, team)


def _help(kernel: Callable[..., Any], *args: Any) -> None:
    with suppress(Exception):  # the first thread meets the same error
        kernel(*args)


def _make_operation(result: Any, build: Callable[..., Any]) -> Any:
    """Return an operation of kernels on one place of the board, given two numbers.

    What a thread has written before, others read after it.
    """

    @intrinsic
    def operate(context: Any, board: Any, place: Any, old: Any, new: Any) -> Any:
        del context, place, old, new

        def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
            array = context.make_array(signature.args[0])(context, builder, values[0])
            return build(builder, builder.gep(array.data, [values[1]]), *values[2:])

        return result(board, types.int64, types.int64, types.int64), generate

    return operate


def _build_load(builder: Any, pointer: Any, old: Any, new: Any) -> Any:
    del old, new
    return builder.load_atomic(pointer, "acquire", 8)


def _build_addition(builder: Any, pointer: Any, old: Any, new: Any) -> Any:
    del old
    return builder.atomic_rmw("add", pointer, new, "acq_rel")


def _build_store(builder: Any, pointer: Any, old: Any, new: Any) -> Any:
    builder.store_atomic(new, pointer, "release", 8)
    return old


def _build_replacement(builder: Any, pointer: Any, old: Any, new: Any) -> Any:
    """Write the new number if the old one is still there, and return whether it was."""
    found = builder.cmpxchg(pointer, old, new, "acq_rel", "monotonic")
    return builder.extract_value(found, 1)


def _build_pause(builder: Any, pointer: Any, old: Any, new: Any) -> Any:
    del pointer, new
    name = _PAUSES.get(platform.machine())
    if name is not None:
        kind = ir.FunctionType(ir.VoidType(), [])
        builder.call(builder.module.declare_intrinsic(name, (), kind), [])
    return old


def _build_sleep(builder: Any, pointer: Any, old: Any, new: Any) -> Any:
    """Let the processor go for a moment, so that the thread that is waited for may run."""
    if platform.system() == "Windows":
        return _build_pause(builder, pointer, old, new)
    number, module = ir.IntType(32), builder.module
    sleep = module.globals.get(_SLEEP)
    if sleep is None:
        sleep = ir.Function(module, ir.FunctionType(number, [number]), _SLEEP)
    builder.call(sleep, [ir.Constant(number, _MOMENT)])
    return old


_load = _make_operation(types.int64, _build_load)
_store = _make_operation(types.int64, _build_store)
_add = _make_operation(types.int64, _build_addition)
_replace = _make_operation(types.boolean, _build_replacement)
_pause = _make_operation(types.int64, _build_pause)
_sleep = _make_operation(types.int64, _build_sleep)


@inner_kernel
def cut(begin: int, end: int, part: int, n_parts: int) -> tuple[int, int]:
    """Return where a part of a range begins and ends."""
    size = end - begin
    return begin + size * part // n_parts, begin + size * (part + 1) // n_parts


@inner_kernel
def begin_step(team: Team, kind: int, node: int, n_parts: int) -> int:
    """Offer the parts of a step to the helpers, and return the first part to do.

    Helpers wait in it for steps; what they pass is of no meaning.
    """
    board = team.board
    if team.number > 0:
        return _take_part(team)
    board[_STEP], board[_STEP + 1], board[_STEP + 2] = kind, node, n_parts
    board[_N_DONE] = 0
    number = (board[_TICKET] // _MOST_PARTS // _MOST_PARTS // _MOST_PARTS + 1) % _MOST_PARTS
    ticket = (number * _MOST_PARTS + n_parts) * _MOST_PARTS * _MOST_PARTS
    _store(board, _TICKET, 0, ticket + 1)
    return 0


@inner_kernel
def read_step(team: Team) -> tuple[int, int, int]:
    """Return kind, node and number of parts of the step that a part was taken of."""
    return team.board[_STEP], team.board[_STEP + 1], team.board[_STEP + 2]


@inner_kernel
def next_part(team: Team) -> int:
    """Return the part to do after another one; -1 if all are done, or helpers may go."""
    _add(team.board, _N_DONE, 0, 1)
    return _take_part(team)


@inner_kernel
def _take_part(team: Team) -> int:
    """Return a part that no other thread does; -1 if there is none."""
    board, n_waits = team.board, 0
    while True:
        ticket = _load(board, _TICKET, 0, 0)
        if ticket == _DISMISSED:
            return -1
        # The ticket alone tells: what else is on the board may be of the next step already.
        n_first, rest = ticket % _MOST_PARTS, ticket // _MOST_PARTS
        n_last, n_parts = rest % _MOST_PARTS, rest // _MOST_PARTS % _MOST_PARTS
        if n_first + n_last < n_parts:
            if team.number % 2 == 0:
                if _replace(board, _TICKET, ticket, ticket + 1):
                    return n_first
            elif _replace(board, _TICKET, ticket, ticket + _MOST_PARTS):
                return n_parts - 1 - n_last
        elif team.number == 0 and _load(board, _N_DONE, 0, 0) == n_parts:
            return -1
        elif n_waits < _PATIENCE:
            n_waits += 1
            _pause(board, _TICKET, 0, 0)
        else:
            _sleep(board, _TICKET, 0, 0)


@inner_kernel
def dismiss(team: Team) -> None:
    """Let helpers go."""
    _store(team.board, _TICKET, 0, _DISMISSED)

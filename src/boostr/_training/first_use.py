"""Kernels of a first fit, compiled by two processes side by side.

The kernels that search for splits take about as long as most others together: this process
compiles the former while another one compiles the latter. The kernel that grows whole trees
comes last, or earlier where validation grows many of them: until it is there, trees are
grown node by node, with the same bits.
"""

from __future__ import annotations

import pickle
import time
from collections.abc import Callable

from boostr._engine.tree import compile_search, do_without_kernel
from boostr._kernels.compiling import is_missing
from boostr._kernels.group_lasso import find_descend
from boostr._kernels.growth import grow_best_first, grow_groups_best_first
from boostr._training import other_process
from boostr._training.settings import Settings
from boostr._typing import BoolArray

__all__ = ["compile_side_by_side"]

_MOMENT = 0.1  # seconds


def compile_side_by_side(
    settings: Settings, n_threads: int, is_categorical: BoolArray, *, has_sensors: bool
) -> None:
    """Compile kernels of a default fit, if they are not on disk and cores are free.

    The other process goes on meanwhile: what it has not compiled when it is needed, this
    one compiles itself, but for the kernel that grows whole trees.
    """
    is_usual = settings.growth == "best" and settings.leaf == "power"
    is_usual &= settings.loss == "intensity"
    has_limits = settings.monotonic_cst is not None or settings.interaction_cst is not None
    if n_threads < 2 or not is_usual or has_limits:
        return
    grow = grow_groups_best_first if has_sensors else grow_best_first
    if not is_missing(grow):
        return
    try:
        if not other_process.start():
            return
        # In a parcel of its own: the other process has not loaded the class yet.
        needed = pickle.dumps(settings) if has_sensors else None
        grows_many = settings.validation is not None and not has_sensors
        runs = other_process.tell(needed, is_categorical, grows_many)
    except Exception:  # an object of the user's that cannot be pickled
        return
    if has_sensors:
        find_descend()
    else:
        compile_search(is_categorical)
    do_without_kernel(_ask_seldom(lambda: runs() and is_missing(grow)))


def _ask_seldom(question: Callable[[], bool]) -> Callable[[], bool]:
    """Return a question whose answer is remembered for a moment while it is yes."""
    asked = -_MOMENT

    def ask() -> bool:
        nonlocal asked
        if time.monotonic() - asked < _MOMENT:
            return True
        asked = time.monotonic()
        return question()

    return ask

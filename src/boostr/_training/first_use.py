"""Kernels of a first fit, compiled by two processes side by side.

The kernels that search for splits take about as long as most others together: this process
compiles the former while another one compiles the latter. The kernel that grows whole trees
comes last, or earlier where validation grows many of them: until it is there, trees are
grown node by node. After it come the kernels that grow the trees of several rounds, on one
thread and on several: until they are there, trees are grown one by one, on one thread; with
the same bits.
"""

from __future__ import annotations

import pickle

from boostr._engine.tree import PARALLEL_FROM, compile_search
from boostr._kernels.compiling import do_without, is_missing
from boostr._kernels.group_lasso import find_descend
from boostr._kernels.growth import grow_best_first, grow_groups_best_first
from boostr._kernels.rounds_together import boost_together
from boostr._training import other_process
from boostr._training.settings import Settings
from boostr._typing import BoolArray
from boostr.basis import PowerBasis

__all__ = ["compile_side_by_side"]

_FEW_TERMS = 2  # of leaves that default fits may have, too


def compile_side_by_side(
    settings: Settings,
    n_threads: int,
    n_individuals: int,
    is_categorical: BoolArray,
    *,
    has_sensors: bool,
) -> None:
    """Compile kernels of a default fit, if they are not on disk and cores are free.

    The other process goes on meanwhile: what it has not compiled when it is needed, this
    one compiles itself, but for the kernels that grow whole trees.
    """
    leaf = settings.leaf
    is_power = isinstance(leaf, PowerBasis) and len(leaf.exponents) <= _FEW_TERMS
    is_usual = settings.growth == "best" and (leaf == "power" or is_power)
    is_usual &= settings.loss == "intensity"
    has_limits = settings.monotonic_cst is not None or settings.interaction_cst is not None
    if n_threads < 2 or not is_usual or has_limits:
        return
    is_large = n_individuals >= PARALLEL_FROM and not has_sensors
    grow = grow_groups_best_first if has_sensors else grow_best_first
    is_share_missing = is_large and is_missing(boost_together)
    if not is_missing(grow) and (not is_share_missing or other_process.is_busy()):
        return
    try:
        if not other_process.start():
            return
        # In a parcel of its own: the other process has not loaded the class yet.
        needed = pickle.dumps(settings) if has_sensors else None
        grows_many = settings.validation is not None and not has_sensors
        runs = other_process.tell(needed, is_categorical, grows_many, is_large)
    except Exception:  # an object of the user's that cannot be pickled
        return
    if has_sensors:
        find_descend()
    else:
        compile_search(is_categorical)
    do_without(runs)

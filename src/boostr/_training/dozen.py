"""Kernels of a first fit, compiled by fits to a dozen individuals and left on disk.

This is a program, see :mod:`boostr._training.other_process`, which compiles nearly all
kernels but those that search for splits: trees of one leaf need no search.
"""

from __future__ import annotations

import gc
import pickle
import sys
from collections.abc import Callable
from dataclasses import replace
from queue import Empty, Queue
from threading import Thread
from typing import Any

import numpy as np

from boostr._engine.binning import BinMapper, FeatureLayout
from boostr._engine.boosting import LocalBoostingState
from boostr._engine.statistics import compute_suffstats, put_on_clock
from boostr._engine.tree import (
    GrowthParams,
    LeafProblem,
    compile_grouped_growth,
    compile_grouped_search,
    compile_growth,
    compile_search,
    grow_tree,
    pack_trees,
)
from boostr._kernels.apply import sum_leaves
from boostr._kernels.binning import partition_members
from boostr._kernels.counts import score_counts
from boostr._kernels.solve import FULL
from boostr._typing import BoolArray, FloatArray
from boostr.basis import CalendarClock, PowerBasis
from boostr.data import RecurrentEvents, Trajectories

__all__ = ["draw_dozen"]

_N = 12
_PATIENCE = 2.0  # seconds to wait for what to compile next


def draw_dozen(
    *, has_sensors: bool
) -> tuple[FloatArray, RecurrentEvents, Trajectories | None]:
    """Return features, events and sensors of a dozen individuals."""
    ids = [f"{place:02d}" for place in range(_N)]
    places = np.arange(float(_N))
    features = np.column_stack([places, places % 3.0])
    events = RecurrentEvents.from_lists([[1.0 + place] for place in places], 20.0, ids=ids)
    if not has_sensors:
        return features, events, None
    values = [[float(place % 5) for place in range(2 * _N)]]
    offsets = list(range(0, 2 * _N + 1, 2))
    sensors = Trajectories.from_flat([0.0, 9.0] * _N, offsets, values, ["sensor"], ids=ids)
    return features, events, sensors


def _compile_first() -> Callable[[], None]:
    """Compile statistics, sums and bins for all fits; return how to compile more."""
    _, events, _ = draw_dozen(has_sensors=False)
    basis = PowerBasis()
    stats = compute_suffstats(put_on_clock(events, CalendarClock()), basis, "intensity")
    numeric = np.zeros(1, dtype=np.bool_)
    n_values, nobody = np.ones(1, dtype=np.int32), np.empty(0, dtype=np.int32)
    layout = FeatureLayout(n_values=n_values, is_categorical=numeric, missing_bin=1)
    binned = layout.holding(np.zeros((_N, 1), dtype=np.uint8))
    state = LocalBoostingState(stats, binned, FULL, nobody)
    state.start(1.0, 0)
    problem, growth = LeafProblem(FULL, np.eye(2)), GrowthParams(max_leaves=1)
    tree = grow_tree(state, problem, growth, n_values, None, n_values - 1, 0)
    numbers, bins = np.empty((0, 1)), np.empty((0, 1), dtype=np.uint8)
    BinMapper.from_quantiles(numbers, 2).transform(numbers)

    def compile_more() -> None:
        """Compile the adding of trees and the splits of nodes."""
        state.add(tree)
        partition_members(bins, 0, numeric, nobody, nobody)

    return compile_more


def _compile_last() -> None:
    """Compile small kernels that a fit needs in the end."""
    counts, bins = np.empty(0), np.empty((0, 1), dtype=np.uint8)
    score_counts(counts, counts, counts, counts)
    nodes, roots = pack_trees([], 1)
    sum_leaves(bins, 0, nodes, roots, np.empty((0, 1)))


def _fit_dozen(settings: Any, is_categorical: BoolArray) -> None:
    """Fit a model with sensors, whose trees of one leaf need no search."""
    compile_grouped_search(is_categorical)
    _compile_last()
    from boostr._training.fit import fit_model  # noqa: PLC0415 - takes long to load
    from boostr._training.run import Hooks  # noqa: PLC0415

    alone = replace(settings, n_estimators=1, n_jobs=1, verbose=0)
    fit_model(alone, *draw_dozen(has_sensors=True), None, Hooks())
    compile_grouped_growth(is_categorical)


def _read(inbox: Queue[Any]) -> None:
    """Pass on what this process is told, or that the one that started it has ended."""
    with open(sys.stdin.fileno(), "rb", buffering=0, closefd=False) as pipe:
        message = pipe.read()  # not from a buffer, which Python would wait for at its end
    inbox.put(pickle.loads(message) if message else None)  # noqa: S301 - our own process


def _hear(inbox: Queue[Any], patience: float) -> Any:
    """Return what this process is told, an empty tuple if it is nothing so far."""
    try:
        return inbox.get(timeout=patience)
    except Empty:
        return ()


def main() -> None:
    """Compile what every fit needs, then what another process tells, if it does soon.

    Validation grows many trees. If a fit with validation has begun, the kernel of whole
    trees comes first, and the process that fits compiles the adding of trees itself.
    """
    gc.disable()  # it would look through all that the compiler has made
    inbox: Queue[Any] = Queue()
    Thread(target=_read, args=(inbox,), daemon=True).start()
    compile_more = _compile_first()
    told = _hear(inbox, 0.0)
    if not (told and told[-1]):
        compile_more()
    if told == ():
        told = _hear(inbox, _PATIENCE)
    if told is None:
        return
    settings, is_categorical, _ = told or (None, np.zeros(1, dtype=np.bool_), False)
    if settings is not None:
        _fit_dozen(settings, is_categorical)
        return
    if not told:
        compile_search(is_categorical)
    compile_growth(is_categorical)
    _compile_last()


if __name__ == "__main__":
    main()

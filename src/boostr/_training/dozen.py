"""Kernels of a first fit, compiled by fits to a dozen individuals and left on disk.

This is a program, see :mod:`boostr._training.other_process`, which compiles nearly all
kernels but those that search for splits: trees of one leaf need no search.
"""

from __future__ import annotations

import gc
import pickle
import sys
from dataclasses import replace
from queue import Empty, Queue
from threading import Thread
from typing import Any

import numpy as np

from boostr._engine.binning import BinMapper, FeatureLayout
from boostr._engine.boosting import Booster, BoostingParams, LocalBoostingState
from boostr._engine.statistics import compute_suffstats, put_on_clock
from boostr._engine.tree import (
    GrowthParams,
    LeafProblem,
    compile_grouped_growth,
    compile_grouped_search,
    compile_growth,
    compile_search,
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


def _compile_shared() -> None:
    """Compile statistics, bins and the adding of trees, which every fit needs."""
    _, events, _ = draw_dozen(has_sensors=False)
    basis = PowerBasis()
    stats = compute_suffstats(put_on_clock(events, CalendarClock()), basis, "intensity")
    layout = FeatureLayout(
        n_values=np.ones(1, dtype=np.int32), is_categorical=np.zeros(1, bool), missing_bin=1
    )
    binned = layout.holding(np.zeros((_N, 1), dtype=np.uint8))
    nobody = np.empty(0, dtype=np.int32)
    state = LocalBoostingState(stats, binned, FULL, nobody)
    params = BoostingParams(growth=GrowthParams(max_leaves=1), learning_rate=1.0)
    Booster(state, layout, LeafProblem(FULL, np.eye(2)), params).step()
    numbers, bins = np.empty((0, 1)), np.empty((0, 1), dtype=np.uint8)
    BinMapper.from_quantiles(numbers, 2).transform(numbers)
    partition_members(bins, 0, np.empty(1, dtype=np.bool_), nobody, nobody)


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


def main() -> None:
    """Compile what every fit needs, then what another process tells, if it does soon."""
    gc.disable()  # it would look through all that the compiler has made
    inbox: Queue[Any] = Queue()
    Thread(target=_read, args=(inbox,), daemon=True).start()
    _compile_shared()
    try:
        told = inbox.get(timeout=_PATIENCE)
    except Empty:
        numeric = np.zeros(1, dtype=np.bool_)
        compile_search(numeric)
        compile_growth(numeric)
        _compile_last()
        return
    if told is None:
        return
    settings, is_categorical = told
    if settings is None:
        compile_growth(is_categorical)
        _compile_last()
    else:
        _fit_dozen(settings, is_categorical)


if __name__ == "__main__":
    main()

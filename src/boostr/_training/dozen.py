"""Kernels of a first fit, compiled by calls for nobody or a dozen and left on disk.

This is a program, see :mod:`boostr._training.other_process`. It compiles all kernels but
those that the process that fits compiles at the same time, see
:mod:`boostr._training.first_use`.
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

from boostr._engine.binning import BinMapper
from boostr._engine.sensor_curves import PathCurves
from boostr._engine.statistics import compute_suffstats, put_on_clock
from boostr._engine.tree import (
    LeafProblem,
    compile_grouped_search,
    compile_growth,
    compile_rounds,
    compile_search,
    pack_trees,
)
from boostr._kernels.apply import (
    add_grown_tree,
    quadratic_loss,
    sum_leaves,
)
from boostr._kernels.binning import partition_members
from boostr._kernels.counts import grow_intervals, score_counts
from boostr._kernels.cubics import read_cubics
from boostr._kernels.curves import (
    combine_terms,
    count_in_order,
    count_passed,
    read_lines,
)
from boostr._kernels.histogram import accumulate_histograms, accumulate_some_bins
from boostr._kernels.marks import mark_features, mark_times
from boostr._kernels.mcf import sweep_squared_residuals
from boostr._kernels.shap import LeafPaths, Quadrature, share_out
from boostr._kernels.solve import FULL
from boostr._kernels.split import sum_bins
from boostr._training.other_process import REPORTS
from boostr._typing import BinArray, BoolArray, FloatArray
from boostr.basis import CalendarClock, PowerBasis, SensorBasis
from boostr.basis.base import require_paths
from boostr.data import RecurrentEvents, Trajectories

__all__ = ["draw_dozen"]

_N = 12
_PATIENCE = 2.0  # seconds to wait for what to compile next
_PAUSE = 0.05  # seconds in which news that are there already are read
_NO_BINS: BinArray = np.empty((0, 1), dtype=np.uint8)


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


def _compile_first() -> None:
    """Compile what all fits need: clocks, bins, splits of nodes, the adding of trees."""
    numbers, nobody = np.empty((0, 1)), np.empty(0, dtype=np.int32)
    times = np.zeros(1)
    read_cubics(times, times, np.empty((4, 0)), 0.0, 1.0, times)
    count_in_order(times, times, np.empty(1, dtype=np.int64))
    BinMapper.from_quantiles(numbers, 2).transform(numbers)
    partition_members(_NO_BINS, 0, np.zeros(1, dtype=np.bool_), nobody, nobody)
    quadratic_loss(numbers, numbers, numbers, nobody)
    nodes, span = pack_trees([], 1)[0], np.empty((0, 2), dtype=np.int64)
    data = (_NO_BINS, 0, nodes, numbers, numbers, numbers, numbers)
    add_grown_tree(*data, nobody, span, nobody, nobody, np.empty(1))


def _sum_over_nobody(n_terms: int) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Compile sums over members; return the statistics of nobody and their sums."""
    gradients = np.empty((0, n_terms))
    curvatures = np.empty((0, n_terms * (n_terms + 1) // 2))
    sums = np.empty((1, 2, n_terms + curvatures.shape[1] + 1))
    feature = np.zeros(1, dtype=np.int32)
    accumulate_histograms(_NO_BINS, gradients, curvatures, feature[:0], feature, sums)
    return gradients, curvatures, sums


def _compile_sums() -> None:
    """Compile what fits without sensors need: sums over members, leaves and predictions."""
    _, numbers, sums = _sum_over_nobody(1)
    totals = np.empty(3)
    sum_bins(sums[0], totals)
    LeafProblem(FULL, np.ones((1, 1))).solve(totals, np.empty(1))
    nodes, roots = pack_trees([], 1)
    sum_leaves(_NO_BINS, 0, nodes, roots, numbers)


def _compile_moments() -> None:
    """Compile the statistics of fits without sensors."""
    _, events, _ = draw_dozen(has_sensors=False)
    compute_suffstats(put_on_clock(events, CalendarClock()), PowerBasis(), "intensity")


def _compile_last() -> None:
    """Compile what fits need in the end, from there on backwards.

    The process that fits may be there, too, and compile the same from the other side.
    """
    counts, marks = np.empty(0), np.empty(0, dtype=np.uint64)
    places, curves = np.zeros(1, dtype=np.int64), np.zeros((1, 1))
    mark_times(counts, places, marks)
    mark_features(np.empty((0, 1)), marks)
    read_lines(curves, counts, places, places[:0], counts, counts)
    combine_terms(curves, curves, curves)


def _compile_forecasts() -> None:
    """Compile what the first forecast needs."""
    counts = np.empty(0)
    count_passed(counts, counts, np.zeros(1, dtype=np.int64))
    score_counts(counts, counts, counts, counts)
    grow_intervals(counts, counts, 0.9, counts, counts)


def _compile_many_sums() -> None:
    """Compile sums over members whose leaves have many terms, in coarse and fine bins."""
    gradients, curvatures, sums = _sum_over_nobody(3)
    nobody = np.empty(0, dtype=np.int32)
    accumulate_some_bins(_NO_BINS, gradients, curvatures, nobody, 0, 0, 1, sums[0])


def _read_curves() -> None:
    """Compile the curves along sensors, which a fit needs in the end."""
    _, events, sensors = draw_dozen(has_sensors=True)
    clocked = put_on_clock(events, CalendarClock(), sensors)
    basis, paths = SensorBasis().place(clocked, "intensity"), require_paths(clocked)
    everybody, times = np.arange(_N), np.ones(_N)
    curves = PathCurves(basis, np.zeros((_N, basis.n_terms)), paths, 20.0, 20.0, 0.1)
    curves.values_at(everybody, times)
    curves.slopes_at(everybody, times)


def _fit_dozen(settings: bytes, is_categorical: BoolArray) -> None:
    """Fit a model with sensors, whose trees of one leaf need no search."""
    compile_grouped_search(is_categorical)
    _compile_many_sums()
    _read_curves()
    _compile_last()
    _compile_forecasts()
    from boostr._training.fit import fit_model  # noqa: PLC0415 - takes long to load
    from boostr._training.run import Hooks  # noqa: PLC0415

    own = pickle.loads(settings)  # noqa: S301 - our own process
    alone = replace(own, n_estimators=1, n_jobs=1, verbose=0)
    fit_model(alone, *draw_dozen(has_sensors=True), None, Hooks())
    compile_growth(is_categorical, is_grouped=True)
    compile_rounds(is_categorical, is_grouped=True)


def _compile_reports() -> None:
    """Compile what reports need, while the process that loads a model compiles the rest."""
    nodes = pack_trees([], 1)[0]
    kinds: dict[str, Any] = {"step_left": np.bool_, "entry_share": np.float64}
    paths = [np.zeros(1, kinds.get(name, np.int64)) for name in LeafPaths._fields]
    numbers, out = np.zeros((1, 1)), np.empty((0, 1, 1))
    rules = Quadrature(np.zeros(1, dtype=np.int32), numbers, numbers)
    share_out(_NO_BINS, 0, nodes, LeafPaths(*paths), rules, False, out)
    _compile_last()
    _compile_forecasts()
    places, kinds_of = np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int8)
    sweep_squared_residuals(places, kinds_of, places, *[np.empty(0)] * 7)


def _read(inbox: Queue[bytes]) -> None:
    """Pass on what this process is told, nothing if the one that started it has ended."""
    with open(sys.stdin.fileno(), "rb", buffering=0, closefd=False) as pipe:
        message = pipe.read()  # not from a buffer, which Python would wait for at its end
    inbox.put(message)


def _hear(inbox: Queue[bytes], patience: float) -> Any:
    """Return what this process is told, an empty tuple if it is nothing so far."""
    try:
        message = inbox.get(timeout=patience)
    except Empty:
        return ()
    return pickle.loads(message) if message else None  # noqa: S301 - our own process


def main() -> None:
    """Compile what reports need, if that is told at once, or what fits need."""
    gc.disable()  # it would look through all that the compiler has made
    inbox: Queue[bytes] = Queue()
    Thread(target=_read, args=(inbox,), daemon=True).start()
    told = _hear(inbox, _PAUSE)
    if told == (REPORTS,):
        _compile_reports()
    else:
        _compile_fits(inbox, told)


def _compile_fits(inbox: Queue[bytes], told: Any) -> None:
    """Compile what every fit needs, then what another process tells, if it does soon.

    Validation grows many trees. If a fit with validation has begun, the kernel of whole
    trees comes first, and the process that fits compiles sums over members itself.
    """
    _compile_first()
    if told == ():
        told = _hear(inbox, 0.0)
    for compile_more in (_compile_moments, _compile_sums):
        if told == ():
            compile_more()
            told = _hear(inbox, 0.0)
    if told == ():
        told = _hear(inbox, _PATIENCE)
    if told is None:
        return
    numeric = np.zeros(1, dtype=np.bool_)
    settings, is_categorical, grows_many, is_large = told or (None, numeric, False, False)
    if settings is not None:
        _fit_dozen(settings, is_categorical)
        return
    if not told:
        compile_search(is_categorical)
    if not grows_many:
        _compile_sums()
    compile_growth(is_categorical)
    _compile_last()
    _compile_forecasts()
    if is_large:
        compile_rounds(is_categorical, is_shared=True)
    compile_rounds(is_categorical)


if __name__ == "__main__":
    main()

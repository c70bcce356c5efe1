"""Kernels of a first fit, compiled by a fit to a dozen individuals and left on disk.

This is a program, see :mod:`boostr._training.first_use`, which compiles nearly all kernels
but those that search for splits: trees of one leaf need no search.
"""

from __future__ import annotations

import pickle
import sys
from dataclasses import replace
from typing import Any

import numpy as np

from boostr._engine.binning import FeatureLayout
from boostr._engine.boosting import Booster, BoostingParams, LocalBoostingState
from boostr._engine.statistics import compute_suffstats, put_on_clock
from boostr._engine.tree import GrowthParams, LeafProblem, compile_growth
from boostr._kernels.solve import FULL
from boostr._typing import BoolArray, FloatArray
from boostr.basis import CalendarClock, PowerBasis
from boostr.data import RecurrentEvents, Trajectories

__all__ = ["draw_dozen"]

_N = 12


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


def _compile_plain(is_categorical: BoolArray) -> None:
    """Compile statistics and trees, then what grows whole trees."""
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
    compile_growth(is_categorical)


def _fit_dozen(settings: bytes) -> None:
    """Fit a model with sensors."""
    from boostr._training.fit import fit_model  # noqa: PLC0415 - takes long to load
    from boostr._training.run import Hooks  # noqa: PLC0415

    alone: Any = pickle.loads(settings)  # noqa: S301 - our own process
    alone = replace(alone, n_estimators=1, n_jobs=1, verbose=0)
    fit_model(alone, *draw_dozen(has_sensors=True), None, Hooks())


def main() -> None:
    """Compile what another process, which sent settings and features, does not."""
    settings, is_categorical = pickle.load(sys.stdin.buffer)  # noqa: S301 - our own process
    if settings is None:
        _compile_plain(is_categorical)
    else:
        _fit_dozen(settings)


if __name__ == "__main__":
    main()

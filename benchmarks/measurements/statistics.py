"""Sufficient statistics from raw events: clock, times on the clock, moments."""

from __future__ import annotations

import numpy as np

from benchmarks._timing import time_repeatedly
from benchmarks.measurements._finding import Finding, Scale
from benchmarks.measurements._workload import draw_events, draw_features
from boostr import RecurrentEvents
from boostr._engine.statistics import compute_suffstats, put_on_clock
from boostr._training.settings import resolve_basis
from boostr.basis import OperationalClock

_LIMIT = 5.0
_N_INDIVIDUALS = 1_000_000
_EVENTS_EACH = 10.0


def measure(scale: Scale) -> list[Finding]:
    n = scale.largest if scale.is_quick else _N_INDIVIDUALS
    _compute(draw_events(draw_features(1_000), _EVENTS_EACH))  # compile
    y = draw_events(draw_features(n), _EVENTS_EACH)
    timing = time_repeatedly(lambda: _compute(y), 2)
    name = f"statistics of {n:,} individuals with {len(y.times):,} events"
    details = {"n": n, "n_events": len(y.times), **timing}
    return [Finding.at_most(name, timing["median_s"], "s", _LIMIT, details=details)]


def _compute(y: RecurrentEvents) -> None:
    """Do what `BoostR.fit` does with the default leaf family, loss and clock."""
    clock = OperationalClock.from_events(y, np.ones(len(y)))
    clocked = put_on_clock(y, clock)
    basis = resolve_basis("power").place(clocked, "intensity")
    compute_suffstats(clocked, basis, "intensity")

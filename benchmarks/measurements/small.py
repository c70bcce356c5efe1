"""A small data set: overhead, not arithmetic."""

from __future__ import annotations

from benchmarks._timing import time_repeatedly
from benchmarks.measurements._finding import Finding, Scale
from boostr import BoostR
from boostr.simulate import dataset_a

_LIMIT_MS = 50.0
_REPETITIONS = 20


def measure(scale: Scale) -> list[Finding]:
    data = dataset_a()
    model = BoostR(n_estimators=50, validation=None, random_state=0)
    timing = time_repeatedly(lambda: model.fit(data.X, data.y), _REPETITIONS)
    name = f"fit, data set A, n = {len(data.y)}, 50 trees, once compiled"
    note = f"worst {1e3 * timing['worst_s']:.3g} ms"
    milliseconds = 1e3 * timing["median_s"]
    return [Finding.at_most(name, milliseconds, "ms", _LIMIT_MS, note=note, details=timing)]

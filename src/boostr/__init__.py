"""Gradient boosted trees for recurrent events: how many, and when."""

import gc
import importlib
from typing import TYPE_CHECKING, Any

from boostr import _command as _command  # first: to be ready for Ctrl-C

if TYPE_CHECKING:
    from boostr import (
        baselines,
        basis,
        dask,
        data,
        datasets,
        estimators,
        exceptions,
        inspection,
        io,
        metrics,
        nonparametric,
        plotting,
        report,
        simulate,
        tuning,
    )
    from boostr._engine.ensemble import Ensemble
    from boostr.data import Panel, RecurrentEvents, Trajectories
    from boostr.estimators import BoostR, StaticTransformer
    from boostr.exceptions import BoostrError
    from boostr.io import load
    from boostr.nonparametric import MeanCumulativeFunction
    from boostr.tuning import BoostRSearch, backtest

__version__ = "0.1.0"

__all__ = [
    "BoostR",
    "BoostRSearch",
    "BoostrError",
    "Ensemble",
    "MeanCumulativeFunction",
    "Panel",
    "RecurrentEvents",
    "StaticTransformer",
    "Trajectories",
    "__version__",
    "backtest",
    "baselines",
    "basis",
    "dask",
    "data",
    "datasets",
    "estimators",
    "exceptions",
    "inspection",
    "io",
    "load",
    "metrics",
    "nonparametric",
    "plotting",
    "report",
    "simulate",
    "tuning",
]

# Public names are imported when they are first used: scikit-learn, SciPy and Numba take
# seconds. Every name of `__all__` that is not here is a subpackage.
_MODULES = {
    "BoostR": "boostr.estimators",
    "BoostRSearch": "boostr.tuning",
    "BoostrError": "boostr.exceptions",
    "Ensemble": "boostr._engine.ensemble",
    "MeanCumulativeFunction": "boostr.nonparametric",
    "Panel": "boostr.data",
    "RecurrentEvents": "boostr.data",
    "StaticTransformer": "boostr.estimators",
    "Trajectories": "boostr.data",
    "backtest": "boostr.tuning",
    "load": "boostr.io",
}
# Those who use these will fit a model: at first use, kernels are compiled meanwhile.
_FITTING = {"BoostR", "BoostRSearch"}


def _import(module: str) -> Any:
    """Import a module with garbage collection paused, which saves a tenth of the time."""
    is_enabled = gc.isenabled()
    gc.disable()
    try:
        return importlib.import_module(module)
    finally:
        if is_enabled:
            gc.enable()


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used."""
    if name in _MODULES:
        if name in _FITTING:
            importlib.import_module("boostr._training.other_process").start_early()
        elif name == "load":
            importlib.import_module("boostr._training.other_process").start_for_reports()
        found = getattr(_import(_MODULES[name]), name)
        globals()[name] = found
        return found
    if name in __all__:
        return _import(f"boostr.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    """List the public names, also those that are not imported yet."""
    return sorted({*globals(), *__all__})

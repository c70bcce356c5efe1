"""Gradient boosted trees for recurrent events: how many, and when."""

import importlib
from typing import TYPE_CHECKING, Any

from boostr import _command as _command  # first, for the rest takes its time

# isort: split
from boostr import basis, datasets, inspection, io, metrics, plotting, simulate, tuning
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
    "basis",
    "datasets",
    "inspection",
    "io",
    "load",
    "metrics",
    "plotting",
    "simulate",
    "tuning",
]

if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        """Import `boostr.dask` when it is first used: it is heavy, and optional."""
        if name == "dask":
            return importlib.import_module("boostr.dask")
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

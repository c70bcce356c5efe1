"""Gradient boosted trees for recurrent events: how many, and when."""

from boostr import basis, datasets, inspection, io, metrics, plotting, simulate, tuning
from boostr._engine.ensemble import Ensemble
from boostr.baselines import MeanCumulativeFunction
from boostr.data import Panel, RecurrentEvents, Trajectories
from boostr.estimators import BoostR, StaticTransformer
from boostr.exceptions import BoostrError
from boostr.io import load
from boostr.tuning import BoostRSearch

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

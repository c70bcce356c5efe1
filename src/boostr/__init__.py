"""Gradient boosted trees for recurrent events: how many, and when."""

from boostr import basis, datasets, inspection, metrics, plotting, simulate
from boostr._engine.ensemble import Ensemble
from boostr.baselines import MeanCumulativeFunction
from boostr.data import Panel, RecurrentEvents, Trajectories
from boostr.estimators import BoostR, StaticTransformer
from boostr.exceptions import BoostrError

__version__ = "0.1.0"

__all__ = [
    "BoostR",
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
    "metrics",
    "plotting",
    "simulate",
]

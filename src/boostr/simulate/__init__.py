"""Event histories whose true cumulative intensity is known."""

from __future__ import annotations

from boostr.metrics import integrated_squared_error
from boostr.simulate._kelly import kelly
from boostr.simulate._patients import patients
from boostr.simulate._poisson import dataset_a, dataset_b, dataset_c, dataset_d
from boostr.simulate._simulation import Simulation
from boostr.simulate._wells import wells

__all__ = [
    "Simulation",
    "dataset_a",
    "dataset_b",
    "dataset_c",
    "dataset_d",
    "integrated_squared_error",
    "kelly",
    "patients",
    "wells",
]

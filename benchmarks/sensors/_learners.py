"""Who is compared on wells with sensors."""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec

from benchmarks.libraries import Learner
from benchmarks.libraries.andersen_gill import AndersenGill
from benchmarks.libraries.known_regions import KnownRegions
from benchmarks.libraries.lightgbm_poisson import LightGBMPoisson
from benchmarks.libraries.xgboost_poisson import XGBoostPoisson
from benchmarks.libraries.xgboost_time import XGBoostTime
from boostr.simulate import Simulation

__all__ = ["BOOSTR", "LEARNERS", "PEERS"]

BOOSTR = "boostr"  # fitted elsewhere, since other parts look at the same models

# Only who is allowed to know the truth reads the simulation.
PEERS: dict[str, Callable[[Simulation, int], Learner]] = {
    "lightgbm-poisson": lambda _simulation, seed: LightGBMPoisson(seed),
    "xgboost-poisson": lambda _simulation, seed: XGBoostPoisson(seed),
    "xgboost-time": lambda _simulation, seed: XGBoostTime(seed),
    "andersen-gill": lambda _simulation, _seed: AndersenGill(),
    "regions-known": lambda simulation, _seed: KnownRegions(simulation),
}
if find_spec("lifelines") is None:
    del PEERS["andersen-gill"]

LEARNERS = (BOOSTR, *PEERS)

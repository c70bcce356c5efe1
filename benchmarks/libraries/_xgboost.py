"""What both uses of XGBoost share."""

from __future__ import annotations

from typing import Any

import numpy as np
import xgboost

from benchmarks.libraries._tuning import FloatArray, TreeShape


def make_params(
    objective: str, shape: TreeShape, rate: float, weight_of_member: float
) -> dict[str, Any]:
    """Return parameters of best-first growth on one thread."""
    return {
        "objective": objective,
        "tree_method": "hist",
        "grow_policy": "lossguide",
        "max_depth": 0,
        "max_leaves": shape.n_leaves,
        "min_child_weight": shape.least_members * weight_of_member,
        "learning_rate": rate,
        "nthread": 1,
        "verbosity": 0,
    }


def validate(
    params: dict[str, Any],
    trained: xgboost.DMatrix,
    held_out: xgboost.DMatrix,
    n_rounds: int,
) -> FloatArray:
    """Return the mean held-out loss of the objective's own metric after each round."""
    history: dict[str, dict[str, list[float]]] = {}
    xgboost.train(
        params,
        trained,
        n_rounds,
        evals=[(held_out, "held_out")],
        evals_result=history,
        verbose_eval=False,
    )
    (losses,) = history["held_out"].values()
    return np.asarray(losses)

"""The baseline of Appendix A: trees for the count so far, with time as a feature."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

from boostr.baselines import HistGradientBoostingTime, XGBoostTime

__all__ = [
    "RATE",
    "find_library",
    "make_time_learner",
    "name_ad_hoc",
    "say_library",
]

RATE = 0.3  # XGBoost's own learning rate, where the paper states none

_N_TREES = 100  # rounds of XGBoost by default; the paper states none


def find_library() -> str:
    """Return the library of the trees: XGBoost, or scikit-learn without it."""
    return "XGBoost" if find_spec("xgboost") else "HistGB"


def name_ad_hoc() -> str:
    """Return the name of the model on the page."""
    return f"{find_library()}, time as a feature"


def say_library() -> str:
    """Return a sentence for the page if another library stands in."""
    if find_library() == "XGBoost":
        return ""
    return (
        "XGBoost is not installed: HistGB, the histogram gradient boosting of "
        "scikit-learn, stands in for it, on the same rows with time as a feature."
    )


def make_time_learner(learning_rate: float, n_times: int, random_state: int) -> Any:
    """Return the ad hoc model, whose curves are not smoothed."""
    baseline = XGBoostTime if find_library() == "XGBoost" else HistGradientBoostingTime
    return baseline(
        n_estimators=_N_TREES,
        learning_rate=learning_rate,
        n_times=n_times,
        monotone=False,
        random_state=random_state,
    )

"""Features that a baseline needs."""

from __future__ import annotations

from boostr._typing import FloatArray
from boostr.exceptions import InvalidFeaturesError

__all__ = ["need_features"]


def need_features(features: FloatArray, model: str) -> None:
    """Refuse a table without features."""
    if features.shape[1] == 0:
        raise InvalidFeaturesError(
            f"{model} must have features to tell individuals apart, but `X` has none."
            "\n\nHint: McfRegressor gives everybody the mean cumulative function."
        )

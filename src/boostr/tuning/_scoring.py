"""Scores of a fitted model on unseen histories."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from boostr._typing import FloatArray
from boostr.data import RecurrentEvents
from boostr.exceptions import InvalidParameterError

__all__ = ["Scorers", "check_scorers", "score_model"]

Scorers = dict[str, Callable[..., float] | None]  # None: the estimator's own score


def check_scorers(scoring: Any) -> Scorers:
    """Return scorers by name; the first one decides."""
    named = dict(scoring) if isinstance(scoring, Mapping) else {"score": scoring}
    if not named or any(not (one is None or callable(one)) for one in named.values()):
        raise InvalidParameterError(
            "`scoring` must be None, a scorer, or a dictionary of scorers by name, but it "
            f"is {scoring!r}.\n\nHint: boostr.metrics.concordance_scorer() makes one."
        )
    return {str(name): scorer for name, scorer in named.items()}


def score_model(
    scorers: Scorers, model: Any, X: Any, y: RecurrentEvents, weights: FloatArray
) -> dict[str, float]:
    """Return all scores of a model; greater is better."""
    options = {} if np.all(weights == 1.0) else {"sample_weight": weights}
    return {
        name: float(
            model.score(X, y, **options)
            if scorer is None
            else scorer(model, X, y, **options)
        )
        for name, scorer in scorers.items()
    }

"""Scores on unseen histories, and results of a search by setting."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from boostr._typing import FloatArray
from boostr.data import RecurrentEvents
from boostr.data.events.frames import make_table
from boostr.estimators import BoostR
from boostr.exceptions import InvalidParameterError

__all__ = [
    "Scorers",
    "check_scorers",
    "describe_model",
    "find_best_mean",
    "rank_settings",
    "score_model",
    "summarise",
    "tabulate_results",
]

Scorers = dict[str, Callable[..., float] | None]  # None: the estimator's own score


def check_scorers(scoring: Any) -> Scorers:
    """Return scorers by name; the first one decides."""
    named = dict(scoring) if isinstance(scoring, Mapping) else {"score": scoring}
    if not named or any(not (one is None or callable(one)) for one in named.values()):
        raise InvalidParameterError(
            "`scoring` must be None, a scorer, or a dictionary of scorers by name, but it "
            f"is {scoring!r}.\n\n"
            "Hint: boostr.metrics.scorer('recurrent_concordance') makes one."
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


Record = Mapping[str, Any]


def describe_model(model: BoostR) -> dict[str, Any]:
    """Return the figures kept of a fitted model, as JSON values."""
    members = model.ensemble_.members
    return {
        "n_trees": int(model.n_estimators_),
        "leaf_counts": [tree.n_leaves for member in members for tree in member.trees],
    }


def summarise(setting: Mapping[str, Any], records: Sequence[Record]) -> dict[str, Any]:
    """Return one entry of ``results_``, without its rank.

    The first score decides; with several, each has its own entries.
    """
    names = list(records[0]["scores"])
    scores = {
        name: np.array([record["scores"][name] for record in records]) for name in names
    }
    decisive = scores[names[0]]
    result = {
        "params": dict(setting),
        "mean_score": float(np.mean(decisive)),
        "std_score": float(np.std(decisive)),
        "scores": decisive,
        "n_trees": np.array([record["n_trees"] for record in records]),
        "leaf_counts": np.concatenate(
            [np.array(record["leaf_counts"], dtype=np.int64) for record in records]
        ),
        "seconds": float(sum(record["seconds"] for record in records)),
    }
    if len(names) > 1:
        result["all_scores"] = scores
    return result


def find_best_mean(results: Sequence[Mapping[str, Any]]) -> float:
    """Return the highest mean score, NaN without any."""
    means = [float(result["mean_score"]) for result in results]
    return max((mean for mean in means if not math.isnan(mean)), default=math.nan)


def rank_settings(results: Sequence[dict[str, Any]]) -> int:
    """Add the rank to every entry, 1 for the best; return the position of the best."""
    if math.isnan(find_best_mean(results)):
        raise InvalidParameterError(
            "Some setting must have a score on every split, but none has: there are "
            "missing values among the scores of each.\n\n"
            "Hint: fewer splits leave more individuals and events to score on."
        )
    means = np.array([result["mean_score"] for result in results])
    order = np.argsort(np.where(np.isnan(means), np.inf, -means), kind="stable")
    for rank, place in enumerate(order, start=1):
        results[place]["rank"] = rank
    return int(order[0])


def tabulate_results(results: Sequence[Mapping[str, Any]], backend: str | None) -> Any:
    """Return a table with one row per setting."""
    columns: dict[str, list[Any]] = {
        f"param_{name}": [_plain(result["params"][name]) for result in results]
        for name in results[0]["params"]
    }
    for name in ("mean_score", "std_score", "rank", "seconds"):
        columns[name] = [result[name] for result in results]
    columns["mean_n_trees"] = [float(result["n_trees"].mean()) for result in results]
    columns["median_leaves"] = [float(np.median(r["leaf_counts"])) for r in results]
    for split in range(len(results[0]["scores"])):
        columns[f"split{split}_score"] = [float(r["scores"][split]) for r in results]
    for name in results[0].get("all_scores", {}):
        columns[f"mean_{name}"] = [float(r["all_scores"][name].mean()) for r in results]
    return make_table(columns, backend)


def _plain(value: Any) -> Any:
    """Return words and numbers unchanged, anything else as text."""
    return value if isinstance(value, str | int | float | None) else repr(value)

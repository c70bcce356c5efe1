"""Parameters of baselines whose trees another library boosts."""

from __future__ import annotations

from typing import Any

from sklearn.utils import check_random_state

from boostr._checks.parameters import check_count, check_number, count_threads
from boostr.baselines._rival import Rival

__all__ = ["BoostedRival"]


class BoostedRival(Rival):
    """A baseline whose trees another library boosts."""

    def __init__(
        self,
        *,
        n_estimators: int = 200,
        learning_rate: float = 0.05,
        max_leaf_nodes: int = 6,
        min_samples_leaf: int = 20,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_estimators = n_estimators
        self.learning_rate = learning_rate
        self.max_leaf_nodes = max_leaf_nodes
        self.min_samples_leaf = min_samples_leaf
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _check_params(self) -> None:
        check_count(self.n_estimators, "n_estimators")
        check_number(self.learning_rate, "learning_rate", 0.0, 1.0)
        check_count(self.max_leaf_nodes, "max_leaf_nodes", least=2)
        check_count(self.min_samples_leaf, "min_samples_leaf")
        count_threads(self.n_jobs)

    def _seed(self) -> int:
        return int(check_random_state(self.random_state).randint(2**31 - 1))

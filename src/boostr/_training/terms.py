"""Choice between one term and all terms by forecasts from earlier dates.

Cross-validation holds out individuals, not future time: curves of different forms may
explain the past better and extrapolate worse. So the best models with one term and with
all of them are grown again on what was known at earlier dates.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from boostr._engine.binning import BinMapper
from boostr._engine.ensemble import Ensemble
from boostr._engine.selection import Task, ValidatedRun
from boostr._engine.training import refit
from boostr._engine.training_set import LocalTrainingSet
from boostr._engine.tree import Limits
from boostr._frailty.law import FrailtyLaw
from boostr._training.finish import fit_link
from boostr._training.fitted import TreeModel
from boostr._training.frailty import TrainingCurves, some_of
from boostr._training.inputs import TrainingData
from boostr._training.rolling import cut_back, find_lead, forecast_ahead
from boostr._training.settings import Settings
from boostr._training.statistics import Plan, plan_statistics
from boostr._training.summary import DataSummary

__all__ = ["TermJudge"]

_N_DATES = 3


@dataclass(frozen=True, slots=True, eq=False)
class TermJudge:
    """Compares forecasts with one and with all terms at earlier dates."""

    settings: Settings
    take_sample: Callable[[], TrainingData]
    mapper: BinMapper
    n_threads: int
    limits: Limits | None = None

    @classmethod
    def of(
        cls,
        settings: Settings,
        take_sample: Callable[[], TrainingData],
        mapper: BinMapper,
        n_threads: int,
        limits: Limits | None = None,
    ) -> TermJudge | None:
        """Return a judge, or None if no earlier dates are wanted."""
        if settings.n_origins == 0:
            return None
        return cls(settings, take_sample, mapper, n_threads, limits)

    def prefers_all(self, narrow: ValidatedRun, wide: ValidatedRun) -> bool:
        """Return whether all terms forecast better at every date.

        True as well if too little was known at all dates: validation then decides.
        """
        sample = self.take_sample()
        data = sample.take(some_of(np.arange(len(sample))))
        lead = find_lead(data.events)
        for place in range(1, _N_DATES + 1):
            found = cut_back(data, place * lead)
            if found is None:
                continue
            known, rows = found
            likelihoods = [
                self._try(known, data.take(rows), lead, run) for run in (narrow, wide)
            ]
            if likelihoods[1] <= likelihoods[0]:
                return False
        return True

    def _try(
        self, known: TrainingData, data: TrainingData, lead: float, run: ValidatedRun
    ) -> float:
        """Return the log-likelihood of the lead after a date, as forecast at it."""
        plan = plan_statistics(
            self.settings, known, known, DataSummary.of(known.events, known.weights)
        )
        ensemble = self._grow(plan, known, run)
        theta = ensemble.coefficients(known.features, self.n_threads)
        ensemble, level = fit_link(ensemble, known, theta, self.settings)
        model = TreeModel(ensemble, self.settings)
        then = TrainingCurves.among(model, known, level * theta)
        pace = then.find_pace()
        paced, variance = pace.go_on(), pace.variance
        then = then.at_pace(paced)
        return forecast_ahead(then, data, FrailtyLaw(variance), lead).log_likelihood

    def _grow(self, plan: Plan, known: TrainingData, run: ValidatedRun) -> Ensemble:
        """Return one model grown on the data known then."""
        stats = plan.compute(known.events, None, known.uneven_weights)
        binned = self.mapper.transform(known.features, self.n_threads)
        problem = plan.state_problem(lambda summand: summand(stats, known.weights))
        task = Task(
            LocalTrainingSet(stats, binned, known.weights),
            replace(problem, limits=self.limits),
            replace(self.settings, random_state=0).boosting(),
            self.settings.n_estimators,
            self.n_threads,
            _keep_silent,
        )
        member = refit(task, run, 1.0)
        return Ensemble(plan.clock, plan.basis, self.mapper, plan.horizon, (member,))


def _keep_silent(label: str, n_trees: int, loss: float) -> None:
    """Report nothing: these trees are not part of the model."""

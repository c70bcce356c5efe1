"""Choice of tree shapes by held-out loss, in the space of statistics."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace

import numpy as np
import scipy  # its parts load when they are used, which keeps `import boostr` light

from boostr._engine.binning import BinnedFeatures
from boostr._engine.booster import Booster, BoostingParams
from boostr._engine.checkpoint import TreeLog
from boostr._engine.ensemble import Member
from boostr._engine.suffstats import SufficientStats
from boostr._engine.tree import GrowthParams, LeafProblem, Tree
from boostr._kernels.solve import GROUPED
from boostr._typing import FloatArray, IndexArray

__all__ = [
    "Columns",
    "Report",
    "Task",
    "ValidatedRun",
    "draw_folds",
    "grow",
    "validate",
    "weigh_runs",
]

Columns = tuple[IndexArray, ...]  # features of every fold
Report = Callable[[str, int, float], None]  # what is grown, trees so far, held-out loss

_PATIENCE = 40  # rounds without a better held-out loss before a run ends
_MANY = 30_000  # individuals from which one tree keeps all threads busy


@dataclass(frozen=True, slots=True, eq=False)
class Task:
    """All that boosting needs besides the shape of the trees."""

    stats: SufficientStats
    features: BinnedFeatures
    problem: LeafProblem
    params: BoostingParams
    n_rounds: int
    n_threads: int
    report: Report
    columns: Columns | None = None  # features to split on; None: all of them
    log: TreeLog = field(default_factory=TreeLog)  # rounds that need not be grown again

    def __len__(self) -> int:
        return len(self.stats.linear)

    def booster(
        self, growth: GrowthParams, members: IndexArray, seed: int, n_threads: int
    ) -> Booster:
        """Return a new booster over some individuals; its seed is the fold's number."""
        params = replace(self.params, growth=growth, seed=self.params.seed + seed)
        return Booster(
            self.stats,
            self.features,
            self.problem,
            params,
            members,
            n_threads,
            None if self.columns is None else self.columns[seed],
        )

    @property
    def has_long_steps(self) -> bool:
        """Whether a tree takes long, though there are few individuals."""
        return self.problem.solver == GROUPED and len(self) < _MANY

    def subset(self, rows: IndexArray) -> Task:
        """Return the same task for some of the individuals."""
        stats = SufficientStats(self.stats.linear[rows], self.stats.quadratic[rows])
        features = replace(self.features, bins=self.features.bins[rows])
        return replace(self, stats=stats, features=features)

    def restrict(self, term: int) -> Task:
        """Return the same task with one term alone."""
        penalty = self.problem.penalty[[term]][:, [term]]
        problem = replace(self.problem, penalty=penalty)
        return replace(self, stats=self.stats.restrict(term), problem=problem)


@dataclass(frozen=True, slots=True, eq=False)
class ValidatedRun:
    """One shape of trees, boosted on every fold and stopped at the best held-out loss."""

    label: str
    growth: GrowthParams
    trees: tuple[tuple[Tree, ...], ...]  # of every fold, as many as are kept
    curve: FloatArray  # (n_rounds_run,) mean held-out loss after each round
    out_of_fold: FloatArray  # (n, n_terms), NaN for whoever was never held out
    term: int | None = None  # the only term that was used, if not all
    columns: Columns | None = None  # the only features that were used, if not all

    @property
    def n_rounds(self) -> int:
        """Number of trees that every fold keeps."""
        return len(self.trees[0])

    def widen(self, term: int, n_terms: int) -> ValidatedRun:
        """Return the run of one term as a run of all terms."""
        trees = tuple(
            tuple(tree.widened(term, n_terms) for tree in fold) for fold in self.trees
        )
        out_of_fold = np.zeros((len(self.out_of_fold), n_terms))
        out_of_fold[:, term] = self.out_of_fold[:, 0]
        out_of_fold[np.isnan(self.out_of_fold[:, 0])] = np.nan
        return replace(self, trees=trees, out_of_fold=out_of_fold, term=term)

    def members(self, weight: float) -> list[Member]:
        """Return the folds' models, each with its share of the weight."""
        return [Member(trees, weight / len(self.trees)) for trees in self.trees]


def draw_folds(n: int, n_folds: int, n_repeats: int, seed: int) -> list[IndexArray]:
    """Deal individuals out at random; return the held-out ones of every fold."""
    rng = np.random.default_rng(seed)
    orders = [rng.permutation(n) for _ in range(n_repeats)]
    return [
        np.sort(order[fold::n_folds]).astype(np.int32)
        for order in orders
        for fold in range(n_folds)
    ]


def grow(
    task: Task, growth: GrowthParams, n_rounds: int, label: str
) -> tuple[tuple[Tree, ...], FloatArray]:
    """Boost on everybody for a fixed number of rounds; return trees and training losses."""
    everybody = np.arange(len(task), dtype=np.int32)
    booster = task.booster(growth, everybody, 0, task.n_threads)
    losses = np.empty(n_rounds)
    for index in range(n_rounds):
        _step_all([booster], 1, task.log)
        losses[index] = booster.total_loss / len(task)
        task.report(label, index + 1, np.nan)
    return tuple(booster.trees), losses


def validate(
    task: Task, growth: GrowthParams, folds: Sequence[IndexArray], label: str
) -> ValidatedRun:
    """Boost on all folds in step, until the held-out loss has not fallen for a while.

    All folds keep the same number of trees, the one with the lowest total loss: one curve
    over everybody is steadier than a curve per fold.
    """
    everybody = np.arange(len(task), dtype=np.int32)
    # Where trees take long, folds share the threads; otherwise a tree has them all.
    n_beside = min(task.n_threads, len(folds)) if task.has_long_steps else 1
    boosters = [
        task.booster(
            growth,
            np.setdiff1d(everybody, held_out),
            seed,
            max(1, task.n_threads // n_beside),
        )
        for seed, held_out in enumerate(folds)
    ]
    pairs = list(zip(boosters, folds, strict=True))
    n_held_out = sum(len(held_out) for held_out in folds)
    curve: list[float] = []
    best, n_kept = np.inf, 0  # one tree is always kept: the average is better than nothing
    out_of_fold = _gather([np.zeros_like(booster.theta) for booster in boosters], folds)
    while len(curve) < task.n_rounds and len(curve) - n_kept < _PATIENCE:
        _step_all(boosters, n_beside, task.log)
        curve.append(sum(booster.loss(held) for booster, held in pairs) / n_held_out)
        if curve[-1] < best:
            best, n_kept = curve[-1], len(curve)
            out_of_fold = _gather([booster.theta for booster in boosters], folds)
        task.report(label, len(curve), curve[-1])
    trees = tuple(tuple(booster.trees[:n_kept]) for booster in boosters)
    return ValidatedRun(
        label, growth, trees, np.array(curve), out_of_fold, columns=task.columns
    )


def _step_all(boosters: Sequence[Booster], n_beside: int, log: TreeLog) -> None:
    """Add a tree to every booster, so many at the same time, or those that are known."""
    known = log.recall()
    if known is not None:
        for booster, tree in zip(boosters, known, strict=True):
            booster.step(tree)
        return
    if n_beside == 1:
        for booster in boosters:
            booster.step()
    else:
        with ThreadPoolExecutor(n_beside) as pool:
            list(pool.map(Booster.step, boosters))
    log.keep(tuple(booster.trees[-1] for booster in boosters))


def _gather(thetas: Sequence[FloatArray], folds: Sequence[IndexArray]) -> FloatArray:
    """Return everybody's mean coefficients over the folds that held them out."""
    total = np.zeros_like(thetas[0])
    times_held_out = np.zeros(len(total))
    for theta, held_out in zip(thetas, folds, strict=True):
        total[held_out] += theta[held_out]
        times_held_out[held_out] += 1
    with np.errstate(invalid="ignore"):
        return np.asarray(
            total / np.where(times_held_out > 0, times_held_out, np.nan)[:, None]
        )


def weigh_runs(stats: SufficientStats, runs: Sequence[ValidatedRun]) -> FloatArray:
    """Weigh runs by their out-of-fold predictions.

    The mean of two answers: non-negative least squares on the predictions (stacking), which
    finds runs that complement each other, and weights that fall with the distance of a
    run's loss from the lowest one in standard errors, which are steadier with few
    individuals.
    """
    if len(runs) == 1:
        return np.ones(1)
    known = np.flatnonzero(~np.isnan(runs[0].out_of_fold[:, 0]))
    theta = np.stack([run.out_of_fold[known] for run in runs])
    linear = stats.linear[known]
    products = np.stack([stats.multiply(one, known) for one in theta])
    losses = np.sum(theta * (0.5 * products - linear), axis=2)
    stacked = _solve_nonnegative(
        np.einsum("cit,dit->cd", theta, products), np.einsum("cit,it->c", theta, linear)
    )
    by_distance = _weigh_by_distance(losses)
    if stacked.sum() <= 0.0:  # so few events that predicting none looks best
        return by_distance
    return 0.5 * stacked / stacked.sum() + 0.5 * by_distance


def _solve_nonnegative(quadratic: FloatArray, linear: FloatArray) -> FloatArray:
    """Minimise 1/2 w'Qw - l'w over w >= 0."""
    scale = np.trace(quadratic) / len(linear)
    if scale <= 0.0:  # nobody predicts anything
        return np.full(len(linear), 1.0 / len(linear))
    factor = np.linalg.cholesky(quadratic + 1e-9 * scale * np.eye(len(linear)))
    weights, _ = scipy.optimize.nnls(factor.T, np.linalg.solve(factor, linear))
    return np.asarray(weights)


def _weigh_by_distance(losses: FloatArray) -> FloatArray:
    """Return weights that halve with every third of a standard error from the best run."""
    totals = losses.sum(axis=1)
    differences = losses - losses[np.argmin(totals)]
    error = differences.std(axis=1) * np.sqrt(losses.shape[1])
    excess = totals - totals.min()
    certain = np.where(excess > 0.0, np.inf, 0.0)  # where everybody agrees by how much
    distance = np.divide(excess, error, out=certain, where=error > 0.0)
    weights = np.exp(-2.0 * distance)
    return np.asarray(weights / weights.sum())

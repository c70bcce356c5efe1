"""Choice of tree shapes by held-out loss, in the space of statistics."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np
import scipy

from boostr._engine.boosting import Booster, BoostingParams
from boostr._engine.ensemble import Member
from boostr._engine.statistics import SufficientStats
from boostr._engine.training_set import Rows, TrainingSet, sum_up
from boostr._engine.tree import GrowthParams, LeafProblem, Tree
from boostr._kernels.solve import GROUPED
from boostr._kernels.threads import run_in_parts
from boostr._typing import FloatArray, IndexArray

__all__ = [
    "Columns",
    "FitProgress",
    "Report",
    "Round",
    "Task",
    "TreeLog",
    "ValidatedRun",
    "compare_runs",
    "draw_folds",
    "grow",
    "is_clearly_worse",
    "validate",
    "weigh_runs",
]

Round = tuple[Tree, ...]  # one tree of every model that grows in step


class TreeLog:
    """Known rounds of a training that was stopped, or of a smaller model, and new ones.

    Training is a fixed sequence of rounds: the same data and settings ask for the same
    trees in the same order. Known trees are added one by one as if they had just been
    grown; coefficients, losses and choices follow with the same bits.
    """

    def __init__(
        self,
        known: Iterable[Round] = (),
        keep: Callable[[Round], None] = lambda trees: None,
    ) -> None:
        self._known = iter(known)
        self.keep = keep

    def recall(self) -> Round | None:
        """Return the trees of the next round, or None where they have to be grown."""
        return next(self._known, None)


Columns = tuple[IndexArray, ...]  # features of every fold
Report = Callable[[str, int, float], None]  # what is grown, trees so far, held-out loss


@dataclass(frozen=True, slots=True)
class FitProgress:
    """What callbacks of `BoostR.fit` are told after every tree.

    Parameters
    ----------
    label : str
        Name of the run of trees, as in ``validation_results_``: the shape of its trees.
        Runs with other features or of a similar shape may share it.
    n_trees : int
        Trees that the run has grown so far, in every fold; 1 where it begins.
    train_loss : float
        Mean loss of the individuals that trees are grown on.
    validation_loss : float
        Mean loss of those held out; NaN where none are.

    See Also
    --------
    boostr.BoostR.fit : Takes the callbacks.

    Examples
    --------
    >>> from boostr.estimators import FitProgress
    >>> FitProgress("3 leaves", 20, -1.5, -1.25).n_trees
    20
    """

    label: str
    n_trees: int
    train_loss: float
    validation_loss: float


def _never(progress: FitProgress) -> bool:
    return False


_FIRST_CHECK = 20  # rounds after which a run is compared with a better one
_NEXT_CHECK = 1.5  # times as many rounds until it is compared again
_OPTIMISM = 1.5  # times what a run is expected to gain yet
_SLOWEST = 0.95  # ratio of what later and earlier rounds gained, at most
_CLEARLY = 2.5  # standard errors by which a run that is given up must be worse
_ROUNDING = 1e-12  # of mean squares, below which a variance is none


@dataclass(frozen=True, slots=True, eq=False)
class Task:
    """All that boosting needs besides the shape of the trees."""

    training_set: TrainingSet
    problem: LeafProblem
    params: BoostingParams
    n_rounds: int
    n_threads: int
    report: Report
    columns: Columns | None = None  # features to split on; None: all of `features`
    features: IndexArray | None = None  # not dropped; None: all there are
    log: TreeLog = field(default_factory=TreeLog)  # rounds that need not be grown again
    chooses_steps: bool = False  # whether the learning rate may be changed
    patience: int = 30  # rounds without a better held-out loss before a run ends
    stops: Callable[[FitProgress], bool] = _never  # tells whether a run ends now

    def __len__(self) -> int:
        return len(self.training_set)

    def booster(
        self, growth: GrowthParams, held_out: IndexArray, seed: int, n_threads: int
    ) -> Booster:
        """Return a new booster that holds some out; its seed is the fold's number."""
        return Booster(
            self.training_set.follow(self.problem.solver, held_out, n_threads),
            self.training_set.layout,
            self.problem,
            replace(self.params, growth=growth, seed=self.params.seed + seed),
            self.features if self.columns is None else self.columns[seed],
        )

    def count_beside(self, growth: GrowthParams, n_models: int) -> int:
        """Return how many of several models are best grown at the same time."""
        can_run_ahead = replace(self.params, growth=growth).can_run_ahead(self.problem)
        has_long_steps = self.problem.solver == GROUPED or can_run_ahead
        return self.training_set.count_beside(
            n_models, self.n_threads, has_long_steps=has_long_steps
        )

    @property
    def n_features(self) -> int:
        """Number of features that were not dropped."""
        n_all = self.training_set.layout.n_features
        return n_all if self.features is None else len(self.features)

    def take(self, positions: IndexArray) -> Task:
        """Return the same task for some of the individuals, here."""
        return replace(self, training_set=self.training_set.take(positions))

    def restrict(self, term: int) -> Task:
        """Return the same task with one term alone."""
        penalty = self.problem.penalty[[term]][:, [term]]
        problem = replace(self.problem, penalty=penalty)
        return replace(self, training_set=self.training_set.restrict(term), problem=problem)


@dataclass(frozen=True, slots=True, eq=False)
class ValidatedRun:
    """One shape of trees, boosted on every fold and stopped at the best held-out loss."""

    label: str
    growth: GrowthParams
    trees: tuple[tuple[Tree, ...], ...]  # of every fold, as many as are kept
    curve: FloatArray  # (n_rounds_run,) mean held-out loss after each round
    out_of_fold: Rows  # (n, n_terms), NaN for individuals that were never held out
    term: int | None = None  # the only term that was used, if not all
    n_terms: int = 1  # of all individuals, where trees have one
    columns: Columns | None = None  # the only features that were used, if not all

    @property
    def n_rounds(self) -> int:
        """Number of trees that every fold keeps."""
        return len(self.trees[0])

    def widen(self, term: int, training_set: TrainingSet) -> ValidatedRun:
        """Return the run of one term as a run of all terms of the individuals."""
        n_terms = training_set.n_terms
        out_of_fold = training_set.map(partial(_widen, term, n_terms), self.out_of_fold)
        return replace(self, out_of_fold=out_of_fold, term=term, n_terms=n_terms)

    def members(self, weight: float) -> list[Member]:
        """Return the folds' models, each with its share of the weight."""
        share, term = weight / len(self.trees), self.term
        if term is None:
            return [Member(trees, share) for trees in self.trees]
        return [
            Member(tuple(tree.widened(term, self.n_terms) for tree in trees), share)
            for trees in self.trees
        ]


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
    """Boost on all individuals for given rounds; return trees and training losses."""
    booster = task.booster(growth, np.empty(0, dtype=np.int32), 0, task.n_threads)
    losses: list[float] = []
    with _letting_go([booster]):
        while len(losses) < n_rounds:
            _step_all([booster], task.log, n_rounds - len(losses))
            losses.append(booster.total_loss / len(task))
            task.report(label, len(losses), np.nan)
            if task.stops(FitProgress(label, len(losses), losses[-1], np.nan)):
                break
    return tuple(booster.trees), np.array(losses)


@contextmanager
def _letting_go(boosters: Sequence[Booster]) -> Iterator[None]:
    """Let those who follow models forget them in the end, whatever happens."""
    try:
        yield
    finally:
        for booster in boosters:
            booster.state.forget()


def validate(
    task: Task,
    growth: GrowthParams,
    folds: Sequence[IndexArray],
    label: str,
    rival: ValidatedRun | None = None,
) -> ValidatedRun:
    """Boost on all folds in step, until the held-out loss has not fallen for a while.

    All folds keep the same number of trees, the one with the lowest total loss: one curve
    over all individuals is steadier than a curve per fold. A run that will clearly stay
    behind a rival is not finished.
    """
    n_beside = task.count_beside(growth, len(folds))
    n_threads = max(1, task.n_threads // n_beside)
    boosters = [
        task.booster(growth, held_out, seed, n_threads)
        for seed, held_out in enumerate(folds)
    ]
    n_held_out = sum(len(held_out) for held_out in folds)
    curve: list[float] = []
    best, n_kept = np.inf, 0  # one tree is always kept: the average is better than nothing
    next_check = task.n_rounds if rival is None else _FIRST_CHECK
    with _letting_go(boosters):
        while len(curve) < task.n_rounds and len(curve) - n_kept < task.patience:
            n_certain = min(task.patience + n_kept, task.n_rounds, next_check) - len(curve)
            _step_all(boosters, task.log, n_certain, n_beside)
            curve.append(sum(booster.held_out_loss for booster in boosters) / n_held_out)
            if curve[-1] < best:
                best, n_kept = curve[-1], len(curve)
                for booster in boosters:
                    booster.keep()
            task.report(label, len(curve), curve[-1])
            trained = _train_loss(boosters, len(task), n_held_out)
            if task.stops(FitProgress(label, len(curve), trained, curve[-1])):
                break
            if rival is not None and len(curve) == next_check:
                next_check = round(_NEXT_CHECK * next_check)
                run = _make_run(task, growth, folds, label, boosters, curve, n_kept)
                if is_clearly_worse(task.training_set, run, rival, _hope_for(curve)):
                    return run
    return _make_run(task, growth, folds, label, boosters, curve, n_kept)


def _train_loss(boosters: Sequence[Booster], n: int, n_held_out: int) -> float:
    """Return the mean loss of the individuals that models are trained on."""
    total = sum(booster.total_loss - booster.held_out_loss for booster in boosters)
    return total / (len(boosters) * n - n_held_out)


def _hope_for(curve: Sequence[float]) -> float:
    """Return what a run may gain yet, if gains go on falling by the same factor."""
    half = len(curve) // 2
    middle = curve[half - 1]
    earlier, later = curve[0] - middle, max(middle - min(curve[half:]), 0.0)
    ratio = min(later / earlier, _SLOWEST) if earlier > 0.0 else _SLOWEST
    return _OPTIMISM * later * ratio / (1.0 - ratio)


def _make_run(
    task: Task,
    growth: GrowthParams,
    folds: Sequence[IndexArray],
    label: str,
    boosters: Sequence[Booster],
    curve: Sequence[float],
    n_kept: int,
) -> ValidatedRun:
    """Return what has been grown so far."""
    trees = tuple(tuple(booster.trees[:n_kept]) for booster in boosters)
    out_of_fold = task.training_set.gather_held_out(boosters, folds, n_kept)
    return ValidatedRun(
        label, growth, trees, np.array(curve), out_of_fold, columns=task.columns
    )


def _step_all(
    boosters: Sequence[Booster], log: TreeLog, n_certain: int, n_beside: int = 1
) -> None:
    """Add a tree to every booster, so many at the same time, or those that are known."""
    known = log.recall()
    if known is not None:
        for booster, tree in zip(boosters, known, strict=True):
            booster.step(tree)
        return
    n_parts = len(boosters) if n_beside > 1 else 1

    def step(own: slice) -> None:
        for booster in boosters[own]:
            booster.step(n_certain=n_certain)

    run_in_parts(len(boosters), n_parts, step)
    log.keep(tuple(booster.trees[-1] for booster in boosters))


def _widen(
    term: int, n_terms: int, stats: SufficientStats, theta: FloatArray
) -> FloatArray:
    """Return coefficients of one term as those of all terms."""
    wide = np.zeros((len(theta), n_terms))
    wide[:, term] = theta[:, 0]
    wide[np.isnan(theta[:, 0])] = np.nan
    return wide


def weigh_runs(training_set: TrainingSet, runs: Sequence[ValidatedRun]) -> FloatArray:
    """Weigh runs by their out-of-fold predictions.

    The mean of two answers: non-negative least squares on the predictions (stacking), which
    finds runs that complement each other, and weights that fall with the distance of a
    run's loss from the lowest one in standard errors, which are steadier with few
    individuals.
    """
    if len(runs) == 1:
        return np.ones(1)
    quadratic, linear, *losses = sum_up(
        training_set, _sum_predictions, *(run.out_of_fold for run in runs)
    )
    stacked = _solve_nonnegative(quadratic, linear)
    by_distance = _weigh_by_distance(*losses)
    if stacked.sum() <= 0.0:  # so few events that predicting none looks best
        return by_distance
    return 0.5 * stacked / stacked.sum() + 0.5 * by_distance


def compare_runs(
    training_set: TrainingSet, run: ValidatedRun, other: ValidatedRun
) -> tuple[float, float]:
    """Return how far the held-out loss of a run is above another's, and its standard error.

    The loss is summed over individuals.
    """
    rise, error, _ = _compare(training_set, run, other)
    return rise, error


def is_clearly_worse(
    training_set: TrainingSet,
    run: ValidatedRun,
    rival: ValidatedRun,
    hoped_for: float = 0.0,
) -> bool:
    """Return whether a run is worse than a rival, and not by chance.

    Even if the mean loss of an individual were lower by what is hoped for.
    """
    rise, error, n = _compare(training_set, run, rival)
    return rise - n * hoped_for > _CLEARLY * error


def _compare(
    training_set: TrainingSet, run: ValidatedRun, other: ValidatedRun
) -> tuple[float, float, float]:
    """Return the same, and the number of individuals."""
    _, _, _, n, sums, products = sum_up(
        training_set, _sum_predictions, other.out_of_fold, run.out_of_fold
    )
    variance = max(products[1, 1] / n - (sums[1] / n) ** 2, 0.0)
    return float(sums[1]), float(np.sqrt(variance * n)), float(n)


def _sum_predictions(
    stats: SufficientStats, *predictions: FloatArray
) -> tuple[FloatArray, ...]:
    """Sum what weights depend on, over those that were held out.

    The quadratic and the linear part of the loss of any mixture, the losses, and the
    number, sums and products of how far they are above the first run's.
    """
    known = np.flatnonzero(~np.isnan(predictions[0][:, 0]))
    theta = np.stack([one[known] for one in predictions])
    linear = stats.linear[known]
    products = np.stack([stats.multiply(one, known) for one in theta])
    losses = np.sum(theta * (0.5 * products - linear), axis=2)
    above = losses - losses[0]
    return (
        np.einsum("cit,dit->cd", theta, products),
        np.einsum("cit,it->c", theta, linear),
        losses.sum(axis=1),
        np.array(len(known)),
        above.sum(axis=1),
        above @ above.T,
    )


def _solve_nonnegative(quadratic: FloatArray, linear: FloatArray) -> FloatArray:
    """Minimise 1/2 w'Qw - l'w over w >= 0."""
    scale = np.trace(quadratic) / len(linear)
    if scale <= 0.0:  # all predictions are zero
        return np.full(len(linear), 1.0 / len(linear))
    factor = np.linalg.cholesky(quadratic + 1e-9 * scale * np.eye(len(linear)))
    weights, _ = scipy.optimize.nnls(factor.T, np.linalg.solve(factor, linear))
    return np.asarray(weights)


def _weigh_by_distance(
    totals: FloatArray, n: FloatArray, sums: FloatArray, products: FloatArray
) -> FloatArray:
    """Return weights that halve with every third of a standard error from the best run."""
    best = int(np.argmin(totals))
    squares = products.diagonal() - 2.0 * products[best] + products[best, best]
    variance = squares / n - ((sums - sums[best]) / n) ** 2
    # Differences that are the same for all individuals leave rounding alone.
    variance = np.where(variance > _ROUNDING * squares / n, variance, 0.0)
    error = np.sqrt(variance * n)
    excess = totals - totals.min()
    certain = np.where(excess > 0.0, np.inf, 0.0)  # the same for all
    distance = np.divide(excess, error, out=certain, where=error > 0.0)
    weights = np.exp(-2.0 * distance)
    return np.asarray(weights / weights.sum())

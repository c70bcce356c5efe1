"""From statistics and bins to the members of an ensemble."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import NamedTuple, Protocol

import numpy as np

from boostr._engine.boosting import draw_individuals
from boostr._engine.ensemble import Member
from boostr._engine.screening import (
    Screening,
    find_doubtful,
    join,
    keep_features,
    screen,
    screen_features,
)
from boostr._engine.selection import (
    Task,
    ValidatedRun,
    draw_folds,
    grow,
    is_clearly_worse,
    validate,
    weigh_runs,
)
from boostr._engine.statistics import SufficientStats
from boostr._engine.training_set import Rows
from boostr._engine.tree import GrowthParams
from boostr._kernels.solve import GROUPED
from boostr._typing import BoolArray, FloatArray, IndexArray

__all__ = [
    "PLAIN_SHAPE",
    "SENSOR_SHAPES",
    "SHAPES",
    "JudgesTerms",
    "Shape",
    "Trained",
    "Validation",
    "choose_splitter",
    "refit",
    "train",
]

_LARGE = 50_000  # individuals from which one held-out share takes the place of folds
_LARGE_SHARE = 0.2
_BLOCK = 1_000_000  # individuals that are drawn from at a time
_TRIAL = 20_000  # individuals that shapes are compared on when there are more
_SMALL = 300  # individuals up to about which folds are dealt out more than once
_MAX_REPEATS = 2
_LEAST_WEIGHT = 0.01  # runs that would count less are left out
_MANY_FEATURES = 100  # from which the useful ones are tried before all of them


@dataclass(frozen=True, slots=True)
class Shape:
    """A shape of trees, before the number of individuals is known."""

    max_leaves: int
    min_samples_leaf: float  # below 1: a share of all individuals
    n_candidates: int  # thresholds drawn per feature and node; 0: all of them

    def growth(self, base: GrowthParams, n: int) -> GrowthParams:
        """Return the shape for ``n`` individuals."""
        least = self.min_samples_leaf
        return replace(
            base,
            max_leaves=self.max_leaves,
            min_samples_leaf=max(20, round(least * n)) if least < 1 else int(least),
            n_candidates=self.n_candidates,
        )


# Few shapes, far apart, each the best on data of one kind.
SHAPES = (
    Shape(4, 0.3, 0),  # little data, clear groups
    Shape(3, 20, 0),  # groups among many useless features
    Shape(8, 20, 0),  # interactions
    Shape(2, 10, 1),  # smooth effects
    Shape(2, 0.3, 1),  # smooth effects, little data
    Shape(20, 10, 5),  # intricate borders
)

# Leaves with many coefficients need more individuals.
SENSOR_SHAPES = (
    Shape(6, 0.02, 0),  # clear groups
    Shape(6, 0.02, 3),  # smooth effects
)

# Prices draw leaves to zero, so that steps may be large.
_SENSOR_RATE = 0.2
_SENSOR_PATIENCE = 10  # rounds of such steps without a better held-out loss

PLAIN_SHAPE = Shape(8, 20, 0)  # without validation
_SCREENING_SHAPE = SHAPES[1]
# Endings of a run's label.
_SCREENED = ", useful features only"
_COMMON = ", common curve shape"  # one term: curves are proportional
_OWN = ", own curve shapes"  # all terms
_N_DRAWN = 3  # thresholds drawn where a shape with all of them is asked to draw


def choose_splitter(shapes: Sequence[Shape], splitter: str) -> list[Shape]:
    """Return the shapes that use a splitter, or all of them made to use it."""
    is_best = splitter == "best"
    chosen = [shape for shape in shapes if (shape.n_candidates == 0) == is_best]
    n_drawn = 0 if is_best else _N_DRAWN
    return chosen or [replace(shape, n_candidates=n_drawn) for shape in shapes]


@dataclass(frozen=True, slots=True)
class Validation:
    """How held-out losses are made; see `BoostR`."""

    scheme: str | float | None  # "cv", a share to hold out, or None
    n_folds: int = 5
    average_folds: bool = True


@dataclass(frozen=True, slots=True, eq=False)
class Trained:
    """Members of the ensemble and what validation has to say."""

    members: tuple[Member, ...]
    runs: tuple[ValidatedRun, ...] = ()  # none without validation
    weights: FloatArray = field(default_factory=lambda: np.empty(0))  # (n_runs,)
    out_of_fold: Rows | None = None  # (n, n_terms)
    train_loss: FloatArray | None = None  # (n_rounds,) where one model is grown on all


class JudgesTerms(Protocol):
    """Says whether all terms forecast better than the proportional one alone."""

    def prefers_all(self, narrow: ValidatedRun, wide: ValidatedRun) -> bool:
        """Compare the best run of the proportional term with the best of all terms."""
        ...


def train(
    task: Task,
    shapes: Sequence[Shape],
    validation: Validation,
    proportional: int | None,
    judge: JudgesTerms | None = None,
) -> Trained:
    """Choose shapes and numbers of trees, and return the models that make the ensemble.

    ``proportional`` is the term proportional to the average individual, if there are
    others beside it: shapes are compared on it alone, then the best one is tried with all.
    All terms stay where they lower the held-out loss, and the judge prefers them.
    """
    n = len(task)
    least = 2 * validation.n_folds if validation.scheme == "cv" else 2
    if validation.scheme is None or n < least:
        growth = shapes[0].growth(task.params.growth, n)
        trees, losses = grow(task, growth, task.n_rounds, "trees")
        return Trained((Member(trees, 1.0),), train_loss=losses)
    folds = _draw_folds(n, validation, task.params.seed)
    task = _drop_categories(task, shapes, folds, proportional)
    if task.problem.solver == GROUPED:
        task, runs = _validate_screened(task, shapes, folds)
    else:
        if n > _LARGE and len(shapes) > 1:
            shapes = [_find_best_shape(task, shapes)]
        runs = _validate_both(task, shapes, folds, proportional)
    weights = _weigh(task, runs, judge)
    members = [
        member
        for run, weight in zip(runs, weights, strict=True)
        if weight > 0.0
        for member in (
            run.members(weight) if validation.average_folds else [refit(task, run, weight)]
        )
    ]
    out_of_fold = task.training_set.map(
        partial(_mix, weights), *(run.out_of_fold for run in runs)
    )
    return Trained(tuple(members), tuple(runs), weights, out_of_fold)


def _weigh(
    task: Task, runs: Sequence[ValidatedRun], judge: JudgesTerms | None
) -> FloatArray:
    """Return the weights of all runs, 0 for those that are left out."""
    is_chosen = _are_chosen(runs, judge)
    chosen = [run for run, is_in in zip(runs, is_chosen, strict=True) if is_in]
    found = weigh_runs(task.training_set, chosen)
    weights = np.zeros(len(runs))
    weights[is_chosen] = np.where(found < _LEAST_WEIGHT, 0.0, found)
    return np.asarray(weights / weights.sum())


def _are_chosen(runs: Sequence[ValidatedRun], judge: JudgesTerms | None) -> BoolArray:
    """Tell which runs may count: all, or those of the proportional term."""
    is_narrow = np.array([run.term is not None for run in runs])
    if is_narrow.all() or not is_narrow.any() or judge is None:
        return np.ones(len(runs), dtype=np.bool_)
    losses = np.array([run.curve.min() for run in runs])
    narrow = int(np.argmin(np.where(is_narrow, losses, np.inf)))
    wide = int(np.argmin(np.where(is_narrow, np.inf, losses)))
    if losses[wide] < losses[narrow] and judge.prefers_all(runs[narrow], runs[wide]):
        return np.ones(len(runs), dtype=np.bool_)
    return is_narrow


def _mix(
    weights: FloatArray, stats: SufficientStats, *predictions: FloatArray
) -> FloatArray:
    """Return the weighted sum of the coefficients of all runs."""
    return np.asarray(sum(w * one for w, one in zip(weights, predictions, strict=True)))


def _draw_folds(n: int, validation: Validation, seed: int) -> list[IndexArray]:
    """Return the individuals that every fold holds out.

    Small data are dealt out several times: the choice of shapes and the averaged models are
    steadier for it, and it costs little.
    """
    is_share = not isinstance(validation.scheme, str)
    if is_share or n > _LARGE:
        share = float(validation.scheme or 0.0) if is_share else _LARGE_SHARE
        n_held_out = min(max(1, round(share * n)), n - 1)
        return [_draw(n, n_held_out, seed)]
    n_repeats = int(np.clip(round(_SMALL / n), 1, _MAX_REPEATS))
    return draw_folds(n, validation.n_folds, n_repeats, seed)


def _find_best_shape(task: Task, shapes: Sequence[Shape]) -> Shape:
    """Compare shapes on a part of large data."""
    trial = _draw_part(task)
    folds = _draw_folds(len(trial), Validation(_LARGE_SHARE), task.params.seed)
    runs = _validate_each(trial, shapes, folds, "")
    return shapes[runs.index(_find_best(runs))]


def _drop_categories(
    task: Task, shapes: Sequence[Shape], folds: Sequence[IndexArray], term: int | None
) -> Task:
    """Drop features of many categories that do not pay, judged on a part of large data."""
    doubtful = find_doubtful(task.training_set.layout)
    if not len(doubtful):
        return task
    trial = task if term is None else task.restrict(term)
    if len(task) > _LARGE:
        trial = _draw_part(trial)
        folds = _draw_folds(len(trial), Validation(_LARGE_SHARE), task.params.seed)
    shape = _SCREENING_SHAPE if _SCREENING_SHAPE in shapes else shapes[0]
    growth = shape.growth(task.params.growth, len(trial))
    return replace(task, features=keep_features(trial, growth, folds, doubtful))


def _validate_each(
    task: Task,
    shapes: Sequence[Shape],
    folds: Sequence[IndexArray],
    ending: str,
    rival: ValidatedRun | None = None,
) -> list[ValidatedRun]:
    """Validate shapes one by one; those that stay behind the best so far are given up."""
    runs: list[ValidatedRun] = []
    for shape in shapes:
        growth = shape.growth(task.params.growth, len(task))
        run = validate(task, growth, folds, _name(shape) + ending, rival)
        runs.append(run)
        rival = run if rival is None else _find_best([rival, run])
    return runs


def _find_best(runs: Sequence[ValidatedRun]) -> ValidatedRun:
    """Return the run with the lowest held-out loss, the first of equals."""
    return min(runs, key=lambda run: float(run.curve.min()))


def _validate_both(
    task: Task, shapes: Sequence[Shape], folds: Sequence[IndexArray], term: int | None
) -> list[ValidatedRun]:
    """Validate shapes on all features, and on the clearly useful ones.

    Of many features the useful ones come first: runs on all of them take long, and most
    are given up early beside a good one on few.
    """
    if len(shapes) > 1 and task.n_features >= _MANY_FEATURES:
        runs, rival = _validate_useful(task, shapes, folds, term)
        return runs + _validate_shapes(task, shapes, folds, term, rival).runs
    found = _validate_shapes(task, shapes, folds, term)
    if len(shapes) == 1:
        return found.runs
    return found.runs + _validate_useful(task, found.hopeful, folds, term)[0]


class _Found(NamedTuple):
    """Runs on the same features."""

    runs: list[ValidatedRun]
    hopeful: list[Shape]  # not clearly worse than the best one
    best: ValidatedRun  # on one term first, if others may not be needed


def _validate_shapes(
    task: Task,
    shapes: Sequence[Shape],
    folds: Sequence[IndexArray],
    term: int | None,
    rival: ValidatedRun | None = None,
) -> _Found:
    """Validate all shapes, on one term first where the others may not be needed.

    If the best shape gains nothing from the other terms, neither do the rest; if it does,
    all hopeful shapes are tried again, since the best shape for proportional curves need
    not be the best for others. Runs clearly worse than the rival are given up.
    """
    ending = "" if task.columns is None else _SCREENED
    narrow = task if term is None else task.restrict(term)
    endings = ending + ("" if term is None else _COMMON)
    runs = _validate_each(narrow, shapes, folds, endings, rival)
    best = _find_best(runs)
    hopeful = [
        shape
        for shape, run in zip(shapes, runs, strict=True)
        if not is_clearly_worse(narrow.training_set, run, best)
    ]
    if term is None:
        return _Found(runs, hopeful, best)
    place = runs.index(best)
    winner = shapes[place]
    is_beaten = rival is not None and is_clearly_worse(narrow.training_set, best, rival)
    runs = [run.widen(term, task.training_set) for run in runs]
    if is_beaten:
        return _Found(runs, hopeful, best)
    (wide,) = _validate_each(task, [winner], folds, ending + _OWN, runs[place])
    runs.append(wide)
    if wide.curve.min() < best.curve.min():
        others = [shape for shape in hopeful if shape is not winner]
        runs += _validate_each(task, others, folds, ending + _OWN, wide)
    return _Found(runs, hopeful, best)


def _validate_useful(
    task: Task, shapes: Sequence[Shape], folds: Sequence[IndexArray], term: int | None
) -> tuple[list[ValidatedRun], ValidatedRun | None]:
    """Validate all shapes on the clearly useful features, where there are others too.

    Returns also the best run, of one term if others may not be needed.
    """
    narrow = task if term is None else task.restrict(term)
    growth = _SCREENING_SHAPE.growth(task.params.growth, len(task))
    columns = screen_features(narrow, growth, folds)
    numbers = [len(one) for one in columns]
    if min(numbers) == 0 or min(numbers) == task.n_features:
        return [], None
    found = _validate_shapes(replace(task, columns=columns), shapes, folds, term)
    return found.runs, found.best


def _validate_screened(
    task: Task, shapes: Sequence[Shape], folds: Sequence[IndexArray]
) -> tuple[Task, list[ValidatedRun]]:
    """Validate all shapes on the features and sensors that a first run finds useful.

    The first shape is also tried with all features: where the first run was wrong, it wins.
    Returns the task with the prices of useless sensors raised, too.
    """
    screening = _screen(task, shapes[0], folds)
    task = _lengthen_steps(screening.apply(task))
    runs = []
    n_useful = len(screening.columns[0])
    if n_useful:
        narrow = replace(task, columns=screening.columns)
        runs = _validate_each(narrow, shapes, folds, _SCREENED)
    if n_useful < task.n_features:
        rival = _find_best(runs) if runs else None
        runs += _validate_each(task, shapes[:1], folds, "", rival)
    return task, runs


def _lengthen_steps(task: Task) -> Task:
    """Return the task with the steps that sensors allow, if nobody has set them."""
    if not task.chooses_steps:
        return task
    params = replace(task.params, learning_rate=_SENSOR_RATE)
    return replace(task, params=params, patience=_SENSOR_PATIENCE)


def _screen(task: Task, shape: Shape, folds: Sequence[IndexArray]) -> Screening:
    """Screen features and sensors, on a part of large data."""
    if len(task) > _LARGE:
        task = _draw_part(task)
        folds = _draw_folds(len(task), Validation(_LARGE_SHARE), task.params.seed)
    return screen(task, shape.growth(task.params.growth, len(task)), folds)


def _draw_part(task: Task) -> Task:
    """Return the task for a random part of large data."""
    return task.take(_draw(len(task), _TRIAL, task.params.seed))


def _draw(n: int, n_drawn: int, seed: int) -> IndexArray:
    """Draw so many of ``n`` individuals, or about so many where they are very many."""
    if n <= _LARGE:
        drawn = np.random.default_rng(seed).choice(n, n_drawn, replace=False)
        return np.sort(drawn).astype(np.int32)
    # In blocks, as an order of all individuals may not fit.
    blocks = (np.arange(first, min(first + _BLOCK, n)) for first in range(0, n, _BLOCK))
    return np.concatenate(
        [block[draw_individuals(block, n_drawn / n, seed)] for block in blocks]
    ).astype(np.int32)


def refit(task: Task, run: ValidatedRun, weight: float) -> Member:
    """Grow one model on all individuals with the shape and number of trees of a run."""
    label = f"{run.label}, refit"
    if run.columns is not None:
        n_features = task.training_set.layout.n_features
        task = replace(task, columns=(join(run.columns, n_features),))
    if run.term is None:
        trees, _ = grow(task, run.growth, run.n_rounds, label)
        return Member(trees, weight)
    trees, _ = grow(task.restrict(run.term), run.growth, run.n_rounds, label)
    n_terms = task.training_set.n_terms
    return Member(tuple(tree.widened(run.term, n_terms) for tree in trees), weight)


def _name(shape: Shape) -> str:
    ending = "" if shape.n_candidates == 0 else ", random thresholds"
    return f"{shape.max_leaves} leaves{ending}"

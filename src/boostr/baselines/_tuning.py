"""Cross-validation that chooses the parameters of baselines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import ArrayLike
from sklearn.base import clone
from sklearn.utils import check_random_state

from boostr._checks.parameters import check_count
from boostr._typing import BoolArray, FloatArray, PositionArray
from boostr.baselines._andersen_gill import AndersenGill
from boostr.baselines._base import Baseline, BaselineData
from boostr.baselines._boosted import BoostedBaseline
from boostr.baselines._boosters import snap
from boostr.baselines._forest import RandomForestRecurrence
from boostr.baselines._mcf_regressor import McfK
from boostr.baselines._rows import Rows
from boostr.data import RecurrentEvents, SharedSensors, Trajectories
from boostr.exceptions import InvalidParameterError

__all__ = ["tune"]

Model = TypeVar("Model", bound=Baseline)

# Values that are tried, one parameter after the other.
_TABLES: dict[type[Baseline], dict[str, Sequence[Any]]] = {
    BoostedBaseline: {"max_leaf_nodes": (3, 6, 12, 24), "min_samples_leaf": (20, 5, 50)},
    RandomForestRecurrence: {"min_samples_leaf": (5, 10, 20, 50)},
    McfK: {"n_neighbors": (5, 10, 20, 50, 100)},
    AndersenGill: {"alpha": (0.0, 0.001, 0.01, 0.1)},
}
_SEARCH_RATE = 0.2  # sizes of trees are compared with larger steps, which take fewer trees
_SEARCH_TREES = 60
_EXTRA_TREES = 60
_MOST_TREES = 1_000
_N_STAGES = 30  # numbers of trees that are looked at


def tune(  # noqa: PLR0913 - all but the first four are by name
    model: Model,
    X: Any,
    y: RecurrentEvents,
    Z: Trajectories | SharedSensors | None = None,
    *,
    settings: Mapping[str, Sequence[Any]] | None = None,
    n_folds: int = 5,
    sample_weight: ArrayLike | None = None,
    random_state: Any = None,
    n_jobs: int | None = None,
) -> Model:
    """Fit a baseline with parameters chosen by cross-validation over individuals.

    Parameters are chosen one after the other, each with the best values of those before
    it. Of boosted baselines, the number of trees is chosen last.

    Parameters
    ----------
    model : baseline
        An estimator of `boostr.baselines`. It is not changed; parameters that are not
        tuned are taken from it.
    X : array-like or DataFrame of shape (n, p)
        Static features, or a `Panel`.
    y : RecurrentEvents
        Event histories.
    Z : Trajectories or SharedSensors, default=None
        Sensors, for the baselines that take them.
    settings : mapping of str to sequence, default=None
        Values to try by parameter. By default leaves per tree and the least size of a leaf
        for boosted baselines, the latter for the random forest, `n_neighbors` for `McfK`
        and `alpha` for `AndersenGill`; the others have nothing to tune.
    n_folds : int, default=5
        Number of folds.
    sample_weight : array-like of shape (n,), default=None
        How much each individual counts.
    random_state : int, RandomState or None, default=None
        Seed of the folds.
    n_jobs : int or None, default=None
        Processes that fit folds; one by default. Results do not depend on it.

    Returns
    -------
    baseline
        A new estimator with the chosen parameters, fitted to all individuals.

    See Also
    --------
    boostr.BoostRSearch : The same for `BoostR`.

    Notes
    -----
    Boosted baselines are compared by their own held-out loss, the Poisson deviance or the
    squared error, all others by `score`. For speed, tree sizes are compared with a learning
    rate of 0.2; the number of trees is chosen with that of `model`, at most 1000.

    Examples
    --------
    >>> from boostr.baselines import McfK, tune
    >>> from boostr.simulate import dataset_a
    >>> train = dataset_a(n=200, random_state=1)
    >>> model = tune(McfK(), train.X, train.y, random_state=0)
    >>> model.n_neighbors
    20
    """
    table = _find_table(model) if settings is None else dict(settings)
    _check_table(model, table)
    check_count(n_folds, "n_folds", least=2)
    best = clone(model)
    best._check_params()
    data = best._check_data(X, y, Z, sample_weight)
    folds = _draw_folds(len(data.events), n_folds, random_state)
    with Parallel(n_jobs=n_jobs) as pool:
        if isinstance(best, BoostedBaseline):
            best = _tune_boosted(best, table, data, folds, pool)
        else:
            for name, values in table.items():
                tried = [clone(best).set_params(**{name: value}) for value in values]
                best = tried[int(np.argmin(_find_losses(tried, data, folds, pool)))]
    return best.fit(X, y, Z, sample_weight)


def _find_table(model: Baseline) -> dict[str, Sequence[Any]]:
    tables = [table for kind, table in _TABLES.items() if isinstance(model, kind)]
    return tables[0] if tables else {}


def _check_table(model: Baseline, table: Mapping[str, Sequence[Any]]) -> None:
    known = set(model.get_params()) - {"random_state", "n_jobs"}
    if isinstance(model, BoostedBaseline):
        known.remove("n_estimators")  # is always chosen
    unknown = sorted(set(table) - known)
    if unknown:
        raise InvalidParameterError(
            f"`settings` must name parameters of {type(model).__name__} that can be tuned, "
            f"but {unknown[0]!r} is none.\n\nHint: these are {', '.join(sorted(known))}."
        )
    if not all(len(values) for values in table.values()):
        raise InvalidParameterError(
            "`settings` must hold at least one value of every parameter."
        )


def _draw_folds(n: int, n_folds: int, random_state: Any) -> PositionArray:
    """Return the fold of every individual."""
    rng = np.random.default_rng(check_random_state(random_state).randint(2**31))
    return np.asarray(rng.permutation(n) % n_folds)


def _find_losses(
    tried: Sequence[Baseline], data: BaselineData, folds: PositionArray, pool: Parallel
) -> FloatArray:
    """Return the held-out loss of every candidate."""
    jobs = [
        delayed(_lose)(clone(model), data, folds == fold)
        for model in tried
        for fold in np.unique(folds)
    ]
    return np.reshape(pool(jobs), (len(tried), -1)).sum(axis=1)


def _lose(model: Baseline, data: BaselineData, is_held: BoolArray) -> float:
    """Return minus the held-out score, summed over a fold."""
    model._fit(data.take(~is_held))
    held = data.take(is_held)
    gains = model._score_each(held.features, held.sensors, held.events)
    return -float(held.weights @ gains)


def _tune_boosted(
    best: BoostedBaseline,
    table: Mapping[str, Sequence[Any]],
    data: BaselineData,
    folds: PositionArray,
    pool: Parallel,
) -> BoostedBaseline:
    rate = best.learning_rate
    n_trees, search_rate = _SEARCH_TREES, max(rate, _SEARCH_RATE)
    for name, values in table.items():
        tried = [
            clone(best).set_params(**{"learning_rate": search_rate, name: value})
            for value in values
        ]
        found = [_count_trees(model, _SEARCH_TREES, data, folds, pool) for model in tried]
        place = int(np.argmin([loss for _, loss in found]))
        best, n_trees = tried[place], found[place][0]
    start = round(n_trees * search_rate / rate) + _EXTRA_TREES
    best = clone(best).set_params(learning_rate=rate)
    n_trees, _ = _count_trees(best, start, data, folds, pool)
    return best.set_params(n_estimators=n_trees)


def _count_trees(
    model: BoostedBaseline,
    n_trees: int,
    data: BaselineData,
    folds: PositionArray,
    pool: Parallel,
) -> tuple[int, float]:
    """Return the number of trees with the lowest held-out loss, and this loss.

    The number is doubled until the loss has turned.
    """
    model._describe(data)
    rows = model._make_rows(data)
    # Once for all folds, since scikit-learn takes long to bin each of them.
    rows = replace(rows, features=snap(rows.features, model._settings()))
    while True:
        stages = np.unique(np.linspace(1, n_trees, _N_STAGES + 1).round().astype(int))
        model.set_params(n_estimators=n_trees)
        jobs = [
            delayed(_lose_in_stages)(model, rows, folds[rows.owner] == fold, stages)
            for fold in np.unique(folds)
        ]
        losses = np.sum(pool(jobs), axis=0)
        best = int(np.argmin(losses))
        if stages[best] < 0.9 * n_trees or n_trees >= _MOST_TREES:
            return int(stages[best]), float(losses[best])
        n_trees = min(2 * n_trees, _MOST_TREES)


def _lose_in_stages(
    model: BoostedBaseline, rows: Rows, is_held: BoolArray, stages: PositionArray
) -> list[float]:
    """Return the held-out loss after each number of trees, summed over a fold."""
    held, settings = rows.take(is_held), model._settings()
    trained = model._booster.train(settings, rows.take(~is_held))
    predicted = model._booster.predict(
        settings, trained, held.features, held.expected, stages.tolist()
    )
    if held.expected is None:
        losses = [(each - held.counts) ** 2 for each in predicted]
    else:
        losses = [each - held.counts * np.log(each) for each in predicted]
    return [float(held.weights @ loss) for loss in losses]

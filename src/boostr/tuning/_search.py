"""Search of the settings of `BoostR`."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping, Sequence
from numbers import Integral
from typing import Any, Self

from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, clone
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from boostr._checks.numbers import check_weights
from boostr._checks.parameters import check_count
from boostr._training.run import forget, use_threads
from boostr._typing import FloatArray
from boostr.data import RecurrentEvents, Trajectories, check_target
from boostr.estimators import BoostR
from boostr.exceptions import InvalidParameterError
from boostr.io.files import check_checkpoint
from boostr.tuning._checkpoint import Checkpoint, RunProgress, hash_data, hash_parts
from boostr.tuning._plan import Individuals, Split, fit_on_part, plan_splits
from boostr.tuning._results import (
    Scorers,
    check_scorers,
    describe_model,
    find_best_mean,
    rank_settings,
    score_model,
    summarise,
    tabulate_results,
)
from boostr.tuning._space import default_space, draw_settings

__all__ = ["BoostRSearch"]

_SILENT = ("n_jobs", "verbose")  # parameters that results do not depend on


_RESULTS = (
    "best_estimator_",
    "best_index_",
    "best_params_",
    "best_score_",
    "results_",
)


class BoostRSearch(BaseEstimator):  # type: ignore[misc]
    """Search of the settings of `BoostR` on a space-filling design.

    Settings are the points of a maximum projection design, as in the paper: few of them,
    spread over the whole space and all its projections. Each is fitted to the training part
    of every split and scored on the rest. The number of trees is found inside every
    training part by the validation of the estimator.

    Parameters
    ----------
    estimator : BoostR, default=None
        The estimator to tune, with all settings that are not searched; ``BoostR()`` by
        default. ``BoostR(validation=0.2)`` takes a fraction of the time.
    space : dict, default=None
        For every searched parameter a range ``(low, high)``, a range on a logarithmic scale
        ``(low, high, "log")``, or a list of choices; `default_space` by default.
    n_points : int, default=30
        Number of settings; those that come out the same are run once.
    splits : int, AsOfSplit, splitter or iterable, default=5
        Number of folds; dates at which the past is the training part and what came after
        the test; a splitter of scikit-learn; or pairs of positions to train on and to test
        with. Individuals are split, never their events.
    scoring : callable or dict, default=None
        A scorer as those of `boostr.metrics`; greater is better. By default the score of
        the estimator, a log-likelihood that is fair to all losses and clocks. Of several
        scorers by name the first decides, and all are kept.
    refit : bool, default=True
        Whether to fit the best setting to all individuals at the end.
    random_state : int, RandomState or None, default=None
        Seed of the design, the folds and, where it has none of its own, the estimator.
    n_jobs : int or None, default=None
        Threads of every run; all of them by default. Results do not depend on it.
    verbose : int, default=0
        1 shows a progress bar over the runs.
    checkpoint : path, default=None
        File for finished runs. A search that finds its own file goes on where it was
        stopped; one that finds the file of another search, of other data or with another
        seed refuses it. It needs a whole number as `random_state`.

    Attributes
    ----------
    results_ : list of dict
        For every setting: ``params``, ``mean_score`` and ``std_score`` over the splits,
        ``rank``, ``scores`` of every split, ``n_trees`` of every split, ``leaf_counts`` of
        all trees of all splits (1 for the average that models start from), ``seconds``, and
        ``all_scores`` by name where there are several scorers.
    best_params_ : dict
        The setting with the highest mean score.
    best_score_ : float
        Its mean score.
    best_index_ : int
        Its place in `results_`.
    best_estimator_ : BoostR
        The best setting, fitted to all individuals, if `refit`.

    See Also
    --------
    max_pro_design : The design.
    default_space : What is searched by default.
    AsOfSplit : Training on the past, testing on what came after.

    Notes
    -----
    Statistics of the events are computed once for every family of leaf functions, clock and
    loss, and bins of the features once; all settings and folds share them. Clock, places of
    the leaf functions, bins and categories therefore come from all individuals that `fit`
    is given, also those of the test part: scores of folds tell settings apart, and are a
    little kinder than those of individuals that were set aside before the search. Splits
    as of a date share nothing with what came after.

    References
    ----------
    Liu, X. and Pan, R. Boost-R: gradient boosted trees for recurrence data.

    Joseph, V. R., Gul, E. and Ba, S. (2015). Maximum projection designs for computer
    experiments. Biometrika 102, 371-380.

    Examples
    --------
    >>> from boostr import BoostR, BoostRSearch
    >>> from boostr.simulate import dataset_a
    >>> train = dataset_a(n=100, random_state=1)
    >>> search = BoostRSearch(
    ...     BoostR(n_estimators=10, validation=None),
    ...     {"learning_rate": (0.01, 0.5, "log"), "gamma2": (0.1, 30.0, "log")},
    ...     n_points=5,
    ...     splits=3,
    ...     random_state=0,
    ... )
    >>> search.fit(train.X, train.y).best_params_["learning_rate"] > 0.1
    True
    >>> search.predict(train.X).shape
    (100,)
    """

    def __init__(  # noqa: PLR0913 - every setting is a parameter, as in scikit-learn
        self,
        estimator: BoostR | None = None,
        space: Mapping[str, Any] | None = None,
        *,
        n_points: int = 30,
        splits: Any = 5,
        scoring: Any = None,
        refit: bool = True,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        checkpoint: str | os.PathLike[str] | None = None,
    ) -> None:
        self.estimator = estimator
        self.space = space
        self.n_points = n_points
        self.splits = splits
        self.scoring = scoring
        self.refit = refit
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.checkpoint = checkpoint

    def fit(
        self,
        X: Any,
        y: RecurrentEvents,
        Z: Trajectories | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Run all settings on all splits, and fit the best to all individuals.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n, p)
            Static features, or a `Panel` of features and sensors.
        y : RecurrentEvents
            Event histories of the same individuals, in the same order.
        Z : Trajectories, default=None
            Sensors of the same individuals. Splits as of a date cut them there, and test
            with the last values before it.
        sample_weight : array-like of shape (n,), default=None
            How much each individual counts, in training and in scores; 0 leaves it out.

        Returns
        -------
        BoostRSearch
            The search itself.
        """
        forget(self, *_RESULTS)
        self._check()
        seeds = check_random_state(self.random_state).randint(2**31 - 1, size=3).tolist()
        estimator = self._make_estimator(seeds[0])
        individuals = Individuals.check(X, y, Z, sample_weight)
        space = self.space
        if space is None:
            has_sensors = individuals.sensors is not None
            space = default_space(estimator, has_sensors=has_sensors)
        settings = draw_settings(space, self.n_points, estimator, seeds[1])
        scorers = check_scorers(self.scoring)
        splits = plan_splits(self.splits, individuals, estimator, seeds[2])
        parts = self._fingerprint(estimator, space, settings, splits)
        results = self._run_all(
            [clone(estimator).set_params(**setting) for setting in settings],
            settings,
            splits,
            scorers,
            Checkpoint(self.checkpoint, parts),
        )
        best = rank_settings(results)
        if self.refit:
            model = clone(estimator).set_params(**settings[best])
            self.best_estimator_ = model.fit(X, y, Z, sample_weight)
        self.results_, self.best_index_ = results, best
        self.best_params_ = results[best]["params"]
        self.best_score_ = results[best]["mean_score"]
        return self

    def predict(
        self,
        X: Any,
        Z: Trajectories | None = None,
        horizon: float | None = None,
        *,
        exposure: Any = None,
    ) -> FloatArray:
        """Predict how many events each individual has by a horizon.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n, p)
            Static features, or a `Panel` of features and sensors.
        Z : Trajectories, default=None
            Sensors, where the search was fitted with them.
        horizon : float, default=None
            Time from 0; the last end of follow-up in training by default.
        exposure : float, array-like of shape (n,), mapping or Trajectories, default=None
            Exposures, where those of training had some; 1 by default.

        Returns
        -------
        ndarray of shape (n,)
            Expected number (or cost) of events in (0, horizon].
        """
        return self._best().predict(X, Z, horizon, exposure=exposure)

    def predict_cumulative(
        self,
        X: Any,
        times: ArrayLike,
        Z: Trajectories | None = None,
        *,
        exposure: Any = None,
    ) -> FloatArray:
        """Predict the cumulative intensity of each individual.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n, p)
            Static features, or a `Panel` of features and sensors.
        times : float or array-like of shape (m,)
            Times, from 0 on.
        Z : Trajectories, default=None
            Sensors, where the search was fitted with them.
        exposure : float, array-like of shape (n,), mapping or Trajectories, default=None
            Exposures, where those of training had some; 1 by default.

        Returns
        -------
        ndarray of shape (n, m)
            Expected number (or cost) of events in (0, t].
        """
        return self._best().predict_cumulative(X, times, Z, exposure=exposure)

    def score(
        self, X: Any, y: RecurrentEvents, sample_weight: ArrayLike | None = None
    ) -> float:
        """Score the best model by the first scorer of the search.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n, p)
            Static features, or a `Panel` of features and sensors.
        y : RecurrentEvents
            Event histories.
        sample_weight : array-like of shape (n,), default=None
            Weights of individuals.

        Returns
        -------
        float
            Greater is better.
        """
        name, scorer = next(iter(check_scorers(self.scoring).items()))
        weights = check_weights(sample_weight, check_target(y))
        return score_model({name: scorer}, self._best(), X, y, weights)[name]

    def to_frame(self, *, backend: str | None = None) -> Any:
        """Write the results as a table with one row per setting.

        Parameters
        ----------
        backend : {"pandas", "polars"}, optional
            Which table to make; by default pandas if it is installed, else polars.

        Returns
        -------
        DataFrame
            Parameters, mean and spread of the scores, rank, seconds, mean number of trees,
            median number of leaves, and the score of every split.
        """
        check_is_fitted(self, "results_")
        return tabulate_results(self.results_, backend)

    def _best(self) -> BoostR:
        check_is_fitted(self, "results_")
        if not self.refit:
            raise InvalidParameterError(
                "Predictions need the best setting to be fitted, but refit=False."
                "\n\nHint: BoostR(**search.best_params_).fit(X, y), or refit=True."
            )
        return self.best_estimator_

    def _check(self) -> None:
        check_count(self.n_points, "n_points")
        if not (self.estimator is None or isinstance(self.estimator, BoostR)):
            raise InvalidParameterError(
                "`estimator` must be a BoostR, but it is a "
                f"{type(self.estimator).__name__}.\n\n"
                "Hint: GridSearchCV of scikit-learn takes pipelines and others."
            )
        if self.checkpoint is not None and not isinstance(self.random_state, Integral):
            raise InvalidParameterError(
                "`checkpoint` needs a whole number as `random_state`, but it is "
                f"{self.random_state!r}: another design could not be continued.\n\n"
                "Hint: random_state=0."
            )
        check_checkpoint(self.checkpoint)

    def _make_estimator(self, seed: int) -> BoostR:
        """Return the estimator with the search's threads, and a seed if it has none."""
        estimator = BoostR() if self.estimator is None else clone(self.estimator)
        if estimator.random_state is None:
            estimator.set_params(random_state=seed)
        return estimator.set_params(n_jobs=self.n_jobs, verbose=0)

    def _fingerprint(
        self,
        estimator: BoostR,
        space: Mapping[str, Any],
        settings: Sequence[Mapping[str, Any]],
        splits: Sequence[Split],
    ) -> dict[str, str]:
        """Return the parts that identify this search, by the names used in messages."""
        if self.checkpoint is None:
            return {}
        params = estimator.get_params(deep=False)
        kept = {name: params[name] for name in params if name not in _SILENT}
        data = {id(split.shared): split.shared.data for split in splits}
        return {
            "estimator": hash_parts({**kept, "random_state": None}),
            "space": hash_parts(space, self.n_points),
            "random_state": hash_parts(int(self.random_state)),
            "settings": hash_parts(list(settings), kept["random_state"]),
            "scoring": hash_parts(self.scoring),
            "data": hash_data(data.values()),
            "splits": hash_parts([split.list_parts() for split in splits]),
        }

    def _run_all(
        self,
        models: Sequence[BoostR],
        settings: Sequence[Mapping[str, Any]],
        splits: Sequence[Split],
        scorers: Scorers,
        checkpoint: Checkpoint,
    ) -> list[dict[str, Any]]:
        """Run what is not finished; return one entry per setting."""
        results: list[dict[str, Any]] = []
        n_runs, n_done = len(models) * len(splits), len(checkpoint.records)
        with (
            use_threads(self.n_jobs) as n_threads,
            RunProgress(
                is_shown=self.verbose > 0, n_runs=n_runs, n_done=n_done
            ) as progress,
        ):
            for number, (model, setting) in enumerate(zip(models, settings, strict=True)):
                runs = [(number, place) for place in range(len(splits))]
                for run, split in zip(runs, splits, strict=True):
                    if run not in checkpoint.records:
                        checkpoint.add(run, _run(model, split, scorers, n_threads))
                        progress.advance()
                records = [checkpoint.records[run] for run in runs]
                results.append(summarise(setting, records))
                progress.show_best(find_best_mean(results))
        return results


def _run(model: BoostR, split: Split, scorers: Scorers, n_threads: int) -> dict[str, Any]:
    """Fit a setting to one training part and score it on the test part."""
    begin = time.perf_counter()
    fitted = fit_on_part(clone(model), split.shared, split.rows, n_threads)
    test = split.test
    scores = score_model(scorers, fitted, test.features, test.events, test.weights)
    seconds = time.perf_counter() - begin
    return {"scores": scores, **describe_model(fitted), "seconds": seconds}

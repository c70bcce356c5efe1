"""Training on a cluster; the fitted model needs none."""

from __future__ import annotations

import numbers
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal, Self

import numpy as np
from distributed import Client
from sklearn.base import BaseEstimator
from sklearn.utils.validation import validate_data

from boostr._engine.binning import BinMapper
from boostr._engine.training_set import LocalTrainingSet, TrainingSet, sum_up
from boostr._training.finish import Grown, finish_fit
from boostr._training.fit import learn_trees
from boostr._training.fitted import OTHER_KINDS, Fitted, KindModels
from boostr._training.inputs import spread_rows
from boostr._training.kinds import group_kinds, kind_settings, wants_kinds
from boostr._training.limits import read_limits
from boostr._training.run import (
    Callback,
    Hooks,
    Progress,
    RunOptions,
    forget,
    name_interrupt,
    use_threads,
)
from boostr._training.sensors import SensorLayout
from boostr._training.settings import Settings, find_bins
from boostr._training.statistics import Plan, plan_statistics
from boostr._training.terminal import terminal_settings
from boostr._training.terms import TermJudge
from boostr._typing import FloatArray
from boostr.dask._cluster import compile_once, find_client, watch_workers
from boostr.dask._partition import Together, bring_together
from boostr.dask._parts import Roles
from boostr.dask._predict import LazyPredictor
from boostr.dask._shards import Recipe, build_training_set
from boostr.dask._survey import Survey, find_summarized_bins, survey
from boostr.data import RecurrentEvents
from boostr.data.events.kinds import count_kinds
from boostr.estimators import BoostR
from boostr.exceptions import InvalidParameterError

__all__ = ["DaskBoostR"]

_MOST_KEPT = 10_000_000  # out-of-fold coefficients that the model keeps
_OWN = frozenset({"bins", "local_below"})  # parameters that `BoostR` has not


class DaskBoostR(LazyPredictor, BaseEstimator):  # type: ignore[misc]
    """Gradient boosted trees for recurrent events, trained on a Dask cluster.

    Workers read the tables, compute the statistics and bins of their individuals and keep
    them; for every split only histograms travel. The result is the `BoostR` that one
    machine would find, to rounding, if features have the same bins there.

    Parameters
    ----------
    bins : {"sketch", "exact"}, default="sketch"
        Where the thresholds of features come from: quantiles of all individuals, from
        summaries of the parts that are put together on the cluster, or those of `BoostR`.
        Summaries are exact for features with up to 4,096 different values. Otherwise the
        share of individuals below a threshold is off by at most ``(levels + 1) / 4096``,
        with one level for the parts and one for every factor of 16 in their number: by 0.12
        percent with 1,000 parts, where 255 bins hold 0.4 percent each.
    local_below : int, default=50_000
        With fewer individuals, statistics and bins are brought to the client, and trees are
        grown there: orders to workers would take longer than sums. 0 never does that.
    **params
        Parameters of `boostr.BoostR`, except `warm_start`.

    Attributes
    ----------
    model_ : boostr.BoostR
        The model, which predicts, plots and is saved without Dask. Training individuals
        are those of `X` in ascending order of ids; coefficients of the folds that held
        them out, ``out_of_fold_coefficients_``, are kept up to ten million numbers.

    See Also
    --------
    boostr.BoostR : The same for data that fit into memory.

    Examples
    --------
    >>> import dask.dataframe as dd
    >>> from distributed import Client
    >>> from boostr.dask import DaskBoostR
    >>> from boostr.simulate import dataset_a
    >>> fleet = dataset_a(n=100, random_state=1)
    >>> events = fleet.y.to_long(backend="pandas")[["id", "time", "event"]]
    >>> X = events[["id"]].drop_duplicates().reset_index(drop=True)
    >>> X[["x0", "x1"]] = fleet.X
    >>> with Client(processes=False, dashboard_address=":0") as client:
    ...     estimator = DaskBoostR(n_estimators=20, random_state=0).fit(
    ...         dd.from_pandas(X, npartitions=2),
    ...         dd.from_pandas(events, npartitions=2),
    ...         **{"id": "id", "time": "time", "event": "event"},
    ...     )
    >>> estimator.model_.predict(X[["x0", "x1"]]).shape
    (100,)
    """

    def __init__(
        self,
        *,
        bins: Literal["sketch", "exact"] = "sketch",
        local_below: int = 50_000,
        **params: Any,
    ) -> None:
        self.bins = bins
        self.local_below = local_below
        self.params = BoostR(**params).get_params(deep=False)

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return all parameters by name: those of `BoostR`, `bins` and `local_below`.

        Parameters
        ----------
        deep : bool, default=True
            Whether to add the parameters of parameters.

        Returns
        -------
        dict
            Values by name.
        """
        own = {name: getattr(self, name) for name in _OWN}
        return own | BoostR(**self.params).get_params(deep)

    def set_params(self, **params: Any) -> Self:
        """Change some parameters.

        Parameters
        ----------
        **params
            New values by name, as from `get_params`.

        Returns
        -------
        DaskBoostR
            The estimator itself.
        """
        others = {name: value for name, value in params.items() if name not in _OWN}
        model = BoostR(**self.params).set_params(**others)  # refuses unknown names
        self.params = model.get_params(deep=False)
        for name in _OWN & params.keys():
            setattr(self, name, params[name])
        return self

    def fit(  # noqa: PLR0913 - all but the first three are by name
        self,
        X: Any,
        events: Any,
        sensors: Any = None,
        *,
        id: str,
        time: str,
        event: str,
        cost: str | None = None,
        weight: str | None = None,
        exposure: str | None = None,
        terminal: str | None = None,
        kind: str | None = None,
        start: Any = None,
        unit: str | None = None,
        origin: Any = None,
        sensor_options: Mapping[str, Any] | None = None,
        client: Client | None = None,
        checkpoint: str | os.PathLike[str] | None = None,
        callbacks: Sequence[Callback] | None = None,
    ) -> Self:
        """Learn the trees.

        Parameters
        ----------
        X : dask.dataframe.DataFrame, path or list of paths
            Static features, one row per individual with its id as a column or as the
            index: a Dask DataFrame, or Parquet files, folders of them or patterns, local
            or at an address that fsspec reads. All other columns are features.
        events : dask.dataframe.DataFrame, path or list of paths
            One row per event and one for the end of follow-up of every individual, as in
            `boostr.RecurrentEvents.from_long`. Rows that repeat another one count each.
        sensors : dask.dataframe.DataFrame, path or list of paths, default=None
            One row per sample, as in `boostr.Trajectories.from_long`; time has the name
            that it has in `events`. Individuals without rows have unknown sensors.
        id, time, event, cost : str
            Names of columns; `cost` may be left out.
        weight : str, default=None
            Column of `X` with how much each individual counts; 0 leaves it out.
        exposure : str, default=None
            Column of `X` with what the number of events is proportional to, as in
            `boostr.RecurrentEvents.with_exposure`; it is no feature.
        terminal : str, default=None
            Column of `events` with 1 in the row at which an individual died or was
            scrapped, as in `boostr.RecurrentEvents.from_long`.
        kind : str, default=None
            Column of `events` with the kind of each event, such as its failure mode. Kinds
            that are rare among up to 200,000 individuals are pooled.
        start, unit, origin
            As in `boostr.RecurrentEvents.from_long`. Time stamps need `origin`.
        sensor_options : mapping, default=None
            Further arguments of `boostr.Trajectories.from_long`, such as ``columns``,
            ``max_gap`` or ``before``.
        client : distributed.Client, default=None
            The cluster; by default the one that is there.
        checkpoint : str or path, default=None
            A file, where the client is, for the trees on the way. The same call, after it
            was stopped or the cluster was lost, goes on from there.
        callbacks : list of callables, default=None
            Called by the client after every tree, as in `boostr.BoostR.fit`.

        Returns
        -------
        DaskBoostR
            The estimator itself; the fitted model is its ``model_``.

        Notes
        -----
        Nothing is moved where all tables are sorted by id: Parquet files whose row groups
        hold ranges of ids, or Dask DataFrames whose index is the id. Otherwise rows are
        moved once, and kept by the cluster until the statistics are there. Tables are read
        twice.
        """
        hooks = Hooks(checkpoint, callbacks)
        client = find_client(client)
        roles = Roles(
            id,
            time,
            event,
            cost,
            weight,
            start,
            unit,
            origin,
            dict(sensor_options or {}),
            exposure,
            terminal,
            kind=kind,
        )
        model, settings = self._check(roles)
        forget(self, "model_", "roles_")
        with (
            client.as_current(),  # Dask asks for it where no client can be given
            watch_workers(client),
            name_interrupt(),
            use_threads(model.n_jobs) as n_threads,
            Progress.of_fit(settings, has_sensors=sensors is not None) as progress,
        ):
            progress.announce("kernels")
            compile_once(client, has_sensors=sensors is not None)
            sources = {"X": X, "events": events, "sensors": sensors}
            options = RunOptions(n_threads, progress.report, hooks)
            work = _Work(client, model, sources, progress, options)
            model.fitted_, sample = self._learn(work, settings, roles)
            if sample.is_terminal is not None and sample.is_terminal.any():
                within = hooks.within("terminal")
                other = replace(work, options=replace(options, hooks=within))
                only_terminal = replace(roles, only_terminal=True)
                hazard, _ = self._learn(other, terminal_settings(settings), only_terminal)
                model.fitted_ = replace(model.fitted_, terminal=hazard)
            if wants_kinds(settings, has_kinds=bool(sample.kinds)):
                kinds = group_kinds(count_kinds(sample))
                inner = [
                    self._learn_kind(work, settings, roles, kinds, place)
                    for place in range(len(kinds.labels))
                ]
                kinds = replace(kinds, models=tuple(inner))
                model.fitted_ = replace(model.fitted_, kinds=kinds)
        self.model_, self.roles_ = model, roles
        return self

    def _learn_kind(
        self, work: _Work, settings: Settings, roles: Roles, kinds: KindModels, place: int
    ) -> Fitted:
        """Return the model of one kind of events, or of all others together."""
        label = kinds.labels[place]
        others = tuple(each for each in kinds.labels if each not in kinds.pooled)
        if kinds.pooled and label == OTHER_KINDS:  # also what the sample has not shown
            roles = replace(roles, without_kinds=others)
        else:
            roles = replace(roles, only_kinds=(label,))
        hooks = work.options.hooks.within(str(label))
        work = replace(work, options=replace(work.options, hooks=hooks))
        return self._learn(work, kind_settings(settings), roles)[0]

    def _learn(
        self, work: _Work, settings: Settings, roles: Roles
    ) -> tuple[Fitted, RecurrentEvents]:
        """Return what is learned of events, and the histories of a sample."""
        client, model, options = work.client, work.model, work.options
        work.progress.announce("tables")
        data = bring_together(client, roles, work.sources)
        work.progress.announce("survey")
        found = self._survey(client, model, data)
        found.summary.check(model.clock)
        plan = plan_statistics(settings, found.clock_sample, found.sample, found.summary)
        limits = read_limits(settings, found.encoder, plan.basis)
        mapper = self._find_bins(found, model)
        work.progress.announce("statistics")
        training_set = self._build_training_set(client, data, found, plan, mapper)
        del data  # the cluster need not keep rows any longer
        problem = plan.state_problem(partial(_sum_over, training_set))
        problem = replace(problem, limits=limits)
        judge = TermJudge.of(
            settings, lambda: found.sample, mapper, options.n_threads, limits
        )
        trained = learn_trees(settings, plan, problem, training_set, options, judge=judge)
        grown = Grown.of(plan, mapper, training_set, trained)
        return _finish(settings, found, grown, training_set), found.clock_sample.events

    def _check(self, roles: Roles) -> tuple[BoostR, Settings]:
        """Check all parameters; return an unfitted model, and its settings."""
        model, settings = BoostR(**self.params), Settings(**self.params)
        if self.bins not in {"sketch", "exact"}:
            raise InvalidParameterError(
                f"`bins` must be 'sketch' or 'exact', but it is {self.bins!r}."
            )
        below = self.local_below
        if not isinstance(below, numbers.Integral) or isinstance(below, bool) or below < 0:
            raise InvalidParameterError(
                "`local_below` must be a whole number of individuals, 0 or more, but it is "
                f"{below!r}."
            )
        if model.warm_start:
            raise InvalidParameterError(
                "`warm_start` goes on with a model on one machine, not on a cluster.\n\n"
                "Hint: fit(…, checkpoint='trees.ckpt') goes on where a fit was stopped."
            )
        options = roles.sensor_options
        if options.get("interpolation") == "linear" and options.get("step") is None:
            raise InvalidParameterError(
                "Lines between samples need `step` where tables are read in parts, but it "
                "is not given.\n\nHint: sensor_options={'interpolation': 'linear', "
                "'step': 0.5}, in the unit of time."
            )
        return model, settings

    def _survey(self, client: Client, model: BoostR, data: Together) -> Survey:
        """Return the survey of all individuals; learn names of features."""
        validate_data(model, data.meta, reset=True, skip_check_array=True)
        return survey(
            client,
            data.context,
            data.tasks,
            data.heads,
            (data.meta, model.categorical_features),
            wants_summaries=self.bins == "sketch",
            wants_used=data.heads.total <= _MOST_KEPT,  # there is a term at least
        )

    def _find_bins(self, found: Survey, model: BoostR) -> BinMapper:
        if self.bins == "exact":
            return find_bins(found.binned, model.max_bins, found.encoder)
        encoder = found.encoder
        return find_summarized_bins(
            found.summaries, model.max_bins, encoder.is_categorical, encoder.n_categories
        )

    def _build_training_set(
        self, client: Client, data: Together, found: Survey, plan: Plan, mapper: BinMapper
    ) -> TrainingSet:
        """Compute statistics and bins on the workers; move small data to local memory."""
        recipe = Recipe(plan, found.encoder, mapper, found.categories)
        training_set = build_training_set(
            client, data.context, data.tasks, data.heads, recipe
        )
        if len(training_set) >= self.local_below:
            return training_set
        return training_set.take(np.arange(len(training_set), dtype=np.int32))


@dataclass(frozen=True, slots=True, eq=False)
class _Work:
    """The cluster, the tables and the options of one fit."""

    client: Client
    model: BoostR
    sources: Mapping[str, Any]
    progress: Progress
    options: RunOptions


def _sum_over(training_set: TrainingSet, summand: Any) -> tuple[FloatArray, ...]:
    return sum_up(training_set, summand, training_set.weights)


def _finish(
    settings: Settings, found: Survey, grown: Grown, training_set: TrainingSet
) -> Fitted:
    """Fit frailties and the forecast law from out-of-fold predictions."""
    theta = all_theta = None
    rows = grown.trained.out_of_fold
    if rows is not None:
        theta = _collect(training_set, rows, found.sample_step)
        if (
            found.is_used is not None
            and len(training_set) * training_set.n_terms <= _MOST_KEPT
        ):
            all_theta = spread_rows(_collect(training_set, rows), found.is_used)
    sensors = found.sample.sensors
    layout = None if sensors is None else SensorLayout.learn(sensors)
    return finish_fit(
        settings, grown, found.encoder, layout, found.sample, theta, all_theta
    )


def _collect(training_set: Any, rows: Any, step: int = 1) -> FloatArray:
    """Return the rows of every ``step``-th individual in local memory."""
    if isinstance(training_set, LocalTrainingSet):
        return np.asarray(rows[::step])
    return np.asarray(training_set.collect(rows, step))

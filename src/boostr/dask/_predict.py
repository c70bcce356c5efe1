"""Predictions for tables in pieces, computed lazily on the workers."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import dask.dataframe as dd
import numpy as np
import pandas as pd
from dask.delayed import delayed
from numpy.typing import ArrayLike
from sklearn.exceptions import NotFittedError

from boostr._checks.numbers import first_few
from boostr._typing import FloatArray
from boostr.dask._cluster import share, use_worker_threads
from boostr.dask._partition import (
    choose_cuts,
    count_parts,
    has_stamps,
    know_ranges,
    open_tables,
    partition,
)
from boostr.dask._parts import Files, Roles, read_histories, read_paths, read_static
from boostr.dask._rows import FILE, Table
from boostr.data import RecurrentEvents, Trajectories
from boostr.data.features import refuse_missing
from boostr.estimators import BoostR
from boostr.exceptions import InvalidParameterError

__all__ = [
    "AskCounts",
    "AskCurves",
    "AskForecasts",
    "LazyPredictor",
    "PartOfFleet",
    "Question",
]


@dataclass(frozen=True, slots=True, eq=False)
class PartOfFleet:
    """PartOfFleet of one piece, in the form that `BoostR` takes."""

    table: Any  # all columns of X but the id
    features: Any
    histories: RecurrentEvents | None = None
    sensors: Trajectories | None = None
    exposure: FloatArray | None = None  # None where `X` has no column of it

    def add_exposure(self, options: Mapping[str, Any]) -> dict[str, Any]:
        """Return the options of a prediction, with exposures if there are any."""
        known = {} if self.exposure is None else {"exposure": self.exposure}
        return known | dict(options)


# What is asked about individuals, and comes back as a table in their order.
Question = Callable[[BoostR, PartOfFleet], Any]


@dataclass(frozen=True, slots=True, eq=False)
class AskCurves:
    """Predict the cumulative number of events at several times."""

    times: FloatArray
    options: Mapping[str, Any]

    def __call__(self, model: BoostR, some: PartOfFleet) -> Any:
        values = model.predict_cumulative(
            some.features, self.times, some.sensors, **some.add_exposure(self.options)
        )
        return pd.DataFrame(values, columns=self.times)


@dataclass(frozen=True, slots=True, eq=False)
class AskCounts:
    """Predict the events in a window whose limits are numbers or columns of X."""

    limits: Sequence[float | str]
    options: Mapping[str, Any]

    def __call__(self, model: BoostR, some: PartOfFleet) -> Any:
        start, stop = (
            some.table[limit].to_numpy(dtype=np.float64)
            if isinstance(limit, str)
            else limit
            for limit in self.limits
        )
        values = model.predict_count(
            some.features, start, stop, some.sensors, **some.add_exposure(self.options)
        )
        return pd.DataFrame({"expected": values})


@dataclass(frozen=True, slots=True, eq=False)
class AskForecasts:
    """Forecast the events in the time ahead, given the histories."""

    horizon: float | None
    options: Mapping[str, Any]

    def __call__(self, model: BoostR, some: PartOfFleet) -> Any:
        found = model.forecast(
            some.features,
            some.histories,
            self.horizon,
            some.sensors,
            **some.add_exposure(self.options),
        )
        n = len(some.features)
        # Without histories ids are places.
        ids = np.arange(n) if some.histories is None else some.histories.ids
        place = pd.Series(np.arange(n), index=ids)
        order = np.argsort(place.loc[found["id"].tolist()].to_numpy())
        return found.iloc[order].drop(columns="id")


_FORECAST = ("expected", "probability", "lower", "upper", "next_event_median", "frailty")


class LazyPredictor:
    """Lazy predictions of a fitted model on Dask DataFrames and Parquet files.

    Tables may have further columns and individuals. Those of sensors and histories that
    are not sorted by id have their ids read first, and rows moved.
    """

    model_: BoostR
    roles_: Roles

    @classmethod
    def from_model(
        cls,
        model: BoostR,
        *,
        id: str,
        time: str = "time",
        event: str = "event",
        **roles: Any,
    ) -> Self:
        """Make an estimator of a model that was fitted elsewhere, or loaded from a file.

        Parameters
        ----------
        model : BoostR
            A fitted model.
        id, time, event : str
            Names of columns, as in `fit`.
        **roles
            Other names and settings of tables, as in `fit`: `cost`, `start`, `unit`,
            `origin`, `sensor_options`, `exposure`.

        Returns
        -------
        DaskBoostR
            A fitted estimator.
        """
        made = cls(**model.get_params(deep=False))
        made.model_ = model
        made.roles_ = Roles(id, time, event, **roles)
        return made

    def predict(
        self, X: Any, sensors: Any = None, horizon: float | None = None, **options: Any
    ) -> Any:
        """Predict how many events each individual has by a horizon, lazily.

        Parameters
        ----------
        X, sensors : dask.dataframe.DataFrame, path or list of paths
            Tables as in `fit`.
        horizon : float, default=None
            Time from 0; the last end of follow-up in training by default.
        **options
            Further arguments of `boostr.BoostR.predict_cumulative`.

        Returns
        -------
        dask.dataframe.Series
            Expected number (or cost) of events, with the ids as index.
        """
        end = self._fitted().horizon_ if horizon is None else horizon
        table = self.predict_cumulative(X, end, sensors, **options)
        return table[table.columns[0]].rename("expected")

    def predict_cumulative(
        self, X: Any, times: ArrayLike, sensors: Any = None, **options: Any
    ) -> Any:
        """Predict the cumulative intensity of each individual, lazily.

        Parameters
        ----------
        X, sensors : dask.dataframe.DataFrame, path or list of paths
            Tables as in `fit`.
        times : float or array-like of shape (m,)
            Times, from 0 on.
        **options
            Further arguments of `boostr.BoostR.predict_cumulative`.

        Returns
        -------
        dask.dataframe.DataFrame
            Expected number (or cost) of events by each time: one row per individual with
            its id as index, one column per time.
        """
        grid = np.atleast_1d(np.asarray(times, dtype=np.float64))
        meta = pd.DataFrame(np.empty((0, len(grid))), columns=grid)
        return self._ask(AskCurves(grid, options), meta, self._open(X, sensors=sensors))

    def predict_count(
        self,
        X: Any,
        start: float | str,
        stop: float | str,
        sensors: Any = None,
        **options: Any,
    ) -> Any:
        """Predict how many events each individual has in a window of its own, lazily.

        Parameters
        ----------
        X, sensors : dask.dataframe.DataFrame, path or list of paths
            Tables as in `fit`.
        start, stop : float or str
            The window (start, stop], the same for all or in columns of `X`.
        **options
            Further arguments of `boostr.BoostR.predict_count`.

        Returns
        -------
        dask.dataframe.Series
            Expected number (or cost) of events in the window, with the ids as index.
        """
        meta = pd.DataFrame({"expected": np.empty(0)})
        question = AskCounts((start, stop), options)
        tables = self._open(X, sensors=sensors)
        _check_limits(question.limits, tables["X"])
        return self._ask(question, meta, tables)["expected"]

    def forecast(
        self,
        X: Any,
        events: Any = None,
        horizon: float | None = None,
        sensors: Any = None,
        *,
        quantiles: float | Sequence[float] = (),
        **options: Any,
    ) -> Any:
        """Forecast the events of each individual after its own present, lazily.

        Parameters
        ----------
        X, events, sensors : dask.dataframe.DataFrame, path or list of paths
            Tables as in `fit`; without `events`, new individuals are forecast.
        horizon : float, default=None
            Length of the time ahead, the same for all.
        quantiles : float or sequence of float, default=()
            Further quantiles of the time to the next event, beside the median.
        **options
            Further arguments of `boostr.BoostR.forecast` that are the same for all, such
            as ``level``, ``now`` or ``k``.

        Returns
        -------
        dask.dataframe.DataFrame
            The columns that `boostr.BoostR.forecast` describes, with the ids as index;
            sorted by id within a partition, not by risk.
        """
        shares = [float(share) for share in np.atleast_1d(quantiles)]
        names = list(_FORECAST)
        names[-1:-1] = [f"next_event_q{100 * share:g}" for share in shares]
        names += [] if self._fitted().terminal_ is None else ["terminal"]
        tables = self._open(X, events=events, sensors=sensors)
        has_dates = "events" in tables and has_stamps(tables["events"], self.roles_.time)
        columns = {"now": np.empty(0, "datetime64[us]" if has_dates else np.float64)}
        meta = pd.DataFrame(columns | {name: np.empty(0) for name in names})
        question = AskForecasts(horizon, {"quantiles": shares, **options})
        return self._ask(question, meta, tables)

    def _fitted(self) -> BoostR:
        if not hasattr(self, "model_"):
            raise NotFittedError(
                "There is no model yet.\n\n"
                "Hint: fit(…), or DaskBoostR.from_model(model, …)."
            )
        return self.model_

    def _open(self, X: Any, **others: Any) -> dict[str, Table]:
        """Return the tables; they must have the columns that the model needs."""
        model = self._fitted()
        roles = replace(self.roles_, weight=None, exposure=None)
        tables = open_tables(roles, {"X": X, **others})
        _check_features(model, tables["X"])
        return tables

    def _ask(self, question: Question, meta: Any, tables: Mapping[str, Table]) -> Any:
        """Return the predictions for all pieces as a Dask DataFrame indexed by id."""
        model, roles = self._fitted(), replace(self.roles_, weight=None)
        static = tables["X"]
        files = {name: table.files for name, table in tables.items()}
        shared = share(_Question(_slim(model), roles, files, question, meta), "question")
        divisions = None
        if len(tables) == 1:
            rows = [(static.read(piece),) for piece in static.pieces]
            divisions = _find_divisions(static)
        else:
            rows = _bring_together(tables, roles)
        parts = [delayed(_answer)(shared, list(tables), part) for part in rows]
        meta = meta.set_index(pd.Index(static.meta[roles.id], name=roles.id))
        return dd.from_delayed(parts, meta=meta, divisions=divisions, verify_meta=False)


@dataclass(frozen=True, slots=True, eq=False)
class _Question:
    """Model, columns and question, the same for all pieces."""

    model: BoostR
    roles: Roles
    files: Files
    question: Question
    meta: Any  # columns of the answer


def _slim(model: BoostR) -> BoostR:
    """Return the model without attributes that predictions do not need."""
    slim = copy.copy(model)
    hazard, kinds = model.fitted_.terminal, model.fitted_.kinds
    if hazard is not None:
        hazard = replace(hazard, out_of_fold_coefficients=None)
    if kinds is not None:
        models = [replace(each, out_of_fold_coefficients=None) for each in kinds.models]
        kinds = replace(kinds, models=tuple(models))
    slim.fitted_ = replace(
        model.fitted_, out_of_fold_coefficients=None, terminal=hazard, kinds=kinds
    )
    slim.n_jobs = None  # the worker says how many threads there are
    return slim


def _name_features(model: BoostR, names: Sequence[str]) -> list[str]:
    """Return the feature columns: those of training, or all if these had no names."""
    known = getattr(model, "feature_names_in_", None)
    return list(names) if known is None else list(known)


def _check_features(model: BoostR, table: Table) -> None:
    names = _name_features(model, table.names)
    missing = [name for name in names if name not in table.names]
    if missing:
        refuse_missing(missing, table.names)


def _check_limits(limits: Sequence[float | str], table: Table) -> None:
    missing = [one for one in limits if isinstance(one, str) and one not in table.names]
    if missing:
        raise InvalidParameterError(
            "`start` and `stop` must be times or columns of `X`, but there is no "
            f"{' and no '.join(map(repr, missing))}.\n\n"
            f"Hint: its columns are {first_few(table.names)}."
        )


def _find_divisions(table: Table) -> tuple[Any, ...] | None:
    """Return the divisions of a Dask DataFrame if they are known."""
    if table.files or not all(piece.is_known for piece in table.pieces):
        return None
    return (*(piece.low for piece in table.pieces), table.pieces[-1].high)


def _bring_together(tables: Mapping[str, Table], roles: Roles) -> list[tuple[Any, ...]]:
    """Return the rows of all tables, cut at the same ids."""
    known = {name: know_ranges(table, None) for name, table in tables.items()}
    n_parts = count_parts(list(known.values()), 1)
    cuts = choose_cuts(list(known.values()), n_parts, None)
    parts = [
        partition(table, cuts, roles.rules(name), None).tasks
        for name, table in known.items()
    ]
    return list(zip(*parts, strict=True))


def _answer(given: _Question, names: Sequence[str], frames: Sequence[Any]) -> Any:
    """Return the predictions for the individuals of one piece."""
    rows = dict(zip(names, frames, strict=True))
    roles, static = given.roles, rows["X"]
    index = pd.Index(static[roles.id], name=roles.id)
    if not len(static):
        return given.meta.set_index(index)
    table = static.drop(columns=[roles.id]).reset_index(drop=True)
    histories = paths = None
    exposure = None
    if roles.exposure in static.columns:
        numbers = static.set_index(roles.id)[roles.exposure]
        exposure = numbers.to_numpy(dtype=np.float64)
    if len(rows) > 1:
        ids, table, _ = read_static(roles, given.files["X"], static)
        index = pd.Index(static[roles.id].sort_values(), name=roles.id)
        if exposure is not None:
            exposure = numbers.sort_index().to_numpy(dtype=np.float64)
        # The tables may know more individuals than are asked for.
        own = {name: frame[frame[roles.id].isin(ids)] for name, frame in rows.items()}
        if "events" in own:
            files = given.files["events"]
            histories = read_histories(roles, files, own["events"], ids)
        if "sensors" in own:
            paths = read_paths(roles, given.files["sensors"], own["sensors"], ids)
    columns = [name for name in table.columns if name not in {FILE, roles.exposure}]
    features = table[_name_features(given.model, columns)]
    with use_worker_threads():
        some = PartOfFleet(table, features, histories, paths, exposure)
        found = given.question(given.model, some)
    return found.astype(given.meta.dtypes).set_index(index)

"""The parts of a fitted estimator: the only module of inspection that reads them."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from numbers import Integral
from typing import Any

import numba
import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_array, check_is_fitted, validate_data

from boostr._checks.numbers import check_ids_match
from boostr._checks.parameters import as_times
from boostr._engine.curves import UnitCurves
from boostr._engine.ensemble import Ensemble, Member
from boostr._engine.tree import Tree
from boostr._training.fitted import Fitted
from boostr._typing import AnyArray, FloatArray
from boostr.basis import Clock, FittedBasis, FittedSensorBasis, Sensor
from boostr.data import Panel, RecurrentEvents, Trajectories, check_target
from boostr.data.events.exposure import Exposure
from boostr.data.events.fingerprint import check_histories, refuse_new_exposure
from boostr.data.events.read_exposure import read_new_exposure
from boostr.data.features import match_columns
from boostr.data.sensors.checks import align_with
from boostr.exceptions import InvalidParameterError, InvalidSensorsError, UnusedInputWarning

__all__ = [
    "FittedModel",
    "SensorTerms",
    "check_position",
    "find_code",
    "find_ids",
    "find_unused_plan",
    "name_codes",
    "read_model",
    "sort_times",
    "split_sensors",
    "unused_features",
    "unused_sensors",
    "warn_of_unused",
]

_N_LISTED = 20  # names in a message, at most


@dataclass(frozen=True, slots=True, eq=False)
class SensorTerms:
    """A sensor and the positions of its functions among all terms."""

    sensor: Sensor
    place: int
    terms: slice


@dataclass(frozen=True, slots=True, eq=False)
class FittedModel:
    """An estimator and its `Fitted`: the estimator knows the columns of tables."""

    estimator: Any
    fitted: Fitted

    @property
    def ensemble(self) -> Ensemble:
        """Clock, functions of time, bins and trees."""
        return self.fitted.ensemble

    @property
    def basis(self) -> FittedBasis | FittedSensorBasis:
        """Functions of the leaves."""
        return self.fitted.ensemble.basis

    @property
    def clock(self) -> Clock:
        """The fitted clock."""
        return self.fitted.clock

    @property
    def horizon(self) -> float:
        """Last end of follow-up in training."""
        return self.fitted.horizon

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the static features."""
        return self.fitted.encoder.names

    @property
    def categories(self) -> tuple[Sequence[Any] | None, ...]:
        """Categories of the static features."""
        return self.fitted.encoder.categories

    @property
    def time_unit(self) -> str | None:
        """Unit of time of the histories, or of the sensors."""
        layout, unit = self.fitted.sensor_layout, self.fitted.time_unit
        return unit if unit is not None or layout is None else layout.time_unit

    def sum_trees(self, features: FloatArray) -> FloatArray:
        """Return the coefficients of individuals, (n, n_terms)."""
        return self.ensemble.coefficients(features, int(numba.get_num_threads()))

    def curves(self, theta: FloatArray, sensors: Trajectories | None = None) -> UnitCurves:
        """Return the predicted curves of coefficients, kept above zero as in training."""
        return self.fitted.trees.curves(theta, sensors)

    def expected(
        self, theta: FloatArray, times: FloatArray, sensors: Trajectories | None = None
    ) -> FloatArray:
        """Return the expected numbers of events by given times, (n, m)."""
        return self.curves(theta, sensors).values(self.clock.read(times))

    def read_table(self, X: Any) -> Any:
        """Return static features as a table or array with the columns of training."""
        table = X.X if isinstance(X, Panel) else X
        if not hasattr(table, "columns"):
            table = check_array(
                table, dtype=None, ensure_all_finite=False, ensure_min_features=0
            )
        table = match_columns(self.estimator, table, self.names)
        validate_data(self.estimator, table, reset=False, skip_check_array=True)
        return table

    def encode(self, table: Any) -> FloatArray:
        """Return a table as numbers; warn of unknown categories of features in use."""
        return self.fitted.read_features(table)

    def name_unlearned(
        self, table: Any, features: FloatArray
    ) -> dict[tuple[int, int], str]:
        """Return the names of categories without a code, by row and column."""
        return self.fitted.encoder.name_unlearned(table, features)

    def read_features(self, X: Any) -> FloatArray:
        """Return static features as numbers; sensors of a panel are ignored."""
        return self.encode(self.read_table(X))

    def read_exposure(self, given: Any, n: int, table: Any) -> Exposure | None:
        """Return the exposures of individuals, for a model that was fitted with some."""
        exposure = read_new_exposure(given, n, table)
        if exposure is not None and not self.fitted.has_exposure:
            refuse_new_exposure()
        return exposure

    def read_sensors(self, given: Trajectories | None, asker: str) -> Trajectories | None:
        """Return sensors as in training; required if the model was trained with some."""
        layout = self.fitted.sensor_layout
        if layout is None:
            if given is not None:
                self.sensor_basis()  # says that the model has no sensors
            return None
        if given is None:
            raise InvalidSensorsError(
                "The model was fitted with sensors and needs them, but `Z` is missing.\n\n"
                f"Hint: {asker}(…, Z=Z)."
            )
        return layout.apply(given)

    def read_individuals(
        self, X: Any, y: Any, Z: Trajectories | None, asker: str
    ) -> tuple[FloatArray, RecurrentEvents, Trajectories | None]:
        """Return features, histories and sensors of the same individuals."""
        events = check_target(y)
        check_histories(self.estimator, events)
        Z = None if Z is None else align_with(Z, events)
        table, given = split_sensors(X, Z)
        features = self.read_features(table)
        if len(features) != len(events):
            raise InvalidParameterError(
                "`X` and `y` must be of the same individuals, but `X` has "
                f"{len(features)} and `y` has {len(events)}."
            )
        check_ids_match(table, events)
        return features, events, self.read_sensors(given, asker)

    def sensor_basis(self) -> FittedSensorBasis:
        """Return the functions of the sensors; refuse a model without sensors."""
        if isinstance(self.basis, FittedSensorBasis):
            return self.basis
        raise InvalidSensorsError(
            "The model must have sensors, but it was fitted without.\n\n"
            "Hint: fit(X, y, Z=Z) learns from sensors; model.feature_importances_ ranks "
            "static features."
        )

    def find_sensor(self, sensor: Any) -> SensorTerms:
        """Return the sensor with a name or position."""
        basis = self.sensor_basis()
        place = _find(sensor, [each.name for each in basis.sensors], "sensor")
        begin, end = basis.starts[place], basis.starts[place + 1]
        return SensorTerms(basis.sensors[place], place, slice(int(begin), int(end)))

    def find_feature(self, feature: Any) -> int:
        """Return the column with a name or position."""
        return _find(feature, self.names, "feature")

    def observed_span(self) -> tuple[float, float]:
        """Return the first start and last end of follow-up in training."""
        return float(getattr(self.clock, "origin", 0.0)), self.horizon

    def mean_speed(self) -> float:
        """Return the average speed of the model's clock."""
        begin, end = self.observed_span()
        passed = np.diff(self.clock.read(np.array([begin, end])))[0]
        return float(passed / (end - begin))

    def trees(self) -> list[Tree]:
        """Return the trees of all members."""
        return [tree for member in self.ensemble.members for tree in member.trees]

    def used_features(self) -> set[int]:
        """Return the features that some tree splits on."""
        found = [tree.nodes.feature for tree in self.trees()]
        used = np.unique(np.concatenate([np.empty(0, np.int32), *found]))
        return set(used[used >= 0].tolist())

    def score(self, X: Any, y: RecurrentEvents, Z: Trajectories | None) -> float:
        """Return the estimator's own score."""
        return float(self.estimator.score(X, y, Z=Z))

    def without(self, terms: slice) -> FittedModel:
        """Return the model with some coefficients zero in all leaves."""
        members = tuple(
            Member(tuple(_set_zero(tree, terms) for tree in member.trees), member.weight)
            for member in self.ensemble.members
        )
        changed = copy.copy(self.estimator)
        ensemble = replace(self.ensemble, members=members)
        changed.fitted_ = self.fitted.with_ensemble(ensemble)
        return read_model(changed)


def _set_zero(tree: Tree, terms: slice) -> Tree:
    value = tree.nodes.value.copy()
    value[:, terms] = 0.0
    return replace(tree, nodes=tree.nodes._replace(value=value))


def read_model(model: Any, kind: Any = None) -> FittedModel:
    """Return the parts of a model; refuse one that is not fitted or another class.

    Of a model of kinds, those of the trees of one kind, or of all events together.
    """
    if isinstance(getattr(model, "fitted_", None), Fitted):
        fitted = model._read_fitted()
        if kind is not None or fitted.kinds is not None:
            whole, model = fitted, copy.copy(model)
            fitted = replace(whole, kinds=None) if kind is None else whole.of_kind(kind)
            model.fitted_ = fitted
        return FittedModel(model, fitted)
    if hasattr(model, "fit"):
        check_is_fitted(model)
    raise InvalidParameterError(
        f"`model` must be a fitted BoostR, but it is a {type(model).__name__}.\n\n"
        "Hint: search.best_estimator_ is the model of a search, pipeline[-1] that of a "
        "pipeline."
    )


def split_sensors(X: Any, Z: Trajectories | None) -> tuple[Any, Trajectories | None]:
    """Return features and sensors of the same individuals."""
    if isinstance(X, Panel):
        if Z is not None:
            raise InvalidSensorsError(
                "Sensors must come once, but they come in the Panel and as `Z`.\n\n"
                "Hint: leave out `Z`, or pass panel.X."
            )
        return X.X, X.Z
    if Z is None:
        return X, None
    panel = Panel(X if hasattr(X, "shape") else np.asarray(X), Z)
    return panel.X, panel.Z


def find_code(value: Any, categories: Sequence[Any], owner: str) -> float:
    """Return the code of a category."""
    if value in categories:
        return float(list(categories).index(value))
    raise InvalidParameterError(
        f"{value!r} must be a category of {owner}, but it is not.\n\n"
        f"Hint: the categories are {', '.join(map(repr, categories))}."
    )


def unused_features(model: Any) -> tuple[str, ...]:
    """Return the names of features that no tree splits on."""
    fitted = read_model(model)
    used = fitted.used_features()
    return tuple(name for place, name in enumerate(fitted.names) if place not in used)


def unused_sensors(model: Any) -> tuple[str, ...]:
    """Return the names of sensors whose coefficients are zero in all leaves."""
    fitted = read_model(model)
    basis = fitted.basis
    if not isinstance(basis, FittedSensorBasis):
        return ()
    is_used = np.zeros(basis.n_terms, dtype=np.bool_)
    for tree in fitted.trees():
        is_used |= (tree.nodes.value[tree.nodes.feature < 0] != 0.0).any(axis=0)
    starts = zip(basis.starts[:-1], basis.starts[1:], strict=True)
    return tuple(
        sensor.name
        for sensor, (begin, end) in zip(basis.sensors, starts, strict=True)
        if not is_used[begin:end].any()
    )


def find_unused_plan(model: Any, future: Any) -> list[str]:
    """Return the sensors of a planned future that the model does not use."""
    if future is None:
        return []
    return [name for name in unused_sensors(model) if name in future.names]


def warn_of_unused(names: Iterable[str], noun: str, stacklevel: int = 3) -> None:
    """Warn that features or sensors without effect on the model are varied."""
    found = list(names)
    if found:
        warnings.warn(
            f"The model does not use the {noun}{'s' if len(found) > 1 else ''} "
            f"{', '.join(map(repr, found[:_N_LISTED]))}: other values change nothing.\n\n"
            f"Hint: boostr.inspection.{noun}_importance tells which {noun}s it uses.",
            UnusedInputWarning,
            stacklevel=stacklevel,
        )


def _find(wanted: Any, names: Sequence[str], noun: str) -> int:
    if isinstance(wanted, str) and wanted in names:
        return list(names).index(wanted)
    is_position = isinstance(wanted, Integral) and not isinstance(wanted, bool)
    if is_position and 0 <= int(wanted) < len(names):
        return int(wanted)
    raise InvalidParameterError(
        f"The model must know the {noun} {wanted!r}, but it does not.\n\n"
        f"Hint: its {noun}s are {', '.join(map(repr, names[:_N_LISTED]))}"
        f"{', …' if len(names) > _N_LISTED else '.'}"
    )


def check_position(place: Any, n: int, name: str, plural: str) -> int:
    """Return a position; negative ones count from the end."""
    is_whole = isinstance(place, Integral) and not isinstance(place, bool)
    if is_whole and -n <= int(place) < n:
        return int(place) % n
    raise InvalidParameterError(
        f"`{name}` must be a position among {n} {plural}, but it is {place!r}."
    )


def name_codes(categories: Sequence[Any] | None, values: FloatArray) -> AnyArray:
    """Return the categories of codes; numbers stay as they are."""
    if categories is None:
        return values
    names = np.empty(len(values), dtype=object)
    names[:] = [categories[int(code)] for code in values]
    return names


def sort_times(times: ArrayLike | None, usual: FloatArray) -> FloatArray:
    """Return sorted unique times, or the usual ones if none are given."""
    if times is None:
        return usual
    grid = np.unique(as_times(times, "times", "times count units since `y.origin`."))
    if grid.size and np.isfinite(grid).all() and grid[0] >= 0.0:
        return grid
    raise InvalidParameterError(
        "`times` must be finite and not negative, but they are not, or there are none."
    )


def find_ids(table: Any, sensors: Trajectories | None, n: int) -> AnyArray:
    """Return the labels of individuals: an index, ids of the sensors, or positions."""
    if hasattr(table, "index") and hasattr(table.index, "to_numpy"):
        return np.asarray(table.index.to_numpy())
    if sensors is not None and sensors.has_ids:
        return sensors.ids
    return np.arange(n)

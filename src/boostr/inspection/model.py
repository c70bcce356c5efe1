"""Access to the parts of a fitted estimator, of any class."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any, Protocol

import numba
import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_array, check_is_fitted, validate_data

from boostr._checks.times import as_times
from boostr._engine.ensemble import Ensemble
from boostr._training.fitted import Fitted
from boostr._typing import AnyArray, FloatArray
from boostr.basis import Clock, FittedSensorBasis, Sensor
from boostr.data import Panel, RecurrentEvents, Trajectories
from boostr.data.events.exposure import Exposure
from boostr.data.events.read_exposure import read_new_exposure
from boostr.data.features import match_columns
from boostr.exceptions import InvalidParameterError, InvalidSensorsError, UnusedInputWarning

__all__ = [
    "FittedModel",
    "SensorTerms",
    "check_grid",
    "check_model",
    "find_code",
    "find_feature",
    "find_ids",
    "find_sensor",
    "find_unused_plan",
    "mean_speed",
    "observed_span",
    "read_features",
    "read_sensors",
    "read_table",
    "sensor_basis",
    "split_sensors",
    "sum_trees",
    "time_unit",
    "unused_features",
    "unused_sensors",
    "used_features",
    "warn_of_unused",
]


def check_grid(times: ArrayLike | None, usual: FloatArray) -> FloatArray:
    """Return sorted unique times, or the usual ones if none are given."""
    if times is None:
        return usual
    grid = np.unique(as_times(times, "times", "times count units since `y.origin`."))
    if grid.size and np.isfinite(grid).all() and grid[0] >= 0.0:
        return grid
    raise InvalidParameterError(
        "`times` must be finite and not negative, but they are not, or there are none."
    )


_N_LISTED = 20  # names in a message, at most


class Encoder(Protocol):
    """Static features as numbers."""

    names: tuple[str, ...]
    categories: tuple[list[Any] | None, ...]

    def transform(self, X: Any, matters: Any = None) -> FloatArray:
        """Return all columns as numbers; warn of unseen categories where it matters."""
        ...

    def name_unlearned(self, X: Any, codes: FloatArray) -> dict[tuple[int, int], str]:
        """Return the names of categories without a code, by row and column."""
        ...


class Layout(Protocol):
    """The sensors of training."""

    names: tuple[str, ...]
    categories: Mapping[str, tuple[Any, ...]]
    time_unit: str | None

    def apply(self, sensors: Trajectories) -> Trajectories:
        """Return other sensors in the same order and with the same codes."""
        ...


class FittedModel(Protocol):
    """A fitted `BoostR`, or anything with the same attributes."""

    fitted_: Fitted
    ensemble_: Ensemble
    clock_: Clock
    encoder_: Encoder
    sensor_layout_: Layout | None
    horizon_: float
    feature_importances_: FloatArray
    split_counts_: FloatArray
    monotone: bool

    def score(self, X: Any, y: RecurrentEvents, *, Z: Trajectories | None = None) -> float:
        """Return how much better the predictions explain events than the average."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class SensorTerms:
    """A sensor and the positions of its functions among all terms."""

    sensor: Sensor
    place: int
    terms: slice


def check_model(model: Any) -> FittedModel:
    """Return the model; refuse one that is not fitted or cannot be inspected."""
    if hasattr(model, "ensemble_") and hasattr(model, "encoder_"):
        fitted: FittedModel = model
        return fitted
    if hasattr(model, "fit"):
        check_is_fitted(model)
    raise InvalidParameterError(
        f"`model` must be a fitted BoostR, but it is a {type(model).__name__}.\n\n"
        "Hint: search.best_estimator_ is the model of a search, pipeline[-1] that of a "
        "pipeline."
    )


def read_features(model: FittedModel, X: Any) -> FloatArray:
    """Return static features as numbers; sensors of a panel are ignored."""
    return model.encoder_.transform(read_table(model, X), model.split_counts_ > 0.0)


def read_table(model: FittedModel, X: Any) -> Any:
    """Return static features as a table or array with the columns of training."""
    table = X.X if isinstance(X, Panel) else X
    if not hasattr(table, "columns"):
        table = check_array(
            table, dtype=None, ensure_all_finite=False, ensure_min_features=0
        )
    table = match_columns(model, table, model.encoder_.names)
    validate_data(model, table, reset=False, skip_check_array=True)
    return table


def read_exposure(model: FittedModel, given: Any, n: int, table: Any) -> Exposure | None:
    """Return the exposures of individuals, for a model that was fitted with some."""
    index = getattr(table, "index", None)
    exposure = read_new_exposure(given, n, None if callable(index) else index)
    if exposure is not None and not getattr(model, "has_exposure_", False):
        raise InvalidParameterError(
            "This model was fitted without exposures, but individuals have some now.\n\n"
            "Hint: fit(X, y.with_exposure(exposure)), or leave out `exposure`."
        )
    return exposure


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


def sensor_basis(model: FittedModel) -> FittedSensorBasis:
    """Return the functions of a model's sensors."""
    basis = model.ensemble_.basis
    if isinstance(basis, FittedSensorBasis):
        return basis
    raise InvalidSensorsError(
        "The model must have sensors, but it was fitted without.\n\n"
        "Hint: fit(X, y, Z=Z) learns from sensors; model.feature_importances_ ranks static "
        "features."
    )


def find_sensor(model: FittedModel, sensor: Any) -> SensorTerms:
    """Return the sensor with a name or position."""
    basis = sensor_basis(model)
    names = [each.name for each in basis.sensors]
    place = _find(sensor, names, "sensor", "sensors")
    begin, end = basis.starts[place], basis.starts[place + 1]
    return SensorTerms(basis.sensors[place], place, slice(int(begin), int(end)))


def find_feature(model: FittedModel, feature: Any) -> int:
    """Return the column with a name or position."""
    return _find(feature, model.encoder_.names, "feature", "features")


def find_code(value: Any, categories: Sequence[Any], owner: str) -> float:
    """Return the code of a category."""
    if value in categories:
        return float(list(categories).index(value))
    raise InvalidParameterError(
        f"{value!r} must be a category of {owner}, but it is not.\n\n"
        f"Hint: the categories are {', '.join(map(repr, categories))}."
    )


def time_unit(model: FittedModel) -> str | None:
    """Return the unit of time, None if unknown."""
    layout = model.sensor_layout_
    own: str | None = getattr(model, "time_unit_", None)
    return own if own is not None or layout is None else layout.time_unit


def observed_span(model: FittedModel) -> tuple[float, float]:
    """Return the first start and last end of follow-up in training."""
    return float(getattr(model.clock_, "origin", 0.0)), float(model.horizon_)


def mean_speed(model: FittedModel) -> float:
    """Return the average speed of the model's clock."""
    begin, end = observed_span(model)
    passed = np.diff(model.clock_.read(np.array([begin, end])))[0]
    return float(passed / (end - begin))


def sum_trees(model: FittedModel, features: FloatArray) -> FloatArray:
    """Return the coefficients of individuals, (n, n_terms)."""
    return model.ensemble_.coefficients(features, int(numba.get_num_threads()))


def used_features(ensemble: Ensemble) -> set[int]:
    """Return the features that some tree splits on."""
    trees = [tree for member in ensemble.members for tree in member.trees]
    found = np.concatenate([np.empty(0, np.int32), *[t.nodes.feature for t in trees]])
    return set(np.unique(found[found >= 0]).tolist())


def unused_features(model: FittedModel) -> tuple[str, ...]:
    """Return the names of features that no tree splits on."""
    used = used_features(model.ensemble_)
    names = model.encoder_.names
    return tuple(name for place, name in enumerate(names) if place not in used)


def unused_sensors(model: FittedModel) -> tuple[str, ...]:
    """Return the names of sensors whose coefficients are zero in all leaves."""
    basis = model.ensemble_.basis
    if not isinstance(basis, FittedSensorBasis):
        return ()
    is_used = np.zeros(basis.n_terms, dtype=np.bool_)
    for member in model.ensemble_.members:
        for tree in member.trees:
            is_used |= (tree.nodes.value[tree.nodes.feature < 0] != 0.0).any(axis=0)
    starts = zip(basis.starts[:-1], basis.starts[1:], strict=True)
    return tuple(
        sensor.name
        for sensor, (begin, end) in zip(basis.sensors, starts, strict=True)
        if not is_used[begin:end].any()
    )


def find_unused_plan(model: FittedModel, future: Any) -> list[str]:
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


def _find(wanted: Any, names: Sequence[str], noun: str, plural: str) -> int:
    if isinstance(wanted, str) and wanted in names:
        return list(names).index(wanted)
    is_position = isinstance(wanted, Integral) and not isinstance(wanted, bool)
    if is_position and 0 <= int(wanted) < len(names):
        return int(wanted)
    raise InvalidParameterError(
        f"The model must know the {noun} {wanted!r}, but it does not.\n\n"
        f"Hint: its {plural} are {', '.join(map(repr, names[:_N_LISTED]))}"
        f"{', …' if len(names) > _N_LISTED else '.'}"
    )


def read_sensors(
    model: FittedModel, given: Trajectories | None, asker: str
) -> Trajectories | None:
    """Return sensors as in training; required if the model was trained with some."""
    if model.sensor_layout_ is None:
        if given is not None:
            sensor_basis(model)  # says that the model has no sensors
        return None
    if given is None:
        raise InvalidSensorsError(
            "The model was fitted with sensors and needs them, but `Z` is missing.\n\n"
            f"Hint: {asker}(…, Z=Z)."
        )
    return model.sensor_layout_.apply(given)


def find_ids(table: Any, sensors: Trajectories | None, n: int) -> AnyArray:
    """Return the labels of individuals: an index, ids of the sensors, or positions."""
    if hasattr(table, "index") and hasattr(table.index, "to_numpy"):
        return np.asarray(table.index.to_numpy())
    if sensors is not None and sensors.has_ids:
        return sensors.ids
    return np.arange(n)

"""Saving of fitted estimators to files and tables, and checks of their files."""

from __future__ import annotations

import importlib
import os
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from boostr._frailty.law import FrailtyLaw
from boostr._frailty.pace import Pace, PacedClock
from boostr._training.features import FeatureEncoder
from boostr._training.frailty import ForecastLaw, Shock
from boostr._training.sensors import SensorLayout, Sensors
from boostr._training.settings import check_params, resolve_baseline, resolve_basis
from boostr.basis import FittedSensorBasis
from boostr.data import RecurrentEvents
from boostr.data.events.fingerprint import Fingerprint
from boostr.data.events.frames import make_table
from boostr.inspection import trees_frame
from boostr.io import save
from boostr.io.classes import CLOCK, check_reach
from boostr.io.model import register_model
from boostr.io.rules import (
    CATEGORY,
    STAMP,
    TEXT,
    TRUTH,
    Rule,
    array,
    instance,
    number,
    optional,
    require,
    sequence,
    whole,
)
from boostr.io.trees import ENSEMBLE
from boostr.io.values import digest, register

__all__ = ["Savable", "register_estimator"]

_MANY = 2**31 - 1
_MAX_STRETCHES = 10_000  # of a pace, where training makes about a hundred
_PACES = (1e-13, 1e100)  # beyond what training can find
_MAX_ERROR = 1e4  # of a logarithm of a total


class Savable:
    """Save a fitted estimator to a file, or export it as a table."""

    validation_results_: list[dict[str, Any]]

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the fitted model to a file, from which `boostr.load` reads it.

        The file holds numbers and text, no code, and appears as a whole or not at all. A
        loaded model predicts the same to the bit.

        Parameters
        ----------
        path : str or path
            The file, by custom with the ending ``.boostr``; one that is there is replaced.

        See Also
        --------
        boostr.load : Reads the file.
        """
        check_is_fitted(self)
        save(self, path)

    def trees_to_frame(self, *, backend: str | None = None) -> Any:
        """List the nodes of all trees in a table.

        Parameters
        ----------
        backend : {"pandas", "polars"}, optional
            Which table to make; by default pandas if it is installed, else polars.

        Returns
        -------
        DataFrame
            One row per node, see `boostr.inspection.trees_frame`.
        """
        check_is_fitted(self)
        return trees_frame(self, backend=backend)

    def validation_to_frame(self, *, backend: str | None = None) -> Any:
        """List the shapes of trees that validation has tried in a table.

        Parameters
        ----------
        backend : {"pandas", "polars"}, optional
            Which table to make; by default pandas if it is installed, else polars.

        Returns
        -------
        DataFrame
            One row per entry of `validation_results_`: its ``label``, ``n_trees``,
            ``loss`` and ``weight``. Without validation there are no rows.

        Examples
        --------
        >>> from boostr import BoostR
        >>> from boostr.simulate import dataset_a
        >>> fleet = dataset_a(n=100, random_state=1)
        >>> model = BoostR(n_estimators=20, random_state=0).fit(fleet.X, fleet.y)
        >>> model.validation_to_frame().columns.tolist()
        ['label', 'n_trees', 'loss', 'weight']
        """
        check_is_fitted(self)
        kinds = {"label": object, "n_trees": np.int64, "loss": float, "weight": float}
        columns = {
            name: np.array([run[name] for run in self.validation_results_], dtype=kind)
            for name, kind in kinds.items()
        }
        return make_table(columns, backend)

    def report(
        self,
        X: Any,
        y: RecurrentEvents,
        Z: Sensors | None = None,
        *,
        path: str | os.PathLike[str] = "report.html",
        horizon: float | None = None,
        **options: Any,
    ) -> Path:
        """Write a page on a fleet: who is at risk, why, and how good the model is.

        Parameters
        ----------
        X, y, Z
            Features, histories up to the present, and sensors of the individuals.
        path : str or path, default="report.html"
            The file, one page that opens without a network.
        horizon : float, default=None
            Length of the time ahead; by default as long as the longest follow-up of
            training.
        **options
            Passed to `boostr.report.fleet_report`.

        Returns
        -------
        Path
            The file.

        See Also
        --------
        boostr.report.fleet_report : Says what is on the page.
        """
        check_is_fitted(self)
        # Reports stand above the estimators and need other packages: look them up late.
        room: Any = importlib.import_module("boostr.report")
        page: Path = room.fleet_report(self, X, y, Z, path=path, horizon=horizon, **options)
        return page


def register_estimator(cls: type) -> None:
    """Let files hold fitted estimators of a class."""
    register_model(
        cls,
        _ATTRIBUTES,
        _LATER_ATTRIBUTES,
        check_params=_check_params,
        check=_check_model,
    )


def _is_layout(value: Any) -> bool:
    return isinstance(value, dict) and all(
        isinstance(name, str) and sequence(tuple, CATEGORY).admits(known)
        for name, known in value.items()
    )


def _check_pace(pace: Pace) -> None:
    is_right = 0 < len(pace.begins) == len(pace.factors) <= _MAX_STRETCHES
    require(is_right, "Every stretch of time must have a factor above 0")
    least, most = _PACES
    is_right = bool(np.all((pace.factors >= least) & (pace.factors <= most)))
    require(is_right, "Every stretch of time must have a factor above 0")
    require(np.all(np.diff(pace.begins) > 0.0), "Stretches of time must rise")


def _check_shock(shock: Shock) -> None:
    is_right = len(shock.errors) == len(shock.noise)
    require(is_right, "Every error must have a variance")
    is_right = np.abs(shock.errors).max(initial=0.0) <= _MAX_ERROR
    require(is_right, "Errors of totals must be usual numbers")


register(
    FeatureEncoder,
    {
        "names": sequence(tuple, TEXT),
        "categories": sequence(tuple, optional(sequence(list, CATEGORY))),
    },
    later={"rare": sequence(tuple, optional(sequence(list, CATEGORY)))},
)
register(
    SensorLayout,
    {
        "names": sequence(tuple, TEXT),
        "categories": Rule("dict of tuples of categories by sensor", _is_layout),
        "time_unit": optional(TEXT),
        "origin": optional(STAMP),
    },
)


register(
    FrailtyLaw,
    {
        "variance": number(0.0),
        "half_life": number(0.0, above=True, finite=False),
        "persistence": number(0.0),
        "scale": number(0.0),
        "extra": number(0.0),
        "judged_over": number(0.0, above=True, finite=False),
        "drifts": TRUTH,
    },
    check=lambda law: require(
        law.persistence <= 1.0, "What goes on of a frailty must be a share"
    ),
)
register(
    Pace,
    {"begins": array("float64", "n"), "factors": array("float64", "n")},
    check=_check_pace,
)
register(
    PacedClock,
    {"clock": CLOCK, "pace": instance(Pace, words="Pace")},
)
register(
    Shock,
    {
        "lead": number(0.0, above=True),
        "errors": array("float64", "n_dates"),
        "noise": array("float64", "n_dates"),
    },
    check=_check_shock,
)
register(
    ForecastLaw,
    {
        "frailty": instance(FrailtyLaw, words="FrailtyLaw"),
        "paced": optional(instance(PacedClock, words="PacedClock")),
        "level": number(0.0, above=True),
        "shock": optional(instance(Shock, words="Shock")),
    },
)


register(
    Fingerprint,
    {"marks": array("uint64", "n"), "is_whole": TRUTH},
    check=lambda known: require(
        np.all(known.marks[1:] > known.marks[:-1]) and (known.is_whole or known.marks.size),
        "Marks must rise, and be there unless there are none",
    ),
)


def _is_pair(value: Any) -> bool:
    is_array = array("float64", "2").admits(value)
    return is_array and value.shape == (2,) and bool(np.all(value > 0.0))


def _are_scores(value: Any) -> bool:
    if not array("float64", "n").admits(value):
        return False
    is_sorted = bool(np.all(np.diff(value) >= 0.0))
    return is_sorted and bool(np.all((value >= 0.0) & (value <= 1.0)))


# Attributes that are not listed are read by their type and not looked at.
_ATTRIBUTES = {
    "n_features_in_": whole(0, _MANY),
    "encoder_": instance(FeatureEncoder, words="FeatureEncoder"),
    "sensor_layout_": optional(instance(SensorLayout, words="SensorLayout")),
    "clock_": CLOCK,
    "reference_clock_": CLOCK,
    "horizon_": number(0.0, above=True),
    "time_unit_": optional(TEXT),
    "ensemble_": ENSEMBLE,
    "n_estimators_": whole(0, _MANY),
    "feature_importances_": array("float64", "n_features"),
    "feature_gains_": array("float64", "n_features"),
    "split_counts_": array("float64", "n_features"),
    "sensor_usefulness_": optional(instance(dict, words="dict of pairs by sensor")),
    "train_loss_": optional(array("float64", "n_rounds", finite=False)),
    "validation_results_": sequence(list, instance(dict, words="dict")),
    "out_of_fold_coefficients_": optional(array("float64", "n", "n_terms", finite=False)),
    "n_fold_models_": whole(1, _MANY),
    "clock_variants_": sequence(list, CLOCK),
    "frailty_variance_": number(0.0),
    "frailty_half_life_": number(0.0, above=True, finite=False),
    "cost_moments_": Rule("float64 array (2) of positive numbers", _is_pair),
    "forecast_scores_": Rule("float64 array (n), sorted, from 0 to 1", _are_scores),
}
# Those that the first files did not have.
_LATER_ATTRIBUTES = {
    "has_costs_": TRUTH,
    "has_exposure_": TRUTH,
    "time_origin_": optional(STAMP),
    "fingerprint_": instance(Fingerprint, words="Fingerprint"),
    "forecast_law_": instance(ForecastLaw, words="ForecastLaw"),
}


def _check_params(params: dict[str, Any]) -> None:
    check_params(params)
    resolve_basis(params["leaf"])
    resolve_baseline(params["baseline"])


def _check_model(model: Any) -> None:
    """Refuse parts that do not belong together."""
    ensemble, encoder, n_features = model.ensemble_, model.encoder_, model.n_features_in_
    mapper = ensemble.mapper
    n_known = {len(encoder.names), len(encoder.categories), len(mapper.is_categorical)}
    n_known.add(len(encoder.rare or encoder.names))
    for name in ("feature_importances_", "feature_gains_", "split_counts_"):
        n_known.add(len(getattr(model, name)))
    require(n_known == {n_features}, "All parts of a model must have the same features")
    is_same = np.array_equal(encoder.is_categorical, mapper.is_categorical)
    require(is_same, "Categories must belong to categorical features")
    n_values = np.where(mapper.is_categorical, mapper.n_values, 0)
    is_same = np.array_equal(encoder.n_categories, n_values)
    require(is_same, "Every category must have a bin")
    names = getattr(model, "feature_names_in_", None)
    if names is not None:
        is_text = isinstance(names, np.ndarray) and names.shape == (n_features,)
        is_text = is_text and tuple(names.tolist()) == encoder.names
        require(is_text, "`feature_names_in_` must hold the names of the features")
    require(model.horizon_ == ensemble.horizon, "The horizon must be the ensemble's")
    is_same = digest(model.clock_) == digest(ensemble.clock)
    require(is_same, "The clock must be the ensemble's")
    is_same = model.n_estimators_ == ensemble.n_rounds
    require(is_same, "`n_estimators_` must be the number of rounds")
    theta = model.out_of_fold_coefficients_
    is_right = theta is None or theta.shape[1] == ensemble.basis.n_terms
    require(is_right, "Coefficients must have a number per function")
    _check_forecasts(model)
    _check_sensors(model)


def _check_forecasts(model: Any) -> None:
    n_members = len(model.ensemble_.members)
    is_right = n_members % model.n_fold_models_ == 0
    require(is_right, "Every fold must have as many models as the others")
    clocks = list(model.clock_variants_)
    law = getattr(model, "forecast_law_", None)
    if law is not None and law.paced is not None:
        clocks.append(law.paced.clock)
    for clock in clocks:
        check_reach(clock, model.horizon_)


def _check_sensors(model: Any) -> None:
    layout, basis = model.sensor_layout_, model.ensemble_.basis
    sensors = basis.sensors if isinstance(basis, FittedSensorBasis) else ()
    has_sensors = isinstance(basis, FittedSensorBasis)
    require((layout is not None) == has_sensors, "Functions of sensors need sensors")
    if layout is None:
        return
    names = tuple(sensor.name for sensor in sensors)
    require(layout.names == names, "Sensors must be those of the functions")
    for sensor in sensors:
        is_same = sensor.categories == layout.categories.get(sensor.name)
        require(is_same, "Categories of sensors must be those of the functions")

"""The parts of a fitted `BoostR` in model files, and the rules that they keep."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from types import SimpleNamespace
from typing import Any

import numpy as np

from boostr._frailty.forecast_law import ForecastLaw, Shock, TerminalTie
from boostr._frailty.law import FrailtyLaw
from boostr._frailty.own_pace import SecondScale
from boostr._frailty.pace import Pace, PacedClock
from boostr._frailty.renewal import Renewal
from boostr._training.features import FeatureEncoder
from boostr._training.fitted import Fitted, KindModels, LawOnDemand, TreeModel
from boostr._training.sensors import SensorLayout
from boostr._training.settings import Settings, resolve_baseline, resolve_basis
from boostr.basis import FittedSensorBasis
from boostr.data.events.fingerprint import Fingerprint
from boostr.io.classes import CLOCK, check_clock_reach
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

__all__ = ["register_estimator"]

_MANY = 2**31 - 1
_MAX_STRETCHES = 10_000  # of a pace, where training makes about a hundred
_PACES = (1e-13, 1e100)  # beyond what training can find
_MAX_ERROR = 1e4  # of a logarithm of a total
_MAX_CHANGE = 10.0  # of the logarithm of a rate by an event
_MAX_POWER = 10.0  # of a frailty in a terminal hazard


def register_estimator(cls: type) -> None:
    """Let files hold fitted estimators of a class."""
    register_model(
        cls,
        _ATTRIBUTES,
        _LATER_ATTRIBUTES,
        check_params=_check_params,
        check=_check_model,
        list_attributes=_list_attributes,
        set_attributes=_set_attributes,
    )


def _list_attributes(model: Any) -> dict[str, Any]:
    """Return what a file holds of a fitted model, by name."""
    names = [*_ATTRIBUTES, *_LATER_ATTRIBUTES, "feature_names_in_"]
    found = {name: getattr(model, name) for name in names if hasattr(model, name)}
    for name in (
        "fingerprint_",
        "kinds_",
        "reading_",
        "terminal_",
    ):  # which not every model has
        if found[name] is None:
            del found[name]
    return found


def _set_attributes(model: Any, values: Mapping[str, Any]) -> None:
    """Turn an unfitted model into the one that a file describes."""
    for name in ("feature_names_in_", "n_features_in_"):
        if name in values:
            setattr(model, name, values[name])
    read = {name.removesuffix("_"): value for name, value in values.items()}
    costs = read["cost_moments"]
    drifting = FrailtyLaw(read["frailty_variance"], read["frailty_half_life"], drifts=True)
    early = {  # what early files do not tell
        "has_costs": bool(costs[1] != 1.0),
        "has_exposure": False,
        "time_origin": None,
        "fingerprint": None,
        "forecast_law": ForecastLaw(drifting),
        "reading": None,
        "terminal": None,
        "kinds": None,
    }
    settings = Settings(**model.get_params(deep=False))
    trees = TreeModel(
        read["ensemble"], settings, read["n_fold_models"], tuple(read["clock_variants"])
    )
    found = _join_law({"trees": trees, **early, **read})
    fitted = Fitted(**{field.name: found[field.name] for field in fields(Fitted)})
    model.fitted_ = fitted.with_settings(settings)


def _take_apart(hazard: Fitted) -> dict[str, Any]:
    """Return what a file holds of a terminal hazard, by name."""
    return {name: getattr(hazard, name) for name in _HAZARD}


def _put_together(**parts: Any) -> Fitted:
    """Return a terminal hazard; the model gives it its settings."""
    trees = TreeModel(parts.pop("ensemble"), None, parts.pop("n_fold_models"))  # type: ignore[arg-type]
    own = _join_law(parts)
    return Fitted(trees=trees, fingerprint=None, has_costs=False, has_exposure=False, **own)


def _join_law(parts: dict[str, Any]) -> dict[str, Any]:
    """Return the parts of a fit, with the law of forecasts and its scores as one."""
    known = LawOnDemand.known(parts.pop("forecast_law"), parts.pop("forecast_scores"))
    return {**parts, "own_histories": known}


def _is_layout(value: Any) -> bool:
    return isinstance(value, dict) and all(
        isinstance(name, str) and sequence(tuple, CATEGORY).admits(known)
        for name, known in value.items()
    )


def _check_pace(pace: Pace | SecondScale) -> None:
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
    Renewal,
    {
        "drop": number(0.0, above=True),
        "rise": number(0.0),
        "half_life": number(0.0, above=True, finite=False),
    },
    check=lambda renewal: require(
        max(renewal.drop, renewal.rise) <= _MAX_CHANGE, "Renewal must be a usual number"
    ),
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
    later={"renewal": optional(instance(Renewal, words="Renewal"))},
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
    SecondScale,
    {
        "begins": array("float64", "n"),
        "factors": array("float64", "n"),
        "counts_dates": TRUTH,
    },
    check=_check_pace,
)
register(
    PacedClock,
    {"clock": CLOCK, "pace": instance(Pace, words="Pace")},
    later={"second": optional(instance(SecondScale, words="SecondScale"))},
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
    TerminalTie,
    {"power": number(), "level": number(0.0, above=True)},
    check=lambda tie: require(
        abs(tie.power) <= _MAX_POWER, "The power of a frailty must be a usual number"
    ),
)
register(
    ForecastLaw,
    {
        "frailty": instance(FrailtyLaw, words="FrailtyLaw"),
        "paced": optional(instance(PacedClock, words="PacedClock")),
        "level": number(0.0, above=True),
        "shock": optional(instance(Shock, words="Shock")),
    },
    later={"tie": instance(TerminalTie, words="TerminalTie")},
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
    "reading_": instance(dict, words="dict of what the command line was told"),
    "terminal_": instance(Fitted, words="Fitted"),
    "kinds_": instance(KindModels, words="KindModels"),
}
_HAZARD = {
    name: (_ATTRIBUTES | _LATER_ATTRIBUTES)[f"{name}_"]
    for name in (
        "encoder",
        "sensor_layout",
        "reference_clock",
        "time_unit",
        "time_origin",
        "ensemble",
        "n_fold_models",
        "feature_importances",
        "feature_gains",
        "split_counts",
        "sensor_usefulness",
        "train_loss",
        "validation_results",
        "out_of_fold_coefficients",
        "forecast_law",
        "cost_moments",
        "forecast_scores",
    )
}


def _check_hazard(hazard: Fitted) -> None:
    """Refuse parts of a terminal hazard that do not belong together."""
    parts = {f"{name}_": getattr(hazard, name) for name in _HAZARD}
    own = ("clock", "clock_variants", "horizon", "n_estimators")
    parts |= {f"{name}_": getattr(hazard, name) for name in own}
    _check_model(SimpleNamespace(n_features_in_=len(hazard.encoder.names), **parts))


register(
    Fitted,
    _HAZARD,
    take_apart=_take_apart,
    put_together=_put_together,
    check=_check_hazard,
)


register(
    KindModels,
    {
        "labels": sequence(tuple, CATEGORY),
        "models": sequence(tuple, instance(Fitted, words="Fitted")),
        "pooled": sequence(tuple, CATEGORY),
    },
    check=lambda kinds: require(
        len(kinds.labels) == len(kinds.models) > 0, "Every kind must have a model"
    ),
)


def _check_params(params: dict[str, Any]) -> None:
    Settings(**params)
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
    hazard = getattr(model, "terminal_", None)
    is_same = hazard is None or hazard.encoder.names == encoder.names
    require(is_same, "The terminal hazard must have the features of the model")
    kinds = getattr(model, "kinds_", None)
    inner = () if kinds is None else kinds.models
    is_same = all(each.encoder.names == encoder.names for each in inner)
    require(is_same, "The models of kinds must have the features of the model")
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
        check_clock_reach(clock, model.horizon_)


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

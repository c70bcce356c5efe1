"""The case study: wells with sensors."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np

from boostr._typing import FloatArray
from boostr.exceptions import UnusedInputWarning
from boostr.inspection import SensorEffect, feature_importance, sensor_effect
from boostr.reproduction._learners import DEFAULT, PAPER, PAPER_SETTINGS
from boostr.reproduction._numbers import list_names, say, say_mean
from boostr.reproduction._page import Block, Chapter, Table
from boostr.reproduction._wells_fleet import (
    COORDINATES,
    ONE_SENSOR,
    PAPER_SENSOR,
    Fleet,
    compare_fleet,
    count_paper_trees,
    draw_fleet,
    fit_for_pictures,
    make_paper,
)
from boostr.reproduction._wells_pictures import (
    REGIONS,
    centre,
    draw_coefficients,
    draw_effects,
    draw_importance,
    draw_maps,
    draw_wells,
)
from boostr.reproduction._work import Scale, Work

__all__ = ["build"]

_SILENT = 1e-3  # events a day; a sensor that adds less anywhere adds nothing
_LONG = 80.0  # days of follow-up that wells in pictures have
_GOOD = 0.15  # of the range of a true effect; errors below count as found

Models = Mapping[str, Any]


def build(work: Work) -> Chapter:
    """Return the chapter of the wells, also with figures of unused sensors."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnusedInputWarning)
        return _build(work)


def _build(work: Work) -> Chapter:
    scale = work.scale
    fleet = draw_fleet(scale, 0)
    models = fit_for_pictures(fleet)
    errors = compare_fleet(work, models)
    return Chapter(
        key="wells",
        title="Wells with sensors",
        introduction=(
            "The paper's 8232 oil and gas wells, with eight static features and the torque "
            "of the gearbox, are private. Here is a simulated fleet like it, of which the "
            f"truth is known: {scale.n_wells} wells to learn from, eight static features "
            f"of which only the two coordinates matter, and {scale.n_sensors} sensors that "
            "drive the failures, differently in four regions. The coordinates are the last "
            "two features in the paper and the first two here; "
            f"{PAPER_SENSOR} stands for the torque."
        ),
        blocks=(
            _build_importance(fleet, models),
            _build_coefficients(fleet),
            _build_maps(fleet, models),
            _build_wells(fleet, models),
            _build_effects(fleet, models),
            _build_errors(scale, errors),
        ),
    )


def _build_importance(fleet: Fleet, models: Models) -> Block:
    shares = {name: feature_importance(model).importances for name, model in models.items()}
    return Block(
        title="Wells: importance of eight features",
        paper=(
            "The coordinates, x7 and x8, are the two most important of the eight static "
            "features by a distance."
        ),
        paper_settings=_say_importance(shares[ONE_SENSOR]),
        default=_say_importance(shares[DEFAULT]),
        caution=(
            "The gain that trees report has been fitted, so useless features get a share "
            "of it by chance. By default, features that do no better than shuffled copies "
            "of themselves are set aside before."
        ),
        pictures=(draw_importance(fleet.train, models),),
    )


def _say_importance(shares: FloatArray) -> str:
    top = set(np.argsort(-shares)[:COORDINATES].tolist())
    found = "are" if top == set(range(COORDINATES)) else "are not"
    return (
        f"The coordinates take {shares[:COORDINATES].sum():.1%} of the gain; they {found} "
        "the two largest. The largest of the other six has "
        f"{shares[COORDINATES:].max():.1%}."
    )


def _build_coefficients(fleet: Fleet) -> Block:
    settings = PAPER_SETTINGS["wells"]
    train = fleet.train
    model = make_paper(int(settings["n_estimators"]))
    model.fit(train.X[:, :COORDINATES], train.y, fleet.paths(train, PAPER_SENSOR))
    picture, error = draw_coefficients(fleet, model)
    n_grown = int(np.count_nonzero([tree.n_leaves > 1 for tree in _list_trees(model)]))
    return Block(
        title="Wells: the paper's maps of coefficients",
        paper=(
            "Boost-R is fitted again with the coordinates and the torque alone. The five "
            "B-spline coefficients of the torque vary over the field, so its effect does."
        ),
        paper_settings=(
            f"K = {settings['n_estimators']}, gamma1 = {settings['gamma1']:g}, gamma2 = "
            f"{settings['gamma2']:g}, u = 2, v = 3, D.max = {settings['max_leaf_nodes']}; "
            "20 thresholds per feature and 50 wells in a leaf at least, as in the "
            f"published R code. {n_grown} trees have a split. The coefficients vary over "
            f"the field; their mean absolute error is {error:.3f} events per day."
        ),
        default="The maps of the default, of effects rather than coefficients, come next.",
        caution=(
            "Five maps of coefficients do not show an effect: neighbouring splines trade "
            "off, and without a baseline beside the sensor, each of them carries a share "
            "of the constant rate."
        ),
        pictures=(picture,),
    )


def _list_trees(model: Any) -> list[Any]:
    return [tree for member in model.ensemble_.members for tree in member.trees]


def _build_maps(fleet: Fleet, models: Models) -> Block:
    picture, error = draw_maps(fleet, models[DEFAULT])
    return Block(
        title="Wells: maps of what sensors add",
        paper="See above; the paper has one sensor.",
        paper_settings="See above.",
        default=(
            f"Mean absolute error over the maps: {error:.3f} events per day, where effects "
            f"reach 0.1. {_say_silent(fleet, models[DEFAULT])}"
        ),
        pictures=(picture,),
    )


def _say_silent(fleet: Fleet, model: Any) -> str:
    """Return a sentence on the sensors that the model does not use."""
    largest = {
        name: float(np.abs(sensor_effect(model, fleet.test.X, name).curves).max())
        for name in fleet.paths(fleet.test).names
    }
    silent = [name for name, size in largest.items() if size < _SILENT]
    if not silent:
        return "All sensors were found to matter."
    return (
        f"Set aside, as too little speaks for it with {len(fleet.train.y)} wells: "
        f"{list_names(silent)}."
    )


def _build_wells(fleet: Fleet, models: Models) -> Block:
    chosen = [_find_typical(fleet, region) for region in range(len(REGIONS))]
    return Block(
        title="Wells: four of them",
        paper=(
            "Estimated cumulative intensities of four wells follow their failures, beside "
            "the torque."
        ),
        paper_settings="Dashed curves; the model knows one sensor, as in the paper.",
        default=(
            "Red curves. These wells were not learned from: of those that were followed "
            f"for {_LONG:g} days, in each region one with a middling number of failures. "
            "Failures scatter; a curve should follow the truth."
        ),
        pictures=(draw_wells(fleet, models, chosen),),
    )


def _find_typical(fleet: Fleet, region: int) -> int:
    """Return a fresh well of a region, with a long follow-up."""
    truth: Any = fleet.test.truth
    y = fleet.test.y
    places = np.flatnonzero((truth.region() == region) & (y.end >= _LONG))
    order = np.argsort(y.n_events[places], kind="stable")
    return int(places[order[len(order) // 2]])


def _build_effects(fleet: Fleet, models: Models) -> Block:
    model, test = models[DEFAULT], fleet.test
    truth: Any = test.truth
    region = truth.region()
    effects = {
        (sensor, place): sensor_effect(model, test.X[region == place], sensor)
        for sensor in range(len(fleet.paths(test).names))
        for place in range(len(REGIONS))
    }
    found = {
        key: _measure_effect(effect, centre(fleet, *key, effect))
        for key, effect in effects.items()
    }
    active = {key: error for key, error in found.items() if error is not None}
    n_good = sum(error <= _GOOD for error in active.values())
    names = fleet.paths(test).names
    return Block(
        title="Wells: effects of sensors",
        paper="Not shown as curves.",
        paper_settings="",
        default=(
            f"{n_good} of {len(active)} effects are found to within {_GOOD:.0%} of their "
            f"range. {_say_idle(effects, found)}"
        ),
        pictures=(draw_effects(fleet, effects),),
        tables=(
            Table(
                "Mean absolute error of effects, weighted by the time at each value, over "
                "the range of the true effect.",
                ("Sensor", "Region", "Error over range"),
                tuple(
                    (names[sensor], REGIONS[place], f"{error:.1%}")
                    for (sensor, place), error in active.items()
                ),
            ),
        ),
    )


def _measure_effect(effect: SensorEffect, true: FloatArray) -> float | None:
    """Return the error relative to the true range; None without an effect."""
    shares = np.asarray(effect.shares)
    if np.ptp(true) == 0.0:
        return None
    return float(np.abs(effect.mean - true) @ shares / np.ptp(true[shares > 0.0]))


def _say_idle(
    effects: Mapping[tuple[int, int], SensorEffect],
    found: Mapping[tuple[int, int], float | None],
) -> str:
    idle = [
        float(np.abs(effects[key].mean).max())
        for key, error in found.items()
        if error is None
    ]
    return (
        f"Where a sensor has no effect, the largest that is found is {max(idle):.3f} "
        "events per day."
    )


def _say_noise(errors: Mapping[str, FloatArray]) -> str:
    n_fleets = len(errors[DEFAULT])
    if n_fleets == 1:
        return "There is one fleet, so that a small difference may be chance."
    return f"Errors are means over {n_fleets} fleets."


def _build_errors(scale: Scale, errors: Mapping[str, FloatArray]) -> Block:
    order = sorted(errors, key=lambda name: float(errors[name].mean()))
    rivals = [name for name in order if not name.startswith("BoostR")]
    settings = PAPER_SETTINGS["wells"]
    n_trees = count_paper_trees(scale)
    cut = (
        f" All sensors have K = {n_trees} rather than {settings['n_estimators']} here."
        if n_trees < settings["n_estimators"]
        else ""
    )
    best = order.index(DEFAULT) == 0
    return Block(
        title="Wells: distance from the truth",
        paper="Not known: the data are real. The paper compares with no rival here.",
        paper_settings=(
            f"Error {say(errors[PAPER].mean())} with all sensors, "
            f"{say(errors[ONE_SENSOR].mean())} with one.{cut}"
        ),
        default=(
            f"Error {say(errors[DEFAULT].mean())}. The best rival is {rivals[0]} with "
            f"{say(errors[rivals[0]].mean())}. Rivals without sensors see the static "
            "features alone."
        ),
        caution=(
            ""
            if best
            else "The default is not the best here. Better: "
            f"{list_names(order[: order.index(DEFAULT)])}. {_say_noise(errors)}"
        ),
        tables=(_tabulate(scale, errors),),
    )


def _tabulate(scale: Scale, errors: Mapping[str, FloatArray]) -> Table:
    reference = errors[DEFAULT].mean()
    return Table(
        "Integrated squared error of the predicted against the true cumulative intensity "
        "over 100 days, mean over fresh wells along their own sensors; "
        f"{scale.n_wells} wells to learn from.",
        ("Learner", "Error", "Relative to default"),
        tuple(
            (name, say_mean(each), f"{each.mean() / reference:.2f}")
            for name, each in sorted(errors.items(), key=lambda pair: pair[1].mean())
        ),
        marked=frozenset({0}),
    )

"""The case study: wells with sensors."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.util import find_spec
from typing import Any, cast

import numpy as np

from boostr._typing import FloatArray
from boostr.baselines import (
    AndersenGill,
    HistGradientBoostingPoisson,
    HomogeneousPoisson,
    LightGBMPoisson,
    McfRegressor,
    XGBoostPoisson,
    tune,
)
from boostr.data import Trajectories
from boostr.estimators import BoostR
from boostr.exceptions import UnusedInputWarning
from boostr.inspection import (
    CoefficientMap,
    SensorEffect,
    coefficient_map,
    feature_importance,
    individual_convergence,
    sensor_effect,
)
from boostr.metrics import integrated_squared_error
from boostr.plotting import (
    plot_coefficient_map,
    plot_importance,
    plot_individual,
    plot_sensor_effect,
)
from boostr.reproduction._models import DEFAULT, PAPER, PAPER_SETTINGS
from boostr.reproduction._page import (
    Block,
    Chapter,
    Picture,
    ResultTable,
    digits,
    draw,
    join_names,
    open_figure,
    say_mean,
)
from boostr.reproduction._work import Result, Scale, Work, rank, stack
from boostr.simulate import Simulation, wells

__all__ = ["build_wells"]

COORDINATES = 2  # the first static features
PAPER_SENSOR = "sensor1"  # stands for the gearbox torque
ONE_SENSOR = f"{PAPER}, one sensor"
REGIONS = ("south-west", "north-west", "south-east", "north-east")
BASE_RATE = 0.005  # events a day that sensors do not change, see `boostr.simulate.wells`
_SENSOR_COLUMNS = "HistGB, sensors as columns"
_SEEDS = (60_000, 70_000)  # of training and test
_N_TEST = 500
_TIMES = np.linspace(0.0, 100.0, 101)
# Of the published R code: candidates per feature, and individuals in a leaf.
_R_CODE: dict[str, Any] = {"max_bins": 20, "min_samples_leaf": 50}
_N_TREES = int(PAPER_SETTINGS["wells"]["n_estimators"])
_QUICK_TREES = 6  # later ones change curves in the fourth digit
_SILENT = 1e-3  # events a day; a sensor that adds less anywhere adds nothing
_LONG = 80.0  # days of follow-up that wells in pictures have
_GOOD = 0.15  # of the range of a true effect; errors below count as found
_N_GRID = 50  # values of a coordinate on a map
_VALUES = (0.2, 0.5, 0.8)  # of a sensor, at which effects are mapped
_UNIT = "events per day"

Models = Mapping[str, Any]


@dataclass(frozen=True, slots=True, eq=False)
class WellFleet:
    """Wells for training, and fresh ones."""

    train: Simulation
    test: Simulation

    @classmethod
    def simulate(cls, scale: Scale, repetition: int, n_test: int = _N_TEST) -> WellFleet:
        """Simulate wells."""
        return cls(
            wells(scale.n_wells, scale.n_sensors, _SEEDS[0] + repetition),
            wells(n_test, scale.n_sensors, _SEEDS[1] + repetition),
        )

    @property
    def sensors(self) -> tuple[str, ...]:
        """Names of the sensors."""
        return _sensors_of(self.test).names

    @property
    def region(self) -> FloatArray:
        """Region of every fresh well, an index into `REGIONS`."""
        truth: Any = self.test.truth
        return cast("FloatArray", truth.region())

    def true_effect(self, sensor: int, values: FloatArray, X: FloatArray) -> FloatArray:
        """Return the true effect of a sensor at its values, one row per row of ``X``."""
        truth: Any = self.test.truth
        return cast("FloatArray", truth.effect(sensor, values, X=X))


def _sensors_of(part: Simulation, name: str | None = None) -> Trajectories:
    """Return all sensors of some wells, or one of them."""
    assert part.Z is not None  # noqa: S101 - this simulator has sensors
    return part.Z if name is None else part.Z.select(name)


def build_wells(work: Work) -> Chapter:
    """Return the chapter of the wells, also with figures of unused sensors."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnusedInputWarning)
        return _build(work)


def _build(work: Work) -> Chapter:
    scale = work.scale
    fleet = WellFleet.simulate(scale, 0)
    train = fleet.train
    models = {
        DEFAULT: BoostR(random_state=0).fit(train.X, train.y, train.Z),
        ONE_SENSOR: _make_paper().fit(train.X, train.y, _sensors_of(train, PAPER_SENSOR)),
    }
    errors = _compare(work, models)
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
        blocks=[
            _build_importance(fleet, models),
            _build_coefficients(fleet),
            _build_maps(fleet, models[DEFAULT]),
            _build_four(fleet, models),
            _build_effects(fleet, models[DEFAULT]),
            _build_errors(scale, errors),
        ],
    )


def _make_paper(n_estimators: int = _N_TREES) -> BoostR:
    """Return the paper's settings, with constants of the R code where it gives none."""
    settings: dict[str, Any] = PAPER_SETTINGS["wells"] | {"n_estimators": n_estimators}
    return BoostR.paper(**settings, **_R_CODE, n_knots=2, spline_order=3)


def _count_trees(scale: Scale) -> int:
    """Return K of the paper's settings with all sensors; fewer in a quick run."""
    return _N_TREES if scale.has_slow_baselines else min(_N_TREES, _QUICK_TREES)


def _make_models(scale: Scale, random_state: int) -> dict[str, tuple[Any, str]]:
    """Return the models, and the sensors that each uses: all, one or none."""
    models: dict[str, tuple[Any, str]] = {
        DEFAULT: (BoostR(random_state=random_state), "all"),
        PAPER: (_make_paper(_count_trees(scale)), "all"),
        ONE_SENSOR: (_make_paper(), "one"),
        _SENSOR_COLUMNS: (_make_sensor_baseline(random_state), "all"),
    }
    others: dict[str, Any] = {DEFAULT: BoostR(random_state=random_state)}
    if find_spec("xgboost"):
        others["XGBoost, Poisson"] = XGBoostPoisson(random_state=random_state)
    if find_spec("lightgbm"):
        others["LightGBM, Poisson"] = LightGBMPoisson(random_state=random_state)
    if find_spec("lifelines") and scale.has_slow_baselines:
        others["Andersen-Gill"] = AndersenGill()
    others |= {"HPP": HomogeneousPoisson(), "MCF": McfRegressor()}
    for name, model in others.items():
        models[f"{name}, without sensors"] = (model, "none")
    return models


def _compare(work: Work, models: Models) -> dict[str, FloatArray]:
    """Return the errors of all models, one per fleet; ``models`` are of the first."""
    results = work.run(
        "wells: models against the truth",
        _score,
        list(_make_models(work.scale, 0)),
        max(1, work.scale.n_repetitions // 4),
        ready=models,
    )
    return stack(results, "error")


def _make_sensor_baseline(random_state: int) -> HistGradientBoostingPoisson:
    return HistGradientBoostingPoisson(
        max_leaf_nodes=12, min_samples_leaf=5, random_state=random_state
    )


def _score(
    case: str, repetition: int, scale: Scale, ready: Models, n_test: int = _N_TEST
) -> Result:
    fleet = WellFleet.simulate(scale, repetition, n_test)
    model, used = _make_models(scale, repetition)[case]
    name = PAPER_SENSOR if used == "one" else None
    train, test = (
        () if used == "none" else (_sensors_of(part, name),)
        for part in (fleet.train, fleet.test)
    )
    if repetition == 0 and case in ready:
        model = ready[case]
    elif case == _SENSOR_COLUMNS:  # the number of trees is the one thing that is tuned
        data = fleet.train.X, fleet.train.y, *train
        model = tune(model, *data, settings={}, n_folds=3, random_state=repetition)
    else:
        model.fit(fleet.train.X, fleet.train.y, *train)
    predicted = model.predict_cumulative(fleet.test.X, _TIMES, *test)
    errors = integrated_squared_error(predicted, fleet.test.truth(_TIMES), _TIMES)
    return {"error": float(errors.mean())}


def _build_importance(fleet: WellFleet, models: Models) -> Block:
    figure, panels = open_figure(1, len(models), (11.0, 3.6))
    found = {name: feature_importance(model) for name, model in models.items()}
    for panel, (name, each) in zip(panels, found.items(), strict=True):
        plot_importance(replace(each, features=fleet.train.feature_names), ax=panel)
        panel.set_title(name, loc="left", fontsize="medium")
    return Block(
        title="Wells: importance of eight features",
        paper=(
            "The coordinates, x7 and x8, are the two most important of the eight static "
            "features by a distance."
        ),
        paper_settings=_say_importance(found[ONE_SENSOR].importances),
        default=_say_importance(found[DEFAULT].importances),
        caution=(
            "The gain that trees report has been fitted, so useless features get a share "
            "of it by chance. By default, features that do no better than shuffled copies "
            "of themselves are set aside before."
        ),
        pictures=[
            draw(
                figure,
                "Share of the gain of all splits, by static feature; only the two "
                "coordinates matter.",
                "Bars of the importance of eight features, default and paper's settings",
            )
        ],
    )


def _say_importance(shares: FloatArray) -> str:
    top = set(np.argsort(-shares)[:COORDINATES].tolist())
    found = "are" if top == set(range(COORDINATES)) else "are not"
    return (
        f"The coordinates take {shares[:COORDINATES].sum():.1%} of the gain; they {found} "
        "the two largest. The largest of the other six has "
        f"{shares[COORDINATES:].max():.1%}."
    )


def _build_coefficients(fleet: WellFleet) -> Block:
    settings, train = PAPER_SETTINGS["wells"], fleet.train
    model = _make_paper()
    model.fit(train.X[:, :COORDINATES], train.y, _sensors_of(train, PAPER_SENSOR))
    trees = [tree for member in model.ensemble_.members for tree in member.trees]
    picture, error = _draw_coefficients(fleet, model)
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
            f"published R code. {sum(tree.n_leaves > 1 for tree in trees)} trees have a "
            "split. The coefficients vary over the field; their mean absolute error is "
            f"{error:.3f} events per day."
        ),
        default="The maps of the default, of effects rather than coefficients, come next.",
        caution=(
            "Five maps of coefficients do not show an effect: neighbouring splines trade "
            "off, and without a baseline beside the sensor, each of them carries a share "
            "of the constant rate."
        ),
        pictures=[picture],
    )


def _draw_coefficients(fleet: WellFleet, model: Any) -> tuple[Picture, float]:
    """Draw the maps of a sensor's coefficients; return them with the mean error.

    The true coefficients are those of the splines nearest to the true rate.
    """
    places = _spread_places()
    effect = sensor_effect(model, places, PAPER_SENSOR)
    found = effect.coefficients
    rate = BASE_RATE + fleet.true_effect(0, effect.grid, places)
    weight = np.sqrt(np.asarray(effect.shares))[:, None]
    nearest = np.linalg.lstsq(weight * effect.functions, weight * rate.T, rcond=None)
    true = nearest[0].T
    maps = {
        rf"$\beta_{column + 1}$, {which}": coefficients[:, column]
        for which, coefficients in (("estimated", found), ("true", true))
        for column in range(found.shape[1])
    }
    picture = _draw_field_maps(
        maps,
        2,
        5.8,
        f"Coefficient of {PAPER_SENSOR} ({_UNIT})",
        f"Paper's settings on the two coordinates and {PAPER_SENSOR}: its B-spline "
        "coefficients over the field (top), and those of the splines nearest to the truth "
        "(bottom).",
        "Maps of five spline coefficients over two coordinates, estimated and true",
    )
    return picture, float(np.abs(found - true).mean())


def _build_maps(fleet: WellFleet, model: Any) -> Block:
    maps: dict[str, FloatArray] = {}
    errors = []
    for sensor, name in enumerate(fleet.sensors):
        for at in _VALUES:
            found, true = _map_effect(fleet, model, sensor, at)
            maps |= {f"{name} at {at:g}, estimated": found, f"{name} at {at:g}, true": true}
            errors.append(np.abs(found - true).mean())
    picture = _draw_field_maps(
        maps,
        len(fleet.sensors),
        0.5 + 2.3 * len(fleet.sensors),
        f"Rate added\n({_UNIT})",
        "Default: what a sensor adds at three of its values, over the field; zero is its "
        "average over the training data.",
        "Maps of the effects of sensors over two coordinates, estimated and true",
    )
    largest = {
        name: np.abs(sensor_effect(model, fleet.test.X, name).curves).max()
        for name in fleet.sensors
    }
    silent = [name for name, size in largest.items() if size < _SILENT]
    unused = (
        f"Set aside, as too little speaks for it with {len(fleet.train.y)} wells: "
        f"{join_names(silent)}."
        if silent
        else "All sensors were found to matter."
    )
    return Block(
        title="Wells: maps of what sensors add",
        paper="See above; the paper has one sensor.",
        paper_settings="See above.",
        default=(
            f"Mean absolute error over the maps: {np.mean(errors):.3f} events per day, "
            f"where effects reach 0.1. {unused}"
        ),
        pictures=[picture],
    )


def _map_effect(
    fleet: WellFleet, model: Any, sensor: int, at: float
) -> tuple[FloatArray, FloatArray]:
    """Return the estimated and true map of a sensor's effect at a value."""
    places = _spread_places()
    # Two wells in the corners, with average features, make the map cover the field.
    corners = np.full((2, fleet.train.X.shape[1]), 0.5)
    corners[:, :COORDINATES] = places[[0, -1]]
    found = coefficient_map(model, 0, 1, sensor=sensor, at=at, X=corners, n_grid=_N_GRID)
    effect = sensor_effect(model, fleet.train.X[:1], sensor)
    true = fleet.true_effect(sensor, np.append(effect.grid, at), places)
    return found.values.ravel(), true[:, -1] - true[:, :-1] @ np.asarray(effect.shares)


def _spread_values() -> FloatArray:
    return (np.arange(_N_GRID) + 0.5) / _N_GRID


def _spread_places() -> FloatArray:
    """Return the coordinates of all cells of a map, row by row."""
    across, along = np.meshgrid(_spread_values(), _spread_values())
    return np.column_stack([across.ravel(), along.ravel()])


def _draw_field_maps(
    maps: Mapping[str, FloatArray],
    n_rows: int,
    height: float,
    label: str,
    caption: str,
    alt: str,
) -> Picture:
    """Draw maps over the field by their titles, with one colour bar."""
    n_columns = len(maps) // n_rows
    figure, panels = open_figure(
        n_rows, n_columns, (14.0, height), sharex=True, sharey=True
    )
    largest = max(float(np.abs(values).max()) for values in maps.values())
    limits = {"vmin": -largest, "vmax": largest}
    grid = _spread_values()
    for place, (panel, (title, values)) in enumerate(
        zip(panels, maps.items(), strict=True)
    ):
        shown = CoefficientMap(
            feature_x="longitude",
            feature_y="latitude",
            x_grid=grid,
            y_grid=grid,
            values=values.reshape(_N_GRID, _N_GRID),
            kind="effect",
            sensor=None,
            at=None,
            horizon=1.0,
        )
        plot_coefficient_map(shown, ax=panel, show_colorbar=False, mesh_kwargs=limits)
        panel.set_aspect("equal")
        panel.set_title(title, fontsize="large" if n_columns < 6 else "small")
        panel.label_outer()
        if place < (n_rows - 1) * n_columns:
            panel.set_xlabel("")
        if place % n_columns:
            panel.set_ylabel("")
    figure.colorbar(panels[0].collections[0], ax=panels, label=label, pad=0.01)
    return draw(figure, caption, alt)


def _build_four(fleet: WellFleet, models: Models) -> Block:
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
        pictures=[_draw_wells(fleet, models, chosen)],
    )


def _find_typical(fleet: WellFleet, region: int) -> int:
    """Return a fresh well of a region, with a long follow-up."""
    y = fleet.test.y
    places = np.flatnonzero((fleet.region == region) & (y.end >= _LONG))
    order = np.argsort(y.n_events[places], kind="stable")
    return int(places[order[len(order) // 2]])


def _draw_wells(fleet: WellFleet, models: Models, chosen: Sequence[int]) -> Picture:
    """Draw the curves of some fresh wells, with their sensors below."""
    figure, panels = open_figure(2, 2, (13.0, 11.0))
    test, model = fleet.test, models[DEFAULT]
    n_trees = model.ensemble_.n_rounds
    stages = np.unique(np.maximum(1, np.array([n_trees // 20, n_trees // 5])))
    for panel, well, region in zip(panels, chosen, REGIONS, strict=True):
        result = individual_convergence(
            model, test.X, test.y, well, _sensors_of(test), n_trees=stages
        )
        plot_individual(result, ax=panel)
        top = panel.child_axes[0]
        one = _sensors_of(test, PAPER_SENSOR)[[well]]
        paper = models[ONE_SENSOR].predict_cumulative(test.X[[well]], result.times, one)
        top.plot(result.times, paper[0], color="#CC79A7", dashes=(5, 2), label="paper's")
        true = test.truth(result.times)[well]
        top.plot(result.times, true, color="black", linestyle=":", label="true")
        top.legend(loc="upper left", fontsize="x-small")
        top.set_title(f"Well {well + 1}, {region}", loc="left", fontsize="medium")
        top.set_ylabel("Failures")
        panel.child_axes[-1].set_xlabel("Time (days)")
    return draw(
        figure,
        "Fresh wells, one from each region: default (red, blue with fewer trees), paper's "
        "settings with one sensor (dashed), truth (dotted), failures (steps), and sensors "
        "below.",
        "Cumulative failures of four wells, predicted and observed, above their sensors",
    )


def _build_effects(fleet: WellFleet, model: Any) -> Block:
    region = fleet.region
    effects = {
        (sensor, place): sensor_effect(model, fleet.test.X[region == place], sensor)
        for sensor in range(len(fleet.sensors))
        for place in range(len(REGIONS))
    }
    errors = {
        key: _measure_effect(effect, _centre(fleet, *key, effect))
        for key, effect in effects.items()
    }
    active = {key: error for key, error in errors.items() if error is not None}
    idle = max(
        float(np.abs(effect.mean).max())
        for key, effect in effects.items()
        if key not in active
    )
    n_good = sum(error <= _GOOD for error in active.values())
    return Block(
        title="Wells: effects of sensors",
        paper="Not shown as curves.",
        paper_settings="",
        default=(
            f"{n_good} of {len(active)} effects are found to within {_GOOD:.0%} of their "
            "range. Where a sensor has no effect, the largest that is found is "
            f"{idle:.3f} events per day."
        ),
        pictures=[_draw_effects(fleet, effects)],
        tables=[
            ResultTable(
                "Mean absolute error of effects, weighted by the time at each value, over "
                "the range of the true effect.",
                ("Sensor", "Region", "Error over range"),
                [
                    (fleet.sensors[sensor], REGIONS[place], f"{error:.1%}")
                    for (sensor, place), error in active.items()
                ],
            )
        ],
    )


def _measure_effect(effect: SensorEffect, true: FloatArray) -> float | None:
    """Return the error relative to the true range; None without an effect."""
    shares = np.asarray(effect.shares)
    if np.ptp(true) == 0.0:
        return None
    return float(np.abs(effect.mean - true) @ shares / np.ptp(true[shares > 0.0]))


def _centre(fleet: WellFleet, sensor: int, region: int, effect: SensorEffect) -> FloatArray:
    """Return the true effect in a region, with mean zero over the training data."""
    member = fleet.test.X[fleet.region == region][:1]
    true = fleet.true_effect(sensor, effect.grid, member)[0]
    return np.asarray(true - true @ np.asarray(effect.shares))


def _draw_effects(
    fleet: WellFleet, effects: Mapping[tuple[int, int], SensorEffect]
) -> Picture:
    """Draw the effects of sensors in each region, beside the truth."""
    n_sensors = len(fleet.sensors)
    figure, panels = open_figure(
        n_sensors, len(REGIONS), (15.0, 3.4 * n_sensors), sharey=True
    )
    for panel, ((sensor, region), effect) in zip(panels, effects.items(), strict=True):
        plot_sensor_effect(effect, ax=panel, show_shares=True)
        true = _centre(fleet, sensor, region, effect)
        panel.plot(effect.grid, true, "k:", linewidth=1.8, label="true")
        panel.get_legend().remove()
        panel.set_title(REGIONS[region], loc="left", fontsize="medium")
        panel.set_ylabel(f"Rate added ({_UNIT})" if region == 0 else "")
    handles = panels[0].get_legend_handles_labels()
    figure.legend(*handles, loc="outside upper center", ncols=4, frameon=False)
    return draw(
        figure,
        "What sensors add to the rate of failures, region by region, for the default; zero "
        "is the average over the training data.",
        "Effects of sensors in four regions, estimated and true",
    )


def _build_errors(scale: Scale, errors: Mapping[str, FloatArray]) -> Block:
    order = rank(errors)
    mean = {name: float(errors[name].mean()) for name in order}
    baseline = next(name for name in order if not name.startswith("BoostR"))
    n_trees, n_fleets = _count_trees(scale), len(errors[DEFAULT])
    cut = (
        f" All sensors have K = {n_trees} rather than {_N_TREES} here."
        if n_trees < _N_TREES
        else ""
    )
    noise = (
        "There is one fleet, so that a small difference may be chance."
        if n_fleets == 1
        else f"Errors are means over {n_fleets} fleets."
    )
    better = join_names(order[: order.index(DEFAULT)])
    return Block(
        title="Wells: distance from the truth",
        paper="Not known: the data are real. The paper compares with no baseline here.",
        paper_settings=(
            f"Error {digits(mean[PAPER])} with all sensors, {digits(mean[ONE_SENSOR])} "
            f"with one.{cut}"
        ),
        default=(
            f"Error {digits(mean[DEFAULT])}. The best baseline is {baseline} with "
            f"{digits(mean[baseline])}. Those without sensors see static features alone."
        ),
        caution=(
            f"The default is not the best here. Better: {better}. {noise}" if better else ""
        ),
        tables=[
            ResultTable(
                "Integrated squared error of the predicted against the true cumulative "
                "intensity over 100 days, mean over fresh wells along their own sensors; "
                f"{scale.n_wells} wells to learn from.",
                ("Model", "Error", "Relative to default"),
                [
                    (name, say_mean(errors[name]), f"{mean[name] / mean[DEFAULT]:.2f}")
                    for name in order
                ],
                best=0,
            )
        ],
    )

"""Figures of the wells: importance, maps of coefficients, curves, effects of sensors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

import numpy as np

from boostr._typing import FloatArray
from boostr.inspection import (
    CoefficientMap,
    SensorEffect,
    coefficient_map,
    feature_importance,
    individual_convergence,
    sensor_effect,
)
from boostr.plotting import (
    plot_coefficient_map,
    plot_importance,
    plot_individual,
    plot_sensor_effect,
)
from boostr.reproduction._figures import open_figure
from boostr.reproduction._learners import DEFAULT
from boostr.reproduction._page import Picture, draw
from boostr.reproduction._wells_fleet import (
    COORDINATES,
    ONE_SENSOR,
    PAPER_SENSOR,
    Fleet,
)
from boostr.simulate import Simulation

__all__ = [
    "REGIONS",
    "centre",
    "draw_coefficients",
    "draw_effects",
    "draw_importance",
    "draw_maps",
    "draw_wells",
    "true_effect",
]

REGIONS = ("south-west", "north-west", "south-east", "north-east")
BASE_RATE = 0.005  # events a day that sensors do not change, see `boostr.simulate.wells`
_N_GRID = 50  # values of a coordinate on a map
_VALUES = (0.2, 0.5, 0.8)  # of a sensor, at which effects are mapped
_UNIT = "events per day"

Models = Mapping[str, Any]


def draw_importance(train: Simulation, models: Models) -> Picture:
    """Draw the importance of the static features."""
    figure, panels = open_figure(1, len(models), (11.0, 3.6))
    for panel, (name, model) in zip(panels, models.items(), strict=True):
        found = feature_importance(model)
        plot_importance(replace(found, features=train.feature_names), ax=panel)
        panel.set_title(name, loc="left", fontsize="medium")
    return draw(
        figure,
        "Share of the gain of all splits, by static feature; only the two coordinates "
        "matter.",
        "Bars of the importance of eight features, default and paper's settings",
    )


def draw_coefficients(fleet: Fleet, model: Any) -> tuple[Picture, float]:
    """Draw the maps of a sensor's coefficients; return them with the mean error.

    The true coefficients are those of the splines nearest to the true rate.
    """
    places = _spread_places()
    effect = sensor_effect(model, places, PAPER_SENSOR)
    found = effect.coefficients
    rate = BASE_RATE + true_effect(fleet.train, 0, effect.grid, places)
    weight = np.sqrt(np.asarray(effect.shares))[:, None]
    nearest = np.linalg.lstsq(weight * effect.functions, weight * rate.T, rcond=None)
    true = nearest[0].T
    figure, panels = open_figure(2, found.shape[1], (14.0, 5.8), sharex=True, sharey=True)
    largest = float(max(np.abs(found).max(), np.abs(true).max()))
    for row, coefficients in enumerate((found, true)):
        for column in range(found.shape[1]):
            panel = panels[row * found.shape[1] + column]
            _draw_map(panel, coefficients[:, column], largest)
            panel.set_title(rf"$\beta_{column + 1}$, {('estimated', 'true')[row]}")
    _finish_maps(figure, panels, 2, f"Coefficient of {PAPER_SENSOR} ({_UNIT})")
    picture = draw(
        figure,
        f"Paper's settings on the two coordinates and {PAPER_SENSOR}: its B-spline "
        "coefficients over the field (top), and those of the splines nearest to the truth "
        "(bottom).",
        "Maps of five spline coefficients over two coordinates, estimated and true",
    )
    return picture, float(np.abs(found - true).mean())


def draw_maps(fleet: Fleet, model: Any) -> tuple[Picture, float]:
    """Draw the sensor effects over the field beside the truth; return the mean error."""
    names = fleet.paths(fleet.train).names
    n_columns = 2 * len(_VALUES)
    figure, panels = open_figure(
        len(names), n_columns, (14.0, 0.5 + 2.3 * len(names)), sharex=True, sharey=True
    )
    maps = [
        _map_pair(fleet, model, place, at) for place in range(len(names)) for at in _VALUES
    ]
    largest = max(float(np.abs(each.values).max()) for pair in maps for each in pair)
    for number, pair in enumerate(maps):
        row, column = divmod(number, len(_VALUES))
        for side, each in enumerate(pair):
            panel = panels[row * n_columns + 2 * column + side]
            _draw_map(panel, each.values.ravel(), largest)
            which = ("estimated", "true")[side]
            panel.set_title(f"{each.sensor} at {each.at:g}, {which}", fontsize="small")
    _finish_maps(figure, panels, len(names), f"Rate added\n({_UNIT})")
    picture = draw(
        figure,
        "Default: what a sensor adds at three of its values, over the field; zero is its "
        "average over the training data.",
        "Maps of the effects of sensors over two coordinates, estimated and true",
    )
    return picture, float(np.mean([np.abs(a.values - b.values).mean() for a, b in maps]))


def _map_pair(
    fleet: Fleet, model: Any, place: int, at: float
) -> tuple[CoefficientMap, CoefficientMap]:
    """Return the estimated and true map of a sensor's effect at a value."""
    grid = _spread_values()
    found = coefficient_map(
        model, 0, 1, sensor=place, at=at, X=_cover(fleet), n_grid=_N_GRID
    )
    effect = sensor_effect(model, fleet.train.X[:1], place)
    places = _spread_places()
    true = true_effect(fleet.train, place, np.append(effect.grid, at), places)
    values = true[:, -1] - true[:, :-1] @ np.asarray(effect.shares)
    return found, replace(
        found, x_grid=grid, y_grid=grid, values=values.reshape(_N_GRID, _N_GRID)
    )


def _cover(fleet: Fleet) -> FloatArray:
    """Return two wells in the corners of the field, with average features.

    They make a map cover the whole field.
    """
    corners = np.full((2, fleet.train.X.shape[1]), 0.5)
    grid = _spread_values()
    corners[:, :COORDINATES] = [[grid[0]], [grid[-1]]]
    return corners


def _spread_values() -> FloatArray:
    return (np.arange(_N_GRID) + 0.5) / _N_GRID


def _spread_places() -> FloatArray:
    """Return the coordinates of all cells of a map, row by row."""
    across, along = np.meshgrid(_spread_values(), _spread_values())
    return np.column_stack([across.ravel(), along.ravel()])


def true_effect(
    simulation: Simulation, sensor: int, values: FloatArray, X: FloatArray
) -> FloatArray:
    """Return the true effect of a sensor at its values, one row per row of features."""
    truth: Any = simulation.truth
    return cast("FloatArray", truth.effect(sensor, values, X=X))


def _draw_map(panel: Any, values: FloatArray, largest: float) -> None:
    grid = _spread_values()
    result = CoefficientMap(
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
    limits = {"vmin": -largest, "vmax": largest}
    plot_coefficient_map(result, ax=panel, show_colorbar=False, mesh_kwargs=limits)
    panel.set_aspect("equal")


def _finish_maps(figure: Any, panels: Sequence[Any], n_rows: int, label: str) -> None:
    """Label the outer panels only, with one colour bar."""
    n_columns = len(panels) // n_rows
    for place, panel in enumerate(panels):
        panel.label_outer()
        if place < (n_rows - 1) * n_columns:
            panel.set_xlabel("")
        if place % n_columns:
            panel.set_ylabel("")
    figure.colorbar(panels[0].collections[0], ax=panels, label=label, pad=0.01)


def draw_wells(fleet: Fleet, models: Models, chosen: Sequence[int]) -> Picture:
    """Draw the curves of some fresh wells, with their sensors below."""
    figure, panels = open_figure(2, 2, (13.0, 11.0))
    test, model = fleet.test, models[DEFAULT]
    n_trees = model.ensemble_.n_rounds
    stages = np.unique(np.maximum(1, np.array([n_trees // 20, n_trees // 5])))
    for panel, well, region in zip(panels, chosen, REGIONS, strict=True):
        result = individual_convergence(
            model, test.X, test.y, well, fleet.paths(test), n_trees=stages
        )
        plot_individual(result, ax=panel)
        top = panel.child_axes[0]
        one = fleet.paths(test, PAPER_SENSOR)[[well]]
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


def draw_effects(fleet: Fleet, effects: Mapping[tuple[int, int], SensorEffect]) -> Picture:
    """Draw the effects of sensors in each region, beside the truth."""
    n_sensors = len(fleet.paths(fleet.test).names)
    figure, panels = open_figure(
        n_sensors, len(REGIONS), (15.0, 3.4 * n_sensors), sharey=True
    )
    for panel, ((sensor, region), effect) in zip(panels, effects.items(), strict=True):
        plot_sensor_effect(effect, ax=panel, show_shares=True)
        true = centre(fleet, sensor, region, effect)
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


def centre(fleet: Fleet, sensor: int, region: int, effect: SensorEffect) -> FloatArray:
    """Return the true effect in a region, with mean zero over the training data."""
    truth: Any = fleet.test.truth
    member = fleet.test.X[truth.region() == region][:1]
    true = true_effect(fleet.test, sensor, effect.grid, member)[0]
    return np.asarray(true - true @ np.asarray(effect.shares))

"""All numbers of a fleet report."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from typing import Any

from sklearn.utils.validation import check_is_fitted

from boostr._forecasting.arguments import check_level, check_whole
from boostr._forecasting.results import FleetForecast
from boostr._typing import AnyArray, FloatArray
from boostr.data import RecurrentEvents, SharedSensors, Trajectories
from boostr.exceptions import SensorRangeWarning, UnusedInputWarning
from boostr.report._fleet import (
    Activity,
    FleetData,
    History,
    Mcf,
    TimeAxis,
    choose_timeline,
    find_warnings,
    own_origins,
)
from boostr.report._individuals import Drivers, Reasons, Risk, RiskCurves, SensorPaths
from boostr.report._quality import Quality

__all__ = ["Content", "TopRisks", "collect"]

# Bounds on what is kept of long histories, to bound the size of the page.
_MOST_EVENTS = 150_000
_MOST_SAMPLES = 1_000_000
_LIKELY = 0.5


@dataclass(frozen=True, slots=True, eq=False)
class TopRisks:
    """The individuals with the highest risk, from the highest on."""

    ids: AnyArray
    origins: FloatArray | None  # own dates of time 0, in milliseconds
    risk: Risk
    curves: RiskCurves
    history: History
    reasons: Reasons
    sensors: SensorPaths | None


@dataclass(frozen=True, slots=True, eq=False)
class Content:
    """The parts of a report."""

    axis: TimeAxis
    horizon: float
    level: float
    has_costs: bool
    has_intervals: bool  # whether events were counted over intervals
    id_name: str | None
    n_individuals: int
    n_events: int
    so_far: float  # number (or cost) of the events of all
    n_likely: int  # individuals more likely than not to have an event
    n_over: int  # individuals whose history ends with a terminal event
    total: FleetForecast
    individuals: TopRisks
    timeline: RecurrentEvents  # some histories, in the order of their ends
    activity: Activity
    mcf: Mcf | None
    drivers: Drivers
    quality: Quality
    warnings: tuple[str, ...]
    past_dates: Any  # a boostr.tuning.Backtest, or None
    kinds: dict[str, float] = field(default_factory=dict)  # expected number of each


def collect(  # noqa: PLR0913 - all but the first four are by name
    model: Any,
    X: Any,
    y: Any,
    Z: Any = None,
    *,
    horizon: float | None = None,
    future: Trajectories | SharedSensors | None = None,
    level: float = 0.9,
    max_individuals: int = 10_000,
    backtest: Any = None,
) -> Content:
    """Compute all numbers of the page."""
    check_is_fitted(model)
    check_level(level)
    check_whole(max_individuals, "max_individuals")
    with warnings.catch_warnings():
        # The page lists sensors that are out of range, or not used.
        warnings.simplefilter("ignore", SensorRangeWarning)
        warnings.simplefilter("ignore", UnusedInputWarning)
        length = float(model.fitted_.span if horizon is None else horizon)
        fleet = FleetData.read(model, X, y, Z, length)
        ahead = (length, fleet.given, future)
        total = model.forecast_fleet(fleet.table, fleet.y, *ahead, level)
        present, stop = model._present(fleet.table, fleet.y, *ahead, None)
        outlook = model._look_ahead(present, stop, own_history=True)
        plain = model._look_ahead(present, stop, own_history=False)
        risk = Risk.of(fleet, outlook, stop, level)
        explanation = model.explain_forecast(fleet.table, fleet.y, *ahead)
        rows = risk.order()[:max_individuals]
        individuals = TopRisks(
            ids=fleet.y.ids[rows],
            origins=own_origins(fleet.y[rows]),
            risk=risk.take(rows),
            curves=RiskCurves.of(outlook, plain, length, level, rows),
            history=History.of(fleet.y[rows], _MOST_EVENTS),
            reasons=Reasons.of(explanation, fleet, rows),
            sensors=SensorPaths.of(explanation, fleet, rows, _MOST_SAMPLES),
        )
        return Content(
            axis=TimeAxis.of(fleet.y),
            horizon=length,
            level=level,
            has_costs=fleet.y.has_costs,
            has_intervals=fleet.y.intervals is not None,
            id_name=fleet.y.id_name,
            n_individuals=len(fleet),
            n_events=int(fleet.y.n_events.sum()),
            so_far=float(risk.so_far.sum()),
            n_likely=int((risk.probability >= _LIKELY).sum()),
            n_over=int(risk.is_over.sum()),
            total=total,
            individuals=individuals,
            timeline=choose_timeline(fleet.y),
            activity=Activity.of(fleet.y),
            mcf=Mcf.of(fleet.y),
            drivers=Drivers.of(model, explanation, fleet),
            quality=Quality.of(model, fleet, length, level),
            warnings=find_warnings(model, fleet, length, future),
            past_dates=backtest,
            kinds={
                str(label): float(part.expect_ahead(stop).sum())
                for label, part in zip(model.kind_labels_, outlook.parts, strict=True)
            },
        )

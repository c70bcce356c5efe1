"""How good a model is, measured on individuals that it was not trained on if possible."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from boostr._forecasting.outlook import Present
from boostr._frailty.law import sum_by_owner
from boostr._training.fold_curves import FoldCurves
from boostr._training.frailty import TrainingCurves, score_halves, some_of
from boostr._training.inputs import TrainingData
from boostr._training.rolling import look_back
from boostr._typing import FloatArray, PositionArray
from boostr.data import RecurrentEvents
from boostr.data.clip import clip
from boostr.data.events.fingerprint import tell_trained_on
from boostr.data.flat import owners_of
from boostr.exceptions import BoostrError
from boostr.metrics import (
    CalibrationSlope,
    CalibrationTable,
    CaptureCurve,
    calibration_slope,
    calibration_table,
    capture_curve,
)
from boostr.report._fleet import FleetData, TimeAxis

__all__ = ["Check", "LookBack", "Quality", "Source", "is_training_data", "list_checks"]

# Out-of-fold predictions of the training individuals; predictions of individuals that were
# trained on, or were not; or unknown, for a model from an early file.
Source = Literal["out_of_fold", "in_sample", "new", "unknown"]

_GROUP = 20  # individuals that make a group, at least
_MOST_GROUPS = 10
_FEWEST = 20  # individuals that are enough for a look back


@dataclass(frozen=True, slots=True, eq=False)
class Check:
    """Predictions beside what was observed of the same individuals."""

    table: CalibrationTable
    slope: CalibrationSlope | None  # None where all predictions are equal
    capture: CaptureCurve

    @classmethod
    def of(
        cls, y: RecurrentEvents, expected: FloatArray, score: FloatArray
    ) -> Check | None:
        """Compare; None where there are no events."""
        if not y.costs.sum() > 0.0:
            return None
        # A smallest prediction, so that an event that was ruled out has a ratio.
        floor = 1e-6 * max(float(expected.mean()), 1e-300)
        expected, score = np.maximum(expected, floor), np.maximum(score, floor)
        n_groups = int(np.clip(len(y) // _GROUP, 2, _MOST_GROUPS))
        try:
            slope = calibration_slope(y, expected, by=score)
        except BoostrError:
            slope = None
        table = calibration_table(y, expected, by=score, n_groups=n_groups)
        return cls(table, slope, capture_curve(y, score))


@dataclass(frozen=True, slots=True, eq=False)
class LookBack:
    """Forecasts with own history, as they would have been some time before the end."""

    window: float
    n: int  # individuals that were observed for longer than the window
    expected: float
    observed: float
    covered: float  # share of intervals that held what happened
    level: float
    common_error: float  # standard deviation of what all individuals share, a ratio
    check: Check | None


@dataclass(frozen=True, slots=True, eq=False)
class Quality:
    """Predictions over the whole follow-up, and forecasts of its last part."""

    source: Source
    n: int
    whole: Check | None
    look_back: LookBack | None
    runs: tuple[dict[str, Any], ...]  # of the validation
    trained_on: str | None  # a sentence on individuals that were trained on

    @classmethod
    def of(cls, model: Any, fleet: FleetData, horizon: float, level: float) -> Quality:
        """Measure by out-of-fold predictions if the individuals are those of training."""
        theta, rows = None, np.arange(len(fleet))
        source: Source = "unknown" if model.fingerprint_ is None else "new"
        trained_on = tell_trained_on(model, fleet.y, fleet.features)
        if trained_on is not None:
            source = "in_sample"
        if is_training_data(model, fleet):
            source, theta = "out_of_fold", model.out_of_fold_coefficients_
            rows = np.flatnonzero(~np.isnan(theta[:, 0]))
            theta = np.nan_to_num(theta)
        return cls(
            source,
            len(rows),
            _check_whole(model, fleet, theta, rows),
            _look_back(model, fleet, theta, rows, horizon, level),
            tuple(model.validation_results_),
            trained_on if source == "in_sample" else None,
        )


def list_checks(quality: Quality, axis: TimeAxis) -> list[tuple[str, Check | None]]:
    """Return the comparisons that there are, with what tells them apart."""
    checks: list[tuple[str, Check | None]] = []
    if quality.look_back is not None:
        window = axis.length(quality.look_back.window)
        checks.append((f"last {window}, with own history", quality.look_back.check))
    if quality.whole is not None:
        checks.append(("all follow-up, without own history", quality.whole))
    return checks


def is_training_data(model: Any, fleet: FleetData) -> bool:
    """Tell whether individuals are those of training, in the same order.

    Training has kept how forecasts at half of their follow-up did, by models that had not
    seen them; other individuals, or other histories, would not have done the same.
    """
    theta = model.out_of_fold_coefficients_
    if theta is None or len(theta) != len(fleet) or fleet.y.end.max() != model.horizon_:
        return False
    curves = _see_some(model, fleet, theta, np.flatnonzero(~np.isnan(theta[:, 0])))
    scores = score_halves(curves, model.forecast_law_)
    return scores.shape == model.forecast_scores_.shape and np.allclose(
        scores, model.forecast_scores_, rtol=1e-6, atol=1e-9
    )


def _see_some(
    model: Any, fleet: FleetData, theta: FloatArray, rows: PositionArray
) -> TrainingCurves:
    """Return the training individuals among some that frailties were fitted to."""
    n, known = len(theta), some_of(rows)
    data = TrainingData(
        fleet.features, fleet.y, np.ones(n), fleet.sensors, np.ones(n, bool)
    )
    return TrainingCurves.among(model.fitted_.trees, data.take(known), theta[known])


def _check_whole(
    model: Any, fleet: FleetData, theta: FloatArray | None, rows: PositionArray
) -> Check | None:
    """Compare predictions from features and sensors with all that was observed."""
    y = fleet.y[rows]
    sensors = None if fleet.sensors is None else fleet.sensors[rows]
    own = None if theta is None else theta[rows]
    curves = FoldCurves(
        model.fitted_.trees, fleet.features[rows], sensors, own, exposure=y.exposure
    )
    owner = owners_of(y.window_offsets)
    expected = curves.expect(owner, y.window_start, y.window_stop)
    expected = sum_by_owner(owner, expected, len(y))
    # At a common time: a longer follow-up is no higher risk.
    score = curves.read(np.arange(len(y)), np.full(len(y), model.horizon_))
    return Check.of(y, expected, score)


def _look_back(
    model: Any,
    fleet: FleetData,
    theta: FloatArray | None,
    rows: PositionArray,
    horizon: float,
    level: float,
) -> LookBack | None:
    """Forecast the last part of the follow-up from what was known before it.

    Of training individuals, clock, pace and level are also those of that time.
    """
    length = fleet.y.end - fleet.y.start
    window = min(horizon, 0.5 * float(np.median(length[rows])))
    rows = rows[length[rows] > window]
    if len(rows) < _FEWEST:
        return None
    now = np.maximum(fleet.y.end - window, fleet.y.start)
    if theta is not None:
        seen = _see_some(model, fleet, theta, rows)
        law = look_back(model.fitted_.trees, seen, model.forecast_law_, window)
        if law is not None:
            model = copy.copy(model)
            model.fitted_ = model.fitted_.with_law(law)
    present = Present.read(fleet.table, fleet.y, fleet.given, None, now)
    outlook = model._look_ahead(present, fleet.y.end, own_history=True, theta=theta)
    frailties = outlook.frailties(fleet.y.end)
    after, among = clip(fleet.y, now, fleet.y.end)
    owner = among[owners_of(after.window_offsets)]
    ahead = outlook.ahead.expect(owner, after.window_start, after.window_stop)
    ahead = np.maximum(sum_by_owner(owner, ahead, len(fleet)), 0.0)
    counts = outlook.count(ahead, frailties, fleet.y.end)
    lower, upper = outlook.costs.interval(counts, level)
    expected = counts.mean * outlook.costs.unit
    observed = sum_by_owner(among[after.event_owner], after.costs, len(fleet))
    is_covered = (lower <= observed) & (observed <= upper)
    place = np.full(len(fleet), -1)
    place[among] = np.arange(len(among))
    return LookBack(
        window=window,
        n=len(rows),
        expected=float(expected[rows].sum()),
        observed=float(observed[rows].sum()),
        covered=float(is_covered[rows].mean()),
        level=level,
        common_error=_find_common_error(model, window),
        check=Check.of(after[place[rows]], expected[rows], expected[rows]),
    )


def _find_common_error(model: Any, window: float) -> float:
    """Return the error that all forecasts of a window usually share."""
    law = getattr(model, "forecast_law_", None)
    if law is None or law.shock is None:
        return 0.0
    return float(np.sqrt(law.shock.variance(np.array([window]))[0]))

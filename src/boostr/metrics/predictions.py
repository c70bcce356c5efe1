"""Predictions that metrics need, from models inside pipelines and searches too."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np

from boostr._typing import AnyArray, FloatArray
from boostr.data import RecurrentEvents
from boostr.exceptions import InvalidParameterError, SensorRangeWarning

__all__ = [
    "exposure_of",
    "find_model",
    "predict_by",
    "predict_curves",
    "predict_observed",
    "predict_rates",
    "predict_window",
]

LEAST_RATIO = 1e-3  # of the mean rate: keeps the log of a predicted rate finite
STEP = 1e-5  # width of the window for a rate, as a share of the time
N_ROWS = 65_536  # predicted at once


def find_model(estimator: Any, X: Any, method: str) -> tuple[Any, Any]:
    """Return the model that has a method, and features in the form it takes."""
    if hasattr(estimator, method):
        return estimator, X
    if hasattr(estimator, "best_estimator_"):
        return find_model(estimator.best_estimator_, X, method)
    if hasattr(estimator, "steps") and hasattr(estimator, "named_steps"):
        if len(estimator.steps) > 1:
            X = estimator[:-1].transform(X)
        return find_model(estimator[-1], X, method)
    raise InvalidParameterError(
        f"This scorer needs an estimator with the method {method}, but "
        f"{type(estimator).__name__} has none.\n\nHint: BoostR has it."
    )


def exposure_of(y: RecurrentEvents, rows: AnyArray | None = None) -> dict[str, Any]:
    """Return the exposure arguments of a prediction, for all or some individuals."""
    if y.exposure is None:
        return {}
    return {"exposure": y.exposure if rows is None else y.exposure[rows]}


def _while_alive(model: Any) -> dict[str, Any]:
    """Return the arguments of a prediction for those who are observed, so alive."""
    has_terminal = getattr(model, "terminal_", None) is not None
    return {"conditional": True} if has_terminal else {}


def predict_by(
    estimator: Any, X: Any, y: RecurrentEvents, horizon: float | None
) -> FloatArray:
    """Predict each individual's number of events by a horizon, by default the model's."""
    if horizon is None:
        return np.asarray(estimator.predict(X, **exposure_of(y)), dtype=np.float64)
    return predict_curves(estimator, X, y, np.array([horizon]))[:, 0]


def predict_curves(
    estimator: Any, X: Any, y: RecurrentEvents, times: FloatArray
) -> FloatArray:
    """Predict each individual's cumulative number of events at given times."""
    model, features = find_model(estimator, X, "predict_cumulative")
    return np.asarray(model.predict_cumulative(features, times, **exposure_of(y)))


def predict_window(
    estimator: Any, X: Any, y: RecurrentEvents, start: float, stop: float
) -> FloatArray:
    """Predict each individual's number of events in (start, stop]."""
    model, features = find_model(estimator, X, "predict_count")
    return np.asarray(model.predict_count(features, start, stop, **exposure_of(y)))


def predict_observed(
    estimator: Any, X: Any, y: RecurrentEvents, start: float, stop: float
) -> FloatArray:
    """Predict each individual's number of events while observed, above zero."""
    model, features = find_model(estimator, X, "predict_count")
    expected, exposure = np.zeros(len(y)), np.zeros(len(y))
    options = exposure_of(y) | _while_alive(model)
    for borders in _rounds(y):
        begin, end = (np.clip(border, start, stop) for border in borders)
        expected += model.predict_count(features, begin, end, **options)
        exposure += end - begin
    least = LEAST_RATIO * expected.sum() / max(exposure.sum(), np.finfo(float).tiny)
    return np.maximum(expected, least * exposure)


def _rounds(y: RecurrentEvents) -> Iterator[tuple[FloatArray, FloatArray]]:
    """Yield the first windows of all individuals, then the second, and so on.

    Individuals without a further window have an empty one.
    """
    n_windows = np.diff(y.window_offsets)
    for number in range(int(n_windows.max())):
        has_one = n_windows > number
        window = np.where(has_one, y.window_offsets[:-1] + number, y.window_offsets[:-1])
        begin = y.window_start[window]
        yield begin, np.where(has_one, y.window_stop[window], begin)


def predict_rates(
    estimator: Any, X: Any, y: RecurrentEvents, expected: FloatArray
) -> FloatArray:
    """Predict the rate just before every event, above zero.

    It comes from the expected number in a very short window before the event.
    `predict_observed` has already warned of sensors out of range.
    """
    model, features = find_model(estimator, X, "predict_count")
    owner, rates = y.event_owner, np.empty(y.times.size)
    for first in range(0, rates.size, N_ROWS):
        part = slice(first, first + N_ROWS)
        stop = y.times[part]
        begin = stop - STEP * stop
        rows = _take_rows(features, owner[part])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SensorRangeWarning)
            options = exposure_of(y, owner[part]) | _while_alive(model)
            expected_soon = model.predict_count(rows, begin, stop, **options)
            rates[part] = expected_soon / (stop - begin)
    mean = expected.sum() / float(np.sum(y.follow_up))
    return np.maximum(rates, LEAST_RATIO * mean)


def _take_rows(X: Any, rows: AnyArray) -> Any:
    """Return rows of a table or panel, repeated as given."""
    if hasattr(X, "iloc"):
        return X.iloc[rows]
    return X[rows] if hasattr(X, "shape") else np.asarray(X)[rows]

"""Scorers for scikit-learn, and the predictions they need."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from boostr._checks.numbers import check_ids_match
from boostr._typing import AnyArray, FloatArray
from boostr.data import Panel, RecurrentEvents, check_target
from boostr.data.events.fingerprint import check_histories, warn_if_trained_on
from boostr.exceptions import (
    InvalidFeaturesError,
    InvalidParameterError,
    SensorRangeWarning,
)

__all__ = [
    "MetricScorer",
    "exposure_of",
    "find_model",
    "make_scorer",
    "predict_by",
    "predict_observed",
    "predict_rates",
]

LEAST_RATIO = 1e-3  # of the mean rate: an event where none is expected costs no fortune
STEP = 1e-5  # of the time over which a rate is taken
N_ROWS = 65_536  # rows that are predicted at once


@dataclass(frozen=True, eq=False, repr=False)
class MetricScorer:
    """A metric that predicts by itself, for ``scoring=`` in scikit-learn's tools.

    Made by the functions of `boostr.metrics` whose names end in ``_scorer``. Calling it
    with a fitted estimator, features and histories gives a number; greater is better, so
    errors and deviances are negative. Features go to the estimator as they are: a `Panel`
    will do. Pipelines and searches are looked into for the model that predicts.

    Parameters
    ----------
    name : str
        Name of the metric.
    measure : callable
        ``measure(estimator, X, y, sample_weight)`` gives the number.

    See Also
    --------
    concordance_scorer : One of the functions that make scorers.

    Examples
    --------
    >>> from sklearn.model_selection import cross_val_score
    >>> from boostr import BoostR
    >>> from boostr.metrics import concordance_scorer
    >>> from boostr.simulate import dataset_a
    >>> train = dataset_a(n=200, random_state=1, end=(20.0, 100.0))
    >>> model = BoostR(n_estimators=20, validation=None, random_state=0)
    >>> scorer = concordance_scorer(horizon=90.0)
    >>> scorer
    MetricScorer(recurrent_concordance, horizon=90.0, tied='half', weights=None)
    >>> bool(cross_val_score(model, train.X, train.y, scoring=scorer).mean() > 0.7)
    True
    """

    name: str
    measure: Callable[..., float]

    def __call__(
        self,
        estimator: Any,
        X: Any,
        y: RecurrentEvents,
        sample_weight: ArrayLike | None = None,
    ) -> float:
        """Predict and measure; greater is better."""
        events = check_target(y)
        table = X.X if isinstance(X, Panel) else X
        n_rows = len(table) if hasattr(table, "__len__") else table.shape[0]
        if n_rows != len(events):
            raise InvalidFeaturesError(
                f"`X` must have one row per individual, but it has {n_rows} rows for "
                f"{len(events)} individuals.\n\n"
                "Hint: pass the features and the histories of the same individuals."
            )
        check_ids_match(table, events)
        check_histories(_find_last(estimator), events)
        _warn_if_trained_on(estimator, X, events)
        return float(self.measure(estimator, X, events, sample_weight))

    def __repr__(self) -> str:
        options = self.measure.keywords if isinstance(self.measure, partial) else {}
        shown = [f"{name}={value!r}" for name, value in options.items()]
        return f"{type(self).__name__}({', '.join([self.name, *shown])})"


def make_scorer(
    name: str,
    predict: Callable[..., Any],
    metric: Callable[..., float],
    *,
    is_error: bool = False,
    **options: Any,
) -> MetricScorer:
    """Return a scorer from ``predict`` and ``metric``; errors count as negative.

    Both get all options: ``predict(estimator, X, y, **options)`` and ``metric(y,
    predicted, sample_weight=…, **options)``.
    """
    return MetricScorer(name, partial(_judge, predict, metric, is_error, **options))


def _judge(
    predict: Callable[..., Any],
    metric: Callable[..., float],
    is_error: bool,
    estimator: Any,
    X: Any,
    y: RecurrentEvents,
    sample_weight: ArrayLike | None,
    **options: Any,
) -> float:
    predicted = predict(estimator, X, y, **options)
    found = metric(y, predicted, sample_weight=sample_weight, **options)
    return -found if is_error else found


def _find_last(estimator: Any) -> Any:
    """Return the final model of pipelines and searches."""
    if hasattr(estimator, "best_estimator_"):
        return _find_last(estimator.best_estimator_)
    if hasattr(estimator, "steps") and hasattr(estimator, "named_steps"):
        return _find_last(estimator[-1])
    return estimator


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


def _warn_if_trained_on(estimator: Any, X: Any, y: RecurrentEvents) -> None:
    """Warn of a score on training individuals, if the model remembers them."""
    try:
        model, X = find_model(estimator, X, "fingerprint_")
    except InvalidParameterError:
        return
    features = None
    if not y.has_ids:
        table = X.X if isinstance(X, Panel) else X
        is_table = hasattr(table, "columns")
        features = model.encoder_.transform(table if is_table else np.asarray(table))
    warn_if_trained_on(model, y, features, stacklevel=4)


def exposure_of(y: RecurrentEvents, rows: AnyArray | None = None) -> dict[str, Any]:
    """Return the exposure arguments of a prediction, for all or some individuals."""
    if y.exposure is None:
        return {}
    return {"exposure": y.exposure if rows is None else y.exposure[rows]}


def predict_by(
    estimator: Any, X: Any, y: RecurrentEvents, horizon: float | None
) -> FloatArray:
    """Predict each individual's number of events by a horizon, by default the model's."""
    exposure = exposure_of(y)
    if horizon is None:
        return np.asarray(estimator.predict(X, **exposure), dtype=np.float64)
    model, features = find_model(estimator, X, "predict_cumulative")
    return np.asarray(model.predict_cumulative(features, [horizon], **exposure))[:, 0]


def predict_observed(
    estimator: Any, X: Any, y: RecurrentEvents, start: float, stop: float
) -> FloatArray:
    """Predict each individual's number of events while observed, above zero."""
    model, features = find_model(estimator, X, "predict_count")
    expected, exposure = np.zeros(len(y)), np.zeros(len(y))
    for borders in _rounds(y):
        begin, end = (np.clip(border, start, stop) for border in borders)
        expected += model.predict_count(features, begin, end, **exposure_of(y))
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
            exposure = exposure_of(y, owner[part])
            expected_soon = model.predict_count(rows, begin, stop, **exposure)
            rates[part] = expected_soon / (stop - begin)
    mean = expected.sum() / float(np.sum(y.follow_up))
    return np.maximum(rates, LEAST_RATIO * mean)


def _take_rows(X: Any, rows: AnyArray) -> Any:
    """Return rows of a table or panel, repeated as given."""
    if hasattr(X, "iloc"):
        return X.iloc[rows]
    return X[rows] if hasattr(X, "shape") else np.asarray(X)[rows]

"""Scorers for scikit-learn, one maker for all metrics."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from boostr._checks.numbers import check_ids_match, check_weights
from boostr._checks.parameters import check_choice
from boostr._typing import FloatArray
from boostr.data import Panel, RecurrentEvents, check_target
from boostr.data.events.fingerprint import check_histories, warn_if_trained_on
from boostr.data.features import match_columns
from boostr.exceptions import DataWarning, InvalidFeaturesError, InvalidParameterError
from boostr.metrics._calibration import calibration_slope, capture_curve
from boostr.metrics._concordance import (
    event_concordance,
    paper_concordance,
    recurrent_concordance,
)
from boostr.metrics._curves import (
    integrated_count_error,
    integrated_squared_error,
    observed_l2,
    skill_score,
)
from boostr.metrics._observation import check_borders, check_grid, check_horizon
from boostr.metrics._windows import (
    brier_score,
    point_process_log_likelihood,
    poisson_deviance,
    window_count_error,
)
from boostr.metrics.predictions import (
    LEAST_RATIO,
    find_model,
    predict_by,
    predict_curves,
    predict_observed,
    predict_rates,
    predict_window,
)

__all__ = ["MetricScorer", "scorer"]

N_TIMES = 101  # of a grid of which only the last time is given
CLOSE = 1e-9  # predictions that differ by a smaller share count as equal


def scorer(metric: str | Callable[..., Any], **options: Any) -> MetricScorer:
    """Make a scorer from a metric, for ``scoring=`` in scikit-learn's tools.

    Greater is better for every scorer: errors and deviances are negative. Options are those
    of the metric.

    ================================  ==========================  ==========================
    Metric                            Score                       Options
    ================================  ==========================  ==========================
    ``recurrent_concordance``         concordance                 horizon, tied, weights
    ``event_concordance``             concordance                 horizon, tied, weights
    ``paper_concordance``             concordance                 horizon
    ``capture_curve``                 area under the curve        horizon, per
    ``point_process_log_likelihood``  log-likelihood
    ``poisson_deviance``              minus the deviance          start, stop
    ``window_count_error``            minus the error             start*, stop*, weights
    ``calibration_slope``             minus its distance from 1
    ``integrated_count_error``        minus the error             times*
    ``skill_score``                   skill                       times*
    ``observed_l2``                   minus the error             times
    ``integrated_squared_error``      minus the mean error        truth*, times*
    ================================  ==========================  ==========================

    Parameters
    ----------
    metric : str or callable
        A metric in the table, or its name.
    **options : dict
        Options of the metric; those with a star in the table are required.

        - ``horizon``: time up to which events are predicted and count; by default the
          horizon of the model and all events.
        - ``times``: increasing times of the predicted curves; one number stands for 101
          times from 0 up to it. In cross-validation, individuals of every fold must be
          observed up to the last time. Only `observed_l2` has a default, 101 times over the
          follow-up of the individuals it scores.
        - ``start``, ``stop``: the window (start, stop].
        - ``tied``, ``weights``, ``per``: see the metric.
        - ``truth``: ``truth(times, X)`` returns the true curves of shape (n, m), as
          ``truth`` of `boostr.simulate.Simulation` does.

    Returns
    -------
    MetricScorer
        Call it with a fitted estimator, features and histories.

    Raises
    ------
    InvalidParameterError
        If the metric or an option is unknown, or a required option is missing.

    See Also
    --------
    MetricScorer : What is returned.

    Notes
    -----
    For the log-likelihood, the deviance and the calibration slope, predictions are at least
    a thousandth of the average predicted rate: otherwise one event at a predicted rate of
    zero would give minus infinity. A constant prediction has no calibration slope and
    counts as a slope of 0.

    Examples
    --------
    >>> from sklearn.model_selection import cross_val_score
    >>> from boostr import BoostR
    >>> from boostr.metrics import scorer
    >>> from boostr.simulate import dataset_a
    >>> train = dataset_a(n=200, random_state=1, end=(20.0, 100.0))
    >>> model = BoostR(n_estimators=20, validation=None, random_state=0)
    >>> concordance = scorer("recurrent_concordance", horizon=90.0)
    >>> bool(cross_val_score(model, train.X, train.y, scoring=concordance).mean() > 0.7)
    True
    """
    name = metric if isinstance(metric, str) else getattr(metric, "__name__", repr(metric))
    is_foreign = getattr(metric, "__module__", __name__).split(".")[0] != "boostr"
    if name not in _METRICS or is_foreign:
        raise InvalidParameterError(
            f"`metric` must be one of {', '.join(_METRICS)}, but it is {metric!r}.\n\n"
            "Hint: pass the function of boostr.metrics, or its name."
        )
    return MetricScorer(name, _check_options(name, options))


@dataclass(frozen=True, eq=False, repr=False)
class MetricScorer:
    """A metric that predicts by itself, for ``scoring=`` in scikit-learn's tools.

    Made by `scorer`. Calling it with a fitted estimator, features and histories gives a
    number; greater is better, so errors and deviances are negative. Features go to the
    estimator as they are, so a `Panel` of features and sensors works too. In pipelines and
    searches, the final model predicts.

    Parameters
    ----------
    name : str
        Name of the metric.
    options : dict
        Options of the metric.

    See Also
    --------
    scorer : Makes scorers.

    Examples
    --------
    >>> from boostr import BoostR
    >>> from boostr.metrics import scorer
    >>> from boostr.simulate import dataset_a
    >>> train, test = dataset_a(n=200, random_state=1), dataset_a(n=50, random_state=2)
    >>> model = BoostR(n_estimators=20, validation=None).fit(train.X, train.y)
    >>> deviance = scorer("poisson_deviance", stop=50.0)
    >>> deviance
    scorer('poisson_deviance', start=0.0, stop=50.0)
    >>> deviance(model, test.X, test.y) < 0.0
    True
    """

    name: str
    options: Mapping[str, Any]

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
        options = dict(self.options)
        if "times" in options and options["times"] is None:
            options["times"] = np.linspace(events.start.min(), events.end.max(), N_TIMES)
        metric = _METRICS[self.name]
        predicted = metric.predict(estimator, X, events, **options)
        found = metric.measure(events, *predicted, sample_weight=sample_weight, **options)
        return -float(found) if metric.is_error else float(found)

    def __repr__(self) -> str:
        shown = [f"{name}={value!r}" for name, value in self.options.items()]
        return f"scorer({', '.join([repr(self.name), *shown])})"


def _find_last(estimator: Any) -> Any:
    """Return the final model of pipelines and searches."""
    if hasattr(estimator, "best_estimator_"):
        return _find_last(estimator.best_estimator_)
    if hasattr(estimator, "steps") and hasattr(estimator, "named_steps"):
        return _find_last(estimator[-1])
    return estimator


def _warn_if_trained_on(estimator: Any, X: Any, y: RecurrentEvents) -> None:
    """Warn of a score on training individuals, if the model has their fingerprint."""
    try:
        model, X = find_model(estimator, X, "fingerprint_")
    except InvalidParameterError:
        return
    features = None
    if not y.has_ids:
        table = X.X if isinstance(X, Panel) else X
        table = table if hasattr(table, "columns") else np.asarray(table)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DataWarning)  # the prediction says it
            table = match_columns(model, table, model.encoder_.names)
        features = model.encoder_.transform(table)
    warn_if_trained_on(model, y, features, stacklevel=4)


# Predictions of an estimator, in the order in which the metric takes them. Options that do
# not concern the prediction are ignored.


def _by_horizon(
    estimator: Any, X: Any, y: RecurrentEvents, *, horizon: float | None, **_: Any
) -> tuple[FloatArray, ...]:
    return (predict_by(estimator, X, y, horizon),)


def _at_times(
    estimator: Any, X: Any, y: RecurrentEvents, *, times: FloatArray, **_: Any
) -> tuple[FloatArray, ...]:
    return (predict_curves(estimator, X, y, times),)


def _in_window(
    estimator: Any, X: Any, y: RecurrentEvents, *, start: float, stop: float, **_: Any
) -> tuple[FloatArray, ...]:
    return (predict_window(estimator, X, y, start, stop),)


def _chance_in_window(
    estimator: Any, X: Any, y: RecurrentEvents, *, start: float, stop: float, **_: Any
) -> tuple[FloatArray, ...]:
    """Predict chances of any event by the Poisson law."""
    return (-np.expm1(-np.maximum(predict_window(estimator, X, y, start, stop), 0.0)),)


def _while_observed(
    estimator: Any, X: Any, y: RecurrentEvents, *, start: float, stop: float
) -> tuple[FloatArray, ...]:
    return (predict_observed(estimator, X, y, start, stop),)


def _with_rates(estimator: Any, X: Any, y: RecurrentEvents) -> tuple[FloatArray, ...]:
    expected = predict_observed(estimator, X, y, -np.inf, np.inf)
    return expected, predict_rates(estimator, X, y, expected)


def _with_order(estimator: Any, X: Any, y: RecurrentEvents) -> tuple[FloatArray, ...]:
    expected = predict_observed(estimator, X, y, -np.inf, np.inf)
    return expected, predict_by(estimator, X, y, None)


def _with_truth(
    estimator: Any,
    X: Any,
    y: RecurrentEvents,
    *,
    truth: Callable[..., FloatArray],
    times: FloatArray,
) -> tuple[FloatArray, ...]:
    true = truth(times, X.X if isinstance(X, Panel) else X)
    return predict_curves(estimator, X, y, times), true


# Measures of metrics that do not return the score themselves.


def _capture_area(
    y: RecurrentEvents, predicted: FloatArray, *, horizon: float | None, **options: Any
) -> float:
    return capture_curve(y, predicted, **options).area


def _slope_error(
    y: RecurrentEvents,
    expected: FloatArray,
    scores: FloatArray,
    *,
    sample_weight: ArrayLike | None,
) -> float:
    scores = np.maximum(scores, LEAST_RATIO * scores.mean())
    if np.ptp(scores) <= CLOSE * scores.max():
        return 1.0
    found = calibration_slope(y, expected, by=scores, sample_weight=sample_weight)
    return abs(found.slope - 1.0)


def _mean_squared_error(
    y: RecurrentEvents,
    predicted: FloatArray,
    true: FloatArray,
    *,
    times: FloatArray,
    sample_weight: ArrayLike | None,
    **_: Any,
) -> float:
    errors = integrated_squared_error(predicted, true, times)
    return float(np.average(errors, weights=check_weights(sample_weight, y)))


_REQUIRED = object()  # default of an option that must be given


@dataclass(frozen=True)
class _Metric:
    """How a metric becomes a score.

    ``predict(estimator, X, y, **options)`` returns the predictions, and ``measure(y,
    *predictions, sample_weight=…, **options)`` judges them.
    """

    predict: Callable[..., tuple[FloatArray, ...]]
    measure: Callable[..., float]
    defaults: Mapping[str, Any]
    is_error: bool = False


_COMPARED = {"horizon": None, "tied": "half", "weights": None}
_WINDOW = {"start": _REQUIRED, "stop": _REQUIRED, "weights": None}
_TIMES = {"times": _REQUIRED}

_METRICS = {
    "recurrent_concordance": _Metric(_by_horizon, recurrent_concordance, _COMPARED),
    "event_concordance": _Metric(_by_horizon, event_concordance, _COMPARED),
    "paper_concordance": _Metric(_by_horizon, paper_concordance, {"horizon": None}),
    "capture_curve": _Metric(
        _by_horizon, _capture_area, {"horizon": None, "per": "individual"}
    ),
    "point_process_log_likelihood": _Metric(_with_rates, point_process_log_likelihood, {}),
    "poisson_deviance": _Metric(
        _while_observed, poisson_deviance, {"start": 0.0, "stop": np.inf}, is_error=True
    ),
    "window_count_error": _Metric(_in_window, window_count_error, _WINDOW, is_error=True),
    "brier_score": _Metric(
        _chance_in_window,
        brier_score,
        {"start": _REQUIRED, "stop": _REQUIRED},
        is_error=True,
    ),
    "calibration_slope": _Metric(_with_order, _slope_error, {}, is_error=True),
    "integrated_count_error": _Metric(
        _at_times, integrated_count_error, _TIMES, is_error=True
    ),
    "skill_score": _Metric(_at_times, skill_score, _TIMES),
    "observed_l2": _Metric(_at_times, observed_l2, {"times": None}, is_error=True),
    "integrated_squared_error": _Metric(
        _with_truth, _mean_squared_error, {"truth": _REQUIRED, **_TIMES}, is_error=True
    ),
}

_CHOICES = {
    "tied": ("half", "drop", "zero"),
    "weights": (None, "ipcw"),
    "per": ("individual", "follow_up"),
}


def _check_options(name: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return all options of a metric; refuse those that are missing, unknown or wrong."""
    defaults = _METRICS[name].defaults
    unknown = [option for option in given if option not in defaults]
    if unknown:
        raise InvalidParameterError(
            f"Options of a scorer of {name} are {', '.join(defaults) or 'none'}, but "
            f"{', '.join(unknown)} is given."
        )
    options = {**defaults, **given}
    missing = [
        option
        for option, default in defaults.items()
        if default is _REQUIRED and given.get(option) is None
    ]
    if missing:
        raise InvalidParameterError(
            f"A scorer of {name} needs {' and '.join(missing)}, but got "
            f"{', '.join(given) or 'no options'}.\n\n"
            f"Hint: scorer({name!r}, {', '.join(f'{option}=…' for option in missing)})."
        )
    check_horizon(options.get("horizon"))
    if "start" in options:
        check_borders(options["start"], options["stop"], 1)
    for option in options.keys() & _CHOICES.keys():
        check_choice(options[option], _CHOICES[option], option)
    if options.get("times") is not None:
        options["times"] = _as_grid(options["times"])
    return options


def _as_grid(times: ArrayLike) -> FloatArray:
    """Return increasing times; a single number is the last of an even grid."""
    if np.ndim(times) == 0:
        return check_grid(np.linspace(0.0, np.asarray(times, dtype=np.float64), N_TIMES))
    return check_grid(times)

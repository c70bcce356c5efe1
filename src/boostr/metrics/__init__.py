"""How good predictions are: metrics on event histories, and scorers for scikit-learn.

A metric takes histories and predicted numbers. A scorer, made by `scorer` from a metric,
takes an estimator, predicts by itself, and goes to ``scoring=`` in the tools of
scikit-learn; greater is better.

Where ends of follow-up depend on the events, trust `point_process_log_likelihood`,
`poisson_deviance`, `recurrent_concordance`, `event_concordance` and the calibration; the
others need ends that do not.
"""

from boostr.metrics._calibration import (
    CalibrationSlope,
    CalibrationTable,
    CaptureCurve,
    calibration_slope,
    calibration_table,
    capture_curve,
)
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
from boostr.metrics._observation import expected_counts
from boostr.metrics._scorer import MetricScorer, scorer
from boostr.metrics._windows import (
    brier_score,
    point_process_log_likelihood,
    poisson_deviance,
    window_count_error,
)

__all__ = [
    "CalibrationSlope",
    "CalibrationTable",
    "CaptureCurve",
    "MetricScorer",
    "brier_score",
    "calibration_slope",
    "calibration_table",
    "capture_curve",
    "event_concordance",
    "expected_counts",
    "integrated_count_error",
    "integrated_squared_error",
    "observed_l2",
    "paper_concordance",
    "point_process_log_likelihood",
    "poisson_deviance",
    "recurrent_concordance",
    "scorer",
    "skill_score",
    "window_count_error",
]

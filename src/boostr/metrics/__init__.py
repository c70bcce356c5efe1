"""How good predictions are: metrics on event histories, and scorers for scikit-learn.

A metric takes histories and predicted numbers. A scorer, made by the functions whose names
end in ``_scorer``, takes an estimator, predicts by itself, and goes to ``scoring=`` in the
tools of scikit-learn; greater is better.

Where ends of follow-up depend on the events, trust `point_process_log_likelihood`,
`poisson_deviance`, `recurrent_concordance`, `event_concordance` and the calibration; the
others need ends that do not.
"""

from boostr.metrics._calibration import (
    CalibrationSlope,
    CalibrationTable,
    calibration_slope,
    calibration_table,
)
from boostr.metrics._capture import CaptureCurve, capture_curve
from boostr.metrics._concordance import (
    event_concordance,
    paper_concordance,
    recurrent_concordance,
)
from boostr.metrics._count_scorers import (
    calibration_slope_scorer,
    log_likelihood_scorer,
    poisson_deviance_scorer,
    window_count_scorer,
)
from boostr.metrics._curve_scorers import (
    integrated_count_scorer,
    observed_l2_scorer,
    skill_scorer,
    squared_error_scorer,
)
from boostr.metrics._curves import (
    integrated_count_error,
    integrated_squared_error,
    observed_l2,
    skill_score,
)
from boostr.metrics._observation import expected_counts
from boostr.metrics._rank_scorers import (
    capture_scorer,
    concordance_scorer,
    event_concordance_scorer,
    paper_concordance_scorer,
)
from boostr.metrics._windows import (
    point_process_log_likelihood,
    poisson_deviance,
    window_count_error,
)
from boostr.metrics.scorer import MetricScorer

__all__ = [
    "CalibrationSlope",
    "CalibrationTable",
    "CaptureCurve",
    "MetricScorer",
    "calibration_slope",
    "calibration_slope_scorer",
    "calibration_table",
    "capture_curve",
    "capture_scorer",
    "concordance_scorer",
    "event_concordance",
    "event_concordance_scorer",
    "expected_counts",
    "integrated_count_error",
    "integrated_count_scorer",
    "integrated_squared_error",
    "log_likelihood_scorer",
    "observed_l2",
    "observed_l2_scorer",
    "paper_concordance",
    "paper_concordance_scorer",
    "point_process_log_likelihood",
    "poisson_deviance",
    "poisson_deviance_scorer",
    "recurrent_concordance",
    "skill_score",
    "skill_scorer",
    "squared_error_scorer",
    "window_count_error",
    "window_count_scorer",
]

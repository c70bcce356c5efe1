"""Pictures of results; they need matplotlib, which ``boostr[plot]`` brings."""

from __future__ import annotations

from boostr.plotting._backtest import plot_backtest
from boostr.plotting._features import (
    plot_coefficient_map,
    plot_feature_map,
    plot_interaction,
    plot_partial_dependence,
)
from boostr.plotting._histories import plot_individual, plot_timeline
from boostr.plotting._importance import (
    plot_importance,
    plot_permutation_importance,
    plot_sensor_importance,
)
from boostr.plotting._mcf import plot_mcf, plot_mcf_difference, plot_mcf_groups
from boostr.plotting._quality import (
    plot_calibration,
    plot_capture,
    plot_comparison,
    plot_validation,
)
from boostr.plotting._residuals import plot_cumulative_residuals, plot_rescaled_times
from boostr.plotting._search import plot_design, plot_setting_boxes
from boostr.plotting._sensors import plot_sensor_effect, plot_sensor_path
from boostr.plotting._trees import plot_leaf_counts, plot_partition
from boostr.plotting.reasons import plot_beeswarm, plot_reason_bars, plot_waterfall

__all__ = [
    "plot_backtest",
    "plot_beeswarm",
    "plot_calibration",
    "plot_capture",
    "plot_coefficient_map",
    "plot_comparison",
    "plot_cumulative_residuals",
    "plot_design",
    "plot_feature_map",
    "plot_importance",
    "plot_individual",
    "plot_interaction",
    "plot_leaf_counts",
    "plot_mcf",
    "plot_mcf_difference",
    "plot_mcf_groups",
    "plot_partial_dependence",
    "plot_partition",
    "plot_permutation_importance",
    "plot_reason_bars",
    "plot_rescaled_times",
    "plot_sensor_effect",
    "plot_sensor_importance",
    "plot_sensor_path",
    "plot_setting_boxes",
    "plot_timeline",
    "plot_validation",
    "plot_waterfall",
]

"""Pictures of results; they need matplotlib, which ``boostr[plot]`` brings."""

from __future__ import annotations

from boostr.plotting._backtest import plot_backtest
from boostr.plotting._beeswarm import plot_beeswarm
from boostr.plotting._calibration import plot_calibration
from boostr.plotting._capture import plot_capture
from boostr.plotting._coefficient_map import plot_coefficient_map
from boostr.plotting._comparison import plot_comparison
from boostr.plotting._design import plot_design
from boostr.plotting._feature_importance import plot_importance
from boostr.plotting._feature_map import plot_feature_map
from boostr.plotting._importance import plot_sensor_importance
from boostr.plotting._individual import plot_individual
from boostr.plotting._interaction import plot_interaction
from boostr.plotting._leaf_counts import plot_leaf_counts
from boostr.plotting._mcf import plot_mcf
from boostr.plotting._mcf_difference import plot_mcf_difference
from boostr.plotting._mcf_groups import plot_mcf_groups
from boostr.plotting._partial_dependence import plot_partial_dependence
from boostr.plotting._partition import plot_partition
from boostr.plotting._permutation_importance import plot_permutation_importance
from boostr.plotting._reason_bars import plot_reason_bars
from boostr.plotting._sensor_effect import plot_sensor_effect
from boostr.plotting._sensor_path import plot_sensor_path
from boostr.plotting._setting_boxes import plot_setting_boxes
from boostr.plotting._timeline import plot_timeline
from boostr.plotting._validation import plot_validation
from boostr.plotting._waterfall import plot_waterfall

__all__ = [
    "plot_backtest",
    "plot_beeswarm",
    "plot_calibration",
    "plot_capture",
    "plot_coefficient_map",
    "plot_comparison",
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
    "plot_sensor_effect",
    "plot_sensor_importance",
    "plot_sensor_path",
    "plot_setting_boxes",
    "plot_timeline",
    "plot_validation",
    "plot_waterfall",
]

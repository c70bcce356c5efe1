"""Pictures of results; they need matplotlib, which ``boostr[plot]`` brings."""

from __future__ import annotations

from boostr.plotting._coefficient_map import plot_coefficient_map
from boostr.plotting._importance import plot_sensor_importance
from boostr.plotting._mcf import plot_mcf
from boostr.plotting._mcf_difference import plot_mcf_difference
from boostr.plotting._sensor_effect import plot_sensor_effect
from boostr.plotting._sensor_path import plot_sensor_path
from boostr.plotting._timeline import plot_timeline

__all__ = [
    "plot_coefficient_map",
    "plot_mcf",
    "plot_mcf_difference",
    "plot_sensor_effect",
    "plot_sensor_importance",
    "plot_sensor_path",
    "plot_timeline",
]

"""Event histories and sensors, in memory or in Parquet files."""

from boostr.data._events import RecurrentEvents
from boostr.data._panel import Panel
from boostr.data._risk import RiskTable
from boostr.data._scan_events import ScannedEvents
from boostr.data._scan_trajectories import ScannedTrajectories
from boostr.data._shared import SharedSensors
from boostr.data._target import check_target
from boostr.data._trajectories import Trajectories

__all__ = [
    "Panel",
    "RecurrentEvents",
    "RiskTable",
    "ScannedEvents",
    "ScannedTrajectories",
    "SharedSensors",
    "Trajectories",
    "check_target",
]

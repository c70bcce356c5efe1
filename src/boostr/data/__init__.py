"""Event histories and sensors, in memory or in Parquet files."""

from boostr.data.events.describe import EventsSummary
from boostr.data.events.recurrent_events import RecurrentEvents
from boostr.data.events.risk import RiskTable
from boostr.data.panel import Panel
from boostr.data.parquet.events import ScannedEvents
from boostr.data.parquet.sensors import ScannedTrajectories
from boostr.data.sensors.shared import SharedSensors
from boostr.data.sensors.trajectories import Trajectories
from boostr.data.target import check_target

__all__ = [
    "EventsSummary",
    "Panel",
    "RecurrentEvents",
    "RiskTable",
    "ScannedEvents",
    "ScannedTrajectories",
    "SharedSensors",
    "Trajectories",
    "check_target",
]

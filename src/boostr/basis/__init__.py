"""Functions of time that leaves combine linearly, and the clocks they are written in."""

from boostr.basis._piecewise import PiecewiseBasis, SplineBasis, StepBasis
from boostr.basis._power import PowerBasis
from boostr.basis.base import Basis, ClockedEvents, ClockedPaths, FittedBasis, Loss
from boostr.basis.clock import CalendarClock, Clock, OperationalClock
from boostr.basis.sensors import FittedSensorBasis, Sensor, SensorBasis

__all__ = [
    "Basis",
    "CalendarClock",
    "Clock",
    "ClockedEvents",
    "ClockedPaths",
    "FittedBasis",
    "FittedSensorBasis",
    "Loss",
    "OperationalClock",
    "PiecewiseBasis",
    "PowerBasis",
    "Sensor",
    "SensorBasis",
    "SplineBasis",
    "StepBasis",
]

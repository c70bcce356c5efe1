"""Functions of time that leaves combine linearly, and the clocks they are written in."""

from boostr.basis._base import Basis, ClockedEvents, FittedBasis, Loss
from boostr.basis._clock import CalendarClock, Clock, OperationalClock
from boostr.basis._piecewise import PiecewiseBasis, SplineBasis, StepBasis
from boostr.basis._power import PowerBasis

__all__ = [
    "Basis",
    "CalendarClock",
    "Clock",
    "ClockedEvents",
    "FittedBasis",
    "Loss",
    "OperationalClock",
    "PiecewiseBasis",
    "PowerBasis",
    "SplineBasis",
    "StepBasis",
]

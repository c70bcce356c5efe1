"""Event data in memory."""

from boostr.data._events import RecurrentEvents
from boostr.data._risk import RiskTable
from boostr.data._target import check_target

__all__ = ["RecurrentEvents", "RiskTable", "check_target"]

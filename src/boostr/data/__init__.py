"""Event data in memory."""

from boostr.data._events import RecurrentEvents
from boostr.data._risk import RiskTable

__all__ = ["RecurrentEvents", "RiskTable"]

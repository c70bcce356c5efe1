"""Event histories in memory."""

from __future__ import annotations

from boostr.data._events import RecurrentEvents

__all__ = ["RecurrentEvents"]

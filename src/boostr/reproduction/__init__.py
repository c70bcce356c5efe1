"""All tables and figures of the Boost-R paper, reproduced beside those of the defaults."""

from __future__ import annotations

from boostr.reproduction._reproduce import PARTS, reproduce

__all__ = ["PARTS", "reproduce"]

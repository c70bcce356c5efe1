"""Every table and figure of the Boost-R paper, made again beside better ones."""

from __future__ import annotations

from boostr.reproduction._reproduce import PARTS, reproduce

__all__ = ["PARTS", "reproduce"]

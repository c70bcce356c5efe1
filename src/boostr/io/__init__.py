"""Fitted models in files: arrays and JSON, checked on the way in, no code."""

from boostr.io.model import from_bytes, load, save, to_bytes

__all__ = ["from_bytes", "load", "save", "to_bytes"]

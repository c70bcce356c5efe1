"""Gradient boosted trees for recurrent events."""

__version__ = "0.1.0"

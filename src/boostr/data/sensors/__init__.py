"""Sensors of many individuals over time."""

"""Accuracy and cost of boostr with sensors; each part has ``measure(scale)``."""

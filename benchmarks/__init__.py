"""Accuracy and speed of boostr beside baselines."""

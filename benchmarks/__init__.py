"""Accuracy and speed of boostr beside other libraries."""

"""Compiled functions on arrays; they know nothing of the rest of the package."""

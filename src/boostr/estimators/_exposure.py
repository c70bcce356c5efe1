"""Labels by which the exposures of new individuals are matched."""

from __future__ import annotations

from typing import Any

from boostr.data import Panel

__all__ = ["find_labels"]


def find_labels(X: Any) -> Any:
    """Return the pandas row labels, None for other features."""
    index = getattr(X.X if isinstance(X, Panel) else X, "index", None)
    return None if callable(index) else index

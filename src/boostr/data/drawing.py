"""Pictures of containers, which `boostr.plotting` draws: it stands above this layer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

__all__ = ["draw", "register_plot"]

_PLOTS: dict[str, Callable[..., Any]] = {}


def register_plot(name: str, function: Callable[..., Any]) -> None:
    """Let methods of containers call a function of `boostr.plotting`."""
    _PLOTS[name] = function


def draw(name: str, container: Any, **options: Any) -> Any:
    """Return the Axes on which the registered function has drawn a container."""
    return _PLOTS[name](container, **options)

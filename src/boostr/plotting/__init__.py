"""Pictures of results; they need matplotlib, which ``boostr[plot]`` brings."""

from __future__ import annotations

from boostr.plotting._mcf import plot_mcf

__all__ = ["plot_mcf"]

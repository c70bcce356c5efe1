"""Small real data sets that come with the package."""

from __future__ import annotations

from boostr.datasets._dataset import Dataset
from boostr.datasets._loaders import load_bladder, load_cgd, load_valve_seats

__all__ = ["Dataset", "load_bladder", "load_cgd", "load_valve_seats"]

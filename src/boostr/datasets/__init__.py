"""Small real data sets that come with the package."""

from __future__ import annotations

from boostr.datasets._loaders import Dataset, load_bladder, load_cgd, load_valve_seats

__all__ = ["Dataset", "load_bladder", "load_cgd", "load_valve_seats"]

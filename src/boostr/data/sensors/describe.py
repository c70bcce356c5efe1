"""Sensors in figures, for notebooks: ranges, categories, samples and unknown values."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from boostr._html import format_cell, make_card, make_facts, make_grid, make_note
from boostr._typing import AnyArray
from boostr.data.individuals import count_of
from boostr.data.times import name_unit

if TYPE_CHECKING:
    from boostr.data.sensors.trajectories import Trajectories

__all__ = ["write_sensors"]

_N_SHOWN = 30  # sensors
_N_CATEGORIES = 4  # categories that are named


def write_sensors(sensors: Trajectories, times: AnyArray) -> str:
    """Return HTML with numbers of samples, their times or dates, and a row per sensor."""
    facts = [
        ("individuals", format_cell(len(sensors))),
        ("samples", format_cell(sensors.times.size)),
    ]
    n_without = int(np.sum(np.diff(sensors.offsets) == 0))
    if n_without:
        facts.append(("without samples", count_of(n_without, "individual", ",")))
    if times.size:
        unit = "" if times.dtype.kind == "M" else f" {name_unit(sensors.time_unit) or ''}"
        ends = format_cell(times.min()), format_cell(times.max())
        facts.append(("sampled", f"from {ends[0]} to {ends[1]}{unit}".rstrip()))
    n = len(sensors.names)
    rows = [_describe(sensors, place) for place in range(min(n, _N_SHOWN))]
    header = ("sensor", "values", "unknown", "future known")
    parts = [make_facts(facts), make_grid(header, rows)]
    if n > _N_SHOWN:
        parts.append(make_note(f"The first {_N_SHOWN} of {n:,} sensors."))
    return make_card(type(sensors).__name__, *parts)


def _describe(sensors: Trajectories, place: int) -> tuple[str, str, str, str]:
    """Return name, values, share of samples without a value, and whether it is planned."""
    name, values = sensors.names[place], sensors.values[place]
    n_unknown = int(np.isnan(values).sum())
    share = n_unknown / values.size if values.size else 0.0
    is_planned = "yes" if name in sensors.known_ahead else "no"
    return name, _name_values(sensors, place, n_unknown), f"{share:.1%}", is_planned


def _name_values(sensors: Trajectories, place: int, n_unknown: int) -> str:
    """Return the range of numbers, or the first categories."""
    values, categories = sensors.values[place], sensors.categories[place]
    if categories is not None:
        named = ", ".join(map(str, categories[:_N_CATEGORIES]))
        more = len(categories) - _N_CATEGORIES
        return f"{named} and {more} more" if more > 0 else named
    if n_unknown == values.size:
        return "-"
    return f"{format_cell(np.nanmin(values))} to {format_cell(np.nanmax(values))}"

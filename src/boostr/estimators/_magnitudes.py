"""Sizes of times, costs, weights and sensors, which must not overflow when squared."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from boostr._typing import AnyArray, FloatArray, OffsetArray
from boostr.data import RecurrentEvents, Trajectories
from boostr.exceptions import InvalidEventsError, InvalidParameterError, InvalidSensorsError

__all__ = ["Magnitudes"]

_LIMITS = (1e-30, 1e30)  # statistics are products of their powers, which are squared
_SENSOR_LIMITS = (1e-100, 1e100)  # only functions of these come into the statistics


@dataclass(frozen=True, slots=True, eq=False)
class Magnitudes:
    """The largest time, cost and so on of some individuals, with the id."""

    largest: dict[str, tuple[float, Any]]
    sensors: dict[str, tuple[float, Any]]

    @classmethod
    def of(
        cls, events: RecurrentEvents, weights: FloatArray, sensors: Trajectories | None
    ) -> Magnitudes:
        """Return the magnitudes of individuals and of their sensors, if any."""
        ids, each = events.ids, np.arange(len(events) + 1)
        values = {
            "Times": (events.window_stop, events.window_offsets),
            "Costs": (events.costs, events.event_offsets),
            "`sample_weight`": (weights, each),
        }
        if events.exposure is not None:
            values["Exposures"] = (events.exposure.values, events.exposure.offsets)
        largest = {name: _find_largest(*pair, ids) for name, pair in values.items()}
        if sensors is None:
            return cls(largest, {})
        own = {
            f"Values of sensor {name!r}": _find_largest(row, sensors.offsets, sensors.ids)
            for name, row in zip(sensors.names, sensors.values, strict=True)
        }
        return cls(largest, own)

    def join(self, other: Magnitudes) -> Magnitudes:
        """Return the magnitudes of both groups of individuals."""
        return Magnitudes(
            _join(self.largest, other.largest), _join(self.sensors, other.sensors)
        )

    def check(self) -> None:
        """Refuse values too large or too small to be squared and summed."""
        for name, found in self.largest.items():
            error = InvalidParameterError if name[0] == "`" else InvalidEventsError
            _check(name, *found, _LIMITS, error)
        for name, found in self.sensors.items():
            _check(name, *found, _SENSOR_LIMITS, InvalidSensorsError)


def _find_largest(
    values: FloatArray, offsets: OffsetArray, ids: AnyArray
) -> tuple[float, Any]:
    """Return the largest absolute value (0 if none) and the id of its individual."""
    high, low = np.fmax.reduce(values, initial=0.0), np.fmin.reduce(values, initial=0.0)
    size = float(max(high, -low))
    if size == 0.0:
        return 0.0, None
    place = int(np.argmax(values == (high if size == high else low)))
    return size, ids[int(np.searchsorted(offsets, place, side="right")) - 1]


def _join(
    some: dict[str, tuple[float, Any]], others: dict[str, tuple[float, Any]]
) -> dict[str, tuple[float, Any]]:
    return {
        name: max(some[name], others[name], key=lambda found: found[0]) for name in some
    }


def _check(
    name: str, size: float, owner: Any, limits: tuple[float, float], error: type[Exception]
) -> None:
    if size == 0.0 or limits[0] <= size <= limits[1]:
        return
    way = "too small" if size < limits[0] else "too large"
    raise error(
        f"{name} must be between {limits[0]:g} and {limits[1]:g} at their largest, but the "
        f"largest, of individual {owner}, is {size:g}, {way} to compute with.\n\n"
        "Hint: give them in another unit."
    )

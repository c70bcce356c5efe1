"""Checks of sensors: matched with the rows, known by name, in range."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from boostr._checks.numbers import first_few, warn_user
from boostr._typing import FloatArray
from boostr.basis import FittedSensorBasis
from boostr.data import (
    Panel,
    RecurrentEvents,
    ScannedEvents,
    ScannedTrajectories,
    SharedSensors,
    Trajectories,
)
from boostr.data.parquet.pairs import put_in_step
from boostr.data.sensors.checks import align_with
from boostr.exceptions import (
    DataWarning,
    InvalidSensorsError,
    SensorRangeWarning,
    SensorTypeError,
)

__all__ = [
    "SensorLayout",
    "Sensors",
    "check_reach",
    "count_strange",
    "split_panel",
    "spread_shared",
    "warn_of_strange",
]

Sensors = Trajectories | SharedSensors

_NOTEWORTHY = 0.01  # share of samples out of range from which a warning is due


@dataclass(frozen=True, slots=True, eq=False)
class SensorLayout:
    """Names, categories and clock of the sensors used in training."""

    names: tuple[str, ...]
    categories: Mapping[str, tuple[Any, ...]]  # of the categorical ones
    time_unit: str | None
    origin: np.datetime64 | None

    @classmethod
    def learn(cls, sensors: Trajectories) -> SensorLayout:
        """Return the layout of the training sensors."""
        pairs = zip(sensors.names, sensors.categories, strict=True)
        categories = {name: known for name, known in pairs if known is not None}
        return cls(sensors.names, categories, sensors.time_unit, sensors.origin)

    def apply(self, sensors: Trajectories) -> Trajectories:
        """Return other sensors in the same order and with the same codes."""
        missing = [name for name in self.names if name not in sensors.names]
        if missing:
            raise InvalidSensorsError(
                f"The model needs all sensors that it was fitted with, but {len(missing)} "
                f"are missing ({first_few(missing)}).\n\n"
                f"Hint: the sensors given are {first_few(sensors.names)}."
            )
        if (sensors.time_unit, sensors.origin) != (self.time_unit, self.origin):
            raise InvalidSensorsError(
                "Sensors must count time in the unit and from the origin of training, but "
                f"these count in {sensors.time_unit!r} from {sensors.origin} and training "
                f"in {self.time_unit!r} from {self.origin}.\n\n"
                "Hint: read them with the same unit=… and origin=…"
            )
        pairs = zip(sensors.names, sensors.categories, strict=True)
        wrong = [
            name
            for name, categories in pairs
            if name in self.names and name not in self.categories and categories is not None
        ]
        if wrong:
            raise InvalidSensorsError(
                "Sensors that held numbers in training must hold numbers, but "
                f"{len(wrong)} hold categories ({first_few(wrong)}).\n\n"
                "Hint: convert their columns, for instance with pandas.to_numeric."
            )
        return sensors.select(list(self.names)).encode(self.categories)

    def warn_of_others(self, sensors: Trajectories) -> None:
        """Warn of sensors that training did not have."""
        others = [name for name in sensors.names if name not in self.names]
        if others:
            warn_user(
                f"`Z` has {len(others)} sensors that the model was not fitted with, which "
                f"are left out ({first_few(others)}).",
                DataWarning,
            )


def spread_shared(
    Z: Any,
    y: object,
    n: int,
    layout: SensorLayout | None = None,
    *,
    start: FloatArray | None = None,
    until: Any = None,
) -> Any:
    """Return shared sensors as Trajectories of all individuals; others unchanged.

    Without histories they are on the time axis of training; None if there are no sensors.
    """
    if not isinstance(Z, SharedSensors):
        return Z
    if not Z.names:
        return None
    if isinstance(y, ScannedEvents):
        raise SensorTypeError(
            "Shared sensors need histories in memory, but `y` is a ScannedEvents.\n\n"
            "Hint: fit(X, y.collect(), Z=Z)."
        )
    if isinstance(y, RecurrentEvents):
        begin = np.zeros(len(y)) if start is None else start
        return Z._spread_over(y, begin, y.end if until is None else until)
    if layout is None:
        raise InvalidSensorsError(
            "This model was fitted without sensors, but it is asked to predict with "
            "some.\n\nHint: leave out `Z`, or fit the model with it, fit(X, y, Z=Z)."
        )
    return Z._without_histories(n, layout, np.inf if until is None else until)


def split_panel(
    X: Any, Z: Any, y: RecurrentEvents | ScannedEvents | None = None
) -> tuple[Any, Any]:
    """Return features and sensors of the same individuals, matched with ``y`` if given."""
    if y is not None:
        Z = spread_shared(Z, y, 0)
    if isinstance(X, Panel):
        if Z is not None:
            raise InvalidSensorsError(
                "Sensors must come once, but they come in the Panel and as `Z`.\n\n"
                "Hint: fit(Panel(X, Z), y) or fit(X, y, Z=Z)."
            )
        X, Z = X.X, X.Z
    if Z is None:
        return X, None
    if isinstance(y, ScannedEvents) or isinstance(Z, ScannedTrajectories):
        return X, _step_scans(Z, y)
    if y is not None and isinstance(Z, Trajectories):
        _check_clock(Z, y)
        Z = align_with(Z, y)
    panel = Panel(X if hasattr(X, "shape") else np.asarray(X), Z)
    return panel.X, panel.Z


def _step_scans(Z: Any, y: RecurrentEvents | ScannedEvents | None) -> Any:
    """Return sensors matched with histories, at least one of which is a scan."""
    if y is None or not isinstance(Z, (Trajectories, ScannedTrajectories)):
        raise SensorTypeError(
            f"`Z` must be a Trajectories here, but it is a {type(Z).__name__}.\n\n"
            "Hint: for sensors in files, go through them: for part in Z.chunks(): "
            "model.predict(X.loc[part.ids], Z=part)."
        )
    _check_clock(Z, y)
    return put_in_step(y, Z)


def check_reach(sensors: Trajectories, until: FloatArray) -> None:
    """Refuse times after the last sample of an individual."""
    late = np.flatnonzero(sensors.last_times < until)
    if late.size:
        raise InvalidSensorsError(
            "Sensors must reach as far as the times asked for, but they end before for "
            f"{late.size} of {len(sensors)} individuals "
            f"(ids {first_few(sensors.ids[late])}).\n\n"
            "Hint: Z.followed_by(future) adds what is planned; hold_last=True goes on with "
            "the last values."
        )


def count_strange(
    basis: FittedSensorBasis, given: Trajectories, used: Trajectories
) -> dict[str, dict[str, int]]:
    """Return the numbers of samples below, above and outside the training range."""
    counts = {}
    unseen = given.count_unseen(
        {sensor.name: sensor.categories for sensor in basis.sensors if sensor.categories}
    )
    for place, sensor in enumerate(basis.sensors):
        values = used.values[place]
        counts[sensor.name] = {
            "samples": values.size,
            "unknown": int(np.isnan(values).sum()),
            "below": int((values < sensor.low).sum()) if sensor.order else 0,
            "above": int((values > sensor.high).sum()) if sensor.order else 0,
            "unseen": int(unseen.get(sensor.name, 0)),
        }
    return counts


def warn_of_strange(counts: Mapping[str, Mapping[str, int]]) -> None:
    """Warn of sensors with more than one in a hundred samples out of range."""
    lines = []
    for name, count in counts.items():
        n_strange = count["below"] + count["above"] + count["unseen"]
        if n_strange > _NOTEWORTHY * max(count["samples"], 1):
            lines.append(
                f"{name!r} in {n_strange} of {count['samples']} samples ({count['below']} "
                f"below, {count['above']} above, {count['unseen']} in unseen categories)"
            )
    if lines:
        warnings.warn(
            "Sensors are outside of what training has seen: " + "; ".join(lines) + ". "
            "Numbers count as the nearest value seen, unseen categories as unknown.",
            SensorRangeWarning,
            stacklevel=5,
        )


def _check_clock(
    sensors: Trajectories | ScannedTrajectories, events: RecurrentEvents | ScannedEvents
) -> None:
    if sensors.origin != events.origin or sensors.time_unit != events.time_unit:
        raise InvalidSensorsError(
            "Sensors and events must count time in the same unit from the same origin, but "
            f"the sensors count in {sensors.time_unit!r} from {sensors.origin} and the "
            f"events in {events.time_unit!r} from {events.origin}.\n\n"
            "Hint: Trajectories.from_long(…, unit=y.time_unit, origin=y.origin)."
        )

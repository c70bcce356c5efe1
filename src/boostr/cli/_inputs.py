"""The tables that a command was given, and the inputs that a fitted model needs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from boostr.cli._events import Reading
from boostr.cli._files import TableFile, quote_names
from boostr.data.events.fingerprint import find_origin, had_costs, had_exposure
from boostr.exceptions import BoostrError

__all__ = ["FleetFiles", "Known", "select_columns"]


@dataclass(frozen=True, kw_only=True)
class FleetFiles:
    """Paths of the tables, and the given column roles."""

    events: Path
    static: Path | None = None
    sensors: Path | None = None
    shared: Path | None = None
    future: Path | None = None
    given: Reading  # what was said about columns, units and the like, by option
    features: tuple[str, ...] | None = None  # None for all columns
    left_out: tuple[str, ...] = ()  # columns of any table but the events
    skips_unmatched: bool = False  # whether who is not in all tables is left out
    by: str | None = None  # column of features with groups, which need not be a feature


@dataclass(frozen=True, kw_only=True)
class Known:
    """Features and sensors that a model was trained with, and how they were read."""

    features: Mapping[str, bool]  # whether each is categorical
    sensors: Mapping[str, bool] | None
    unit: str | None
    reading: Reading
    origin: np.datetime64 | None
    has_costs: bool
    has_exposure: bool = False

    @classmethod
    def of(cls, model: Any) -> Known:
        """Return the inputs that a fitted model needs."""
        layout, encoder = model.sensor_layout_, model.encoder_
        pairs = zip(encoder.names, encoder.is_categorical.tolist(), strict=True)
        kept = model.reading_
        is_sound = isinstance(kept, dict) and all(
            isinstance(text, str) for text in (*kept, *filter(None, kept.values()))
        )
        reading: Reading = dict(kept) if isinstance(kept, dict) and is_sound else {}
        origin = find_origin(model)
        if origin is not None:  # of a model that was fitted from Python, too
            reading["origin"] = str(origin)
        return cls(
            features=dict(pairs),
            sensors=layout and {name: name in layout.categories for name in layout.names},
            unit=model.time_unit_,
            reading=reading | {"unit": model.time_unit_},
            origin=origin,
            has_costs=bool(had_costs(model)),
            has_exposure=had_exposure(model),
        )

    def without(self, names: Sequence[str]) -> Known:
        """Return the inputs without some sensors."""
        if self.sensors is None:
            return self
        rest = {name: kind for name, kind in self.sensors.items() if name not in names}
        return replace(self, sensors=rest)


def select_columns(
    file: TableFile, wanted: Mapping[str, bool], error: type[BoostrError]
) -> tuple[list[str], list[str]]:
    """Return the columns that a model needs, and the categorical ones among them."""
    missing = [name for name in wanted if name not in file.names]
    if missing:
        raise error(
            f"{file.path.name!r} must have all columns that the model was fitted with, but "
            f"it lacks {quote_names(missing)}.\n\nHint: it has {quote_names(file.names)}."
        )
    return list(wanted), [name for name, is_categorical in wanted.items() if is_categorical]

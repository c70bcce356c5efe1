"""Exposures as a user gives them: numbers, numbers by id, or a sensor."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeGuard

import numpy as np

from boostr._checks.numbers import blame, first_few, labels_are_ids, warn_user
from boostr._typing import AnyArray, BoolArray, FloatArray
from boostr.data.columns import as_frame, check_columns, find_owners, read_numbers
from boostr.data.events.exposure import Exposure
from boostr.data.flat import offsets_of, owners_of
from boostr.data.individuals import IndividualArray
from boostr.exceptions import (
    DataWarning,
    InvalidEventsError,
    InvalidParameterError,
    SensorTypeError,
)

if TYPE_CHECKING:
    from boostr.data.events.recurrent_events import RecurrentEvents
    from boostr.data.parquet.events import ScannedEvents
    from boostr.data.sensors.trajectories import Trajectories

__all__ = [
    "check_exposed",
    "match_exposure",
    "read_exposure_column",
    "read_new_exposure",
]

_UNIT_HINT = "an exposure is a length, a number of beds or seats, or of flights a day."


def match_exposure(y: RecurrentEvents | ScannedEvents, given: Any) -> Exposure:
    """Return the exposures of individuals with histories, in the order of the histories."""
    if isinstance(given, Exposure):
        return _check_as_many(given, len(y))
    if _is_sensor(given):
        _check_clock(given, y)
        return _read_sensor(given.align(y.ids) if y.has_ids else given, y.ids)
    return _read_numbers(_match(given, y), y.ids)


def read_new_exposure(given: Any, n: int, table: Any = None) -> Exposure | None:
    """Return the exposures of ``n`` individuals without histories.

    They are matched by the row labels of a pandas table of features.
    """
    if given is None:
        return None
    index = getattr(table, "index", None)
    index = None if callable(index) else index
    if isinstance(given, Exposure):
        return _check_as_many(given, n)
    ids = np.arange(n) if index is None else np.asarray(index)
    if _is_sensor(given):
        is_known = given.has_ids and set(given.ids.tolist()) >= set(ids.tolist())
        return _read_sensor(given.align(ids) if is_known else given, ids)
    labels = getattr(given, "index", None)  # of a Series from pandas
    if index is not None and labels is not None and not callable(labels):
        names = np.asarray(labels).tolist()
        if set(names) == set(ids.tolist()):
            given = dict(zip(names, given, strict=True))
    if isinstance(given, Mapping):
        given = _look_up(given, ids)
    return _read_numbers(given, ids)


def read_exposure_column(
    df: Any, id: str, name: str, start: FloatArray | None = None
) -> Exposure:
    """Return the exposures in a column of a table, by ascending id.

    A row holds until the ``start`` of the next; without starts, exposures are constant.
    """
    frame = as_frame(df)
    check_columns(frame, {"id": id, "exposure": name}, df)
    ids, owner = find_owners(frame.get_column(id))
    values = read_numbers(frame.get_column(name))
    times = np.zeros(len(values)) if start is None else start
    order = np.lexsort((times, owner))
    offsets = offsets_of(np.bincount(owner, minlength=ids.size))
    _check_values(values, values >= 0.0 if start is not None else values > 0.0, owner, ids)
    found = Exposure.of_samples(times[order], values[order], offsets)
    if start is None and not found.is_constant:
        raise blame(
            f"The exposure {name!r} must be the same in all rows of an individual",
            ids,
            np.diff(found.offsets) > 1,
            "from_start_stop takes one that differs from window to window; y.with_exposure "
            "takes Trajectories.",
        )
    return found


def check_exposed(y: RecurrentEvents) -> None:
    """Refuse individuals whose exposure is always zero; warn of events where it is."""
    if y.exposure is None:
        return
    total = y.exposure.total(owners_of(y.window_offsets), y.window_start, y.window_stop)
    if not np.all(total > 0.0):
        raise blame(
            "The exposure must be above 0 at some time under observation",
            y.ids,
            ~(total > 0.0),
            "leave these individuals out, or their exposure up to the first use.",
        )
    owner = y.event_owner
    is_out = y.exposure.values[y.exposure.find(owner, y.times)] == 0.0
    if is_out.any():
        found = y.ids[np.unique(owner[is_out])]
        warn_user(
            f"{is_out.sum():,} of {is_out.size:,} events came while the exposure of their "
            f"individuals was 0 (ids {first_few(found)}). No rate explains them, so that "
            "curves are too steep there. Check the times of these events, and when the "
            "exposure is 0.",
            DataWarning,
        )


def _is_sensor(given: Any) -> TypeGuard[Trajectories]:
    """Return whether exposures are given as Trajectories."""
    return isinstance(given, IndividualArray) and hasattr(given, "names")


def _match(given: Any, y: RecurrentEvents | ScannedEvents) -> Any:
    """Return one number per individual, in the order of the histories."""
    if isinstance(given, Mapping):
        return _look_up(given, y.ids)
    index = getattr(given, "index", None)  # of a Series from pandas
    if index is None or callable(index) or not y.has_ids or not labels_are_ids(index, y):
        return given
    return _look_up(dict(zip(np.asarray(index).tolist(), given, strict=True)), y.ids)


def _look_up(numbers: Mapping[Any, Any], ids: AnyArray) -> list[Any]:
    wanted = ids.tolist()
    missing = [id_ for id_ in wanted if id_ not in numbers]
    if missing:
        raise InvalidEventsError(
            f"Every individual must have an exposure, but {len(missing)} of {len(wanted)} "
            f"have none (ids {first_few(missing)}).\n\nHint: {_UNIT_HINT}"
        )
    return [numbers[id_] for id_ in wanted]


def _check_as_many(exposure: Exposure, n: int) -> Exposure:
    """Return the exposures if there are ``n``; they are matched by position."""
    if len(exposure) != n:
        raise InvalidParameterError(
            f"`exposure` must be of the {n} individuals given, but it is of "
            f"{len(exposure)}.\n\nHint: y[rows].exposure takes those of some."
        )
    return exposure


def _read_numbers(given: Any, ids: AnyArray) -> Exposure:
    try:
        values = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InvalidParameterError(
            "`exposure` must be a number per individual, a mapping from ids to numbers, or "
            f"Trajectories of one sensor, but it is a {type(given).__name__}.\n\n"
            f"Hint: {_UNIT_HINT}"
        ) from error
    if values.ndim > 1 or (values.ndim == 1 and len(values) != len(ids)):
        raise InvalidParameterError(
            f"`exposure` must have one number for each of the {len(ids)} individuals, but "
            f"its shape is {values.shape}.\n\nHint: {_UNIT_HINT}"
        )
    values = np.broadcast_to(values, len(ids)).copy()
    _check_values(values, values > 0.0, np.arange(len(ids)), ids)
    return Exposure.of_numbers(values)


def _check_values(
    values: FloatArray, is_right: BoolArray, owner: AnyArray, ids: AnyArray
) -> None:
    wrong = ~(is_right & np.isfinite(values))
    if wrong.any():
        raise blame(
            "Exposures must be known, finite and positive", ids, owner[wrong], _UNIT_HINT
        )


def _read_sensor(sensor: Trajectories, ids: AnyArray) -> Exposure:
    """Return the exposures of a sensor; gaps are filled with the last known value."""
    if len(sensor.names) != 1 or sensor.categories[0] is not None:
        raise SensorTypeError(
            "An exposure must be Trajectories of one sensor of numbers, but these are of "
            f"{', '.join(map(repr, sensor.names)) or 'none'}.\n\n"
            "Hint: Z.select('flights') keeps one."
        )
    sensor._check_as_many(len(ids))
    is_known = ~np.isnan(sensor.values[0])
    owner = owners_of(sensor.offsets)[is_known]
    values = sensor.values[0][is_known]
    counts = np.bincount(owner, minlength=len(sensor))
    if not counts.all():
        raise blame(
            "Every individual must have a known exposure",
            ids,
            counts == 0,
            "one sample each is enough; before the first one its value holds.",
        )
    wrong = ~((values >= 0.0) & np.isfinite(values))
    if wrong.any():
        raise blame(
            "Exposures must be finite and not negative", ids, owner[wrong], _UNIT_HINT
        )
    return Exposure.of_samples(sensor.times[is_known], values, offsets_of(counts))


def _check_clock(sensor: Trajectories, y: RecurrentEvents | ScannedEvents) -> None:
    if (sensor.origin, sensor.time_unit) != (y.origin, y.time_unit):
        raise InvalidEventsError(
            "Exposures and events must count time in the same unit from the same origin, "
            f"but exposures count in {sensor.time_unit!r} from {sensor.origin} and events "
            f"in {y.time_unit!r} from {y.origin}.\n\n"
            "Hint: Trajectories.from_long(…, unit=y.time_unit, origin=y.origin)."
        )

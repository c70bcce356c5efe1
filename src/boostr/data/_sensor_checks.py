"""Checks of sensors, and matching of their ids."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Protocol

import numpy as np

from boostr._typing import AnyArray, FloatArray, OffsetArray
from boostr._validation import blame, first_few, is_missing, repeats
from boostr.exceptions import (
    InvalidEventsError,
    InvalidParameterError,
    InvalidSensorsError,
)


class Clocked(Protocol):
    """Anything whose times have a unit and an origin."""

    @property
    def time_unit(self) -> str | None:
        """Unit of the times."""

    @property
    def origin(self) -> np.datetime64 | None:
        """Moment of time 0."""


@contextmanager
def sensor_errors() -> Iterator[None]:
    """Raise errors about event histories as errors about sensors."""
    try:
        yield
    except InvalidEventsError as error:
        raise InvalidSensorsError(*error.args) from None


def refuse(rule: str, ids: AnyArray, culprits: AnyArray, hint: str) -> InvalidSensorsError:
    """Return `boostr._validation.blame` as an error about sensors."""
    found = blame(rule, ids, culprits, hint)
    error = InvalidSensorsError(*found.args)
    error.ids = found.ids
    return error


def check_names(names: Sequence[str]) -> tuple[str, ...]:
    """Return the names of sensors as a tuple; refuse repeated ones."""
    given = (names,) if isinstance(names, str) else tuple(str(name) for name in names)
    twice = repeats(np.array(given, dtype=object))
    if twice:
        raise InvalidSensorsError(
            f"Every sensor must have its own name, but {len(twice)} names are repeated "
            f"({first_few(twice)}).\n\nHint: rename them, or name each column once."
        )
    return given


def check_own_names(names: Sequence[str], others: Sequence[str]) -> None:
    """Refuse to merge sensors with the same name."""
    twice = [name for name in others if name in names]
    if twice:
        raise InvalidSensorsError(
            f"Every sensor must have its own name, but {len(twice)} stand in both "
            f"({first_few(twice)}).\n\n"
            "Hint: name=… gives a new sensor another name, select(…) leaves one out."
        )


def check_choice(value: object, choices: tuple[str, ...], name: str) -> None:
    """Refuse a value that is not one of the choices."""
    if not (isinstance(value, str) and value in choices):
        raise InvalidParameterError(
            f"`{name}` must be one of {', '.join(map(repr, choices))}, but it is {value!r}."
        )


def check_length_of_time(value: Any, name: str) -> float:
    """Return a length of time as a float; it must be finite and above zero."""
    is_number = np.ndim(value) == 0 and np.asarray(value).dtype.kind in "iuf"
    if not is_number or not 0.0 < float(value) < np.inf:
        raise InvalidParameterError(
            f"`{name}` must be a finite number above zero, but it is {value!r}.\n\n"
            "Hint: give it in the unit of the sensors' times, for instance 7 for a week "
            "of days."
        )
    return float(value)


def check_finite(
    values: FloatArray, offsets: OffsetArray, ids: AnyArray, rule: str, hint: str
) -> None:
    """Refuse infinite values of a sensor and name the individuals; NaN is allowed."""
    bad = np.isinf(values)
    if bad.any():
        rows = np.flatnonzero(bad)
        owner = np.searchsorted(offsets, rows, side="right") - 1
        raise refuse(rule, ids, owner, hint)


def check_clocks(one: Clocked, other: Clocked) -> None:
    """Refuse different units of time or origins; unknown ones match any."""
    for name in ("time_unit", "origin"):
        mine, theirs = getattr(one, name), getattr(other, name)
        if mine is not None and theirs is not None and mine != theirs:
            raise InvalidSensorsError(
                "Times must be counted in the same unit from the same origin, but "
                f"`{name}` is {mine} here and {theirs} there.\n\n"
                "Hint: read both with the same `unit=` and `origin=`, for instance "
                "origin=y.origin for the sensors."
            )


def match_ids(own: AnyArray, wanted: AnyArray) -> OffsetArray | None:
    """Return the position in `own` of every wanted id; None if both are the same.

    Wanted ids may repeat, but must include all of `own`.
    """
    if np.array_equal(own, wanted):
        return None
    twice = repeats(own)
    if twice:
        raise InvalidSensorsError(
            f"Ids must be different to be put in another order, but {len(twice)} are "
            f"repeated ({first_few(twice)}).\n\n"
            "Hint: align before taking individuals twice."
        )
    position = {id_: i for i, id_ in enumerate(own.tolist())}
    asked = wanted.tolist()
    different = set(asked)
    missing = list(dict.fromkeys(id_ for id_ in asked if id_ not in position))
    if missing:
        raise InvalidSensorsError(
            f"Every individual must have sensors, but {len(missing)} of "
            f"{len(different)} individuals have no sensors (ids {first_few(missing)}).\n\n"
            "Hint: pass ids=y.ids where the sensors are read, which keeps individuals "
            "without any sample; or leave these individuals out."
        )
    surplus = [id_ for id_ in position if id_ not in different]
    if surplus:
        raise InvalidSensorsError(
            f"Sensors must be of the individuals asked for, but {len(surplus)} of "
            f"{own.size} individuals with sensors are none of them "
            f"(ids {first_few(surplus)}).\n\nHint: Z[numpy.isin(Z.ids, y.ids)]."
        )
    return np.fromiter((position[id_] for id_ in asked), np.int64, count=len(asked))


def as_ids(given: Any) -> AnyArray:
    """Return ids as an array in which numbers beside texts stay numbers."""
    ids = np.asarray(given)
    if ids.dtype.kind == "U" and not all(isinstance(value, str) for value in given):
        ids = np.array(given, dtype=object)
    if ids.ndim != 1 or any(is_missing(value) for value in ids.tolist()):
        raise InvalidParameterError(
            "`ids` must be one known id per individual, in one dimension.\n\n"
            "Hint: y.ids are those of the event histories."
        )
    return ids

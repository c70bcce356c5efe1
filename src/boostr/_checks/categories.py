"""Categories that come in another type than in training: the text "1" and the number 1."""

from __future__ import annotations

import math
import numbers
from collections.abc import Collection, Iterable, Sequence
from typing import Any

import numpy as np

from boostr._checks.numbers import first_few, is_missing
from boostr.exceptions import BoostrError

__all__ = ["number_categories"]

_TRUTHS = {"true": 1.0, "false": 0.0}


def number_categories(
    values: Iterable[Any], known: Sequence[Any], owner: str, error: type[BoostrError]
) -> dict[Any, float]:
    """Return the codes of known categories by value: their positions in the list.

    A value of another type matches the category with the same text or number: 1 is "1",
    True is "True". ``error`` is raised if matches are ambiguous or there are none.
    """
    codes = {category: float(place) for place, category in enumerate(known)}
    distinct = {value for value in set(values) if not is_missing(value)}
    strangers = [value for value in distinct if value not in codes]
    if not strangers or not codes:
        return codes
    kinds = {_kind(category) for category in known}
    foreign = sorted((v for v in strangers if _kind(v) not in kinds), key=str)
    meanings = _find_meanings(known, distinct)
    unsafe = [v for v in foreign if _kind(v) == "number" and _is_written_oddly(known)]
    unsafe += [v for v in strangers if len(meanings.get(_read(v), ())) > 1]
    found = {
        value: codes[meanings[_read(value)][0]]
        for value in strangers
        if _read(value) in meanings
    }
    is_hopeless = not meanings or all(_read(value) is None for value in foreign)
    if unsafe or (len(foreign) == len(distinct) and not found and is_hopeless):
        raise error(
            f"{owner} must hold categories as in training, {_describe(known)}, but it "
            f"holds {_describe(foreign or unsafe)}, and it cannot be told which category "
            "each of these is.\n\nHint: read the column with the type of training, for "
            "instance pandas.read_csv(…, dtype=str) for text."
        )
    return codes | found


def _kind(value: Any) -> str:
    """Return "number", "text" or the name of the type."""
    if isinstance(value, numbers.Number | np.bool_):
        return "number"
    return "text" if isinstance(value, str) else type(value).__name__


def _describe(values: Collection[Any]) -> str:
    kinds = " and ".join(dict.fromkeys(_kind(value) for value in values))
    return f"{kinds} ({first_few(map(repr, values))})"


def _parse(text: str) -> float | None:
    """Return the finite number written in a text, None if there is none."""
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def _read(value: Any) -> float | None:
    """Return the number that a value is or writes exactly; True is 1, False is 0."""
    if _kind(value) == "number":
        return float(value)
    if not isinstance(value, str):
        return None
    number = _parse(value)
    if number is None:
        return _TRUTHS.get(value.lower())
    return number if value in {repr(number), f"{number:.0f}"} else None


def _find_meanings(
    known: Sequence[Any], given: Collection[Any]
) -> dict[float | None, list[Any]]:
    """Return the categories by number; "True" is 1 only if all values are 0, 1 or words."""
    meanings: dict[float | None, list[Any]] = {}
    for category in known:
        number = _read(category)
        if number is not None:
            meanings.setdefault(number, []).append(category)
    has_truths = any(isinstance(v, str) and v.lower() in _TRUTHS for v in (*known, *given))
    said = {_read(value) for value in (*known, *given)}
    return {} if has_truths and not said <= {0.0, 1.0} else meanings


def _is_written_oddly(known: Sequence[Any]) -> bool:
    """Return whether categories would change as numbers, such as by leading zeros."""
    return any(
        isinstance(category, str)
        and _parse(category) is not None
        and _read(category) is None
        for category in known
    )

"""Categories that come in another type than in training: the text "1" and the number 1."""

from __future__ import annotations

import math
import numbers
from collections.abc import Collection, Iterable, Sequence
from typing import Any

import numpy as np

from boostr._validation import first_few, is_missing
from boostr.exceptions import BoostrError

__all__ = ["number_categories"]

_TRUTHS = {"true": 1.0, "false": 0.0}


def number_categories(
    values: Iterable[Any], known: Sequence[Any], owner: str, error: type[BoostrError]
) -> dict[Any, float]:
    """Return the code of every value that is a known category, by its place in the list.

    A value of another type is the category that it writes or reads: 1 and 1.0 are "1" and
    "1.0", True is "True". Values that no category is like have no code.

    Parameters
    ----------
    values : iterable
        Values as they come, missing ones among them.
    known : sequence
        The categories.
    owner : str
        Whose they are, to begin a sentence with, such as "Feature 'site'".
    error : type
        Raised where values of another type cannot be told, or where all are of another
        type than the categories.

    Returns
    -------
    dict
        Codes by value.

    Examples
    --------
    >>> from boostr.exceptions import InvalidFeaturesError
    >>> number_categories([1, "a", 7], ["1", "a"], "Feature 'x'", InvalidFeaturesError)
    {'1': 0.0, 'a': 1.0, 1: 0.0}
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
    """Return what values of this type have in common with those of others."""
    if isinstance(value, numbers.Number | np.bool_):
        return "number"
    return "text" if isinstance(value, str) else type(value).__name__


def _describe(values: Collection[Any]) -> str:
    kinds = " and ".join(dict.fromkeys(_kind(value) for value in values))
    return f"{kinds} ({first_few(map(repr, values))})"


def _parse(text: str) -> float | None:
    """Return the finite number that a text is, if it is one."""
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def _read(value: Any) -> float | None:
    """Return the number that a value is or plainly writes; a truth is 1 or 0."""
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
    """Return the categories by number; "True" is 1 only where all are true or false."""
    meanings: dict[float | None, list[Any]] = {}
    for category in known:
        number = _read(category)
        if number is not None:
            meanings.setdefault(number, []).append(category)
    has_truths = any(isinstance(v, str) and v.lower() in _TRUTHS for v in (*known, *given))
    said = {_read(value) for value in (*known, *given)}
    return {} if has_truths and not said <= {0.0, 1.0} else meanings


def _is_written_oddly(known: Sequence[Any]) -> bool:
    """Tell whether categories would lose something as numbers, such as zeros in front."""
    return any(
        isinstance(category, str)
        and _parse(category) is not None
        and _read(category) is None
        for category in known
    )

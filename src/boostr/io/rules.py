"""Rules for the fields of a file: a test, and words that describe it."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from boostr.exceptions import InvalidModelFileError

__all__ = [
    "CATEGORY",
    "STAMP",
    "TEXT",
    "TRUTH",
    "Rule",
    "array",
    "instance",
    "number",
    "optional",
    "require",
    "sequence",
    "shorten",
    "whole",
]


_MAX_QUOTED = 300  # characters
_MAX_WHOLE = 2**53  # beyond it NumPy and Python have different numbers


@dataclass(frozen=True, slots=True)
class Rule:
    """A test of a value, and words for what it requires."""

    words: str
    admits: Callable[[Any], bool]


CATEGORY = Rule(
    "text, number or truth value", lambda value: isinstance(value, str | int | float)
)
STAMP = Rule(
    "time stamp",
    lambda value: isinstance(value, np.datetime64) and not np.isnat(value),
)
TEXT = Rule("text", lambda value: isinstance(value, str))
TRUTH = Rule("truth value", lambda value: isinstance(value, bool | np.bool_))


def require(is_met: object, fact: str) -> None:
    """Refuse a file unless a condition holds."""
    if not is_met:
        raise InvalidModelFileError(
            f"{fact}, but in this file it is otherwise.\n\nHint: save the model again."
        )


def shorten(error: Exception) -> str:
    """Return the first line of an error, cut if it quotes a file at length."""
    fact = str(error).split("\n", maxsplit=1)[0]
    return fact if len(fact) <= _MAX_QUOTED else f"{fact[:_MAX_QUOTED]}…"


def array(name: str, *shape: str, finite: bool = True) -> Rule:
    """Return the rule for arrays of one type; NaN must be allowed explicitly."""
    dtype, n_dimensions = np.dtype(name), len(shape)

    def admits(value: Any) -> bool:
        is_right = (
            isinstance(value, np.ndarray)
            and value.dtype == dtype
            and value.ndim == n_dimensions
        )
        return is_right and (not finite or bool(np.isfinite(value).all()))

    note = ", NaN allowed" if not finite else ""
    return Rule(f"{name} array ({', '.join(shape)}){note}", admits)


def number(low: float = -math.inf, *, above: bool = False, finite: bool = True) -> Rule:
    """Return the rule for numbers from ``low`` on, or above it; NaN never passes."""

    def admits(value: Any) -> bool:
        is_number = isinstance(value, int | float | np.integer | np.floating)
        if not is_number or isinstance(value, bool):
            return False
        if isinstance(value, int) and abs(value) > _MAX_WHOLE:
            return False
        if math.isnan(value) or (finite and math.isinf(value)):
            return False
        return bool(value > low if above else value >= low)

    bound = "" if low == -math.inf else f" {'above' if above else 'of at least'} {low:g}"
    words = f"finite number{bound}" if finite else f"number{bound}, or infinity"
    return Rule(words, admits)


def whole(low: int, high: int) -> Rule:
    """Return the rule for whole numbers in a range."""
    return Rule(
        f"whole number from {low} to {high}",
        lambda value: (
            isinstance(value, int | np.integer)
            and not isinstance(value, bool)
            and low <= int(value) <= high
        ),
    )


def instance(*types: type, words: str) -> Rule:
    """Return the rule for objects of some classes, which have their own rules."""
    return Rule(words, lambda value: isinstance(value, types))


def optional(rule: Rule) -> Rule:
    """Return a rule that also allows None."""
    return Rule(f"{rule.words}, or null", lambda value: value is None or rule.admits(value))


def sequence(kind: type[tuple[Any, ...]] | type[list[Any]], rule: Rule) -> Rule:
    """Return the rule for tuples or lists of one kind of entries."""
    return Rule(
        f"{kind.__name__} of {rule.words}",
        lambda value: type(value) is kind and all(rule.admits(entry) for entry in value),
    )

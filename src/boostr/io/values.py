"""Values as JSON and arrays; objects only of registered classes."""

from __future__ import annotations

import hashlib
import json
import math
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from boostr._typing import AnyArray
from boostr.exceptions import InvalidModelFileError, InvalidParameterError
from boostr.io.rules import Rule, require, shorten

__all__ = ["CLASSES", "Kind", "Reader", "Writer", "digest", "register"]

_MAX_DEPTH = 32
_WORDS = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}
_SAFE_KINDS = "biufMm"
_N_BITS = 63  # of whole numbers that hardly share a hash: tables of them take no longer
_MOST_ALIKE = 16  # larger ones that may share one
_FREE_TEXT = 2**24  # letters that arrays of text may take, whatever the file holds
_TEXT_RATIO = 8  # letters that they may take for every letter of the file


@dataclass(frozen=True, slots=True, eq=False)
class Kind:
    """A class whose objects a file may hold; reading creates no others."""

    type: type
    rules: Mapping[str, Rule]
    check: Callable[[Any], None]  # of what must hold between the fields
    take_apart: Callable[[Any], dict[str, Any]]
    put_together: Callable[..., Any]
    later: Mapping[str, Rule]  # of fields that the first files did not have


CLASSES: dict[str, Kind] = {}


def register(
    cls: type,
    rules: Mapping[str, Rule],
    *,
    check: Callable[[Any], None] = lambda thing: None,
    take_apart: Callable[[Any], dict[str, Any]] | None = None,
    put_together: Callable[..., Any] | None = None,
    later: Mapping[str, Rule] | None = None,
) -> None:
    """Allow objects of a class in files.

    Dataclasses are stored by field; others by ``take_apart`` and ``put_together``.
    ``rules`` has one rule per field; fields in ``later`` may be missing.
    """
    CLASSES[cls.__name__] = Kind(
        cls, rules, check, take_apart or _take_fields, put_together or cls, later or {}
    )


def _take_fields(thing: Any) -> dict[str, Any]:
    return {each.name: getattr(thing, each.name) for each in fields(thing) if each.init}


class Writer:
    """Converts values to JSON, and collects the arrays."""

    def __init__(self) -> None:
        self.arrays: list[AnyArray] = []

    def write(self, value: Any, place: str) -> Any:
        """Return a value as JSON; ``place`` is its name in messages."""
        if isinstance(value, np.ndarray | np.generic) and not isinstance(value, str):
            return self._write_array(value, place)
        if value is None or isinstance(value, str | int | float):
            return self._write_plain(value, place)
        if isinstance(value, set | frozenset):
            value = sorted(value, key=str)  # the same for the same set
        if isinstance(value, list | tuple):
            entries = [self.write(entry, f"{place}[]") for entry in value]
            return entries if isinstance(value, list) else {"tuple": entries}
        if isinstance(value, Mapping):
            return {"dict": [self._write_pair(*pair, place) for pair in value.items()]}
        return self._write_object(value, place)

    def _write_plain(self, value: str | float | None, place: str) -> Any:
        if isinstance(value, float) and not math.isfinite(value):
            return {"float": str(value)}
        if isinstance(value, str) and not _is_unicode(value):
            raise _cannot_save(place, "text that is no valid Unicode")
        return str(value) if isinstance(value, str) else value

    def _write_pair(self, name: Any, value: Any, place: str) -> list[Any]:
        inner = f"{place}[{name!r}]"
        return [self.write(name, inner), self.write(value, inner)]

    def _write_array(self, value: AnyArray | np.generic, place: str) -> Any:
        values = np.asarray(value)
        if values.dtype.kind in _SAFE_KINDS and values.dtype.itemsize <= 8:
            self.arrays.append(values)
            name = "array" if isinstance(value, np.ndarray) else "scalar"
            return {name: len(self.arrays) - 1}
        if values.dtype.kind in "OU" and values.ndim == 1:
            name = "objects" if values.dtype.kind == "O" else "texts"
            return {name: self.write(values.tolist(), place)}
        raise _cannot_save(place, f"an array of {values.dtype}")

    def _write_object(self, value: Any, place: str) -> Any:
        name = type(value).__name__
        kind = CLASSES.get(name)
        if kind is None or kind.type is not type(value):
            raise _cannot_save(place, f"a {name}")
        parts = kind.take_apart(value)
        return {
            "object": name,
            "fields": {
                field: self.write(part, f"{place}.{field}") for field, part in parts.items()
            },
        }


class Reader:
    """Converts JSON back to values; refuses what a writer would not have produced."""

    def __init__(self, arrays: list[AnyArray]) -> None:
        self._arrays = arrays
        self._is_taken = [False] * len(arrays)
        self._hashes: Counter[int] = Counter()  # of very large whole numbers
        self._n_letters = self._n_cells = 0  # of texts in arrays, as given and as kept
        self._special: dict[str, Callable[[Any, str, int], Any]] = {
            "float": self._read_float,
            "tuple": lambda entries, *where: tuple(self._read_list(entries, *where)),
            "dict": self._read_dict,
            "array": self._read_array,
            "scalar": self._read_scalar,
            "objects": self._read_objects,
            "texts": self._read_texts,
        }

    def read(self, code: Any, place: str, depth: int = 0) -> Any:
        """Return the value of JSON."""
        require(depth <= _MAX_DEPTH, f"`{place}` must not be nested so deeply")
        if isinstance(code, str):
            require(_is_unicode(code), f"`{place}` must be valid Unicode")
            return code
        if isinstance(code, list):
            return self._read_list(code, place, depth)
        if isinstance(code, int) and code.bit_length() > _N_BITS:
            self._count_alike(code, place)
        if not isinstance(code, dict):
            return code
        if code.keys() == {"object", "fields"}:
            return self._read_object(code, place, depth)
        require(len(code) == 1, f"`{place}` must be one of the kinds of values there are")
        name, content = next(iter(code.items()))
        require(name in self._special, f"`{place}` must be a known kind of value")
        return self._special[name](content, place, depth)

    def _count_alike(self, number: int, place: str) -> None:
        """Refuse many numbers with the same hash, which make lookups slow."""
        self._hashes[hash(number)] += 1
        is_usual = self._hashes[hash(number)] <= _MOST_ALIKE
        require(is_usual, f"`{place}` must not be one of many numbers that are that alike")

    def _read_list(self, entries: Any, place: str, depth: int) -> list[Any]:
        require(isinstance(entries, list), f"`{place}` must be a list")
        return [self.read(entry, f"{place}[]", depth + 1) for entry in entries]

    def _read_float(self, word: Any, place: str, depth: int) -> float:
        require(isinstance(word, str) and word in _WORDS, f"`{place}` must be a number")
        return _WORDS[word]

    def _read_dict(self, pairs: Any, place: str, depth: int) -> dict[Any, Any]:
        require(isinstance(pairs, list), f"`{place}` must be a list of pairs")
        result = {}
        for pair in pairs:
            require(isinstance(pair, list) and len(pair) == 2, f"`{place}` must hold pairs")
            name = self.read(pair[0], place, depth + 1)
            require(
                name is None or isinstance(name, str | int | float),
                f"Names in `{place}` must be text or numbers",
            )
            require(name not in result, f"Names in `{place}` must differ")
            result[name] = self.read(pair[1], f"{place}[{str(name)[:40]!r}]", depth + 1)
        return result

    def _read_array(self, index: Any, place: str, depth: int) -> AnyArray:
        is_index = type(index) is int and 0 <= index < len(self._arrays)
        require(is_index, f"`{place}` must be an array of the file")
        # As the writer does it; the same one a million times would be checked as often.
        require(not self._is_taken[index], f"`{place}` must be an array of its own")
        self._is_taken[index] = True
        return self._arrays[index]

    def _read_scalar(self, index: Any, place: str, depth: int) -> Any:
        values = self._read_array(index, place, depth)
        require(values.ndim == 0, f"`{place}` must be a single number")
        return values[()]

    def _read_objects(self, entries: Any, place: str, depth: int) -> AnyArray:
        values = self._read_list(entries, place, depth)
        result = np.empty(len(values), dtype=object)
        result[:] = values
        return result

    def _read_texts(self, entries: Any, place: str, depth: int) -> AnyArray:
        values = self._read_list(entries, place, depth)
        require(all(isinstance(value, str) for value in values), f"`{place}` must be text")
        # An array of text has the room of the longest entry everywhere.
        self._n_cells += len(values) * max(map(len, values), default=1)
        self._n_letters += sum(map(len, values))
        is_even = self._n_cells <= _FREE_TEXT + _TEXT_RATIO * self._n_letters
        require(is_even, f"`{place}` must not be that uneven")
        return np.array(values, dtype=np.str_)

    def _read_object(self, code: dict[str, Any], place: str, depth: int) -> Any:
        name = code["object"]
        is_known = isinstance(name, str) and name in CLASSES
        require(is_known, f"`{place}` must be of a class that files may hold")
        kind = CLASSES[name]
        parts = code["fields"]
        is_dict = isinstance(parts, dict)
        require(
            is_dict and parts.keys() - kind.later.keys() == kind.rules.keys(),
            f"`{place}` must have the fields of a {name}",
        )
        rules = {
            field: rule
            for field, rule in {**kind.rules, **kind.later}.items()
            if field in parts
        }
        values = {
            field: self.read(parts[field], f"{place}.{field}", depth + 1) for field in rules
        }
        for field, rule in rules.items():
            fact = f"`{place}.{field}` must be: {rule.words}"
            require(rule.admits(values[field]), fact)
        try:
            thing = kind.put_together(**values)
        except InvalidParameterError as error:
            raise InvalidModelFileError(
                f"`{place}` of the file is impossible: {shorten(error)}\n\n"
                "Hint: save the model again."
            ) from error
        kind.check(thing)
        return thing


def _is_unicode(text: str) -> bool:
    """Return whether a text has no lone surrogates, which cannot be encoded."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _cannot_save(place: str, what: str) -> InvalidParameterError:
    return InvalidParameterError(
        f"A model file can hold numbers, text, arrays and the classes of boostr, but "
        f"`{place}` is {what}.\n\nHint: use families of boostr.basis as leaf functions, "
        "and text or numbers as categories (X[column].astype(str))."
    )


def digest(*values: Any) -> str:
    """Return a short text that differs if any bit of the values does."""
    state = hashlib.sha256()
    for value in values:
        writer = Writer()
        state.update(json.dumps(writer.write(value, "value")).encode())
        for array in writer.arrays:
            state.update(f"{array.dtype.str}{array.shape}".encode())
            state.update(array.tobytes())
    return state.hexdigest()[:16]

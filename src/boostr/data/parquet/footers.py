"""Ranges of ids from the footers of Parquet files, which may be damaged.

pyarrow aborts the process, by uncaught C++ exceptions, if the metadata of a column are
inconsistent. Therefore `read_ranges` reads the few entries it needs from the footer itself,
a Thrift structure in the compact protocol, and skips all others.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Iterator
from contextlib import suppress
from datetime import date, timedelta
from typing import Any, BinaryIO

from boostr._optional import require

__all__ = ["Range", "read_ranges"]

Range = tuple[Any, Any]  # smallest and largest id; None where they are unknown
_UNKNOWN: Range = (None, None)

_TAIL = struct.Struct("<I4s")  # size of the footer, magic
# Numbers of entries, as the format defines them.
_ROW_GROUPS, _COLUMNS, _COLUMN, _STATISTICS = 4, 1, 3, 12
_MAX, _MIN, _N_NULL, _MAX_VALUE, _MIN_VALUE = 1, 2, 3, 5, 6
# Kinds of values in the compact protocol.
_TRUTHS, _BYTE, _WHOLES, _DOUBLE, _BINARY = {1, 2}, 3, {4, 5, 6}, 7, 8
_LISTS, _STRUCT = {9, 10}, 12
_LONG = 15  # size of a list that is written after it


def read_ranges(file: BinaryIO, place: int, kind: Any, n_groups: int) -> list[Range]:
    """Return the (first, last) id of every row group; both are None where unknown.

    `place` is the id's position among the leaf columns, and `kind` its Arrow type.
    """
    with suppress(IndexError, ValueError, RecursionError, struct.error, OverflowError):
        found = [_find_range(entry, kind) for entry in _read_statistics(file, place)]
        if len(found) == n_groups:
            return found
    return [_UNKNOWN] * n_groups


def _read_statistics(file: BinaryIO, place: int) -> Iterator[dict[int, Any]]:
    """Yield the statistics of the id column for every row group."""
    end = file.seek(0, 2)
    file.seek(end - _TAIL.size)
    size, _ = _TAIL.unpack(file.read(_TAIL.size))
    if size > end - _TAIL.size:
        return
    file.seek(end - _TAIL.size - size)
    footer = _Thrift(file.read(size))
    for number, kind in footer.fields():
        if number != _ROW_GROUPS:
            footer.skip(kind)
            continue
        for _ in footer.entries(_STRUCT):
            yield _read_group(footer, place)


def _read_group(footer: _Thrift, place: int) -> dict[int, Any]:
    found: dict[int, Any] = {}
    for number, kind in footer.fields():
        if number != _COLUMNS:
            footer.skip(kind)
            continue
        for column in footer.entries(_STRUCT):
            if column == place:
                found = _read_chunk(footer)
            else:
                footer.skip(_STRUCT)
    return found


def _read_chunk(footer: _Thrift) -> dict[int, Any]:
    found: dict[int, Any] = {}
    for number, kind in footer.fields():
        if number != _COLUMN:
            footer.skip(kind)
            continue
        for part, part_kind in footer.fields():
            if part == _STATISTICS:
                found = {name: footer.read(own) for name, own in footer.fields()}
            else:
                footer.skip(part_kind)
    return found


def _find_range(found: dict[int, Any], kind: Any) -> Range:
    """Return the range in the statistics if both ends are valid."""
    if found.get(_N_NULL):
        return _UNKNOWN  # a row without an id is in no range: reading it gives an error
    low, high = found.get(_MIN_VALUE), found.get(_MAX_VALUE)
    types = require("pyarrow", extra="scan", feature="Scanning Parquet files").types
    if low is None and types.is_signed_integer(kind):
        low, high = found.get(_MIN), found.get(_MAX)  # as before 2018, right for these
    if not (isinstance(low, bytes) and isinstance(high, bytes)):
        return _UNKNOWN
    first, last = _decode(types, kind, low), _decode(types, kind, high)
    is_known = first is not None and last is not None and first <= last
    return (first, last) if is_known else _UNKNOWN


def _decode(types: Any, kind: Any, value: bytes) -> Any:
    """Return an end of a range as pyarrow would; None for types that are not supported."""
    if types.is_dictionary(kind):
        kind = kind.value_type
    if types.is_string(kind) or types.is_large_string(kind):
        return value.decode()
    if types.is_date32(kind):
        return date(1970, 1, 1) + timedelta(days=struct.unpack("<i", value)[0])
    is_long = types.is_primitive(kind) and kind.bit_width > 32
    if types.is_integer(kind):
        code = "<q" if is_long else "<i"
        if types.is_unsigned_integer(kind):
            code = code.upper()
        return struct.unpack(code, value)[0]
    if types.is_float32(kind) or types.is_float64(kind):
        number = struct.unpack("<d" if is_long else "<f", value)[0]
        return None if math.isnan(number) else number
    return None


class _Thrift:
    """A reader of structures in Thrift's compact protocol, from begin to end."""

    def __init__(self, content: bytes) -> None:
        self._content = content
        self.at = 0

    def fields(self) -> Iterator[tuple[int, int]]:
        """Yield number and kind of each field; the caller must read or skip its value."""
        number = 0
        while head := self._content[self.at]:
            self.at += 1
            step = head >> 4
            number = number + step if step else self._whole()
            yield number, head & 15
        self.at += 1

    def entries(self, kind: int) -> range:
        """Return the positions of a list of one kind; the caller reads or skips each."""
        n, found = self._begin_list()
        if n and found != kind:
            raise ValueError("A list holds values of another kind.")
        return range(n)

    def read(self, kind: int) -> Any:
        """Return an integer or bytes; skip other kinds and return None."""
        if kind in _WHOLES:
            return self._whole()
        if kind != _BINARY:
            self.skip(kind)
            return None
        size = self._varint()
        begin, self.at = self.at, self.at + size
        if self.at > len(self._content):
            raise ValueError("A text is cut off.")
        return self._content[begin : self.at]

    def skip(self, kind: int) -> None:
        """Skip a value of some kind."""
        if kind == _STRUCT:
            self._skip_struct()
        elif kind in _LISTS:
            n, own = self._begin_list()
            for _ in range(n):
                self.skip(_BYTE if own in _TRUTHS else own)
        elif kind in _WHOLES:
            self._varint()
        elif kind == _BINARY:
            size = self._varint()
            self.at += size
        elif kind in {_BYTE, _DOUBLE}:
            self.at += 1 if kind == _BYTE else 8
        elif kind not in _TRUTHS:  # in a field, the kind is the value
            raise ValueError(f"There is no kind {kind} of values in a footer.")
        if self.at > len(self._content):
            raise ValueError("The footer is cut off.")

    def _skip_struct(self) -> None:
        """Skip all fields of a structure; integers, the most frequent kind, go fast."""
        content = self._content
        while head := content[self.at]:
            self.at += 1
            if head < 16:
                self._varint()  # the number of the field
            if head & 15 in _WHOLES:
                while content[self.at] > 127:
                    self.at += 1
                self.at += 1
            else:
                self.skip(head & 15)
        self.at += 1

    def _begin_list(self) -> tuple[int, int]:
        head = self._content[self.at]
        self.at += 1
        n = head >> 4
        return (self._varint() if n == _LONG else n), head & 15

    def _varint(self) -> int:
        value = shift = 0
        while True:
            byte = self._content[self.at]
            self.at += 1
            value |= (byte & 127) << shift
            if byte < 128:
                return value
            shift += 7

    def _whole(self) -> int:
        value = self._varint()
        return (value >> 1) ^ -(value & 1)

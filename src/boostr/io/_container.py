"""Binary format of files: a short header, one JSON document, consecutive arrays.

Files hold no addresses: arrays follow one another in the order of the table in the
document, so that none can overlap, hide or point outside. All sizes are compared with the
bytes that are there before anything is allocated.
"""

from __future__ import annotations

import hashlib
import json
import math
import struct
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from boostr._typing import AnyArray
from boostr.exceptions import InvalidModelFileError

__all__ = [
    "FORMAT_VERSION",
    "HEAD_SIZE",
    "Container",
    "check_size",
    "measure",
    "pack",
    "unpack",
]

FORMAT_VERSION = 1

_MAGIC = b"\x89BOOSTR\n"
# Magic, version, method of the arrays, bytes of document, arrays as stored and as they are.
_HEAD = struct.Struct("<8sIIQQQ")
HEAD_SIZE = _HEAD.size
_DIGEST_SIZE = hashlib.sha256().digest_size
_AS_THEY_ARE, _DEFLATED = 0, 1
_MAX_RATIO = 100  # a file must not grow by more in memory
_MAX_DIMENSIONS = 4
_MAX_LENGTH = 2**40  # of one dimension
_PLAIN_TYPES = frozenset(
    ["|b1", "|i1", "|u1", "<i2", "<u2", "<i4", "<u4", "<i8", "<u8", "<f4", "<f8"]
)
_UNITS = frozenset(["Y", "M", "W", "D", "h", "m", "s", "ms", "us", "ns"])
_TIME_TYPES = frozenset(f"<{kind}8[{unit}]" for kind in "Mm" for unit in _UNITS)
_TYPES = _PLAIN_TYPES | _TIME_TYPES


@dataclass(frozen=True, slots=True, eq=False)
class Container:
    """A document and its arrays."""

    document: dict[str, Any]
    arrays: list[AnyArray]


def pack(document: dict[str, Any], arrays: Sequence[AnyArray]) -> bytes:
    """Return the bytes of a document and its arrays; adds the table of arrays."""
    table, parts = [], []
    for array in arrays:
        plain = array.astype(array.dtype.newbyteorder("<"), copy=False)
        # The order in memory is kept: products of matrices differ in their last bits by it.
        is_fortran = plain.flags.f_contiguous and not plain.flags.c_contiguous
        order: Literal["C", "F"] = "F" if is_fortran else "C"
        table.append([plain.dtype.str, list(plain.shape), order])
        parts.append(plain.tobytes(order=order))
    text = json.dumps({**document, "arrays": table}, allow_nan=False).encode()
    raw = b"".join(parts)
    stored = zlib.compress(raw, 6)
    method = _DEFLATED
    if len(stored) >= len(raw) or len(raw) > _MAX_RATIO * len(stored):
        stored, method = raw, _AS_THEY_ARE
    head = _HEAD.pack(_MAGIC, FORMAT_VERSION, method, len(text), len(stored), len(raw))
    digest = hashlib.sha256(head + text + stored).digest()
    return head + digest + text + stored


def measure(content: bytes | memoryview) -> int:
    """Return the number of bytes of the container that begins here, from its header."""
    if len(content) < _HEAD.size or bytes(content[: len(_MAGIC)]) != _MAGIC:
        is_cut = len(content) > 0 and _MAGIC.startswith(bytes(content[: len(_MAGIC)]))
        is_cut = is_cut or bytes(content[: len(_MAGIC)]) == _MAGIC
        raise InvalidModelFileError(
            "The file must be a boostr file, but it is "
            + ("cut off after a few bytes." if is_cut else "something else.")
            + "\n\nHint: model.save(path) and the command `boostr fit` write such files."
        )
    _, version, _, n_text, n_stored, _ = _HEAD.unpack(content[: _HEAD.size])
    if version > FORMAT_VERSION:
        raise InvalidModelFileError(
            f"The file must have format version {FORMAT_VERSION} at most, but it has "
            f"{version}.\n\nHint: a newer boostr wrote it; pip install --upgrade boostr"
        )
    if version < 1:
        raise _refuse(f"The file has the format version {version}, which never was.")
    return int(_HEAD.size + _DIGEST_SIZE + n_text + n_stored)


def check_size(head: bytes | memoryview, n_bytes: int) -> None:
    """Refuse a file whose size differs from its header."""
    size = measure(head)
    if size != n_bytes:
        what = "cut off" if size > n_bytes else "followed by something else"
        raise InvalidModelFileError(
            f"The file must have {size} bytes, but it has {n_bytes}: it is {what}."
            "\n\nHint: copy it again, or save the model again."
        )


def unpack(content: bytes | memoryview) -> Container:
    """Return the document and the arrays of a whole container."""
    check_size(content, len(content))
    head = bytes(content[: _HEAD.size])
    _, _, method, n_text, _, n_raw = _HEAD.unpack(head)
    rest = content[_HEAD.size + _DIGEST_SIZE :]
    digest = hashlib.sha256(head)
    digest.update(rest)
    if digest.digest() != bytes(content[_HEAD.size : _HEAD.size + _DIGEST_SIZE]):
        raise InvalidModelFileError(
            "The content of the file must have the checksum that stands in it, but it has "
            "another one: it was damaged.\n\nHint: copy it again, or save the model again."
        )
    document = _read_document(bytes(rest[:n_text]))
    table = _check_table(document.pop("arrays", None), n_raw)
    raw = _inflate(rest[n_text:], method, n_raw)
    return Container(document, _cut(raw, table))


def _refuse(fact: str) -> InvalidModelFileError:
    return InvalidModelFileError(f"{fact}\n\nHint: save the model again.")


def _read_document(text: bytes) -> dict[str, Any]:
    try:
        document = json.loads(
            text.decode("utf-8"),
            object_pairs_hook=_unite,
            parse_constant=_refuse_constant,
            parse_float=_read_float,
        )
    except (ValueError, RecursionError) as error:
        if isinstance(error, InvalidModelFileError):
            raise
        raise _refuse("The document of the file must be JSON, but it is not.") from error
    if not isinstance(document, dict):
        raise _refuse("The document of the file must be an object, but it is not.")
    return document


def _unite(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) != len(pairs):
        raise _refuse("Names in the document must differ, but one stands twice.")
    return result


def _refuse_constant(word: str) -> None:
    raise _refuse(f"Numbers in the document must be finite, but one is {word}.")


def _read_float(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise _refuse("Numbers in the document must be finite, but one is too large.")
    return number


def _check_table(table: Any, n_raw: int) -> list[tuple[np.dtype[Any], list[int], str]]:
    """Check types and shapes of all arrays against the number of bytes."""
    if not isinstance(table, list):
        raise _refuse("The document must list the arrays, but it does not.")
    checked = []
    n_bytes = 0
    for entry in table:
        if not _is_entry(entry):
            raise _refuse(
                "An array must have a type, a shape and an order that are known, but one "
                f"has {repr(entry)[:80]}."
            )
        dtype = np.dtype(entry[0])
        n_bytes += dtype.itemsize * math.prod(entry[1])
        checked.append((dtype, entry[1], entry[2]))
    if n_bytes != n_raw:
        raise _refuse(f"The arrays need {n_bytes} bytes, but the file has {n_raw} of them.")
    return checked


def _is_entry(entry: Any) -> bool:
    return (
        isinstance(entry, list)
        and len(entry) == 3
        and isinstance(entry[0], str)
        and entry[0] in _TYPES
        and isinstance(entry[1], list)
        and len(entry[1]) <= _MAX_DIMENSIONS
        and all(type(length) is int and 0 <= length <= _MAX_LENGTH for length in entry[1])
        and entry[2] in ("C", "F")
    )


def _inflate(stored: bytes | memoryview, method: int, n_raw: int) -> bytes | memoryview:
    """Return the bytes of the arrays, limited by the header and a maximum ratio."""
    if method == _AS_THEY_ARE:
        if len(stored) != n_raw:
            raise _refuse("The arrays of the file have another size than it says.")
        return stored
    if method != _DEFLATED or n_raw > _MAX_RATIO * len(stored):
        raise _refuse("The arrays of the file are packed in a way that is not allowed.")
    stream = zlib.decompressobj()
    try:
        raw = stream.decompress(stored, n_raw + 1)
    except zlib.error as error:
        raise _refuse("The arrays of the file cannot be unpacked.") from error
    if len(raw) != n_raw or not stream.eof or stream.unused_data:
        raise _refuse("The arrays of the file have another size than it says.")
    return raw


def _cut(
    raw: bytes | memoryview, table: list[tuple[np.dtype[Any], list[int], str]]
) -> list[AnyArray]:
    """Return the arrays, each with its own memory."""
    arrays = []
    begin = 0
    for dtype, shape, order in table:
        size = math.prod(shape)
        flat = np.frombuffer(raw, dtype, size, begin) if size else np.empty(0, dtype)
        begin += size * dtype.itemsize
        if dtype == np.bool_ and flat.view(np.uint8).max(initial=0) > 1:
            raise _refuse("Truth values must be 0 or 1, but some are not.")
        native = dtype.newbyteorder("=")
        array = flat.reshape(shape, order="F" if order == "F" else "C")
        arrays.append(array.astype(native, order="K", copy=True))
    return arrays

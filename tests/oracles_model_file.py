"""A model file written and read by hand, from nothing but ``docs/model-file.md``."""

import hashlib
import json
import struct
import zlib

import numpy as np

MAGIC = b"\x89BOOSTR\n"


def write_file(document, raw, *, version=1, method=1, n_raw=None, stored=None):
    """Return the bytes of a file; what is given overrides what would be right."""
    text = json.dumps(document).encode() if not isinstance(document, bytes) else document
    if stored is None:
        stored = zlib.compress(raw) if method == 1 else raw
    sizes = len(text), len(stored), len(raw) if n_raw is None else n_raw
    head = MAGIC + struct.pack("<IIQQQ", version, method, *sizes)
    return head + hashlib.sha256(head + text + stored).digest() + text + stored


def read_file(content):
    """Return the document with its table of arrays, and the bytes of the arrays."""
    _, method, n_text, n_stored, _ = struct.unpack("<IIQQQ", content[8:40])
    text, stored = content[72 : 72 + n_text], content[72 + n_text :]
    assert len(stored) == n_stored
    return json.loads(text), zlib.decompress(stored) if method == 1 else stored


def read_arrays(document, raw):
    """Return the arrays that a document lists."""
    arrays, begin = [], 0
    for dtype, shape, order in document["arrays"]:
        size = int(np.prod(shape)) * np.dtype(dtype).itemsize
        flat = np.frombuffer(raw[begin : begin + size], dtype)
        arrays.append(flat.reshape(shape, order=order).copy(order="K"))
        begin += size
    return arrays


def write_arrays(document, arrays):
    """Return the document with the table of other arrays, and their bytes."""
    table = []
    for array in arrays:
        order = "F" if array.flags.f_contiguous and not array.flags.c_contiguous else "C"
        table.append([array.dtype.str, list(array.shape), order])
    raw = b"".join(
        array.tobytes(order=entry[2]) for array, entry in zip(arrays, table, strict=True)
    )
    return {**document, "arrays": table}, raw

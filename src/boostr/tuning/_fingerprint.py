"""Fingerprints that identify a search."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

from boostr.estimators._training_data import TrainingData

__all__ = ["digest", "digest_data"]

_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")


def digest(*things: Any) -> str:
    """Return a short text that differs if any of the values does.

    Arrays count with all entries, functions by name, the only mark that outlives the
    process.
    """
    state = hashlib.sha256()
    for thing in things:
        _feed(state, thing)
    return state.hexdigest()[:16]


def digest_data(parts: Iterable[TrainingData]) -> str:
    """Return the digest of features, events, weights and sensors."""
    return digest(
        *(
            thing
            for part in parts
            for thing in (part.features, part.events, part.weights, part.sensors)
        )
    )


def _feed(state: Any, thing: Any) -> None:
    state.update(type(thing).__name__.encode())
    if isinstance(thing, np.ndarray) and thing.dtype != object:
        state.update(f"{thing.dtype}{thing.shape}".encode())
        state.update(np.ascontiguousarray(thing).tobytes())
    elif isinstance(thing, np.ndarray | list | tuple):
        state.update(str(len(thing)).encode())
        for entry in thing:
            _feed(state, entry)
    elif isinstance(thing, Mapping):
        for name in sorted(thing):
            _feed(state, name)
            _feed(state, thing[name])
    elif is_dataclass(thing) and not isinstance(thing, type):
        for each in fields(thing):
            _feed(state, each.name)
            _feed(state, getattr(thing, each.name))
    elif hasattr(thing, "__qualname__"):
        state.update(f"{thing.__module__}.{thing.__qualname__}".encode())
    elif hasattr(thing, "keywords") and hasattr(thing, "func"):  # a partial function
        _feed(state, [thing.func, thing.args, thing.keywords])
    else:
        state.update(_ADDRESS.sub("", repr(thing)).encode())

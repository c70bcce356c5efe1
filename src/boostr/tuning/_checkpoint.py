"""Finished runs in a file, fingerprints of searches, and their progress."""

from __future__ import annotations

import hashlib
import json
import math
import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import fields, is_dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import numpy as np

from boostr._optional import require
from boostr._training.inputs import TrainingData
from boostr.exceptions import InvalidParameterError
from boostr.io.files import check_checkpoint, write_atomically

__all__ = ["Checkpoint", "RunProgress", "hash_data", "hash_parts"]

_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")


def hash_parts(*things: Any) -> str:
    """Return a short text that differs if any of the values does.

    Arrays count with all entries, functions by name, the only mark that outlives the
    process.
    """
    state = hashlib.sha256()
    for thing in things:
        _feed(state, thing)
    return state.hexdigest()[:16]


def hash_data(parts: Iterable[TrainingData]) -> str:
    """Return the hash of features, events, weights and sensors."""
    return hash_parts(
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


Record = dict[str, Any]
Run = tuple[Any, Any]  # setting and split, or candidate and date


class Checkpoint:
    """JSON lines: a header that identifies the search, then one line per finished run.

    Only complete lines count; the rest of a crash is cut off when the file is opened
    again. Without a path nothing is written.
    """

    def __init__(
        self,
        path: str | os.PathLike[str] | None,
        parts: Mapping[str, str],
        kind: str = "search",
    ):
        self.records: dict[Run, Record] = {}
        self._kind = kind
        self._path = None if path is None else Path(path)
        check_checkpoint(path)
        if self._path is None:
            return
        if self._path.exists() and self._path.stat().st_size:
            self._open(self._path, parts)
        else:
            self._begin(self._path, parts)

    def add(self, run: Run, record: Record) -> None:
        """Append a finished run; it is on disk when this returns."""
        self.records[run] = record
        if self._path is None:
            return
        line = json.dumps({"setting": run[0], "split": run[1], **record})
        with self._path.open("ab") as file:
            file.write(line.encode() + b"\n")
            file.flush()
            os.fsync(file.fileno())

    def _begin(self, path: Path, parts: Mapping[str, str]) -> None:
        """Write the first line atomically."""
        header = {"format": _name_format(self._kind), "parts": dict(parts)}
        write_atomically(path, json.dumps(header).encode() + b"\n")

    def _open(self, path: Path, parts: Mapping[str, str]) -> None:
        """Read the finished runs of the same search on the same data."""
        content = path.read_bytes()
        complete = content[: content.rfind(b"\n") + 1]
        lines = complete.splitlines()
        _check_header(path, lines[0] if lines else b"", parts, self._kind)
        for line in lines[1:]:
            record = json.loads(line)
            self.records[record.pop("setting"), record.pop("split")] = record
        if len(complete) < len(content):
            os.truncate(path, len(complete))


def _name_format(kind: str) -> str:
    return f"boostr {kind} 1"


def _check_header(path: Path, line: bytes, parts: Mapping[str, str], kind: str) -> None:
    """Refuse the file of another search, and name the differences."""
    try:
        header = json.loads(line)
        is_ours = header["format"] == _name_format(kind)
        known = header["parts"]
    except (ValueError, KeyError, TypeError):
        is_ours = False
    if not is_ours:
        raise InvalidParameterError(
            f"`checkpoint` must be a file that a {kind} has written, or a new one, but "
            f"{str(path)!r} is neither.\n\nHint: choose another path."
        )
    changed = [name for name in parts if known.get(name) != parts[name]]
    if changed:
        raise InvalidParameterError(
            f"`checkpoint` must belong to the same {kind}, but {str(path)!r} was written "
            f"with other values of: {', '.join(changed)}.\n\n"
            "Hint: choose another path, or delete the file to start anew."
        )


class RunProgress:
    """Bar over runs with the best mean score so far; silent unless verbose."""

    def __init__(self, *, is_shown: bool, n_runs: int, n_done: int) -> None:
        self._bar: Any = None
        if is_shown:
            tqdm = require("tqdm.auto", extra="progress", feature="verbose=1")
            self._bar = tqdm.tqdm(total=n_runs, initial=n_done, unit="run")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._bar is not None:
            self._bar.close()

    def advance(self) -> None:
        """Count a finished run."""
        if self._bar is not None:
            self._bar.update(1)

    def show_best(self, score: float) -> None:
        """Show the best mean score so far."""
        if self._bar is not None and math.isfinite(score):
            self._bar.set_postfix_str(f"best score {score:.4f}")

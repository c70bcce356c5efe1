"""Finished runs in a file, so that a stopped search can be resumed."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from boostr.exceptions import InvalidParameterError
from boostr.io._atomic import check_checkpoint, write_atomically

__all__ = ["Checkpoint"]

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

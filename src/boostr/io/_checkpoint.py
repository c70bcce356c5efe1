"""Trees of a training on its way, in a file that outlives the process."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Mapping
from itertools import groupby
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import numpy as np

from boostr._engine.checkpoint import Round
from boostr.exceptions import InvalidModelFileError, InvalidParameterError
from boostr.io._atomic import write_atomically
from boostr.io._container import measure, pack, unpack
from boostr.io._rules import array, require
from boostr.io._trees import PackedTrees
from boostr.io._values import Reader, Writer

__all__ = ["CheckpointFile"]

_FORMAT = "boostr checkpoint"
_FORMAT_OF_ROUNDS = "boostr rounds"
_INTERVAL = 5.0  # seconds between two writes
_SIZES = array("int32", "n_rounds")


class CheckpointFile:
    """What a training is, then its rounds, in pieces that count only as a whole.

    Pieces are appended every few seconds; what a crash has left of one is cut off when the
    file is opened again.

    Parameters
    ----------
    path : str or path
        The file; it is made if it is not there.
    parts : mapping
        What makes two trainings the same, by the names that a message gives to it.
    """

    def __init__(self, path: str | os.PathLike[str], parts: Mapping[str, str]) -> None:
        self.rounds: list[Round] = []
        self._path = Path(path)
        self._new: list[Round] = []
        self._last_write = time.monotonic()
        if self._path.exists() and self._path.stat().st_size:
            self._open(parts)
        else:
            header = {"format": _FORMAT, "parts": dict(parts)}
            write_atomically(self._path, pack(header, []))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._write()

    def keep(self, trees: Round) -> None:
        """Take over the trees of a round; they are on disk some seconds later."""
        self._new.append(trees)
        if time.monotonic() - self._last_write >= _INTERVAL:
            self._write()

    def _write(self) -> None:
        if self._new:
            with self._path.open("ab") as file:
                # Runs on one function of time have narrower leaves: a piece of their own.
                for _, rounds in groupby(self._new, key=_n_terms):
                    file.write(_pack_rounds(list(rounds)))
                file.flush()
                os.fsync(file.fileno())
        self._new = []
        self._last_write = time.monotonic()

    def _open(self, parts: Mapping[str, str]) -> None:
        """Read what is there of the same training."""
        content = memoryview(self._path.read_bytes())
        place = self._check_header(content, parts)
        for size, rounds in _read_rounds(content[place:]):
            self.rounds += rounds
            place += size
        if place < len(content):
            os.truncate(self._path, place)

    def _check_header(self, content: memoryview, parts: Mapping[str, str]) -> int:
        """Refuse the file of another training, and say what differs."""
        try:
            size = measure(content)
            document = unpack(content[:size]).document
            known: Any = document.get("parts")
            require(document.get("format") == _FORMAT and isinstance(known, dict), _FORMAT)
        except InvalidModelFileError as error:
            raise InvalidParameterError(
                "`checkpoint` must be a file that a training has written, or a new one, "
                f"but {str(self._path)!r} is neither.\n\nHint: choose another path."
            ) from error
        changed = [name for name in parts if known.get(name) != parts[name]]
        if len(changed) > 1:  # other settings make other statistics of the same data
            changed = [name for name in changed if name != "data"]
        if changed:
            raise InvalidParameterError(
                f"`checkpoint` must belong to the same training, but {str(self._path)!r} "
                f"was written with other values of: {', '.join(changed)}.\n\n"
                "Hint: choose another path, or delete the file to start anew."
            )
        return size


def _n_terms(trees: Round) -> int:
    return int(trees[0].nodes.value.shape[1])


def _pack_rounds(rounds: list[Round]) -> bytes:
    writer = Writer()
    trees = [tree for same_round in rounds for tree in same_round]
    sizes = np.array([len(same_round) for same_round in rounds], dtype=np.int32)
    document = {
        "format": _FORMAT_OF_ROUNDS,
        "sizes": writer.write(sizes, "sizes"),
        "trees": writer.write(PackedTrees.from_trees(trees, _n_terms(rounds[0])), "trees"),
    }
    return pack(document, writer.arrays)


def _read_rounds(content: memoryview) -> Iterator[tuple[int, list[Round]]]:
    """Yield the size and the rounds of every piece up to the first that is not whole."""
    while len(content):
        try:
            size = measure(content)
            container = unpack(content[:size])
            reader = Reader(container.arrays)
            require(container.document.get("format") == _FORMAT_OF_ROUNDS, "Rounds follow")
            sizes = reader.read(container.document.get("sizes"), "sizes")
            packed = reader.read(container.document.get("trees"), "trees")
            require(
                isinstance(packed, PackedTrees) and _SIZES.admits(sizes), "Trees follow"
            )
            is_all = np.all(sizes > 0) and sizes.sum() == len(packed.n_nodes)
            require(is_all, "All trees must belong to a round")
        except InvalidModelFileError:
            return
        trees = packed.to_trees()
        ends = np.cumsum(sizes)
        yield (
            size,
            [
                tuple(trees[end - count : end])
                for end, count in zip(ends, sizes, strict=True)
            ],
        )
        content = content[size:]

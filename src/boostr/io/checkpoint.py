"""Checkpoint file with the trees of a training that is not finished."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Mapping
from itertools import groupby
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO, Self

import numpy as np

from boostr._engine.selection import Round
from boostr.exceptions import InvalidModelFileError, InvalidParameterError
from boostr.io._container import measure, pack, unpack
from boostr.io.files import check_checkpoint
from boostr.io.rules import array, require, whole
from boostr.io.trees import PackedTrees
from boostr.io.values import Reader, Writer

try:
    import fcntl
except ImportError:  # Windows has other locks
    fcntl = None  # type: ignore[assignment]

__all__ = ["CheckpointFile"]

_FORMAT = "boostr checkpoint"
_FORMAT_OF_ROUNDS = "boostr rounds"
_INTERVAL = 5.0  # seconds between two writes
_SIZES = array("int32", "n_rounds")
_PLACE = whole(0, 2**53)


class CheckpointFile:
    """File of a training: its identity ``parts``, then rounds, in atomic pieces.

    A piece is appended every few seconds; the rest of a crash is cut off on opening. The
    file is locked until it is closed or the process ends.
    """

    def __init__(self, path: str | os.PathLike[str], parts: Mapping[str, str]) -> None:
        self.rounds: list[Round] = []
        self._path = Path(path)
        self._new: list[Round] = []
        self._last_write = time.monotonic()
        check_checkpoint(path)
        self._file = _open_alone(self._path)
        try:
            self._read(parts)
        except BaseException:
            self._file.close()
            raise
        self._n_written = len(self.rounds)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            self._write()
        finally:
            self._file.close()

    def keep(self, trees: Round) -> None:
        """Add the trees of a round; they are on disk some seconds later."""
        self._new.append(trees)
        if time.monotonic() - self._last_write >= _INTERVAL:
            self._write()

    def _write(self) -> None:
        if self._new:
            # Runs on one function of time have narrower leaves: a piece of their own.
            for _, group in groupby(self._new, key=_n_terms):
                rounds = list(group)
                self._file.write(_pack_rounds(rounds, self._n_written))
                self._n_written += len(rounds)
            self._bring_to_disk()
        self._new = []
        self._last_write = time.monotonic()

    def _bring_to_disk(self) -> None:
        self._file.flush()
        os.fsync(self._file.fileno())

    def _read(self, parts: Mapping[str, str]) -> None:
        """Read the rounds of the same training, or write the header."""
        self._file.seek(0)
        content = memoryview(self._file.read())
        if len(content) == 0:
            self._file.write(pack({"format": _FORMAT, "parts": dict(parts)}, []))
            self._bring_to_disk()
            return
        place = self._check_header(content, parts)
        for size, first, rounds in _read_rounds(content[place:]):
            self._check_order(first)
            self.rounds += rounds
            place += size
        if place < len(content):
            self._file.truncate(place)

    def _check_order(self, first: int) -> None:
        """Refuse rounds that do not continue the last ones."""
        if first != len(self.rounds):
            raise InvalidParameterError(
                "`checkpoint` must hold the rounds of one training in a row, but in "
                f"{str(self._path)!r} round {first} follows after {len(self.rounds)}: "
                "more than one has written to it.\n\n"
                "Hint: delete the file to start anew, and give each training its own."
            )

    def _check_header(self, content: memoryview, parts: Mapping[str, str]) -> int:
        """Refuse the file of another training, and name the differences."""
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


def _open_alone(path: Path) -> BinaryIO:
    """Open and lock a file, new or old, for this training only."""
    file = path.open("a+b")
    if fcntl is None:
        return file
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        file.close()
        raise InvalidParameterError(
            "`checkpoint` must belong to one training at a time, but another one is "
            f"writing to {str(path)!r}.\n\n"
            "Hint: wait until it has ended, or choose another path."
        ) from error
    except OSError:
        pass  # a file system without locks: the numbers of the rounds must do
    return file


def _n_terms(trees: Round) -> int:
    return int(trees[0].nodes.value.shape[1])


def _pack_rounds(rounds: list[Round], first: int) -> bytes:
    writer = Writer()
    trees = [tree for same_round in rounds for tree in same_round]
    sizes = np.array([len(same_round) for same_round in rounds], dtype=np.int32)
    document = {
        "format": _FORMAT_OF_ROUNDS,
        "first": first,
        "sizes": writer.write(sizes, "sizes"),
        "trees": writer.write(PackedTrees.from_trees(trees, _n_terms(rounds[0])), "trees"),
    }
    return pack(document, writer.arrays)


def _read_rounds(content: memoryview) -> Iterator[tuple[int, int, list[Round]]]:
    """Yield size, first position and rounds of the pieces before the first damaged one."""
    while len(content):
        try:
            size = measure(content)
            container = unpack(content[:size])
            reader = Reader(container.arrays)
            require(container.document.get("format") == _FORMAT_OF_ROUNDS, "Rounds follow")
            sizes = reader.read(container.document.get("sizes"), "sizes")
            packed = reader.read(container.document.get("trees"), "trees")
            first: Any = container.document.get("first")
            require(_PLACE.admits(first), "The place of the first round must be known")
            require(
                isinstance(packed, PackedTrees) and _SIZES.admits(sizes), "Trees follow"
            )
            is_all = np.all(sizes > 0) and sizes.sum() == len(packed.n_nodes)
            require(is_all, "All trees must belong to a round")
        except InvalidModelFileError:
            return
        trees = packed.to_trees()
        ends = zip(np.cumsum(sizes), sizes, strict=True)
        yield size, first, [tuple(trees[end - count : end]) for end, count in ends]
        content = content[size:]

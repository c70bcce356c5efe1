"""Files that are there as a whole or not at all."""

from __future__ import annotations

import contextlib
import os
import secrets
from pathlib import Path

__all__ = ["write_atomically"]

_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
_USUAL_MODE = 0o666  # of new files; the system takes away what the user's mask says


def write_atomically(path: Path, content: bytes) -> None:
    """Write a file beside its place, on disk, and only then move it there.

    A link stays one: it is the file it leads to that is replaced, and that keeps its
    rights.
    """
    target = path.resolve()
    known = _find_mode(target)
    draft = target.with_name(f".{target.name}.{secrets.token_hex(4)}.new")
    handle = os.open(draft, _NEW, _USUAL_MODE if known is None else known)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        if known is not None:
            draft.chmod(known)
        draft.replace(target)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise
    sync_folder(target.parent)


def sync_folder(folder: Path) -> None:
    """Bring the names in a folder to disk, where the system knows how to."""
    with contextlib.suppress(OSError, AttributeError):
        handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def _find_mode(path: Path) -> int | None:
    """Return the rights of a file that is there already."""
    with contextlib.suppress(OSError):
        return path.stat().st_mode & 0o777
    return None

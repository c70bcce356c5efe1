"""Checks of output paths, and atomic writes."""

from __future__ import annotations

import contextlib
import os
import secrets
import stat
from pathlib import Path

from boostr.exceptions import InvalidParameterError

__all__ = ["check_checkpoint", "check_output", "write_atomically"]

_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
_USUAL_MODE = 0o666  # of new files; the system takes away what the user's mask says


# What a path may lead to, other than a file.
_KINDS = {
    stat.S_IFDIR: "a folder",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
    stat.S_IFIFO: "a pipe",
    stat.S_IFSOCK: "a socket",
}


def check_output(
    path: str | os.PathLike[str], what: str = "Results", *, appends: bool = False
) -> Path:
    """Return the file behind a path; refuse one that cannot be written.

    Links are followed, as ``current.boostr`` may point to the model in use. Files are
    replaced, so the folder must be writable, unless ``appends``.
    """
    try:
        target = Path(path).resolve()
        obstacle = _find_obstacle(target, appends=appends)
    except (OSError, RuntimeError) as error:  # the latter of links that lead in a circle
        reason = getattr(error, "strerror", None) or str(error)
        obstacle = (reason, "choose another place.")
    if obstacle is None:
        return target
    reason, hint = obstacle
    raise InvalidParameterError(
        f"{what} must go to a file, but {str(path)!r} cannot be written: {reason}.\n\n"
        f"Hint: {hint}"
    )


def check_checkpoint(path: str | os.PathLike[str] | None) -> None:
    """Refuse a checkpoint path that cannot be written; None is no checkpoint."""
    if path is not None:
        check_output(path, "A checkpoint", appends=True)


def _find_obstacle(target: Path, *, appends: bool) -> tuple[str, str] | None:
    """Return why a file cannot be written, and a hint; tries a file beside it."""
    if not target.parent.is_dir():
        return f"there is no folder {str(target.parent)!r}", f"mkdir -p {target.parent}"
    is_there = target.exists()
    if is_there and not target.is_file():
        kind = _KINDS.get(stat.S_IFMT(target.stat().st_mode), "no file")
        return f"it is {kind}", "choose the name of a file, new or old."
    if is_there and not os.access(target, os.W_OK):
        return "it must not be changed", "choose another name, or chmod u+w."
    if not (is_there and appends):
        draft = _name_draft(target)
        os.close(os.open(draft, _NEW, _USUAL_MODE))
        draft.unlink()
    return None


def write_atomically(path: Path, content: bytes) -> None:
    """Write a file beside its target, sync it, then move it there.

    Links are kept: the file that they point to is replaced, with its permissions.
    """
    target = check_output(path)
    known = _find_mode(target)
    draft = _name_draft(target)
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
    """Sync the entries of a folder to disk, if the system supports it."""
    with contextlib.suppress(OSError, AttributeError):
        handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def _name_draft(target: Path) -> Path:
    return target.with_name(f".{target.name}.{secrets.token_hex(4)}.new")


def _find_mode(path: Path) -> int | None:
    """Return the permissions of an existing file, else None."""
    with contextlib.suppress(OSError):
        return path.stat().st_mode & 0o777
    return None

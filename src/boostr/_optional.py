"""Imports of optional packages, with a message on how to install them."""

from __future__ import annotations

import importlib
from contextlib import suppress
from typing import Any

from boostr.exceptions import MissingDependencyError


def require(module: str, *, extra: str, feature: str) -> Any:
    """Import an optional package, or raise an error that names the extra to install.

    ``feature`` begins the message.
    """
    try:
        return importlib.import_module(module)
    except ImportError as error:
        package = module.split(".", maxsplit=1)[0]
        raise MissingDependencyError(
            f"{feature} needs {package}, which is not installed.\n\n"
            f"Hint: pip install 'boostr[{extra}]'"
        ) from error


def find_version(package: str) -> str | None:
    """Return the installed version of a package or of its "-cpu" build, else None."""
    metadata = importlib.import_module("importlib.metadata")  # late, since it is slow
    for name in (package, f"{package}-cpu"):
        with suppress(metadata.PackageNotFoundError):
            return str(metadata.version(name))
    return None

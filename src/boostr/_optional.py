"""Import of optional packages with a message that says how to get them."""

from __future__ import annotations

import importlib
from contextlib import suppress
from typing import Any

from boostr.exceptions import MissingDependencyError


def require(module: str, *, extra: str, feature: str) -> Any:
    """Import an optional package, or say which extra brings it.

    Parameters
    ----------
    module : str
        Name of the module to import.
    extra : str
        The extra of boostr that installs it.
    feature : str
        What the caller wanted to use, for the message.

    Returns
    -------
    module
        The imported module.
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
    """Return the version of an installed package, also of its build without GPUs.

    Parameters
    ----------
    package : str
        Name as on PyPI, such as "xgboost", which "xgboost-cpu" brings as well.

    Returns
    -------
    str or None
        None if it is not installed.

    Examples
    --------
    >>> find_version("no-such-package") is None
    True
    """
    metadata = importlib.import_module("importlib.metadata")  # late, since it is slow
    for name in (package, f"{package}-cpu"):
        with suppress(metadata.PackageNotFoundError):
            return str(metadata.version(name))
    return None

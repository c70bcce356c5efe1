"""Import of optional packages with a message that says how to get them."""

from __future__ import annotations

import importlib
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

"""Commands of the shell: ``boostr --help`` lists them."""

from __future__ import annotations

import sys

from boostr import _command
from boostr._optional import require
from boostr.exceptions import MissingDependencyError

__all__ = ["main"]


def main() -> None:
    """Run the command that the shell asks for, and exit with its status.

    An error that boostr raises on purpose gives its message on the standard error stream
    and status 2, never a traceback.

    Examples
    --------
    >>> from boostr.cli import main
    >>> main()  # doctest: +SKIP
    """
    try:
        require("typer", extra="cli", feature="The command boostr")
    except MissingDependencyError as error:
        sys.stderr.write(f"error: {error}\n")
        sys.exit(2)
    from boostr.cli._app import app  # noqa: PLC0415 - typer may be missing

    _command.end()
    app()

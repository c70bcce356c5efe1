"""``boostr reproduce``: the paper's figures beside ours."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from boostr import reproduction
from boostr._optional import require

__all__ = ["reproduce"]

_PARTS = f"all, or some of {', '.join(reproduction.PARTS)}."


def reproduce(
    parts: Annotated[list[str] | None, typer.Argument(help=_PARTS)] = None,
    full: Annotated[
        bool,
        typer.Option(
            "--full/--quick",
            help="As much as the paper computed, in hours, or enough to see every figure.",
        ),
    ] = False,
    out: Annotated[
        Path, typer.Option(help="Folder of the page and of the results.")
    ] = Path("reproduction"),
    progress: Annotated[bool, typer.Option(help="Whether to show progress bars.")] = True,
) -> None:
    """Make a page with the figures of the paper, ours, and those of the baselines.

    The page is one file with all pictures inside, index.html. A run that was stopped goes
    on where it was when it is started again.
    """
    # Pictures go to files: no window, and no need for a screen.
    require("matplotlib", extra="plot", feature="boostr reproduce").use("Agg")
    try:
        page = reproduction.reproduce(parts or ["all"], out, full=full, progress=progress)
    except KeyboardInterrupt:
        typer.echo("Stopped. The same command goes on from here.", err=True)
        raise typer.Exit(code=130) from None
    typer.echo(str(page))

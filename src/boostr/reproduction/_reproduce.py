"""The page, from the names of its parts."""

from __future__ import annotations

import os
import platform
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path

import numba

import boostr
from boostr._optional import find_version, require
from boostr.exceptions import InvalidParameterError
from boostr.io.files import check_output, write_atomically
from boostr.reproduction._extrapolation import build_extrapolation
from boostr.reproduction._kelly import build_kelly
from boostr.reproduction._maps import build_c, build_d
from boostr.reproduction._page import Chapter, render_page
from boostr.reproduction._quadrants import build_a, build_b
from boostr.reproduction._wells import build_wells
from boostr.reproduction._work import FULL, QUICK, Scale, Work

__all__ = ["PARTS", "reproduce"]

_CHAPTERS: dict[str, Callable[[Work], Chapter]] = {
    "A": build_a,
    "B": build_b,
    "C": build_c,
    "D": build_d,
    "kelly": build_kelly,
    "wells": build_wells,
    "extrapolation": build_extrapolation,
}
PARTS = tuple(_CHAPTERS)

_PACKAGES = ("numpy", "scikit-learn", "xgboost", "lightgbm", "lifelines")


def reproduce(
    parts: Sequence[str] | str = ("all",),
    out: str | os.PathLike[str] = "reproduction",
    *,
    full: bool = False,
    progress: bool = True,
) -> Path:
    """Make a page with the figures of the paper, ours, and those of the baselines.

    The page is one file with all pictures inside. Results are kept beside it: a run that
    was stopped goes on where it was when it is started again with the same arguments.

    Parameters
    ----------
    parts : sequence of str, default=("all",)
        Data sets of the paper: "A", "B", "C", "D", "kelly", "wells", "extrapolation", or
        "all" of them.
    out : path, default="reproduction"
        Folder of the page, ``index.html``, and of the results.
    full : bool, default=False
        Whether to compute as much as the paper did, which takes hours, rather than enough
        to see every figure, in minutes.
    progress : bool, default=True
        Whether to show progress bars.

    Returns
    -------
    Path
        The page.

    Raises
    ------
    InvalidParameterError
        If there is no such part.
    MissingDependencyError
        If matplotlib, jinja2 or, with `progress`, tqdm is not installed.

    See Also
    --------
    boostr.simulate : The data sets alone.
    boostr.baselines : The baselines alone.

    Examples
    --------
    >>> from boostr.reproduction import PARTS, reproduce
    >>> PARTS
    ('A', 'B', 'C', 'D', 'kelly', 'wells', 'extrapolation')
    >>> page = reproduce(["C", "D"], out="maps")  # doctest: +SKIP
    """
    chosen = _check_parts(parts)
    folder = Path(out)
    scale = FULL if full else QUICK
    # Checked first, so that a missing package does not end a long run.
    require("matplotlib.pyplot", extra="plot", feature="boostr reproduce")
    require("jinja2", extra="report", feature="boostr reproduce")
    if progress:
        require("tqdm", extra="progress", feature="A progress bar")
    folder.mkdir(parents=True, exist_ok=True)
    page = folder / "index.html"
    check_output(page, "The page")
    n_processes = numba.get_num_threads()
    work = Work(folder / "results", scale, progress=progress, n_processes=n_processes)
    chapters = [_CHAPTERS[part](work) for part in chosen]
    write_atomically(page, render_page(chapters, _list_facts(scale)).encode())
    return page


def _check_parts(parts: Sequence[str] | str) -> tuple[str, ...]:
    """Return the wanted parts, in the order of the paper."""
    asked = [parts] if isinstance(parts, str) else list(parts)
    known = {part.casefold(): part for part in PARTS}
    unknown = [part for part in asked if part.casefold() not in {"all", *known}]
    if unknown or not asked:
        raise InvalidParameterError(
            f"There is no part {', '.join(map(repr, unknown)) or 'to make'}.\n\n"
            f"Hint: parts are all, {', '.join(PARTS)}."
        )
    wanted = {part.casefold() for part in asked}
    return tuple(part for part in PARTS if wanted & {"all", part.casefold()})


def _list_facts(scale: Scale) -> list[tuple[str, str]]:
    packages = [f"{name} {find_version(name) or '(not installed)'}" for name in _PACKAGES]
    return [
        ("boostr", boostr.__version__),
        ("Scale", scale.name),
        ("Splits of A and B", str(scale.n_splits)),
        ("Repetitions of simulations", str(scale.n_repetitions)),
        ("Trees of the forest", str(scale.n_forest_trees)),
        ("Python", platform.python_version()),
        ("Packages", ", ".join(packages)),
        ("Made", datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")),
    ]

"""Where results go: files that are whole or not there, the screen, JSON for machines."""

from __future__ import annotations

import io
import json
import math
import os
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import typer

from boostr._optional import require
from boostr.exceptions import InvalidParameterError
from boostr.io._atomic import write_atomically

__all__ = ["as_records", "check_output", "print_json", "print_table", "say", "write_table"]

TABLES = (".csv", ".json", ".parquet", ".pq")
_MOST_DECIMALS = 8
_WIDTH = 100  # of tables that do not go to a terminal


def say(message: str) -> None:
    """Tell the user something, beside the results."""
    typer.echo(message, err=True)


def check_output(path: Path, *, is_table: bool = False) -> None:
    """Refuse a place for results before anything is computed.

    Parameters
    ----------
    path : Path
        Where a file is to be written.
    is_table : bool, default=False
        Whether it is a table, whose ending tells the format.
    """
    folder = path.parent
    if path.is_dir():
        reason, hint = "it is a folder", "add a name of a file."
    elif not folder.is_dir():
        reason, hint = f"there is no folder {str(folder)!r}", f"mkdir -p {folder}"
    elif not os.access(folder, os.W_OK) or (path.exists() and not os.access(path, os.W_OK)):
        reason, hint = "that is not permitted", "choose another place."
    elif is_table and path.suffix.lower() not in TABLES:
        reason = f"{path.suffix or 'no ending'!r} is no format of tables"
        hint = f"end the name in one of {', '.join(TABLES)}."
    else:
        return
    raise InvalidParameterError(
        f"Results must go to a file, but {str(path)!r} cannot be written: {reason}.\n\n"
        f"Hint: {hint}"
    )


def write_table(table: Any, path: Path) -> None:
    """Write a table of polars to a file, in the format that its ending tells."""
    ending = path.suffix.lower()
    if ending == ".json":
        content = (json.dumps(as_records(table), indent=1) + "\n").encode()
    else:
        buffer = io.BytesIO()
        if ending == ".csv":
            table.write_csv(buffer)
        else:
            table.write_parquet(buffer)
        content = buffer.getvalue()
    write_atomically(path, content)


def as_records(table: Any) -> list[dict[str, Any]]:
    """Return the rows of a table as JSON can hold them."""
    return [_plain(row) for row in table.iter_rows(named=True)]


def print_json(result: Mapping[str, Any]) -> None:
    """Print one JSON object and nothing else; what is not finite becomes null."""
    typer.echo(json.dumps(_plain(result), allow_nan=False))


def print_table(
    title: str,
    names: Sequence[str],
    rows: Sequence[Sequence[object]],
    *,
    by_row: bool = False,
) -> None:
    """Print a table on the screen, texts to the left and numbers to the right.

    Numbers of a column have the same decimals; those of a row where ``by_row`` says that
    every row is a measure of its own.
    """
    console = require("rich.console", extra="cli", feature="A table on the screen")
    made = require("rich.table", extra="cli", feature="A table on the screen").Table(
        title=title, title_justify="left", title_style="bold"
    )
    for place, name in enumerate(names):
        is_text = all(isinstance(row[place], str) for row in rows)
        made.add_column(name, justify="left" if is_text else "right", overflow="fold")
    escape = require("rich.markup", extra="cli", feature="A table on the screen").escape
    of_column = [
        count_decimals([row[place] for row in rows]) for place in range(len(names))
    ]
    for row in rows:
        of_cells = [count_decimals(row)] * len(row) if by_row else of_column
        shown = zip(row, of_cells, strict=True)
        made.add_row(*(escape(_show(value, decimals)) for value, decimals in shown))
    screen = console.Console()
    if not screen.is_terminal:
        screen = console.Console(width=_WIDTH)
    screen.print(made)


def count_decimals(values: Sequence[object]) -> int:
    """Return decimals that suit all numbers: at least three digits of the largest."""
    sizes = [abs(one) for one in values if isinstance(one, float) and math.isfinite(one)]
    largest, smallest = max(sizes, default=0.0), min(sizes, default=0.0)
    if all(size == round(size) for size in sizes) or smallest >= 1000.0:
        return 0
    if largest < 1.0:
        return min(2 - math.floor(math.log10(largest)), _MOST_DECIMALS)
    return 2 if smallest < 10.0 else 1


def _show(value: object, decimals: int) -> str:
    if value is None:
        return "-"
    if isinstance(value, float):
        return f"{value:,.{decimals}f}" if math.isfinite(value) else _name_number(value)
    if isinstance(value, datetime):
        return f"{value:%Y-%m-%d %H:%M}"
    return str(value)


def _name_number(value: float) -> str:
    return "-" if math.isnan(value) else "∞" if value > 0.0 else "-∞"


def _plain(value: Any) -> Any:
    """Return a value of the types that JSON has."""
    if isinstance(value, Mapping):
        return {str(name): _plain(one) for name, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(one) for one in value]
    if hasattr(value, "isoformat"):
        return value.isoformat()
    if hasattr(value, "item"):  # a scalar of NumPy
        value = value.item()
    return None if isinstance(value, float) and not math.isfinite(value) else value

"""Output of commands: files written atomically, the screen, and JSON."""

from __future__ import annotations

import io
import json
import math
import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import narwhals as nw
import typer

from boostr._optional import require
from boostr.exceptions import InvalidParameterError
from boostr.io.files import check_output, write_atomically

__all__ = [
    "as_records",
    "check_table_output",
    "echo",
    "print_json",
    "print_table",
    "to_polars",
    "write_table",
]

TABLES = (".csv", ".json", ".parquet", ".pq")
_MOST_DECIMALS = 8
_WIDTH, _WIDEST = 100, 160  # of tables that do not go to a terminal
# All but tabs and ends of lines; also marks that turn the direction of writing.
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
_FORMULA = r"^[=+\-@\t\r]"  # how cells begin that a spreadsheet computes
_NUMBER = r"^[+-]?\d+([.,]\d+)?$"


def echo(message: str, *, err: bool = True) -> None:
    """Print a message on the standard error stream, or as a result."""
    typer.echo(_clean(message), err=err)


def _clean(text: str) -> str:
    """Return a text with control characters escaped, for the terminal."""
    return _CONTROL.sub(lambda found: repr(found.group())[1:-1], text)


def check_table_output(path: Path | None) -> None:
    """Refuse a path that cannot be written as a table, before anything is computed."""
    if path is None:
        return
    check_output(path)
    if path.suffix.lower() not in TABLES:
        raise InvalidParameterError(
            f"Results must go to a table, but {str(path)!r} cannot be written: "
            f"{path.suffix or 'no ending'!r} is no format of tables.\n\n"
            f"Hint: end the name in one of {', '.join(TABLES)}."
        )


def write_table(table: Any, path: Path) -> None:
    """Write a polars table to a file, in the format of its ending."""
    ending = path.suffix.lower()
    if ending == ".json":
        content = (json.dumps(as_records(table), indent=1) + "\n").encode()
    else:
        buffer = io.BytesIO()
        if ending == ".csv":
            _without_formulas(table, path).write_csv(buffer)
        else:
            table.write_parquet(buffer)
        content = buffer.getvalue()
    write_atomically(path, content)


def _without_formulas(table: Any, path: Path) -> Any:
    """Return texts with a quote before those that a spreadsheet would evaluate."""
    polars = require("polars", extra="cli", feature="Writing tables")
    texts = table.select(polars.selectors.string()).columns
    for name in texts:
        column = table[name]
        is_formula = column.str.contains(_FORMULA) & ~column.str.contains(_NUMBER)
        if is_formula.any():
            echo(
                f"{path.name}: put ' before {is_formula.sum()} texts of `{name}` that a "
                "spreadsheet would compute (.parquet and .json have them as they are)"
            )
            quoted = polars.when(is_formula).then("'" + column).otherwise(column)
            table = table.with_columns(quoted.alias(name))
    return table


def to_polars(table: Any) -> Any:
    """Return a pandas or polars table as a polars one."""
    polars = require("polars", extra="cli", feature="Writing tables")
    frame = nw.from_native(table, eager_only=True)
    return polars.DataFrame({one.name: one.to_list() for one in frame.iter_columns()})


def as_records(table: Any) -> list[dict[str, Any]]:
    """Return the rows of a table as JSON values."""
    return [_plain(row) for row in table.iter_rows(named=True)]


def print_json(result: Mapping[str, Any]) -> None:
    """Print a JSON object and nothing else; values that are not finite become null."""
    typer.echo(json.dumps(_plain(result), allow_nan=False))


def print_table(
    title: str,
    names: Sequence[str],
    rows: Sequence[Sequence[object]],
    *,
    by_row: bool = False,
) -> None:
    """Print a table, texts left and numbers right aligned.

    Numbers of a column share their decimals, or those of a row if ``by_row``, where every
    row is a different metric.
    """
    console = require("rich.console", extra="cli", feature="A table on the screen")
    escape = require("rich.markup", extra="cli", feature="A table on the screen").escape
    made = require("rich.table", extra="cli", feature="A table on the screen").Table(
        title=escape(_clean(title)), title_justify="left", title_style="bold"
    )
    for place, name in enumerate(names):
        is_text = all(isinstance(row[place], str | None) for row in rows)
        side: Any = "left" if is_text else "right"
        made.add_column(escape(_clean(name)), justify=side, overflow="fold")
    of_column = [
        count_decimals([row[place] for row in rows]) for place in range(len(names))
    ]
    for row in rows:
        of_cells = [count_decimals(row)] * len(row) if by_row else of_column
        shown = zip(row, of_cells, strict=True)
        made.add_row(*(escape(_clean(_show(value, decimals))) for value, decimals in shown))
    screen = console.Console()
    if not screen.is_terminal:
        wide = console.Console(width=_WIDEST)
        screen = console.Console(width=max(_WIDTH, wide.measure(made).maximum))
    screen.print(made)


def count_decimals(values: Sequence[object]) -> int:
    """Return the decimals for several numbers: at least three digits of the largest."""
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
    """Return a value of a JSON type."""
    if isinstance(value, Mapping):
        return {str(name): _plain(one) for name, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(one) for one in value]
    if hasattr(value, "isoformat"):
        return value.isoformat()
    if hasattr(value, "item"):  # a scalar of NumPy
        value = value.item()
    return None if isinstance(value, float) and not math.isfinite(value) else value

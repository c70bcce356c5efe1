"""``boostr forecast``: how many events each individual will have from now on."""

from __future__ import annotations

import textwrap
from dataclasses import asdict, replace
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any

import narwhals as nw
import numpy as np
import typer

from boostr._forecasting.arguments import describe_gone
from boostr.cli import _options as options
from boostr.cli._files import load_polars
from boostr.cli._inputs import FleetFiles, Known
from boostr.cli._output import (
    as_records,
    check_table_output,
    echo,
    print_json,
    print_table,
    to_polars,
    write_table,
)
from boostr.cli._tables import FleetData, read_fleet, read_when
from boostr.data.clip import read_times
from boostr.data.individuals import count_of
from boostr.data.times import name_length, name_unit
from boostr.estimators import BoostR
from boostr.exceptions import InvalidParameterError
from boostr.io import load

__all__ = ["forecast", "make_forecasts", "show_forecast"]


@options.with_tables
def forecast(  # noqa: PLR0913 - every option is a parameter
    model: options.ModelFile,
    files: FleetFiles,
    *,
    future: options.Future = None,
    horizon: options.Horizon = None,
    level: options.Level = 0.9,
    now: Annotated[
        str | None,
        typer.Option(
            metavar="TIME", help="Present; by default the end of each one's follow-up."
        ),
    ] = None,
    at_least: Annotated[
        int, typer.Option(help="Show the probability of at least this many events.")
    ] = 1,
    conformal: Annotated[
        bool, typer.Option("--conformal", help="Intervals calibrated on training.")
    ] = False,
    own_history: Annotated[
        bool, typer.Option(help="Whether to use each individual's own history.")
    ] = True,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Table for the forecasts: .csv, .parquet, .json."
        ),
    ] = None,
    by: Annotated[
        str | None,
        typer.Option(metavar="COL", help="Column of --static to sum by, such as site."),
    ] = None,
    top: Annotated[int, typer.Option(min=1, help="Rows on the screen.")] = 10,
    json: options.Json = False,
) -> None:
    """Forecast events from each individual's own present, most at risk first."""
    check_table_output(out)
    fitted = load(model)
    if by is not None and files.static is None:
        raise InvalidParameterError(
            "--by must be a column of the table of features, but there is none.\n\n"
            "Hint: --static FILE"
        )
    files = replace(files, future=future, by=by)
    fleet = read_fleet(files, Known.of(fitted))
    when = None if now is None else read_when(now, fleet.y, "--now")
    if when is not None:
        fleet = _leave_out_late(fleet, when)
    settings = {
        "horizon": horizon,
        "level": level,
        "now": when,
        "own_history": own_history,
    }
    intervals = "conformal" if conformal else "frailty"
    table, total = make_forecasts(fitted, fleet, settings, k=at_least, intervals=intervals)
    groups = None if by is None else sum_by(fitted, fleet, settings, by)
    if out is not None:
        write_table(table, out)
        echo(f"{count_of(table.height, 'forecast')} in {out}")
    length = fitted.fitted_.span if horizon is None else horizon
    unit = fleet.y.time_unit
    ahead, longest = name_length(length, unit), float(fleet.y.follow_up.max())
    if length > longest:
        echo(
            f"The forecast reaches {ahead} ahead, but no history is longer than "
            f"{name_length(longest, unit)}: beyond that, curves are continued and not "
            "learned."
        )
    gone = describe_gone(fleet.y, length) if when is None else None
    if gone is not None:
        echo(gone)
    if json:
        found = {"horizon": length, "unit": fleet.y.time_unit, "total": total}
        found |= {} if groups is None else {"groups": as_records(groups)}
        rest = {"out": str(out)} if out is not None else {"rows": as_records(table)}
        print_json(found | rest)
        return
    show_forecast(table if out is None else None, total, ahead, top, unit)
    if groups is not None:
        rows = [[str(label), *rest] for label, *rest in groups.rows()]
        print_table(f"By {by}", [name.replace("_", " ") for name in groups.columns], rows)


def _leave_out_late(fleet: FleetData, when: Any) -> FleetData:
    """Return those who have begun by the present, and say how many have not."""
    y = fleet.y
    there = np.flatnonzero(y.start <= read_times(y, when, "--now"))
    if not there.size:
        raise InvalidParameterError(
            "--now must be later than some starts of follow-up, but all individuals start "
            "after it."
        )
    n_late = len(y) - len(there)
    if not n_late:
        return fleet
    echo(
        f"left out {n_late:,} of {count_of(len(y), 'individual', ',')}, which start after "
        "--now"
    )
    return fleet.take(there)


_LABELS = ("id", "likely_kind")  # texts, or numbers
_HEADINGS = {"frailty": "own history", "terminal": "terminal event"}
_WIDEST = 11  # characters of a line of a heading


def make_forecasts(
    model: BoostR, fleet: FleetData, settings: dict[str, Any], **more: Any
) -> tuple[Any, dict[str, Any]]:
    """Return forecasts of individuals as a polars table, and of the total."""
    both = {**settings, "Z": fleet.Z, "future": fleet.future}
    native = model.forecast(fleet.X, fleet.y, **both, **more)
    frame = nw.from_native(native, eager_only=True)
    table = load_polars().DataFrame(
        {column.name: column.to_numpy() for column in frame.iter_columns()}
        | {name: frame[name].to_list() for name in _LABELS if name in frame.columns}
    )
    return table, asdict(model.forecast_fleet(fleet.X, fleet.y, **both))


def sum_by(model: BoostR, fleet: FleetData, settings: dict[str, Any], name: str) -> Any:
    """Return forecasts of groups as a polars table."""
    both = {**settings, "Z": fleet.Z, "future": fleet.future}
    labels = fleet.groups.to_list()
    found = to_polars(model.forecast_fleet(fleet.X, fleet.y, **both, by=labels))
    return found.rename({"group": name})


def show_forecast(
    table: Any | None, total: dict[str, Any], ahead: str, top: int, unit: str | None
) -> None:
    """Print the individuals most at risk, and the total."""
    if table is not None:
        shown = table.head(top)
        names = [name for name in shown.columns if name != "now"]
        rows = [
            [_show_cell(name, value, unit) for name, value in row.items() if name in names]
            for row in shown.iter_rows(named=True)
        ]
        title = f"The next {ahead}: first {shown.height} of {table.height}"
        print_table(title, [_name_column(name, unit) for name in names], rows)
    echo(
        f"{count_of(total['n_individuals'], 'individual')} together: "
        f"{total['expected']:.1f} expected in "
        f"{ahead}, between {total['lower']:.0f} and {total['upper']:.0f} with probability "
        f"{total['level']:g}",
        err=False,
    )


def _name_column(name: str, unit: str | None) -> str:
    """Return the heading of a column, with the unit of times from now."""
    words = _HEADINGS.get(name, name.replace("_", " "))
    full = name_unit(unit)
    words = f"{words} ({full})" if full and name == "next_event_median" else words
    return "\n".join(textwrap.wrap(words, _WIDEST, break_long_words=False))


def _show_cell(name: str, value: Any, unit: str | None) -> Any:
    """Return ids as texts, and dates without hours where time counts in days or weeks."""
    if name == "id":
        return str(value)
    if isinstance(value, datetime) and unit in {"D", "W"}:
        return f"{value:%Y-%m-%d}"
    return value

"""``boostr report``: one page on a fleet, for those who maintain it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from boostr._training import other_process
from boostr.cli import _options as options
from boostr.cli._backtest import read_backtest
from boostr.cli._inputs import FleetFiles, Known
from boostr.cli._output import echo, print_json
from boostr.cli._tables import read_fleet
from boostr.data.individuals import count_of
from boostr.io import load
from boostr.io.files import check_output
from boostr.report import fleet_report

__all__ = ["report"]


@options.with_tables
def report(  # noqa: PLR0913 - every option is a parameter
    model: options.ModelFile,
    files: FleetFiles,
    *,
    future: options.Future = None,
    horizon: options.Horizon = None,
    level: options.Level = 0.9,
    title: Annotated[str, typer.Option(help="Title of the page.")] = "Fleet report",
    max_individuals: Annotated[
        int, typer.Option(help="Individuals in the table, those most at risk.")
    ] = 10_000,
    backtest: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Table that `boostr backtest` has written, to be shown."
        ),
    ] = None,
    out: Annotated[
        Path, typer.Option(metavar="FILE", help="The page, one HTML file.")
    ] = Path("report.html"),
    json: options.Json = False,
) -> None:
    """Write a page that opens offline: who is at risk, why, how good the model is."""
    check_output(out)
    other_process.start_for_reports()
    past = None if backtest is None else read_backtest(backtest)
    fitted = load(model)
    fleet = read_fleet(replace(files, future=future), Known.of(fitted))
    page = fleet_report(
        fitted,
        fleet.X,
        fleet.y,
        fleet.Z,
        path=out,
        horizon=horizon,
        future=fleet.future,
        level=level,
        title=title,
        max_individuals=max_individuals,
        backtest=past and replace(past, time_unit=fleet.y.time_unit),
    )
    if json:
        size = page.stat().st_size
        print_json({"out": str(page), "bytes": size, "individuals": len(fleet.y)})
        return
    echo(f"{count_of(len(fleet.y), 'individual')} in {page}: open it in a browser")

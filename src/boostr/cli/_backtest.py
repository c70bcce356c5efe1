"""``boostr backtest``: forecasts at past dates, compared with what happened."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from boostr import baselines
from boostr._training.sensors import spread_shared
from boostr.cli import _options as options
from boostr.cli._files import open_file, quote_names
from boostr.cli._fit import make_model, shows_progress
from boostr.cli._inputs import FleetFiles
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
from boostr.data.individuals import count_of
from boostr.data.times import name_length
from boostr.exceptions import InvalidParameterError
from boostr.io.files import check_checkpoint, check_output
from boostr.tuning import Backtest
from boostr.tuning import backtest as run_backtest

__all__ = ["backtest", "read_backtest"]

_DPI = 150  # of the picture
_WORDS = {
    "observed": "events observed",
    "expected": "events expected",
    "ratio": "expected over observed",
    "deviance": "Poisson deviance per individual",
    "mae": "mean absolute error of counts",
    "concordance": "concordance (0.5: chance)",
    "capture": "share of the events in the tenth most at risk",
    "coverage": "share of individuals inside their intervals",
    "held": "share of totals inside their intervals",
    "zeros": "forecasts of exactly 0",
}


@options.with_tables
def backtest(  # noqa: PLR0913 - every option is a parameter
    files: FleetFiles,
    *,
    horizon: Annotated[float, typer.Option(help="Length of the forecasts.")],
    season: options.Seasons = None,
    features: options.Features = None,
    drop: options.Drop = None,
    as_of: Annotated[
        list[str] | None,
        typer.Option(metavar="TIME", help="Past time of forecasts; may be repeated."),
    ] = None,
    dates: Annotated[
        int, typer.Option(min=1, help="Number of evenly spaced times without --as-of.")
    ] = 4,
    baseline: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="Baseline of boostr.baselines to compare with; may be repeated.",
        ),
    ] = None,
    time_scales: Annotated[
        bool,
        typer.Option(
            "--time-scales", help="Compare age and calendar time; needs --start and dates."
        ),
    ] = False,
    level: options.Level = 0.9,
    seed: options.Seed = 0,
    jobs: options.Jobs = None,
    settings: options.Settings = None,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Table of all candidates and dates: .csv, .parquet, .json.",
        ),
    ] = None,
    plot: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Picture, such as backtest.png.")
    ] = None,
    checkpoint: options.Checkpoint = None,
    progress: options.Progress = None,
    json: options.Json = False,
) -> None:
    """Refit models as of past times, and compare their forecasts with what came."""
    check_table_output(out)
    if plot is not None:
        check_output(plot)
    check_checkpoint(checkpoint)
    model = make_model(settings or (), random_state=seed, n_jobs=jobs)
    models: dict[str, Any] = {"BoostR": model}
    models |= {name: _find_baseline(name) for name in baseline or ()}
    fleet = read_fleet(options.choose_columns(files, features, drop))
    if season is not None:
        fleet = fleet.add_seasons(season)
    if time_scales:
        models |= _other_time_scale(model, fleet)
    result = run_backtest(
        models,
        fleet.X,
        fleet.y,
        fleet.Z,
        as_of=[read_when(each, fleet.y, "--as-of") for each in as_of] if as_of else dates,
        horizon=horizon,
        level=level,
        checkpoint=checkpoint,
        verbose=int(shows_progress(progress)),
    )
    _show(result, out, plot, as_json=json)


def read_backtest(path: Path) -> Backtest:
    """Read the table of a back-test from a file."""
    file = open_file(path, "back-test")
    return Backtest(file.read(file.names, as_text=["candidate", "date"]))


def _find_baseline(name: str) -> Any:
    """Return a baseline by its class name."""
    known = [
        each
        for each in baselines.__all__
        if hasattr(getattr(baselines, each), "predict_count")
    ]
    if name not in known:
        raise InvalidParameterError(
            f"--baseline must name a baseline of boostr.baselines, but it is {name!r}.\n\n"
            f"Hint: there are {quote_names(known)}."
        )
    return getattr(baselines, name)()


def _other_time_scale(model: Any, fleet: FleetData) -> dict[str, Any]:
    """Return the model with histories in the other time scale."""
    if fleet.y.origin is None and fleet.y.origins is None:
        raise InvalidParameterError(
            "--time-scales needs events with dates, but their times are numbers.\n\n"
            "Hint: give dates of events, and --start COLUMN."
        )
    is_age = fleet.y.origins is not None
    other = fleet.y.in_calendar_time() if is_age else fleet.y.in_age()
    Z = spread_shared(fleet.Z, fleet.y, len(fleet.y))
    sensors = () if Z is None else (Z.to_time_scale(fleet.y, other),)
    name = "calendar time" if is_age else "age"
    return {f"BoostR, {name}": (model, other, *sensors)}


def _show(result: Backtest, out: Path | None, plot: Path | None, *, as_json: bool) -> None:
    """Print the summary; write table and figure if wanted."""
    table, summary = to_polars(result.table), to_polars(result.summary())
    if out is not None:
        write_table(table, out)
        echo(f"{count_of(table.height, 'row')} in {out}")
    if plot is not None:
        figure: Any = result.plot().figure
        figure.savefig(plot, dpi=_DPI)
        echo(f"picture in {plot}")
    if as_json:
        rest = {"out": str(out)} if out is not None else {"rows": as_records(table)}
        print_json({"summary": as_records(summary), **rest})
        return
    by_name = {row["candidate"]: row for row in as_records(summary)}
    rows = [
        [words, *(row[name] for row in by_name.values())] for name, words in _WORDS.items()
    ]
    ahead = name_length(result.horizon, result.time_unit)
    title = f"{ahead} ahead, as of {count_of(table['date'].n_unique(), 'time')}"
    print_table(title, ["", *by_name], rows, by_row=True)

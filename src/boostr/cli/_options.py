"""Options that several commands share."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from boostr.cli._inputs import FleetFiles
from boostr.exceptions import InvalidParameterError

ModelFile = Annotated[
    Path, typer.Argument(metavar="MODEL", help="Model that `boostr fit` has written.")
]
Future = Annotated[
    Path | None,
    typer.Option(
        "--future",
        metavar="FILE",
        help="What sensors will show, as --sensors; the last values hold otherwise.",
    ),
]
Horizon = Annotated[
    float | None,
    typer.Option(help="Length of the time ahead; by default that of the training data."),
]
Seasons = Annotated[
    str | None,
    typer.Option(
        "--season",
        metavar="NAMES",
        help="Seasons as sensors, such as month,weekday; where two cycles were seen.",
    ),
]
Features = Annotated[
    str | None,
    typer.Option(metavar="COLS", help="Columns of --static to use, such as load,site."),
]
Drop = Annotated[
    str | None,
    typer.Option(
        metavar="COLS", help="Columns of --static, --sensors and --shared not to use."
    ),
]
Settings = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="NAME=VALUE",
        help="Any other setting of BoostR, such as leaf=spline; may be repeated.",
    ),
]
Seed = Annotated[int, typer.Option(help="Seed of all random choices.")]
Jobs = Annotated[int | None, typer.Option(help="Threads; results do not depend on them.")]
Checkpoint = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="File from which a stopped run goes on."),
]
Progress = Annotated[bool | None, typer.Option(help="Whether to show a progress bar.")]
Json = Annotated[
    bool, typer.Option("--json", help="Print one JSON object; messages go to stderr.")
]
Level = Annotated[float, typer.Option(help="Probability of the intervals.")]

_EVENTS_HELP = (
    "Table of events, CSV, Parquet or Excel: one row per event, and one without event at "
    "the end of each follow-up; or rows of intervals."
)
_TABLES = {
    "static": "Features, one row per individual.",
    "sensors": "Sensors, one row per sample.",
    "shared": "Sensors that all share, such as the weather: one row per time, without ids.",
}
# What is said about the tables: placeholder and help of each option.
_GIVEN = {
    "id": ("COL", "Column of ids, in all tables."),
    "time": ("COL", "Column of times or dates."),
    "event": (
        "COL",
        "Column with 1 for an event, 0 for an end; 'not COL' if 0 is an event.",
    ),
    "start": (
        "COL|TIME",
        "Column of the start of follow-up, in EVENTS or --static, or of intervals; or one "
        "start for all.",
    ),
    "end": (
        "TIME|COL",
        "End of follow-up of individuals without a row for it: one for all, or a column of "
        "--static; individuals that are only in --static have no events.",
    ),
    "stop": ("COL", "Column of the end of intervals."),
    "cost": ("COL", "Column of what each event counts."),
    "terminal": (
        "COL",
        "Column of EVENTS with 1 in the row at which an individual died or was scrapped.",
    ),
    "kind": (
        "COL",
        "Column of EVENTS with the kind of each event, such as its failure mode; each kind "
        "is learned by itself.",
    ),
    "exposure": (
        "COL",
        "Column of --static or --sensors that events are proportional to, such as length "
        "or flights a day.",
    ),
    "unit": (
        "UNIT",
        "Unit in which dates are counted: s, min, h, D (default) or W; a name for numbers.",
    ),
    "origin": (
        "DATE|individual",
        "Time 0: a date (the first one by default), or each individual's own start, so "
        "that time is age.",
    ),
    "duplicates": (
        "warn|keep|drop|error",
        "What to do with rows of events that repeat another row in all columns; they "
        "count, with a warning, by default.",
    ),
}
_SKIP_HELP = (
    "Leave out individuals that are not in all of EVENTS, --static and --sensors; an error "
    "names them otherwise."
)


_WRITTEN = ("out", "plot", "checkpoint")  # options whose files are written


def with_tables(command: Callable[..., None]) -> Callable[..., None]:
    """Replace the parameter `files` of a command by the options of all tables."""
    own = list(inspect.signature(command, eval_str=True).parameters.values())
    place = [parameter.name for parameter in own].index("files")
    events = typer.Argument(metavar="EVENTS", help=_EVENTS_HELP)
    parameters = [
        *own[:place],
        _make_parameter("events", Annotated[Path, events], inspect.Parameter.empty),
        *(_make_option(name, Path, "FILE", text) for name, text in _TABLES.items()),
        *own[place + 1 :],
        *(_make_option(name, str, *given) for name, given in _GIVEN.items()),
        _make_parameter(
            "skip_unmatched",
            Annotated[bool, typer.Option("--skip-unmatched", help=_SKIP_HELP)],
            default=False,
        ),
    ]

    def run(**options: Any) -> None:
        _keep_inputs(options)
        files = FleetFiles(
            given={name: options.pop(name) for name in _GIVEN},
            skips_unmatched=options.pop("skip_unmatched"),
            **{name: options.pop(name) for name in ("events", *_TABLES)},
        )
        command(files=files, **options)

    run.__doc__ = command.__doc__
    run.__annotations__ = {one.name: one.annotation for one in parameters}
    run.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [one.replace(kind=inspect.Parameter.KEYWORD_ONLY) for one in parameters]
    )
    return run


def _keep_inputs(options: Mapping[str, Any]) -> None:
    """Refuse to write results over a file that is read."""
    paths = {name: path for name, path in options.items() if isinstance(path, Path)}
    read = {path.resolve() for name, path in paths.items() if name not in _WRITTEN}
    for name in _WRITTEN:
        if name in paths and paths[name].resolve() in read:
            raise InvalidParameterError(
                f"--{name} must not be a file that is read, but it is "
                f"{str(paths[name])!r}.\n\nHint: choose another name for the results."
            )


def _make_option(name: str, kind: Any, metavar: str, text: str) -> inspect.Parameter:
    """Return an option of one value, None by default."""
    option = typer.Option(f"--{name}", metavar=metavar, help=text)
    return _make_parameter(name, Annotated[kind | None, option], None)


def _make_parameter(name: str, annotation: Any, default: Any) -> inspect.Parameter:
    kind = inspect.Parameter.KEYWORD_ONLY
    return inspect.Parameter(name, kind, default=default, annotation=annotation)


def choose_columns(files: FleetFiles, features: str | None, drop: str | None) -> FleetFiles:
    """Return the tables restricted to the columns that two options name."""
    used, left_out = (
        None if text is None else tuple(name.strip() for name in text.split(","))
        for text in (features, drop)
    )
    return replace(files, features=used, left_out=left_out or ())

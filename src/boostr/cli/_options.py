"""Options that several commands share."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from boostr.cli._tables import FleetFiles

__all__ = [
    "Drop",
    "EventsFile",
    "Features",
    "Json",
    "Level",
    "ModelFile",
    "Seasons",
    "choose_columns",
    "with_tables",
]

ModelFile = Annotated[
    Path, typer.Argument(metavar="MODEL", help="Model that `boostr fit` has written.")
]
EventsFile = Annotated[
    Path,
    typer.Argument(
        metavar="EVENTS",
        help="Table of events, CSV, Parquet or Excel: one row per event, and one without "
        "event at the end of each follow-up; or rows of intervals.",
    ),
]
StaticFile = Annotated[
    Path | None,
    typer.Option("--static", metavar="FILE", help="Features, one row per individual."),
]
SensorsFile = Annotated[
    Path | None,
    typer.Option("--sensors", metavar="FILE", help="Sensors, one row per sample."),
]
SharedFile = Annotated[
    Path | None,
    typer.Option(
        "--shared",
        metavar="FILE",
        help="Sensors that all share, such as the weather: one row per time, without ids.",
    ),
]
Seasons = Annotated[
    str | None,
    typer.Option(
        "--season",
        metavar="NAMES",
        help="Seasons as sensors, such as month,weekday; where two cycles were seen.",
    ),
]
IdColumn = Annotated[
    str | None, typer.Option("--id", metavar="COL", help="Column of ids, in all tables.")
]
TimeColumn = Annotated[
    str | None, typer.Option("--time", metavar="COL", help="Column of times or dates.")
]
EventColumn = Annotated[
    str | None,
    typer.Option(
        "--event",
        metavar="COL",
        help="Column with 1 for an event, 0 for an end; 'not COL' if 0 is an event.",
    ),
]
StartColumn = Annotated[
    str | None,
    typer.Option(
        "--start",
        metavar="COL|TIME",
        help="Column of the start of follow-up, in EVENTS or --static, or of intervals; or "
        "one start for all.",
    ),
]
End = Annotated[
    str | None,
    typer.Option(
        metavar="TIME|COL",
        help="End of follow-up of those without a row for it: one for all, or a column of "
        "--static; who is only in --static has no events.",
    ),
]
StopColumn = Annotated[
    str | None,
    typer.Option("--stop", metavar="COL", help="Column of the end of intervals."),
]
CostColumn = Annotated[
    str | None,
    typer.Option("--cost", metavar="COL", help="Column of what each event counts."),
]
ExposureColumn = Annotated[
    str | None,
    typer.Option(
        "--exposure",
        metavar="COL",
        help="Column of --static or --sensors that events are proportional to, such as "
        "length or flights a day.",
    ),
]
Unit = Annotated[
    str | None,
    typer.Option(
        metavar="UNIT",
        help="Unit in which dates are counted: s, min, h, D (default) or W; a name for "
        "numbers.",
    ),
]
Origin = Annotated[
    str | None,
    typer.Option(
        metavar="DATE|individual",
        help="Time 0: a date (the first one by default), or each individual's own start, "
        "so that time is age.",
    ),
]
Duplicates = Annotated[
    str | None,
    typer.Option(
        metavar="warn|keep|drop|error",
        help="What to do with rows of events that repeat another row in all columns; they "
        "count, with a warning, by default.",
    ),
]
SkipUnmatched = Annotated[
    bool | None,
    typer.Option(
        "--skip-unmatched",
        help="Leave out who is not in all of EVENTS, --static and --sensors; an error "
        "names them otherwise.",
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
Json = Annotated[
    bool, typer.Option("--json", help="Print one JSON object; messages go to stderr.")
]
Level = Annotated[float, typer.Option(help="Probability of the intervals.")]


# Options of tables; the second ones say something about them.
_FILES = {
    "events": EventsFile,
    "static": StaticFile,
    "sensors": SensorsFile,
    "shared": SharedFile,
}
_GIVEN = {
    "id": IdColumn,
    "time": TimeColumn,
    "event": EventColumn,
    "start": StartColumn,
    "end": End,
    "stop": StopColumn,
    "cost": CostColumn,
    "exposure": ExposureColumn,
    "unit": Unit,
    "origin": Origin,
    "duplicates": Duplicates,
    "skip_unmatched": SkipUnmatched,
}


def with_tables(command: Callable[..., None]) -> Callable[..., None]:
    """Replace the parameter `files` of a command by the options of all tables."""
    own = list(inspect.signature(command, eval_str=True).parameters.values())
    place = [parameter.name for parameter in own].index("files")
    files, given = (
        [_make_parameter(name, annotation) for name, annotation in some.items()]
        for some in (_FILES, _GIVEN)
    )
    parameters = [*own[:place], *files, *own[place + 1 :], *given]

    def run(**options: Any) -> None:
        said = {name: options.pop(name) for name in _GIVEN}
        paths = {name: options.pop(name) for name in _FILES}
        skips = bool(said.pop("skip_unmatched"))
        files = FleetFiles(**paths, given=said, skips_unmatched=skips)
        command(files=files, **options)

    run.__doc__ = command.__doc__
    run.__annotations__ = {one.name: one.annotation for one in parameters}
    run.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [one.replace(kind=inspect.Parameter.KEYWORD_ONLY) for one in parameters]
    )
    return run


def choose_columns(files: FleetFiles, features: str | None, drop: str | None) -> FleetFiles:
    """Return the tables restricted to the columns that two options name."""
    used, left_out = (
        None if text is None else tuple(name.strip() for name in text.split(","))
        for text in (features, drop)
    )
    return replace(files, features=used, left_out=left_out or ())


def _make_parameter(name: str, annotation: Any) -> inspect.Parameter:
    default = inspect.Parameter.empty if name == "events" else None
    kind = inspect.Parameter.KEYWORD_ONLY
    return inspect.Parameter(name, kind, default=default, annotation=annotation)

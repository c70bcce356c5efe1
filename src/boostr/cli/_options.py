"""Options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from boostr.cli._events import Reading

__all__ = [
    "CostColumn",
    "EventColumn",
    "EventsFile",
    "ExposureColumn",
    "IdColumn",
    "Json",
    "Level",
    "ModelFile",
    "Origin",
    "Seasons",
    "SensorsFile",
    "SharedFile",
    "StartColumn",
    "StaticFile",
    "StopColumn",
    "TimeColumn",
    "Unit",
    "gather",
]

ModelFile = Annotated[
    Path, typer.Argument(metavar="MODEL", help="Model that `boostr fit` has written.")
]
EventsFile = Annotated[
    Path,
    typer.Argument(
        metavar="EVENTS",
        help="Table of events, CSV or Parquet: one row per event, and one without event "
        "at the end of each follow-up; or rows of intervals.",
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
        help="Column of the start of follow-up, or of intervals; or one start for all.",
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
Json = Annotated[
    bool, typer.Option("--json", help="Print one JSON object; messages go to stderr.")
]
Level = Annotated[float, typer.Option(help="Probability of the intervals.")]


def gather(**options: str | None) -> Reading:
    """Return what was said about the tables, by role."""
    return options

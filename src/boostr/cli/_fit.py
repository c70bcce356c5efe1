"""``boostr fit``: from tables to a model file."""

from __future__ import annotations

import json as json_format
import shlex
import sys
import time as clock
from collections.abc import Sequence
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Any

import typer

from boostr import BoostR
from boostr.cli import _options as options
from boostr.cli._files import quote_names
from boostr.cli._inputs import FleetFiles
from boostr.cli._output import echo, print_json, print_table
from boostr.cli._tables import FleetData, read_fleet, read_when
from boostr.data.individuals import count_of
from boostr.exceptions import InvalidParameterError
from boostr.inspection import SensorImportance, sensor_importance
from boostr.inspection.model import unused_features, unused_sensors
from boostr.io.files import check_checkpoint, check_output
from boostr.plotting.style import name_rate
from boostr.tuning import as_of_split

__all__ = ["fit", "make_model", "shows_progress"]

_WORDS = {"none": None, "null": None, "true": True, "false": False}
_N_SHOWN = 8


@options.with_tables
def fit(  # noqa: PLR0913 - every option is a parameter
    files: FleetFiles,
    *,
    out: Annotated[
        Path, typer.Option(metavar="MODEL", help="File for the model, such as x.boostr.")
    ],
    season: options.Seasons = None,
    features: options.Features = None,
    drop: options.Drop = None,
    until: Annotated[
        str | None,
        typer.Option(metavar="TIME", help="Learn only from what was known at this time."),
    ] = None,
    n_estimators: Annotated[int, typer.Option(help="Trees at most.")] = 500,
    learning_rate: Annotated[
        str, typer.Option(help="Share of each tree that is kept, or auto.")
    ] = "auto",
    validation: Annotated[
        str, typer.Option(help="cv, a share to hold out such as 0.2, or none.")
    ] = "cv",
    seed: options.Seed = 0,
    jobs: options.Jobs = None,
    checkpoint: options.Checkpoint = None,
    settings: options.Settings = None,
    progress: options.Progress = None,
    json: options.Json = False,
) -> None:
    """Learn from event histories how many events each individual will have, and when."""
    check_output(out)
    check_checkpoint(checkpoint)
    model = make_model(
        settings or (),
        n_estimators=n_estimators,
        learning_rate=_read_value(learning_rate),
        validation=_read_value(validation),
        random_state=seed,
        n_jobs=jobs,
        verbose=int(shows_progress(progress)),
    )
    fleet = read_fleet(options.choose_columns(files, features, drop))
    if until is not None:
        fleet = _know_until(fleet, until)
    if season is not None:
        fleet = fleet.add_seasons(season)
    began = clock.perf_counter()
    train_and_save(model, fleet, out, checkpoint)
    _report(model, fleet, out, clock.perf_counter() - began, as_json=json)


def train_and_save(
    model: BoostR, fleet: FleetData, out: Path, checkpoint: Path | None = None
) -> None:
    """Fit a model and save it, with the column roles of its tables."""
    model.fit(fleet.X, fleet.y, fleet.Z, checkpoint=checkpoint)
    # Files keep fitted attributes, so that forecasts read the same columns.
    model.fitted_ = replace(model.fitted_, reading=fleet.reading)
    model.verbose = 0
    model.save(out)


def make_model(settings: Sequence[str], **params: Any) -> BoostR:
    """Return the estimator with all settings; refuse unknown ones."""
    known = BoostR().get_params(deep=False)
    for setting in settings:
        name, sign, value = setting.partition("=")
        name = name.strip().replace("-", "_")
        if not sign or name not in known:
            raise InvalidParameterError(
                f"--set must be NAME=VALUE with a setting of BoostR, but it is {setting!r}."
                f"\n\nHint: the settings are {', '.join(known)}."
            )
        params[name] = _read_value(value)
    return BoostR(**params)


def _read_value(text: str) -> Any:
    """Return a number, list, boolean, None, or else the text itself."""
    text = text.strip()
    if text.lower() in _WORDS:
        return _WORDS[text.lower()]
    try:
        return json_format.loads(text)
    except ValueError:
        return text


def shows_progress(wanted: bool | None) -> bool:
    """Return whether to show a bar: if wanted, or on a terminal."""
    if wanted is None:
        return sys.stderr.isatty() and find_spec("tqdm") is not None
    return wanted


def _know_until(fleet: FleetData, until: str) -> FleetData:
    """Return the data known at a time, of the individuals observed by then."""
    split = as_of_split(fleet.y, read_when(until, fleet.y, "--until"))
    echo(f"learning from {len(split.train)} of {len(fleet.y)} individuals, until {until}")
    return fleet.take(split.train_rows, split.train)


def _report(
    model: BoostR, fleet: FleetData, out: Path, seconds: float, *, as_json: bool
) -> None:
    y = fleet.y
    names = list(model.encoder_.names)
    shares = dict(zip(names, model.feature_importances_.tolist(), strict=True))
    first = sorted(shares, key=lambda name: -shares[name])
    found = None if fleet.Z is None else sensor_importance(model, fleet.X)
    if as_json:
        print_json(
            {
                "model": str(out),
                "individuals": len(y),
                "events": int(y.n_events.sum()),
                "follow_up": float(y.follow_up.sum()),
                "unit": y.time_unit,
                "reading": fleet.reading,
                "sensors": [] if fleet.Z is None else list(fleet.Z.names),
                "trees": model.n_estimators_,
                "importance": {name: shares[name] for name in first},
                "sensor_importance": {} if found is None else _as_dict(found),
                "frailty_variance": model.frailty_variance_,
                "seconds": round(seconds, 3),
            }
        )
        return
    echo(f"{y!r}; {count_of(model.n_estimators_, 'tree')} in {seconds:.1f} s")
    if any(shares.values()):
        rows = [(name, shares[name]) for name in first[:_N_SHOWN] if shares[name] > 0.0]
        print_table("What splits the individuals", ["feature", "share of gain"], rows)
    if found is not None:
        _show_sensors(found)
    unused = [*unused_features(model), *unused_sensors(model)]
    if unused:
        echo(f"Not used by the model: {quote_names(unused)}")
    echo(f"Saved as {out}. Next: boostr forecast {shlex.quote(str(out))} EVENTS …")


def _as_dict(found: SensorImportance) -> dict[str, Any]:
    columns = zip(found.sensors, found.norms, found.losses, found.errors, strict=True)
    return {
        name: {"effect": norm, "loss_without": loss, "loss_without_error": error}
        for name, norm, loss, error in columns
    }


def _show_sensors(found: SensorImportance) -> None:
    """Print the effects of sensors, and the loss without each."""
    names = ["sensor", f"effect ({name_rate(found.time_unit)})"]
    columns = [found.sensors, found.norms.tolist()]
    if found.measure is not None:
        names += ["how much worse without it", "± error"]
        columns += [found.losses.tolist(), found.errors.tolist()]
    order = sorted(range(len(found.sensors)), key=lambda place: -found.norms[place])
    rows = [tuple(column[place] for column in columns) for place in order]
    print_table("What the sensors do", names, rows)

"""``boostr demo``: a simulated fleet from files to forecasts."""

from __future__ import annotations

import shlex
import tempfile
from contextlib import nullcontext
from pathlib import Path
from typing import Annotated, Any

import typer

from boostr import BoostR
from boostr.cli._files import load_polars
from boostr.cli._fit import train_and_save
from boostr.cli._forecast import make_forecasts, show_forecast
from boostr.cli._inputs import FleetFiles
from boostr.cli._options import Json
from boostr.cli._output import echo, print_json, write_table
from boostr.cli._tables import read_fleet
from boostr.data.times import name_length
from boostr.io.files import check_output
from boostr.simulate import wells

__all__ = ["demo"]

_HORIZON = 30.0
_FILES = ("events.csv", "wells.csv", "sensors.csv", "wells.boostr", "forecast.csv")
_N_FEATURES = 4  # of the simulation's eight, two of which matter


def demo(
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER", help="Folder to keep the tables, the model and forecasts in."
        ),
    ] = None,
    n: Annotated[int, typer.Option("--n", min=20, help="Number of wells.")] = 200,
    seed: Annotated[int, typer.Option(help="Seed of the simulation.")] = 0,
    json: Json = False,
) -> None:
    """Simulate a fleet of wells with sensors, learn from it, and forecast its failures."""
    if out is not None:
        out.mkdir(parents=True, exist_ok=True)
        for name in _FILES:
            check_output(out / name)
    kept = nullcontext(str(out)) if out is not None else tempfile.TemporaryDirectory()
    with kept as folder:
        events, static, sensors, model_file, table_file = (
            Path(folder) / name for name in _FILES
        )
        for table, path in zip(_simulate(n, seed), (events, static, sensors), strict=True):
            write_table(table, path)
        echo(f"{n} wells, some of them with failures, in three tables:")
        fleet = read_fleet(
            FleetFiles(events=events, static=static, sensors=sensors, given={"unit": "D"})
        )
        echo(f"learning from {fleet.y!r} …")
        model = BoostR(random_state=seed)
        train_and_save(model, fleet, model_file)
        table, total = make_forecasts(model, fleet, {"horizon": _HORIZON})
        write_table(table, table_file)
    if json:
        print_json({"folder": None if out is None else str(out), "total": total})
        return
    show_forecast(table, total, name_length(_HORIZON, "D"), top=5, unit="D")
    typer.echo(_advise(out))


def _simulate(n: int, seed: int) -> tuple[Any, Any, Any]:
    """Return tables of events, features and sensors, as a user would have them."""
    polars = load_polars()
    fleet = wells(n, n_sensors=2, random_state=seed, interpolation="last")
    width = len(str(n - 1))
    names = [f"W{number:0{width}d}" for number in range(n)]
    well = polars.col("id").replace_strict(list(range(n)), names).alias("well")
    events = fleet.y.to_long(backend="polars").select(
        well,
        ((polars.col("time") * 1e4).ceil() / 1e4).alias("day"),  # an event is never at 0
        polars.col("event").cast(int).alias("failed"),
    )
    features = polars.DataFrame(fleet.X, schema=list(fleet.feature_names))
    static = features[:, :_N_FEATURES].insert_column(0, polars.Series("well", names))
    assert fleet.Z is not None  # noqa: S101 - wells have sensors
    samples = fleet.Z.to_long(backend="polars")
    sensors = samples.select(
        well,
        polars.col("time").alias("day"),
        polars.col("sensor1").alias("torque"),
        polars.col("sensor2").alias("load"),
    )
    rounded = polars.col(polars.Float64).round(4)
    return events, static.with_columns(rounded), sensors.with_columns(rounded)


def _advise(out: Path | None) -> str:
    if out is None:
        return "\nTo keep the tables and try it yourself: boostr demo --out demo"
    events, static, sensors, model, _ = (shlex.quote(str(out / name)) for name in _FILES)
    early, page = (shlex.quote(str(out / name)) for name in ("early.boostr", "report.html"))
    tables = f"{events} --static {static} --sensors {sensors}"
    return "\n".join(
        (
            "\nTo try next:",
            f"  boostr fit {tables} --unit D --out {model}",
            f"  boostr forecast {model} {tables} --horizon 30",
            f"  boostr report {model} {tables} --horizon 30 --out {page}",
            f"  boostr fit {tables} --unit D --until 50 --out {early}",
            f"  boostr evaluate {early} {tables} --as-of 50 --horizon 30",
        )
    )

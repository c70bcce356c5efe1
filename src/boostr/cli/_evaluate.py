"""``boostr evaluate``: quality of a model on known histories."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from typing import Annotated, Any

import numpy as np
import typer

from boostr import BoostR
from boostr._training.sensors import spread_shared
from boostr.cli import _options as options
from boostr.cli._forecast import make_forecasts
from boostr.cli._inputs import FleetFiles, Known
from boostr.cli._output import echo, print_json, print_table
from boostr.cli._tables import FleetData, read_fleet, read_when
from boostr.data import Panel
from boostr.data.events.fingerprint import tell_trained_on
from boostr.data.events.terminal import extend_dead
from boostr.exceptions import BoostrError, InSampleWarning, InvalidParameterError
from boostr.io import load
from boostr.metrics import calibration_slope, capture_curve, event_concordance
from boostr.metrics.predictions import predict_by, predict_observed
from boostr.tuning import as_of_split

__all__ = ["evaluate"]

_HINT = (
    "evaluate on other individuals, or boostr fit … --until TIME and boostr evaluate … "
    "--as-of TIME; boostr backtest does so at several times."
)
_SHARE = 0.1  # of individuals, whose share of the events is told
_WORDS = {
    "individuals": "individuals",
    "observed": "events observed",
    "expected": "events expected",
    "lower": "  interval of the total, from",
    "upper": "  to",
    "score": "log-likelihood gained per individual (0: as the average)",
    "concordance": "concordance (0.5: chance)",
    "calibration_slope": "calibration slope (1: right)",
    "calibration_slope_error": "  its standard error",
    "capture": "share of the events in the tenth most at risk",
    "covered": "share of individuals inside their intervals",
    "mean_absolute_error": "mean absolute error of counts",
    "root_mean_squared_error": "root mean squared error of counts",
}


@options.with_tables
def evaluate(
    model: options.ModelFile,
    files: FleetFiles,
    *,
    as_of: Annotated[
        str | None,
        typer.Option(
            metavar="TIME",
            help="Judge forecasts made at this time by what came after; without it, "
            "predictions for whole histories.",
        ),
    ] = None,
    horizon: Annotated[
        float | None, typer.Option(help="Length of these forecasts.")
    ] = None,
    level: options.Level = 0.9,
    json: options.Json = False,
) -> None:
    """Compare what a model expects with what happened.

    Figures are honest for individuals that training has not seen; with --as-of also for
    the same ones, if the model was fitted with --until the same time. A warning says if
    these histories were trained on.
    """
    if horizon is not None and as_of is None:
        raise InvalidParameterError(
            "--horizon is the length of forecasts made at some time, but there is no "
            "--as-of.\n\nHint: --as-of TIME --horizon LENGTH."
        )
    fitted = load(model)
    fleet = read_fleet(files, Known.of(fitted))
    told = tell_trained_on(fitted, fleet.y, None)
    if told is not None:
        echo(f"warning: {told}\n\nHint: {_HINT}")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", InSampleWarning)  # said already
        if as_of is None:
            found = judge_histories(fitted, fleet)
        else:
            date = read_when(as_of, fleet.y, "--as-of")
            found = judge_forecasts(fitted, fleet, date, horizon, level)
    if json:
        print_json({**found, "in_sample": told is not None})
        return
    rows = [(words, found[name]) for name, words in _WORDS.items() if name in found]
    print_table(f"{model.name} on {files.events.name}", ["", "value"], rows, by_row=True)


def judge_histories(model: BoostR, fleet: FleetData) -> dict[str, Any]:
    """Return metrics of predictions for whole histories."""
    y = fleet.y
    last = np.maximum(y.end, model.horizon_)
    Z = spread_shared(fleet.Z, y, len(y), until=last)
    table = fleet.X if Z is None else Panel(fleet.X, Z)
    expected = predict_observed(model, table, y, -np.inf, np.inf)
    risk = predict_by(model, table, y, None)
    return {
        "individuals": len(y),
        "observed": float(y.costs.sum()),
        "expected": float(expected.sum()),
        "score": _try("the log-likelihood", lambda: model.score(table, y)),
        **_rank(y, expected, risk),
    }


def judge_forecasts(
    model: BoostR, fleet: FleetData, date: Any, horizon: float | None, level: float
) -> dict[str, Any]:
    """Return metrics of forecasts made at a time."""
    split = as_of_split(fleet.y, date, horizon)
    n_windows = np.diff(split.test.window_offsets)
    # Whose observation goes on from the date without a gap.
    is_whole = (n_windows == 1) & (split.test.start <= split.dates[split.test_rows])
    is_whole &= np.isin(split.test_rows, split.train_rows)
    rows, after = split.test_rows[is_whole], split.test[is_whole]
    if horizon is not None:  # the dead have no events up to it
        after = extend_dead(after, split.dates[rows] + horizon)
    if not rows.size:
        raise InvalidParameterError(
            f"Some individuals must be observed before and after {date}, but none is.\n\n"
            f"Hint: follow-up lasts from {fleet.y.start.min():g} to {fleet.y.end.max():g}."
        )
    if rows.size < len(fleet.y):
        echo(
            f"evaluating {rows.size} of {len(fleet.y)} individuals: those under "
            f"observation both before and after {date}"
        )
    settings = {
        "now": split.dates[rows],
        "horizon": after.end - after.start,
        "level": level,
    }
    table, total = make_forecasts(model, fleet.take(rows), settings)
    found = table.to_dict(as_series=False)
    place = {one: row for row, one in enumerate(found["id"])}
    order = [place[one] for one in after.ids.tolist()]
    expected, lower, upper = (
        np.array(found[name])[order] for name in ("expected", "lower", "upper")
    )
    counts = np.bincount(after.event_owner, after.costs, minlength=len(after))
    error = counts - expected
    return {
        "individuals": len(after),
        "observed": float(counts.sum()),
        "expected": total["expected"],
        "lower": total["lower"],
        "upper": total["upper"],
        "level": level,
        **_rank(after, expected, expected / (after.end - after.start)),
        "covered": float(np.mean((lower <= counts) & (counts <= upper))),
        "mean_absolute_error": float(np.abs(error).mean()),
        "root_mean_squared_error": math.sqrt(float(np.mean(error**2))),
    }


def _rank(y: Any, expected: Any, risk: Any) -> dict[str, Any]:
    """Return metrics of how predictions order and spread the individuals."""
    slope = _try("the slope", lambda: calibration_slope(y, expected, by=risk))
    return {
        "concordance": _try("the concordance", lambda: event_concordance(y, risk)),
        "calibration_slope": slope and slope.slope,
        "calibration_slope_error": slope and slope.slope_error,
        "capture": _try("the capture", lambda: capture_curve(y, risk).at(_SHARE)),
    }


def _try(what: str, measure: Callable[[], Any]) -> Any:
    """Return a metric, or None with a message if the data do not allow it."""
    try:
        return measure()
    except BoostrError as error:
        echo(f"no figure for {what}: {str(error).splitlines()[0]}")
        return None

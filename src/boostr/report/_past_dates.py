"""A back-test in words and as plotly draws it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import narwhals as nw
import numpy as np

from boostr.data._times import name_unit
from boostr.plotting._style import CYCLE, GREY
from boostr.report._encode import as_list
from boostr.report._traces import Figure, make_figure, plain
from boostr.tuning import Backtest

__all__ = ["PastDates", "draw_past_dates", "write_past_dates"]

_COLUMNS = {
    "candidate": "Model",
    "n_dates": "Dates",
    "observed": "Observed",
    "expected": "Expected",
    "deviance": "Deviance per individual (lower is better)",
    "capture": "Share of the riskiest tenth",
    "coverage": "Individual intervals that held",
    "held": "Total intervals that held",
}
_SHARES = ("capture", "coverage", "held")


@dataclass(frozen=True, slots=True)
class PastDates:
    """The section on forecasts at past dates."""

    caption: str
    names: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def write_past_dates(result: Backtest) -> PastDates:
    """Return the summary of a back-test as texts."""
    unit = name_unit(result.time_unit)
    ahead = f"{result.horizon:g}" + (f" {unit}" if unit else "")
    caption = (
        "Each model was fitted anew to what was known at past dates, and its forecasts of "
        f"the next {ahead} are compared with what came among the individuals under "
        "observation then."
    )
    frame = nw.from_native(result.summary(), eager_only=True)
    rows = tuple(
        tuple(_tell(name, row[name]) for name in _COLUMNS)
        for row in frame.iter_rows(named=True)
    )
    return PastDates(caption, tuple(_COLUMNS.values()), rows)


def _tell(name: str, value: Any) -> str:
    if isinstance(value, str):
        return value
    if not math.isfinite(value):
        return "-"
    if name in _SHARES:
        return f"{value:.0%}"
    return f"{value:.3f}" if name == "deviance" else f"{value:,.0f}"


def draw_past_dates(result: Backtest) -> Figure:
    """Draw expected totals of every date with their intervals beside what came."""
    frame = nw.from_native(result.table, eager_only=True)
    names = np.array([str(name) for name in frame["candidate"].to_list()])
    dates = np.array([_label(date) for date in frame["date"].to_list()])
    columns = {
        name: np.asarray(frame[name].to_numpy(), dtype=np.float64)
        for name in ("observed", "expected", "lower", "upper")
    }
    first = names == result.candidates[0]
    data: list[Figure] = [
        {
            "type": "scatter",
            "mode": "lines+markers",
            "name": "observed",
            "x": dates[first].tolist(),
            "y": as_list(columns["observed"][first]),
            "line": {"color": GREY, "dash": "dash"},
            "marker": {"color": GREY, "symbol": "x"},
            "hovertemplate": "observed %{y:.4g}<extra></extra>",
        }
    ]
    for place, candidate in enumerate(result.candidates):
        own = names == candidate
        expected = columns["expected"][own]
        data.append(
            {
                "type": "scatter",
                "mode": "markers",
                "name": plain(candidate),
                "x": dates[own].tolist(),
                "y": as_list(expected),
                "error_y": {
                    "type": "data",
                    "symmetric": False,
                    "array": as_list(np.nan_to_num(columns["upper"][own] - expected)),
                    "arrayminus": as_list(np.nan_to_num(expected - columns["lower"][own])),
                    "thickness": 1.2,
                },
                "marker": {"color": CYCLE[place % len(CYCLE)], "size": 8, "symbol": place},
                "hovertemplate": "expected %{y:.4g}<extra></extra>",
            }
        )
    return make_figure(
        data,
        400,
        xaxis={"title": {"text": "Forecast as of"}, "type": "category"},
        yaxis={"title": {"text": "Total"}, "rangemode": "tozero"},
    )


def _label(date: Any) -> str:
    text = date.isoformat() if hasattr(date, "isoformat") else f"{date}"
    return plain(text.replace("T00:00:00", "").removesuffix(".000000"))

"""A back-test in words and as plotly draws it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import narwhals as nw
import numpy as np

from boostr._typing import FloatArray
from boostr.data.times import name_length
from boostr.plotting.style import CYCLE, GREY
from boostr.report._traces import Figure, as_list, escape, make_figure, plain
from boostr.tuning import Backtest

__all__ = ["PastDates", "draw_past_dates", "write_past_dates"]

_SHIFT = 0.12  # between models at the same date
_MEASURES = {  # with what they mean
    "n_dates": ("Dates", "Number of past dates at which forecasts were made."),
    "observed": ("Observed", "What came after the dates, summed over all of them."),
    "expected": ("Expected", "What was forecast of the same, summed over all dates."),
    "deviance": (
        "Error per individual (lower is better)",
        "Mean Poisson deviance of the numbers of single individuals.",
    ),
    "capture": (
        "Share of the riskiest tenth",
        "How much of what came fell to the tenth of individuals with the highest "
        "forecasts; 10% by chance.",
    ),
    "coverage": (
        "Individual intervals that held",
        "Share of individuals whose number lay in their own interval.",
    ),
    "held": (
        "Total intervals that held",
        "Share of dates at which the total of all individuals lay in its interval.",
    ),
}
_SHARES = ("capture", "coverage", "held")


@dataclass(frozen=True, slots=True)
class PastDates:
    """The section on forecasts at past dates."""

    caption: str
    models: tuple[str, ...]  # columns of the table
    rows: tuple[tuple[str, str, tuple[str, ...]], ...]  # name, tip and values


def write_past_dates(result: Backtest) -> PastDates:
    """Return the summary of a back-test as texts."""
    ahead = name_length(result.horizon, result.time_unit)
    caption = (
        "Each model was fitted anew to what was known at past dates, and its forecasts of "
        f"the next {ahead} are compared with what came among the individuals under "
        "observation then."
    )
    frame = nw.from_native(result.summary(), eager_only=True)
    rows = tuple(
        (label, tip, tuple(_tell(name, value) for value in frame[name].to_list()))
        for name, (label, tip) in _MEASURES.items()
    )
    return PastDates(caption, result.candidates, rows)


def _tell(name: str, value: Any) -> str:
    if not math.isfinite(value):
        return "-"
    if name in _SHARES:
        return f"{value:.0%}"
    return f"{value:.3f}" if name == "deviance" else f"{value:,.0f}"


def draw_past_dates(result: Backtest, what: str) -> Figure:
    """Draw expected totals of every date with their intervals beside what came."""
    frame = nw.from_native(result.table, eager_only=True)
    names = np.array([str(name) for name in frame["candidate"].to_list()])
    dates = np.array([_label(date) for date in frame["date"].to_list()])
    columns = {
        name: np.asarray(frame[name].to_numpy(), dtype=np.float64)
        for name in ("observed", "expected", "lower", "upper")
    }
    first = names == result.candidates[0]
    labels = dates[first].tolist()
    shift = min(_SHIFT, 0.5 / len(result.candidates))
    ahead = escape(name_length(result.horizon, result.time_unit))
    data: list[Figure] = [
        {
            "type": "scatter",
            "mode": "markers",
            "name": "observed",
            "x": list(range(int(first.sum()))),
            "text": labels,
            "y": as_list(columns["observed"][first]),
            "marker": {"color": GREY, "symbol": "diamond", "size": 9},
            "hovertemplate": "%{text}: observed %{y:.4g}<extra></extra>",
        }
    ]
    for place, candidate in enumerate(result.candidates):
        own = names == candidate
        # Beside each other, so that none hides another or what was observed.
        at = [labels.index(date) + shift * (place + 1) for date in dates[own]]
        totals = {name: column[own] for name, column in columns.items()}
        data.append(_draw_candidate(place, candidate, at, dates[own].tolist(), totals))
    return make_figure(
        data,
        400,
        xaxis={
            "title": {"text": "Forecast as of"},
            "tickvals": list(range(len(labels))),
            "ticktext": labels,
            "range": [-0.5, len(labels) - 0.5],
            "showgrid": False,
            "zeroline": False,
        },
        yaxis={
            "title": {"text": f"{what.capitalize()} in the next {ahead}"},
            "rangemode": "tozero",
        },
    )


def _draw_candidate(
    place: int,
    name: str,
    at: list[float],
    labels: list[str],
    totals: dict[str, FloatArray],
) -> Figure:
    """Return the expected totals of one model with their intervals."""
    expected = totals["expected"]
    return {
        "type": "scatter",
        "mode": "markers",
        "name": plain(name),
        "x": at,
        "text": labels,
        "y": as_list(expected),
        "error_y": {
            "type": "data",
            "symmetric": False,
            "array": as_list(np.nan_to_num(totals["upper"] - expected)),
            "arrayminus": as_list(np.nan_to_num(expected - totals["lower"])),
            "thickness": 1.2,
        },
        "marker": {"color": CYCLE[place % len(CYCLE)], "size": 8, "symbol": place},
        "hovertemplate": "%{text}: expected %{y:.4g}<extra></extra>",
    }


def _label(date: Any) -> str:
    text = date.isoformat() if hasattr(date, "isoformat") else f"{date}"
    return plain(text.replace("T00:00:00", "").removesuffix(".000000"))

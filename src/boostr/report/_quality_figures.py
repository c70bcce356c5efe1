"""Pictures of how good a model is, as plotly draws them."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import NormalDist

import numpy as np

from boostr.data.individuals import count_of
from boostr.metrics import CalibrationTable
from boostr.plotting.style import CYCLE, GREY
from boostr.report._fleet import TimeAxis, thin
from boostr.report._quality import Check, Quality
from boostr.report._traces import DASHES, Figure, as_list, escape, make_figure

__all__ = ["draw_calibration", "draw_capture", "draw_validation"]

_MOST_POINTS = 200  # of a curve
_NORMAL = NormalDist().inv_cdf(0.975)


def draw_calibration(
    checks: Sequence[tuple[str, Check]], axis: TimeAxis, what: str
) -> Figure:
    """Draw observed over expected rates of groups, with their confidence."""
    data = [
        _compare(check.table, label, place) for place, (label, check) in enumerate(checks)
    ]
    ends = [
        value + error
        for trace in data
        for value, error in zip(trace["y"], trace["error_y"]["array"], strict=True)
    ]
    reach = 1.05 * max(ends + [value for trace in data for value in trace["x"]])
    unit = "unit of time" if axis.unit is None else escape(axis.unit.removesuffix("s"))
    return make_figure(
        [_diagonal(reach, "as expected"), *data],
        430,
        xaxis={"title": {"text": f"Expected {what} per {unit}"}, "range": [0, reach]},
        yaxis={"title": {"text": f"Observed {what} per {unit}"}, "range": [0, reach]},
    )


def _compare(table: CalibrationTable, label: str, place: int) -> Figure:
    is_known = table.follow_up > 0.0
    time = table.follow_up[is_known]
    expected, observed = table.expected[is_known] / time, table.observed[is_known] / time
    error = np.nan_to_num(table.error[is_known]) * expected * _NORMAL
    return {
        "type": "scatter",
        "mode": "markers",
        "name": escape(label),
        "x": as_list(expected),
        "y": as_list(observed),
        "error_y": {
            "type": "data",
            "symmetric": False,
            "array": as_list(error),
            # Rates below zero cannot be.
            "arrayminus": as_list(np.minimum(error, observed)),
            "thickness": 1.2,
        },
        "marker": {"color": CYCLE[place], "size": 8, "symbol": place},
        "text": [count_of(n, "individual", ",") for n in table.n[is_known].tolist()],
        "hovertemplate": "expected %{x:.3g}, observed %{y:.3g}<br>%{text}<extra></extra>",
    }


def _diagonal(reach: float, name: str) -> Figure:
    return {
        "type": "scatter",
        "mode": "lines",
        "name": name,
        "x": [0, reach],
        "y": [0, reach],
        "line": {"color": GREY, "dash": "dash", "width": 1},
        "hoverinfo": "skip",
    }


def draw_capture(checks: Sequence[tuple[str, Check]], what: str) -> Figure:
    """Draw the share of the events that the highest predictions have."""
    data = [_diagonal(1.0, "by chance")]
    for place, (label, check) in enumerate(checks):
        curve = check.capture
        line = {"color": CYCLE[place], "width": 2, "dash": DASHES[place]}
        ideal = {"color": CYCLE[place], "width": 1, "dash": "dot"}
        pairs = [(curve.share, curve.captured, line, label)]
        pairs.append(
            (curve.ideal_share, curve.ideal_captured, ideal, f"best possible, {label}")
        )
        for share, captured, style, name in pairs:
            kept = thin(len(share), _MOST_POINTS)
            data.append(
                {
                    "type": "scatter",
                    "mode": "lines",
                    "name": escape(name),
                    "x": as_list(share[kept]),
                    "y": as_list(captured[kept]),
                    "line": style,
                    "hovertemplate": "top %{x:.0%}: %{y:.0%}<extra></extra>",
                }
            )
    percent = {"tickformat": ".0%", "range": [0, 1.01]}
    return make_figure(
        data,
        430,
        xaxis={"title": {"text": "Individuals, highest predictions first"}, **percent},
        yaxis={"title": {"text": f"Share of the {what}"}, **percent},
    )


def draw_validation(quality: Quality) -> Figure:
    """Draw the held-out loss after each tree."""
    runs = sorted(quality.runs, key=lambda run: -run["weight"])
    data: list[Figure] = []
    for place, run in enumerate(runs):
        curve = np.asarray(run["curve"], dtype=np.float64)
        kept = thin(len(curve), _MOST_POINTS)
        is_used = run["weight"] >= 0.005
        colour = CYCLE[place % len(CYCLE)] if is_used else GREY
        data.append(
            {
                "type": "scatter",
                "mode": "lines",
                "name": f"{escape(run['label'])} (weight {run['weight']:.2f})",
                "x": (kept + 1).tolist(),
                "y": as_list(curve[kept], 7),
                "line": {
                    "color": colour,
                    "width": 2 if is_used else 1,
                    "dash": DASHES[place % len(DASHES)] if is_used else "solid",
                },
                "text": [count_of(n, "tree") for n in (kept + 1).tolist()],
                "hovertemplate": "%{text}: %{y:.5g}<extra></extra>",
            }
        )
    return make_figure(
        data,
        400,
        xaxis={"title": {"text": "Trees"}},
        yaxis={"title": {"text": "Error on held-out individuals"}},
    )

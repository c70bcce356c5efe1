"""Pictures of the fleet and of the model, as plotly draws them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from boostr._typing import FloatArray
from boostr.data.individuals import count_of
from boostr.plotting.reasons import stack_points
from boostr.plotting.style import BLUE, CYCLE, GREY, VERMILION
from boostr.report._content import Content
from boostr.report._fleet import Activity, Mcf, TimeAxis, Timeline
from boostr.report._individuals import Drivers, Swarm
from boostr.report._past_dates import draw_past_dates
from boostr.report._quality import list_checks
from boostr.report._quality_figures import (
    draw_calibration,
    draw_capture,
    draw_validation,
)
from boostr.report._traces import Figure, as_list, escape, make_figure, plain

__all__ = ["draw_figures"]

_BLUE_HAZE, _GREY_HAZE = "rgba(0,114,178,0.18)", "rgba(127,127,127,0.55)"
_N_CELLS = 100  # across the width of a swarm


def draw_figures(content: Content) -> dict[str, Figure]:
    """Return the figures by name; those without anything to show are not there."""
    axis, what = content.axis, "cost" if content.has_costs else "events"
    ahead = f"in the next {escape(axis.length(content.horizon))}"
    figures = {
        "timeline": _draw_timeline(content.timeline, axis),
        "activity": _draw_activity(content.activity, axis),
    }
    if content.mcf is not None:
        figures["mcf"] = _draw_mcf(content.mcf, axis, what)
    if content.drivers.reasons:
        figures["reasons"] = _draw_reasons(content.drivers, f"{what} {ahead}")
        figures["swarm"] = _draw_swarm(content.drivers.swarm, f"{what} {ahead}")
    if content.drivers.features:
        figures["importance"] = _draw_importance(content.drivers)
    checks = [
        (label, check)
        for label, check in list_checks(content.quality, axis)
        if check is not None
    ]
    if checks:
        figures["calibration"] = draw_calibration(checks, axis, what)
        figures["capture"] = draw_capture(checks, what)
    if content.quality.runs:
        figures["validation"] = draw_validation(content.quality)
    if content.past_dates is not None:
        figures["past_dates"] = draw_past_dates(content.past_dates, what)
    return figures


def _time_axis(axis: TimeAxis) -> Figure:
    kind = "linear" if axis.origin is None else "date"
    return {"title": {"text": escape(axis.label)}, "type": kind}


def _place(axis: TimeAxis, times: FloatArray) -> list[float | None]:
    return as_list(axis.place(times), 13 if axis.origin is not None else 7)


def _draw_timeline(timeline: Timeline, axis: TimeAxis) -> Figure:
    ends = np.stack([timeline.window_start, timeline.window_stop], axis=1)
    gaps = np.full((len(ends), 1), np.nan)
    lines = np.concatenate([ends, gaps], axis=1).ravel()
    rows = np.repeat(timeline.window_row, 3)
    names = [plain(label) for label in timeline.labels.tolist()]
    observed = {
        "type": "scatter",
        "mode": "lines",
        "name": "observed",
        "x": _place(axis, lines),
        "y": rows.tolist(),
        "line": {"color": _GREY_HAZE, "width": 2},
        "hoverinfo": "skip",
    }
    events = {
        "type": "scatter",
        "mode": "markers",
        "name": "event",
        "x": _place(axis, timeline.event_time),
        "y": timeline.event_row.tolist(),
        "text": [names[row] for row in timeline.event_row],
        "marker": {"color": VERMILION, "size": 5},
        "hovertemplate": "%{text}: %{x}<extra></extra>",
    }
    n, n_all = len(names), timeline.n_individuals
    title = "Individuals" if n == n_all else f"{n:,} of {n_all:,} individuals"
    y_axis = {
        "title": {"text": f"{title} by end of follow-up"},
        "showticklabels": False,
        "showgrid": False,
        "zeroline": False,
        "range": [-1, n],
    }
    height = int(np.clip(160 + 5 * n, 300, 620))
    return make_figure([observed, events], height, xaxis=_time_axis(axis), yaxis=y_axis)


def _draw_activity(activity: Activity, axis: TimeAxis) -> Figure:
    middle = 0.5 * (activity.edges[1:] + activity.edges[:-1])
    edges = axis.place(activity.edges)
    shown = _place(axis, middle)
    observed = {
        "type": "scatter",
        "mode": "lines",
        "line": {"shape": "hvh", "color": BLUE},
        "fill": "tozeroy",
        "fillcolor": _BLUE_HAZE,
        "name": "observed",
        "x": shown,
        "y": as_list(activity.observed),
        "hovertemplate": "%{y:.4g} individuals<extra></extra>",
    }
    events = {
        "type": "bar",
        "name": "events",
        "x": shown,
        "y": activity.events.tolist(),
        "width": float(edges[1] - edges[0]),
        "marker": {"color": VERMILION},
        "yaxis": "y2",
        "text": [count_of(n, "event", ",") for n in activity.events.tolist()],
        "textposition": "none",
        "hovertemplate": "%{text}<extra></extra>",
    }
    return make_figure(
        [observed, events],
        420,
        showlegend=False,
        hovermode="x",
        bargap=0.05,
        xaxis={**_time_axis(axis), "anchor": "y2"},
        yaxis={"title": {"text": "Individuals<br>observed"}, "domain": [0.56, 1.0]},
        yaxis2={"title": {"text": "Events"}, "domain": [0.0, 0.46], "rangemode": "tozero"},
    )


def _draw_mcf(mcf: Mcf, axis: TimeAxis, what: str) -> Figure:
    times = _place(axis, mcf.times)
    shape = {"shape": "hv", "color": BLUE, "width": 2}
    edge = {"type": "scatter", "mode": "lines", "x": times, "hoverinfo": "skip"}
    thin_line = {"shape": "hv", "width": 0}
    band = f"{mcf.confidence:.0%} confidence"
    upper = {**edge, "y": as_list(mcf.upper), "line": thin_line, "showlegend": False}
    lower = {**edge, "y": as_list(mcf.lower), "line": thin_line, "name": band}
    lower |= {"fill": "tonexty", "fillcolor": _BLUE_HAZE}
    mean = {**edge, "y": as_list(mcf.mean), "line": shape, "name": "observed mean"}
    mean |= {"hoverinfo": "x+y"}
    title = f"Mean cumulative {what} per individual"
    return make_figure(
        [upper, lower, mean],
        420,
        xaxis=_time_axis(axis),
        yaxis={"title": {"text": title}, "rangemode": "tozero"},
    )


def _bars(names: Sequence[str], sizes: FloatArray, colour: str, title: str) -> Figure:
    bars = {
        "type": "bar",
        "orientation": "h",
        # Places, not names: two names may be the same when they are shortened.
        "y": list(range(len(names))),
        "x": as_list(sizes),
        "marker": {"color": colour},
        "hovertemplate": "%{x:.3g}<extra></extra>",
    }
    return make_figure(
        [bars],
        110 + 26 * len(names),
        xaxis={"title": {"text": title}, "rangemode": "tozero"},
        yaxis=_name_rows(names),
        showlegend=False,
    )


def _name_rows(names: Sequence[str]) -> Figure:
    return {
        "tickvals": list(range(len(names))),
        "ticktext": [plain(name) for name in names],
        "range": [len(names) - 0.4, -0.6],
        "automargin": True,
        "zeroline": False,
        "showgrid": False,
    }


def _draw_reasons(drivers: Drivers, what: str) -> Figure:
    title = f"Mean size of what it adds to or takes from the expected {what}"
    return _bars(drivers.reasons, drivers.sizes, BLUE, _wrap(title))


def _draw_importance(drivers: Drivers) -> Figure:
    title = "Share of the gain of all splits in training"
    return _bars(drivers.features, drivers.importances, CYCLE[2], title)


def _draw_swarm(swarm: Swarm, what: str) -> Figure:
    width = float(np.ptp(swarm.amounts)) / _N_CELLS if swarm.amounts.size else 1.0
    data = []
    for row in range(len(swarm.names)):
        amounts, ranks = swarm.amounts[:, row], swarm.ranks[:, row]
        heights = row + 0.4 * stack_points(amounts, width)
        for known in (np.isnan(ranks), ~np.isnan(ranks)):
            if known.any():
                points = _points(amounts[known], heights[known], ranks[known])
                data.append(points)
    title = f"Added to the expected {what}"
    return make_figure(
        data,
        150 + 40 * len(swarm.names),
        xaxis={"title": {"text": _wrap(title)}, "zeroline": True},
        yaxis=_name_rows(swarm.names),
        showlegend=False,
        coloraxis={
            "colorscale": "Viridis",
            "cmin": 0,
            "cmax": 1,
            "colorbar": {
                "title": {"text": "Value", "side": "right"},
                "tickvals": [0, 1],
                "ticktext": ["low", "high"],
                "thickness": 10,
                "len": 0.6,
            },
        },
    )


def _points(amounts: FloatArray, heights: FloatArray, ranks: FloatArray) -> Figure:
    marker: Figure = {"size": 5, "opacity": 0.85}
    if np.isnan(ranks).any():
        marker["color"] = GREY
    else:
        marker |= {"color": as_list(ranks, 3), "coloraxis": "coloraxis"}
    return {
        "type": "scatter",
        "mode": "markers",
        "x": as_list(amounts, 4),
        "y": as_list(heights, 4),
        "marker": marker,
        "hovertemplate": "%{x:+.3g}<extra></extra>",
    }


def _wrap(title: str) -> str:
    """Break a title of an axis in the middle, for narrow windows."""
    words = title.split()
    half = (len(words) + 1) // 2
    return " ".join(words[:half]) + "<br>" + " ".join(words[half:])

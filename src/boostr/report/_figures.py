"""Figures of the fleet and of the model, as plotly draws them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from statistics import NormalDist
from typing import Any

import narwhals as nw
import numpy as np

from boostr._html import thin
from boostr._typing import FloatArray
from boostr.data import RecurrentEvents
from boostr.data.flat import owners_of
from boostr.data.individuals import count_of
from boostr.data.times import name_length
from boostr.metrics import CalibrationTable
from boostr.plotting.reasons import stack_points
from boostr.plotting.style import BLUE, CYCLE, GREY, VERMILION, shorten
from boostr.report._content import Content
from boostr.report._fleet import Activity, Mcf, TimeAxis
from boostr.report._individuals import Drivers
from boostr.report._quality import Check, Quality, list_checks

__all__ = ["PlotlyFigure", "as_list", "draw_figures"]

PlotlyFigure = dict[str, Any]  # with "data", "layout" and a "height" in pixels
_DIGITS = 5  # that a plot can show
_BLUE_HAZE, _GREY_HAZE = "rgba(0,114,178,0.18)", "rgba(127,127,127,0.55)"
_DASHES = ("solid", "dash", "dashdot", "dot")
_N_CELLS = 100  # across the width of a swarm
_MOST_POINTS = 200  # of a curve
_SHIFT = 0.12  # between models at the same date
_USED = 0.005  # share in the model from which a version has a colour
_NORMAL = NormalDist().inv_cdf(0.975)


def draw_figures(content: Content) -> dict[str, PlotlyFigure]:
    """Return the figures by name; those without data are left out."""
    axis, what = content.axis, "cost" if content.has_costs else "events"
    ahead = f"{what} in the next {_escape(axis.length(content.horizon))}"
    figures = {
        "timeline": _draw_timeline(content.timeline, content.n_individuals, axis),
        "activity": _draw_activity(content.activity, axis),
    }
    if content.mcf is not None:
        figures["mcf"] = _draw_mcf(content.mcf, axis, what)
    drivers = content.drivers
    if drivers.reasons:
        title = f"Mean size of what it adds to or takes from the expected {ahead}"
        figures["reasons"] = _draw_bars(drivers.reasons, drivers.sizes, BLUE, _wrap(title))
        figures["swarm"] = _draw_swarm(drivers, ahead)
    if drivers.features:
        title = "Share of the improvement in training"
        figures["importance"] = _draw_bars(
            drivers.features, drivers.importances, CYCLE[2], title
        )
    checks = [(name, each) for name, each in list_checks(content.quality, axis) if each]
    if checks:
        figures["calibration"] = _draw_calibration(checks, axis, what)
        figures["riskiest"] = _draw_riskiest(checks, what)
    if content.quality.runs:
        figures["validation"] = _draw_validation(content.quality)
    if content.past_dates is not None:
        figures["past_dates"] = _draw_past_dates(content.past_dates, what)
    return figures


def as_list(values: Iterable[Any], digits: int = _DIGITS) -> list[float | None]:
    """Return numbers with some digits, None where there is none."""
    numbers = np.asarray(values, dtype=np.float64)
    return [float(f"{v:.{digits}g}") if np.isfinite(v) else None for v in numbers]


def _escape(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _plain(name: object) -> str:
    """Return a name that plotly shows as it is, shortened if it is long."""
    return _escape(shorten(name))


def _figure(data: list[PlotlyFigure], height: int, **layout: Any) -> PlotlyFigure:
    return {"data": data, "layout": layout, "height": height}


def _axis(title: str, **options: Any) -> PlotlyFigure:
    return {"title": {"text": title}, **options}


def _lines(x: Any, y: Any, **options: Any) -> PlotlyFigure:
    return {"type": "scatter", "mode": "lines", "x": x, "y": y, **options}


def _dots(x: Any, y: Any, hover: str, **options: Any) -> PlotlyFigure:
    hover = f"{hover}<extra></extra>"
    return _lines(x, y, **options) | {"mode": "markers", "hovertemplate": hover}


def _bars_of_error(above: FloatArray, below: FloatArray) -> PlotlyFigure:
    return {
        "type": "data",
        "symmetric": False,
        "array": as_list(above),
        "arrayminus": as_list(below),
        "thickness": 1.2,
    }


def _time_axis(axis: TimeAxis) -> PlotlyFigure:
    return _axis(_escape(axis.label), type="linear" if axis.origin is None else "date")


def _place(axis: TimeAxis, times: FloatArray) -> list[float | None]:
    return as_list(axis.place(times), 13 if axis.origin is not None else 7)


def _wrap(title: str) -> str:
    """Break a title of an axis in the middle, for narrow windows."""
    words = title.split()
    half = (len(words) + 1) // 2
    return " ".join(words[:half]) + "<br>" + " ".join(words[half:])


def _draw_timeline(shown: RecurrentEvents, n_all: int, axis: TimeAxis) -> PlotlyFigure:
    gaps = np.full(len(shown.window_start), np.nan)  # between the lines
    ends = np.stack([shown.window_start, shown.window_stop, gaps], axis=1).ravel()
    names = [_plain(label) for label in shown.ids.tolist()]
    observed = _lines(
        _place(axis, ends),
        np.repeat(owners_of(shown.window_offsets), 3).tolist(),
        name="observed",
        line={"color": _GREY_HAZE, "width": 2},
        hoverinfo="skip",
    )
    events = _dots(
        _place(axis, shown.times),
        shown.event_owner.tolist(),
        "%{text}: %{x}",
        name="event",
        text=[names[row] for row in shown.event_owner],
        marker={"color": VERMILION, "size": 5},
    )
    data = [observed, events]
    if shown.is_terminal is not None and shown.is_terminal.any():
        rows = np.flatnonzero(shown.is_terminal)
        crosses = _dots(
            _place(axis, shown.end[rows]),
            rows.tolist(),
            "%{text}: %{x}",
            name="terminal event",
            text=[names[row] for row in rows],
            marker={"color": BLUE, "size": 7, "symbol": "x"},
        )
        data.append(crosses)
    n = len(names)
    title = "Individuals" if n == n_all else f"{n:,} of {n_all:,} individuals"
    y_axis = _axis(
        f"{title} by end of follow-up",
        showticklabels=False,
        showgrid=False,
        zeroline=False,
        range=[-1, n],
    )
    height = int(np.clip(160 + 5 * n, 300, 620))
    return _figure(data, height, xaxis=_time_axis(axis), yaxis=y_axis)


def _draw_activity(activity: Activity, axis: TimeAxis) -> PlotlyFigure:
    edges = axis.place(activity.edges)
    middles = _place(axis, 0.5 * (activity.edges[1:] + activity.edges[:-1]))
    observed = _lines(
        middles,
        as_list(activity.observed),
        line={"shape": "hvh", "color": BLUE},
        fill="tozeroy",
        fillcolor=_BLUE_HAZE,
        name="observed",
        hovertemplate="%{y:.4g} individuals<extra></extra>",
    )
    events = {
        "type": "bar",
        "name": "events",
        "x": middles,
        "y": activity.events.tolist(),
        "width": float(edges[1] - edges[0]),
        "marker": {"color": VERMILION},
        "yaxis": "y2",
        "text": [count_of(n, "event", ",") for n in activity.events.tolist()],
        "textposition": "none",
        "hovertemplate": "%{text}<extra></extra>",
    }
    return _figure(
        [observed, events],
        420,
        showlegend=False,
        hovermode="x",
        bargap=0.05,
        xaxis={**_time_axis(axis), "anchor": "y2"},
        yaxis=_axis("Individuals<br>observed", domain=[0.56, 1.0]),
        yaxis2=_axis("Events", domain=[0.0, 0.46], rangemode="tozero"),
    )


def _draw_mcf(mcf: Mcf, axis: TimeAxis, what: str) -> PlotlyFigure:
    times, edge = _place(axis, mcf.times), {"shape": "hv", "width": 0}
    upper = _lines(times, as_list(mcf.upper), line=edge, hoverinfo="skip", showlegend=False)
    lower = _lines(
        times,
        as_list(mcf.lower),
        line=edge,
        hoverinfo="skip",
        name=f"{mcf.confidence:.0%} confidence",
        fill="tonexty",
        fillcolor=_BLUE_HAZE,
    )
    mean = _lines(
        times,
        as_list(mcf.mean),
        line={"shape": "hv", "color": BLUE, "width": 2},
        name="observed mean",
        hoverinfo="x+y",
    )
    title = f"Mean cumulative {what} per individual"
    return _figure(
        [upper, lower, mean],
        420,
        xaxis=_time_axis(axis),
        yaxis=_axis(title, rangemode="tozero"),
    )


def _draw_bars(
    names: Sequence[str], sizes: FloatArray, colour: str, title: str
) -> PlotlyFigure:
    bars = {
        "type": "bar",
        "orientation": "h",
        # Places, not names: two names may be the same when they are shortened.
        "y": list(range(len(names))),
        "x": as_list(sizes),
        "marker": {"color": colour},
        "hovertemplate": "%{x:.3g}<extra></extra>",
    }
    return _figure(
        [bars],
        110 + 26 * len(names),
        xaxis=_axis(title, rangemode="tozero"),
        yaxis=_name_rows(names),
        showlegend=False,
    )


def _name_rows(names: Sequence[str]) -> PlotlyFigure:
    return {
        "tickvals": list(range(len(names))),
        "ticktext": [_plain(name) for name in names],
        "range": [len(names) - 0.4, -0.6],
        "automargin": True,
        "zeroline": False,
        "showgrid": False,
    }


def _draw_swarm(drivers: Drivers, ahead: str) -> PlotlyFigure:
    width = float(np.ptp(drivers.amounts)) / _N_CELLS if drivers.amounts.size else 1.0
    data = []
    for row, (amounts, ranks) in enumerate(
        zip(drivers.amounts.T, drivers.ranks.T, strict=True)
    ):
        heights = row + 0.4 * stack_points(amounts, width)
        for chosen in (np.isnan(ranks), ~np.isnan(ranks)):
            if not chosen.any():
                continue
            marker: PlotlyFigure = {"size": 5, "opacity": 0.85, "color": GREY}
            if not np.isnan(ranks[chosen]).any():
                colours = as_list(ranks[chosen], 3)
                marker |= {"color": colours, "coloraxis": "coloraxis"}
            x, y = as_list(amounts[chosen], 4), as_list(heights[chosen], 4)
            data.append(_dots(x, y, "%{x:+.3g}", marker=marker))
    colour_bar = {
        "title": {"text": "Value", "side": "right"},
        "tickvals": [0, 1],
        "ticktext": ["low", "high"],
        "thickness": 10,
        "len": 0.6,
    }
    return _figure(
        data,
        150 + 40 * len(drivers.reasons),
        xaxis=_axis(_wrap(f"Added to the expected {ahead}"), zeroline=True),
        yaxis=_name_rows(drivers.reasons),
        showlegend=False,
        coloraxis={"colorscale": "Viridis", "cmin": 0, "cmax": 1, "colorbar": colour_bar},
    )


def _draw_calibration(
    checks: Sequence[tuple[str, Check]], axis: TimeAxis, what: str
) -> PlotlyFigure:
    """Draw observed over expected rates of groups, with their confidence."""
    data = [_compare(check.table, name, k) for k, (name, check) in enumerate(checks)]
    ends = [
        value + error
        for trace in data
        for value, error in zip(trace["y"], trace["error_y"]["array"], strict=True)
    ]
    reach = 1.05 * max(ends + [value for trace in data for value in trace["x"]])
    unit = "unit of time" if axis.unit is None else _escape(axis.unit.removesuffix("s"))
    return _figure(
        [_diagonal(reach, "as expected"), *data],
        430,
        xaxis=_axis(f"Expected {what} per {unit}", range=[0, reach]),
        yaxis=_axis(f"Observed {what} per {unit}", range=[0, reach]),
    )


def _compare(table: CalibrationTable, name: str, place: int) -> PlotlyFigure:
    is_known = table.follow_up > 0.0
    time = table.follow_up[is_known]
    expected, observed = table.expected[is_known] / time, table.observed[is_known] / time
    error = np.nan_to_num(table.error[is_known]) * expected * _NORMAL
    return _dots(
        as_list(expected),
        as_list(observed),
        "expected %{x:.3g}, observed %{y:.3g}<br>%{text}",
        name=_escape(name),
        # Rates below zero cannot be.
        error_y=_bars_of_error(error, np.minimum(error, observed)),
        marker={"color": CYCLE[place], "size": 8, "symbol": place},
        text=[count_of(n, "individual", ",") for n in table.n[is_known].tolist()],
    )


def _diagonal(reach: float, name: str) -> PlotlyFigure:
    line = {"color": GREY, "dash": "dash", "width": 1}
    return _lines([0, reach], [0, reach], name=name, line=line, hoverinfo="skip")


def _draw_riskiest(checks: Sequence[tuple[str, Check]], what: str) -> PlotlyFigure:
    """Draw the share of the events that the individuals at the highest risk have."""
    data = [_diagonal(1.0, "by chance")]
    for place, (name, check) in enumerate(checks):
        curve, colour = check.capture, CYCLE[place]
        line = {"color": colour, "width": 2, "dash": _DASHES[place]}
        ideal = {"color": colour, "width": 1, "dash": "dot"}
        for share, captured, style, label in (
            (curve.share, curve.captured, line, name),
            (curve.ideal_share, curve.ideal_captured, ideal, f"best possible, {name}"),
        ):
            kept = thin(len(share), _MOST_POINTS)
            data.append(
                _lines(
                    as_list(share[kept]),
                    as_list(captured[kept]),
                    name=_escape(label),
                    line=style,
                    hovertemplate="top %{x:.0%}: %{y:.0%}<extra></extra>",
                )
            )
    percent = {"tickformat": ".0%", "range": [0, 1.01]}
    return _figure(
        data,
        430,
        xaxis=_axis("Individuals, highest risk first", **percent),
        yaxis=_axis(f"Share of the {what}", **percent),
    )


def _draw_validation(quality: Quality) -> PlotlyFigure:
    """Draw the held-out error after each tree; settings are shown by the pointer."""
    data = []
    runs = sorted(quality.runs, key=lambda run: -run["weight"])
    for place, run in enumerate(runs):
        curve = np.asarray(run["curve"], dtype=np.float64)
        kept = thin(len(curve), _MOST_POINTS)
        is_used = run["weight"] >= _USED
        settings = _escape(run["label"])
        data.append(
            _lines(
                (kept + 1).tolist(),
                as_list(curve[kept], 7),
                name=f"version {place + 1}: "
                + (f"{run['weight']:.0%} of the model" if is_used else "not used"),
                line={
                    "color": CYCLE[place % len(CYCLE)] if is_used else GREY,
                    "width": 2 if is_used else 1,
                    "dash": _DASHES[place % len(_DASHES)] if is_used else "solid",
                },
                text=[f"{count_of(n, 'tree')}, {settings}" for n in (kept + 1).tolist()],
                hovertemplate="%{text}: %{y:.5g}<extra></extra>",
            )
        )
    return _figure(
        data,
        400,
        xaxis=_axis("Trees"),
        yaxis=_axis("Loss on held-out individuals"),
    )


def _draw_past_dates(result: Any, what: str) -> PlotlyFigure:
    """Draw expected totals of every date with their intervals beside the observed ones."""
    frame = nw.from_native(result.table, eager_only=True)
    names = np.array([str(name) for name in frame["candidate"].to_list()])
    dates = np.array([_name_date(date) for date in frame["date"].to_list()])
    observed, expected, lower, upper = (
        np.asarray(frame[name].to_numpy(), dtype=np.float64)
        for name in ("observed", "expected", "lower", "upper")
    )
    first = names == result.candidates[0]
    labels = dates[first].tolist()
    data = [
        _dots(
            list(range(len(labels))),
            as_list(observed[first]),
            "%{text}: observed %{y:.4g}",
            name="observed",
            text=labels,
            marker={"color": GREY, "symbol": "diamond", "size": 9},
        )
    ]
    shift = min(_SHIFT, 0.5 / len(result.candidates))
    for place, name in enumerate(result.candidates):
        own = names == name
        above, below = upper[own] - expected[own], expected[own] - lower[own]
        data.append(
            _dots(
                # Beside each other, so that none hides another or what was observed.
                [labels.index(date) + shift * (place + 1) for date in dates[own]],
                as_list(expected[own]),
                "%{text}: expected %{y:.4g}",
                name=_plain(name),
                text=dates[own].tolist(),
                error_y=_bars_of_error(np.nan_to_num(above), np.nan_to_num(below)),
                marker={"color": CYCLE[place % len(CYCLE)], "size": 8, "symbol": place},
            )
        )
    x_axis = _axis(
        "Forecast as of",
        tickvals=list(range(len(labels))),
        ticktext=labels,
        range=[-0.5, len(labels) - 0.5],
        showgrid=False,
        zeroline=False,
    )
    ahead = _escape(name_length(result.horizon, result.time_unit))
    title = f"{what.capitalize()} in the next {ahead}"
    return _figure(data, 400, xaxis=x_axis, yaxis=_axis(title, rangemode="tozero"))


def _name_date(date: Any) -> str:
    text = date.isoformat() if hasattr(date, "isoformat") else f"{date}"
    return _plain(text.replace("T00:00:00", "").removesuffix(".000000"))

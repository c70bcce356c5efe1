"""Parts that several pictures share: bars, boxes, steps with bands, maps and sensors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from boostr._typing import AnyArray, FloatArray
from boostr.data import RecurrentEvents, Trajectories
from boostr.plotting.style import (
    BLUE,
    GREY,
    VERMILION,
    find_edges,
    find_places,
    name_axis,
    name_categories,
    open_axes,
    shorten,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = [
    "box_style",
    "draw_bars",
    "draw_cells",
    "draw_grid",
    "draw_sensor",
    "draw_steps_with_band",
    "shade_gaps",
]

_FACES = {BLUE: "#DCEBF5", VERMILION: "#F9E0CF"}  # of boxes, by the colour of their edges


def draw_bars(
    ax: Axes | None,
    feature: str,
    names: Sequence[str],
    values: FloatArray,
    *,
    label: str,
    n_most: int,
    errors: FloatArray | None = None,
    bar_kwargs: Mapping[str, Any] | None = None,
) -> Axes:
    """Draw horizontal bars with names, the largest on top."""
    order = np.argsort(-values, kind="stable")[:n_most]
    lengths, places = values[order], np.arange(len(order))
    axes: Axes = open_axes(ax, feature, (6.4, 1.2 + 0.3 * len(order)))
    options: dict[str, Any] = {"color": BLUE}
    lowest = lengths
    if errors is not None:
        lowest = lengths - errors[order]
        options["xerr"] = errors[order]
        options["error_kw"] = {"ecolor": "black", "elinewidth": 1.0, "capsize": 3.0}
    axes.barh(places, lengths, **(options | dict(bar_kwargs or {})))
    axes.set_yticks(places, [shorten(names[place]) for place in order])
    axes.invert_yaxis()
    axes.locator_params(axis="x", nbins=6)
    if np.any(lowest < 0.0):
        axes.axvline(0.0, color=GREY, linewidth=0.8)
    axes.set_xlabel(label)
    return axes


def draw_steps_with_band(
    axes: Axes,
    times: AnyArray,
    values: tuple[FloatArray, FloatArray, FloatArray],
    line_options: Mapping[str, Any],
    band_options: Mapping[str, Any] | None,
    *,
    where: Any = "post",
) -> None:
    """Draw middle, lower and upper values as a line of steps in a band of its colour."""
    middle, lower, upper = values
    (line,) = axes.step(times, middle, where=where, **line_options)
    if band_options is not None:
        options = {"color": line.get_color(), "alpha": 0.2, "linewidth": 0.0}
        axes.fill_between(times, lower, upper, step=where, **(options | dict(band_options)))


def draw_cells(
    panel: Any,
    names: tuple[str, str],
    grids: tuple[AnyArray, AnyArray],
    values: FloatArray,
    options: Mapping[str, Any],
) -> Any:
    """Draw values over the grids of two features as coloured cells, and name the axes."""
    edges = [find_edges(find_places(grid)) for grid in grids]
    options = {"cmap": "viridis", "rasterized": True, **options}
    mesh = panel.pcolormesh(*edges, values, **options)
    name_axis(panel.xaxis, names[0], grids[0])
    name_axis(panel.yaxis, names[1], grids[1])
    return mesh


def box_style(colour: str, median: str, *, shows_outliers: bool) -> dict[str, Any]:
    """Return options of `matplotlib.axes.Axes.boxplot`."""
    lines = {"color": colour}
    return {
        "patch_artist": True,
        "showfliers": shows_outliers,
        "boxprops": {"facecolor": _FACES[colour], "edgecolor": colour},
        "medianprops": {"color": median, "linewidth": 2.0},
        "whiskerprops": lines,
        "capprops": lines,
        "flierprops": {"marker": ".", "markersize": 4.0, "markeredgecolor": "0.35"},
    }


def draw_grid(panel: Any, axis: str = "both") -> None:
    """Draw pale lines at the ticks, behind everything else."""
    panel.grid(visible=True, axis=axis, color="0.9", linewidth=0.8)
    panel.set_axisbelow(True)


def draw_sensor(
    panel: Any,
    path: Trajectories,
    place: int,
    span: tuple[float, float],
    options: Mapping[str, Any] | None = None,
) -> None:
    """Draw the values of one individual's sensor as steps; the last one holds."""
    values = path.values[place]
    if values.size:
        begins = np.maximum(path.begin_times(), span[0])
        times = np.append(begins, max(span[1], float(begins[-1])))
        style = {"color": BLUE, "linewidth": 1.2, **(options or {})}
        panel.step(times, np.append(values, values[-1]), where="post", **style)
    panel.set_title(shorten(path.names[place]), loc="left", fontsize="small")
    categories = path.categories[place]
    if categories is not None:
        name_categories(panel.yaxis, categories)
        panel.set_ylim(-0.5, len(categories) - 0.5)


def shade_gaps(panel: Any, history: RecurrentEvents, span: tuple[float, float]) -> bool:
    """Shade the times without observation; tell whether there are any."""
    begins = np.append(span[0], history.window_stop)
    ends = np.append(history.window_start, span[1])
    gaps = np.flatnonzero(ends > begins)
    for gap in gaps:
        options = {"color": GREY, "alpha": 0.2, "linewidth": 0.0, "zorder": 0.5}
        panel.axvspan(begins[gap], ends[gap], **options)
    return bool(gaps.size)

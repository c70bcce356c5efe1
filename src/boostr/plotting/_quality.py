"""Drawing of how good models are: calibration, capture, scores and held-out losses."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from statistics import NormalDist
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from boostr._optional import require
from boostr._typing import FloatArray
from boostr.exceptions import InvalidParameterError
from boostr.metrics import CalibrationTable, CaptureCurve
from boostr.plotting._draw import box_style, draw_grid
from boostr.plotting.style import (
    BLUE,
    CYCLE,
    DASHES,
    GREY,
    LONGEST,
    VERMILION,
    name_categories,
    name_rate,
    open_axes,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["plot_calibration", "plot_capture", "plot_comparison", "plot_validation"]

_DASHED: dict[str, Any] = {"color": GREY, "linewidth": 1.0, "linestyle": "--"}


def plot_calibration(
    result: CalibrationTable,
    *,
    confidence: float = 0.95,
    label: str | None = None,
    ax: Axes | None = None,
    point_kwargs: Mapping[str, Any] | None = None,
) -> Axes:
    """Draw observed against expected rates of events, one point per group.

    Points on the dashed diagonal have as many events as predicted. Rates are numbers of
    events over the time observed, so that groups of different sizes can be compared; where
    the table is one of chances, points are shares of individuals with an event.

    Parameters
    ----------
    result : CalibrationTable
        Result of `boostr.metrics.calibration_table`.
    confidence : float, default=0.95
        Pointwise confidence of the error bars, in (0, 1).
    label : str, default=None
        Name of the predictions for the legend.
    ax : matplotlib Axes, default=None
        Where to draw; a new figure by default.
    point_kwargs : mapping, default=None
        Options of the points, see `matplotlib.axes.Axes.errorbar`.

    Returns
    -------
    matplotlib Axes
        Where the points were drawn.

    See Also
    --------
    boostr.metrics.calibration_table : Computes what is drawn.
    plot_capture : Whether high predictions have the events.

    Examples
    --------
    >>> from boostr.data import RecurrentEvents
    >>> from boostr.metrics import calibration_table
    >>> from boostr.plotting import plot_calibration
    >>> y = RecurrentEvents.from_lists([[], [1.0], [2.0, 3.0], [1.0, 2.0]], end=4.0)
    >>> ax = plot_calibration(calibration_table(y, [0.4, 0.6, 1.5, 2.5], n_groups=2))
    >>> print(ax.get_ylabel())
    Observed rate ± 95% confidence
    (events per unit of time)
    """
    if not 0.0 < confidence < 1.0:
        raise InvalidParameterError(
            f"`confidence` must lie in (0, 1), but it is {confidence!r}."
        )
    axes: Axes = open_axes(ax, "plot_calibration", (4.8, 4.6))
    is_known = result.follow_up > 0.0
    time = result.follow_up[is_known]
    expected, observed = result.expected[is_known] / time, result.observed[is_known] / time
    width = NormalDist().inv_cdf(0.5 + 0.5 * confidence)
    error = np.nan_to_num(result.error[is_known], nan=0.0) * expected * width
    # Rates below zero cannot be.
    bars = np.stack([np.minimum(error, observed), error])
    colour = CYCLE[len(axes.containers) % len(CYCLE)]
    options: dict[str, Any] = {"color": colour, "fmt": "o", "markersize": 5.0}
    options |= {"elinewidth": 1.2, "capsize": 3.0, "label": label, "zorder": 2.5}
    axes.errorbar(expected, observed, yerr=bars, **(options | dict(point_kwargs or {})))
    axes.axline((0.0, 0.0), slope=1.0, zorder=1.5, **_DASHED)
    # Of all tables that share the Axes.
    highest = max(float(axes.dataLim.xmax), float(axes.dataLim.ymax))
    reach = 1.06 * highest if highest > 0.0 else 1.0
    axes.set(xlim=(0.0, reach), ylim=(0.0, reach), aspect="equal")
    names = ("Expected rate", "Observed rate", f"\n({name_rate(result.time_unit)})")
    if result.is_chance:
        names = ("Expected chance of an event", "Share with an event", "")
    axes.set_xlabel(f"{names[0]}{names[2]}")
    axes.set_ylabel(f"{names[1]} ± {confidence:.0%} confidence{names[2]}")
    if label is not None:
        axes.legend(loc="upper left", fontsize="small")
    return axes


def plot_capture(
    result: CaptureCurve,
    *,
    label: str | None = None,
    show_ideal: bool = True,
    ax: Axes | None = None,
    line_kwargs: Mapping[str, Any] | None = None,
) -> Axes:
    """Draw which share of the events those with the highest predictions have.

    Parameters
    ----------
    result : CaptureCurve
        Result of `boostr.metrics.capture_curve`.
    label : str, default=None
        Name of the predictions for the legend, "model" by default.
    show_ideal : bool, default=True
        Whether the best possible curve and that of chance are drawn; leave them out to draw
        a second curve into the same Axes.
    ax : matplotlib Axes, default=None
        Where to draw; a new figure by default.
    line_kwargs : mapping, default=None
        Options of the line, see `matplotlib.axes.Axes.plot`.

    Returns
    -------
    matplotlib Axes
        Where the curve was drawn.

    See Also
    --------
    boostr.metrics.capture_curve : Computes what is drawn.
    plot_calibration : Whether there are as many events as predicted.

    Examples
    --------
    >>> from boostr.data import RecurrentEvents
    >>> from boostr.metrics import capture_curve
    >>> from boostr.plotting import plot_capture
    >>> y = RecurrentEvents.from_lists([[], [1.0, 2.0], [3.0], []], end=4.0)
    >>> ax = plot_capture(capture_curve(y, [0.5, 2.0, 1.0, 0.5]))
    >>> ax.get_xlabel()
    'Share of individuals, highest predictions first'
    """
    axes: Axes = open_axes(ax, "plot_capture", (4.8, 4.6))
    name = f"{label or 'model'} (area {result.area:.2f})"
    n_before = sum(line.get_linestyle() == "-" for line in axes.lines)
    options: dict[str, Any] = {"color": CYCLE[n_before % len(CYCLE)], "linewidth": 2.0}
    options |= {"label": name, "zorder": 3.0, **(line_kwargs or {})}
    axes.plot(result.share, result.captured, **options)
    if show_ideal:
        style: dict[str, Any] = {"color": "black", "linewidth": 1.0, "linestyle": ":"}
        style["label"] = f"best possible (area {result.ideal_area:.2f})"
        axes.plot(result.ideal_share, result.ideal_captured, **style)
        axes.plot([0.0, 1.0], [0.0, 1.0], label="chance (area 0.50)", **_DASHED)
    ticker = require("matplotlib.ticker", extra="plot", feature="plot_capture")
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_formatter(ticker.PercentFormatter(xmax=1.0))
    axes.set(xlim=(0.0, 1.0), ylim=(0.0, 1.02), aspect="equal")
    counted = "individuals" if result.per == "individual" else "follow-up"
    axes.set_xlabel(f"Share of {counted}, highest predictions first")
    axes.set_ylabel("Share of events")
    axes.legend(loc="lower right", fontsize="small")
    return axes


_MOST_DOTTED = 60  # scores of a model up to which each is a dot
_LONGEST_BESIDE = 44  # letters of a name that stands beside its box


def plot_comparison(
    scores: Mapping[str, ArrayLike],
    *,
    label: str = "Score",
    show_points: bool = True,
    horizontal: bool = False,
    ax: Axes | None = None,
    box_kwargs: Mapping[str, Any] | None = None,
) -> Axes:
    """Draw box plots of the scores of several models.

    Boxes hold the middle half of the scores, with a line at the median; whiskers reach to
    the outermost scores within one and a half heights of the box.

    Parameters
    ----------
    scores : mapping of str to array-like of shape (n,)
        Scores by the name of the model, for instance one per fold or data set; those that
        are not finite are left out.
    label : str, default="Score"
        What the scores are, with their unit.
    show_points : bool, default=True
        Whether every score is drawn as a dot, too, where there are at most 60 of a model.
    horizontal : bool, default=False
        Whether boxes lie below each other, which leaves room for many long names.
    ax : matplotlib Axes, default=None
        Where to draw; a new figure by default.
    box_kwargs : mapping, default=None
        Options of the boxes, see `matplotlib.axes.Axes.boxplot`.

    Returns
    -------
    matplotlib Axes
        Where the boxes were drawn, in the order of the mapping.

    See Also
    --------
    plot_validation : Losses of one model, tree by tree.

    Examples
    --------
    >>> from boostr.plotting import plot_comparison
    >>> scores = {"Boost-R": [0.8, 0.9, 0.85], "forest": [0.7, 0.8, 0.72]}
    >>> ax = plot_comparison(scores, label="Concordance")
    >>> [text.get_text() for text in ax.get_xticklabels()]
    ['Boost-R', 'forest']
    """
    samples = [np.ravel(np.asarray(each, dtype=np.float64)) for each in scores.values()]
    samples = [sample[np.isfinite(sample)] for sample in samples]
    empty = [name for name, each in zip(scores, samples, strict=True) if not each.size]
    if not samples or empty:
        which = ", ".join(map(repr, empty)) or "any"
        raise InvalidParameterError(
            f"Every model must have finite scores, but there are none of {which}."
        )
    n = max(len(samples), 3)
    size = (8.0, 1.0 + 0.42 * n) if horizontal else (1.6 + 1.1 * n, 4.0)
    axes: Axes = open_axes(ax, "plot_comparison", size)
    is_dotted = show_points and max(map(len, samples)) <= _MOST_DOTTED
    options: dict[str, Any] = {
        "positions": np.arange(len(samples)),
        "widths": 0.55,
        **_lay(axes, horizontal),
        **box_style(BLUE, VERMILION, shows_outliers=not is_dotted),
        **(box_kwargs or {}),
    }
    axes.boxplot(samples, **options)
    if is_dotted:
        _draw_dots(axes, samples, horizontal)
    names, values = (axes.yaxis, axes.xaxis) if horizontal else (axes.xaxis, axes.yaxis)
    name_categories(names, scores, _LONGEST_BESIDE if horizontal else LONGEST)
    limits = (-0.6, len(samples) - 0.4)
    if horizontal:
        axes.set_ylim(limits[::-1])  # the first one on top
    else:
        axes.set_xlim(limits)
    values.set_label_text(label)
    draw_grid(axes, "x" if horizontal else "y")
    return axes


def _lay(axes: Axes, horizontal: bool) -> dict[str, Any]:
    """Return the option of matplotlib 3.10 and later, or that of earlier ones."""
    if "orientation" in inspect.signature(axes.boxplot).parameters:
        return {"orientation": "horizontal" if horizontal else "vertical"}
    return {"vert": not horizontal}


def _draw_dots(axes: Axes, samples: Sequence[FloatArray], horizontal: bool) -> None:
    look: dict[str, Any] = {"color": "black", "s": 9.0, "alpha": 0.6, "linewidths": 0.0}
    for place, sample in enumerate(samples):
        # Spread by rank, not at random, so that the same scores give the same picture.
        shift = np.linspace(-0.16, 0.16, len(sample)) if len(sample) > 1 else np.zeros(1)
        dots = (sample, place + shift) if horizontal else (place + shift, sample)
        axes.scatter(*dots, zorder=2.5, **look)


_INCHES_PER_LINE = 0.185  # of the legend
_LEFT = 0.2  # share of the axis that the legend leaves free
_LEAST_WEIGHT = 0.005  # below which a weight reads as zero


def plot_validation(
    results: Sequence[Mapping[str, Any]],
    *,
    ax: Axes | None = None,
    line_kwargs: Mapping[str, Any] | None = None,
) -> Axes:
    """Draw the held-out loss after each tree, for each shape of trees that was tried.

    A dot marks the number of trees that is kept. Shapes that have a weight in the ensemble
    are coloured, heaviest first, the others are thin and grey.

    Parameters
    ----------
    results : list of dict
        ``model.validation_results_`` of a fitted `boostr.BoostR`.
    ax : matplotlib Axes, default=None
        Where to draw; a new figure by default.
    line_kwargs : mapping, default=None
        Options of the coloured lines, see `matplotlib.axes.Axes.plot`.

    Returns
    -------
    matplotlib Axes
        Where the losses were drawn.

    See Also
    --------
    plot_comparison : Scores of different models.

    Examples
    --------
    >>> from boostr import BoostR
    >>> from boostr.plotting import plot_validation
    >>> from boostr.simulate import dataset_a
    >>> train = dataset_a(n=150, random_state=1)
    >>> model = BoostR(n_estimators=10, max_leaf_nodes=4, validation=0.2, random_state=0)
    >>> ax = plot_validation(model.fit(train.X, train.y).validation_results_)
    >>> ax.get_ylabel()
    'Held-out loss per individual'
    """
    if not results:
        raise InvalidParameterError(
            "There must be validation results to draw, but there are none.\n\n"
            "Hint: BoostR(validation='cv') validates, validation=None does not."
        )
    axes: Axes = open_axes(ax, "plot_validation", (6.4, 4.4))
    ranked = sorted(results, key=lambda run: -run["weight"])
    used = [run for run in ranked if run["weight"] >= _LEAST_WEIGHT]
    unused = [run for run in ranked if run["weight"] < _LEAST_WEIGHT]
    for place, run in enumerate(unused):
        label = f"weight 0% ({len(unused)} more)" if place == 0 else None
        _draw(axes, run, {"color": GREY, "linewidth": 0.8, "label": label}, 1.8)
    for place, run in enumerate(used):
        style = {
            "color": CYCLE[place % len(CYCLE)],
            "linestyle": DASHES[place % len(DASHES)],
            "linewidth": 1.8,
            "label": f"{run['label']}: weight {run['weight']:.0%}",
            "zorder": 3.0,
            **(line_kwargs or {}),
        }
        _draw(axes, run, style, 3.5)
    handles, labels = axes.get_legend_handles_labels()
    order = np.roll(np.arange(len(labels)), -1 if unused else 0)  # weights of 0 come last
    lines = [handles[k] for k in order], [labels[k] for k in order]
    axes.legend(*lines, loc="upper right", fontsize="small")
    _make_room(axes, results, len(labels))
    longest = max(len(run["curve"]) for run in results)
    axes.set_xlim(0.5, longest + 0.5)
    axes.locator_params(axis="x", integer=True)
    axes.set_xlabel("Number of trees (dot: kept)")
    axes.set_ylabel("Held-out loss per individual")
    return axes


def _make_room(axes: Axes, results: Sequence[Mapping[str, Any]], n_lines: int) -> None:
    """Raise the upper end of the axis until the legend does not lie on curves."""
    figure: Any = axes.figure
    inches = axes.get_position().height * figure.get_figheight()
    covered = min(_INCHES_PER_LINE * (n_lines + 1) / inches, 0.7)
    low, high = axes.get_ylim()
    longest = max(len(run["curve"]) for run in results)
    below = [run["curve"][int(_LEFT * longest) :].max(initial=low) for run in results]
    axes.set_ylim(low, max(high, low + (max(below) - low) / (1.0 - covered)))


def _draw(
    axes: Axes, run: Mapping[str, Any], style: Mapping[str, Any], zorder: float
) -> None:
    curve = np.asarray(run["curve"], dtype=np.float64)
    (line,) = axes.plot(np.arange(1, len(curve) + 1), curve, **style)
    kept = int(run["n_trees"])
    if 1 <= kept <= len(curve):
        size = 7.0 if style["linewidth"] > 1.0 else 4.0
        options: dict[str, Any] = {"color": line.get_color(), "markersize": size}
        axes.plot([kept], [curve[kept - 1]], "o", zorder=zorder, **options)

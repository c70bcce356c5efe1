"""Drawing of the settings that a search has tried."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from itertools import combinations
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from boostr._checks.parameters import check_choice
from boostr._typing import AnyArray, FloatArray
from boostr.exceptions import InvalidParameterError
from boostr.plotting._draw import box_style, draw_grid
from boostr.plotting.style import BLUE, VERMILION, name_categories, open_axes, shorten

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["plot_design", "plot_setting_boxes"]

_LOGARITHMIC = 100.0  # ratio of largest to smallest value from which a scale is logarithmic
_MOST_NUMBERED = 40  # settings up to which each bears its number
_MARGIN = 0.1  # of an axis, beyond the outermost settings
_GAP = 0.16  # between panels, as a share of a panel


def plot_design(
    results: Sequence[Mapping[str, Any]],
    *,
    parameters: Sequence[str] | None = None,
    marked: Collection[int] = (),
    ax: Axes | None = None,
    point_kwargs: Mapping[str, Any] | None = None,
) -> Axes:
    """Draw the settings of a search as points, one panel per pair of parameters.

    Settings are numbered from 1, in their order. Parameters that range over more than two
    decades have logarithmic axes; words have one place each, and no numbers beside them.

    Parameters
    ----------
    results : sequence of mapping
        ``search.results_`` of a `boostr.BoostRSearch`, or any mappings with ``"params"``,
        values by the name of the parameter.
    parameters : sequence of str, default=None
        Which parameters to draw; all that vary by default.
    marked : collection of int, default=()
        Positions, from 0, of settings to mark, for instance the best.
    ax : matplotlib Axes, default=None
        Where to draw; a new figure by default.
    point_kwargs : mapping, default=None
        Options of the points, see `matplotlib.axes.Axes.scatter`.

    Returns
    -------
    matplotlib Axes
        Where the points were drawn; with more than two parameters, the panels are its
        ``child_axes``.

    See Also
    --------
    plot_setting_boxes : What came out for every setting.
    boostr.BoostRSearch : Makes such results.

    Examples
    --------
    >>> from boostr.plotting import plot_design
    >>> design = [(100.0, 20.0), (300.0, 150.0), (500.0, 80.0)]
    >>> results = [{"params": {"gamma1": a, "gamma2": b}} for a, b in design]
    >>> ax = plot_design(results, marked=[1])
    >>> ax.get_xlabel(), ax.get_ylabel(), [text.get_text() for text in ax.texts]
    ('gamma1', 'gamma2', ['1', '2', '3'])
    """
    names = _choose(results, parameters)
    scales = {
        name: _Scale([result["params"][name] for result in results]) for name in names
    }
    side = 1.6 + 2.0 * (len(names) - 1)
    size = (6.4, 4.6) if len(names) == 2 else (side, side)
    axes: Axes = open_axes(ax, "plot_design", size)
    panels = _open_panels(axes, len(names))
    colours = [VERMILION if place in marked else BLUE for place in range(len(results))]
    options: dict[str, Any] = {"s": 40.0, "zorder": 3.0, "c": colours}
    options |= dict(point_kwargs or {})
    for (across, down), panel in panels.items():
        horizontal, vertical = scales[names[across]], scales[names[down]]
        panel.scatter(horizontal.places, vertical.places, **options)
        horizontal.label(panel.xaxis)
        vertical.label(panel.yaxis)
        draw_grid(panel)
        if not (horizontal.words or vertical.words):
            _number(panel, horizontal.places, vertical.places)
        _name_axes(panel, names, across, down)
    return axes


class _Scale:
    """Where the values of a parameter lie on an axis, and how they are written there."""

    def __init__(self, values: Sequence[Any]) -> None:
        self.words: list[str] = []
        self.is_logarithmic = False
        if all(_is_number(value) for value in values):
            self.places: FloatArray = np.array(values, dtype=np.float64)
            low, high = float(self.places.min()), float(self.places.max())
            self.is_logarithmic = low > 0.0 and high / low > _LOGARITHMIC
            return
        self.words = list(dict.fromkeys(str(value) for value in values))
        self.places = np.array([self.words.index(str(value)) for value in values], float)

    def label(self, axis: Any) -> None:
        axis.axes.margins(_MARGIN)
        if self.words:
            name_categories(axis, self.words)
        elif self.is_logarithmic:
            axis.axes.set(**{f"{axis.axis_name}scale": "log"})


def _choose(
    results: Sequence[Mapping[str, Any]], parameters: Sequence[str] | None
) -> list[str]:
    known = list(results[0]["params"]) if results else []

    def varies(name: str) -> bool:
        return len({str(result["params"][name]) for result in results}) > 1

    chosen = list(filter(varies, known)) if parameters is None else list(parameters)
    unknown = [name for name in chosen if name not in known]
    if len(chosen) < 2 or unknown:
        raise InvalidParameterError(
            "A design is drawn for at least two parameters of the settings, but they are "
            f"{', '.join(map(repr, unknown or chosen)) or 'none'}.\n\n"
            f"Hint: settings have {', '.join(known) or 'no parameters'}."
        )
    return chosen


def _open_panels(axes: Axes, n_names: int) -> dict[tuple[int, int], Any]:
    """Return one panel per pair, by its column and row, in a triangle."""
    if n_names == 2:
        return {(0, 1): axes}
    axes.set_axis_off()
    n = n_names - 1
    size = 1.0 / (n + _GAP * (n - 1))
    step = size * (1.0 + _GAP)
    return {
        (across, down): axes.inset_axes((across * step, (n - down) * step, size, size))
        for across, down in combinations(range(n_names), 2)
    }


def _number(panel: Any, across: FloatArray, along: FloatArray) -> None:
    if len(across) > _MOST_NUMBERED:
        return
    for place, point in enumerate(zip(across, along, strict=True), start=1):
        panel.annotate(
            str(place), point, (4.0, 3.0), textcoords="offset points", fontsize="small"
        )


def _name_axes(panel: Any, names: Sequence[str], across: int, down: int) -> None:
    """Write names and numbers at the outer panels only."""
    if down == len(names) - 1:
        panel.set_xlabel(shorten(names[across]))
    else:
        panel.tick_params(labelbottom=False, which="both")
    if across == 0:
        panel.set_ylabel(shorten(names[down]))
    else:
        panel.tick_params(labelleft=False, which="both")


def _is_number(value: object) -> bool:
    return isinstance(value, int | float | np.number) and not isinstance(value, bool)


_LABELS = {"leaf_counts": "Leaves of a tree", "n_trees": "Trees", "scores": "Score"}
_LARGEST_DOT = 150.0  # area of the dot that stands for all trees


def plot_setting_boxes(
    results: Sequence[Mapping[str, Any]],
    *,
    measure: Literal["leaf_counts", "n_trees", "scores"] = "leaf_counts",
    marked: Collection[int] = (),
    label: str | None = None,
    ax: Axes | None = None,
    box_kwargs: Mapping[str, Any] | None = None,
) -> Axes:
    """Draw one box per setting of a search: leaves of its trees, numbers of trees, scores.

    Boxes hold the middle half, with a line at the median. Whole numbers, which boxes show
    badly, are dots, too: their areas are the shares of the numbers.

    Parameters
    ----------
    results : sequence of mapping
        ``search.results_`` of a `boostr.BoostRSearch`, or any mappings that have the
        measure.
    measure : {"leaf_counts", "n_trees", "scores"}, default="leaf_counts"
        What is drawn: leaves of all trees, or trees or scores of every split.
    marked : collection of int, default=()
        Positions, from 0, of settings to mark, for instance the best.
    label : str, default=None
        What the measure is called.
    ax : matplotlib Axes, default=None
        Where to draw; a new figure by default.
    box_kwargs : mapping, default=None
        Options of the boxes, see `matplotlib.axes.Axes.boxplot`.

    Returns
    -------
    matplotlib Axes
        Where the boxes were drawn, numbered from 1 in the order of the settings.

    See Also
    --------
    plot_design : The settings themselves.
    plot_comparison : Boxes of models with names.

    Examples
    --------
    >>> from boostr.plotting import plot_setting_boxes
    >>> results = [{"leaf_counts": [4, 4, 5, 3]}, {"leaf_counts": [1, 2, 1, 1]}]
    >>> ax = plot_setting_boxes(results, marked=[0])
    >>> ax.get_xlabel(), ax.get_ylabel()
    ('Setting', 'Leaves of a tree')
    """
    check_choice(measure, tuple(_LABELS), "measure")
    samples = [np.ravel(np.asarray(result[measure])) for result in results]
    if not samples or not all(sample.size for sample in samples):
        raise InvalidParameterError(
            f"Every setting must have some {measure}, but there are none of some."
        )
    numbers = np.arange(1, len(samples) + 1)
    axes: Axes = open_axes(ax, "plot_setting_boxes", (1.6 + 0.36 * len(samples), 4.0))
    is_whole = all(np.issubdtype(sample.dtype, np.integer) for sample in samples)
    for number, sample in zip(numbers, samples, strict=True):
        colour = VERMILION if number - 1 in marked else BLUE
        options = {"widths": 0.6, **box_style(colour, "black", shows_outliers=not is_whole)}
        options |= {"positions": [number], "manage_ticks": False, **(box_kwargs or {})}
        axes.boxplot([sample], **options)
    if is_whole:
        _draw_shares(axes, numbers, samples)
        axes.locator_params(axis="y", integer=True)
    axes.set_xticks(numbers, [str(number) for number in numbers])
    axes.set_xlim(0.4, len(samples) + 0.6)
    axes.set_xlabel("Setting")
    axes.set_ylabel(label or _LABELS[measure])
    draw_grid(axes, "y")
    return axes


def _draw_shares(axes: Axes, numbers: AnyArray, samples: Sequence[AnyArray]) -> None:
    for number, sample in zip(numbers, samples, strict=True):
        values, counts = np.unique(sample, return_counts=True)
        options: dict[str, Any] = {"color": "black", "alpha": 0.55, "linewidths": 0.0}
        areas = _LARGEST_DOT * counts / sample.size
        axes.scatter(np.full(len(values), number), values, areas, zorder=2.6, **options)

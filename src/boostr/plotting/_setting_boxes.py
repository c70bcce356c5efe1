"""Drawing of what came out for every setting of a search."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from boostr._typing import AnyArray
from boostr.exceptions import InvalidParameterError
from boostr.plotting._style import BLUE, VERMILION, open_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["plot_setting_boxes"]

_LABELS = {
    "leaf_counts": "Leaves of a tree",
    "n_trees": "Trees",
    "scores": "Score",
}
_LARGEST_DOT = 150.0  # area of the dot that stands for all trees
_FACES = {BLUE: "#DCEBF5", VERMILION: "#F9E0CF"}


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
    plot_comparison : Boxes of learners with names.

    Examples
    --------
    >>> from boostr.plotting import plot_setting_boxes
    >>> results = [{"leaf_counts": [4, 4, 5, 3]}, {"leaf_counts": [1, 2, 1, 1]}]
    >>> ax = plot_setting_boxes(results, marked=[0])
    >>> ax.get_xlabel(), ax.get_ylabel()
    ('Setting', 'Leaves of a tree')
    """
    if measure not in _LABELS:
        raise InvalidParameterError(
            f"`measure` must be one of {', '.join(map(repr, _LABELS))}, but it is "
            f"{measure!r}."
        )
    samples = [np.ravel(np.asarray(result[measure])) for result in results]
    if not samples or not all(sample.size for sample in samples):
        raise InvalidParameterError(
            f"Every setting must have some {measure}, but there are none of some."
        )
    numbers = np.arange(1, len(samples) + 1)
    axes: Axes = open_axes(ax, "plot_setting_boxes", (1.6 + 0.36 * len(samples), 4.0))
    is_whole = all(np.issubdtype(sample.dtype, np.integer) for sample in samples)
    _draw_boxes(axes, samples, marked, not is_whole, box_kwargs or {})
    if is_whole:
        _draw_shares(axes, numbers, samples)
        axes.locator_params(axis="y", integer=True)
    axes.set_xticks(numbers, [str(number) for number in numbers])
    axes.set_xlim(0.4, len(samples) + 0.6)
    axes.set_xlabel("Setting")
    axes.set_ylabel(label or _LABELS[measure])
    axes.grid(axis="y", color="0.9", linewidth=0.8)
    axes.set_axisbelow(True)
    return axes


def _draw_boxes(
    axes: Axes,
    samples: Sequence[AnyArray],
    marked: Collection[int],
    shows_fliers: bool,
    changes: Mapping[str, Any],
) -> None:
    options: dict[str, Any] = {
        "widths": 0.6,
        "patch_artist": True,
        "showfliers": shows_fliers,
        "medianprops": {"color": "black", "linewidth": 2.0},
        "flierprops": {"marker": ".", "markersize": 4.0, "markeredgecolor": "0.35"},
        **changes,
    }
    for place, sample in enumerate(samples):
        colour = VERMILION if place in marked else BLUE
        lines = {"color": colour}
        own = {"facecolor": _FACES[colour], "edgecolor": colour}
        axes.boxplot(
            [sample],
            positions=[place + 1],
            manage_ticks=False,
            **({"boxprops": own, "whiskerprops": lines, "capprops": lines} | options),
        )


def _draw_shares(axes: Axes, numbers: AnyArray, samples: Sequence[AnyArray]) -> None:
    for number, sample in zip(numbers, samples, strict=True):
        values, counts = np.unique(sample, return_counts=True)
        options: dict[str, Any] = {"color": "black", "alpha": 0.55, "linewidths": 0.0}
        areas = _LARGEST_DOT * counts / sample.size
        axes.scatter(np.full(len(values), number), values, areas, zorder=2.6, **options)

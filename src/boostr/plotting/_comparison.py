"""Drawing of the scores of several learners."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from boostr._typing import FloatArray
from boostr.exceptions import InvalidParameterError
from boostr.plotting._style import (
    BLUE,
    LONGEST,
    VERMILION,
    name_categories,
    open_axes,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["plot_comparison"]

_MOST_DOTTED = 60  # scores of a learner up to which each is a dot
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
    """Draw box plots of the scores of several learners.

    Boxes hold the middle half of the scores, with a line at the median; whiskers reach to
    the outermost scores within one and a half heights of the box.

    Parameters
    ----------
    scores : mapping of str to array-like of shape (n,)
        Scores by the name of the learner, for instance one per fold or data set; those that
        are not finite are left out.
    label : str, default="Score"
        What the scores are, with their unit.
    show_points : bool, default=True
        Whether every score is drawn as a dot, too, where there are at most 60 of a learner.
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
    plot_validation : Losses of one learner, tree by tree.

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
        which = ", ".join(map(repr, empty)) or "anybody"
        raise InvalidParameterError(
            f"Every learner must have finite scores, but there are none of {which}."
        )
    n = max(len(samples), 3)
    size = (8.0, 1.0 + 0.42 * n) if horizontal else (1.6 + 1.1 * n, 4.0)
    axes: Axes = open_axes(ax, "plot_comparison", size)
    is_dotted = show_points and max(map(len, samples)) <= _MOST_DOTTED
    options: dict[str, Any] = {
        "positions": np.arange(len(samples)),
        "widths": 0.55,
        **_lay(axes, horizontal),
        "patch_artist": True,
        "showfliers": not is_dotted,
        "boxprops": {"facecolor": "#DCEBF5", "edgecolor": BLUE},
        "medianprops": {"color": VERMILION, "linewidth": 2.0},
        "whiskerprops": {"color": BLUE},
        "capprops": {"color": BLUE},
        "flierprops": {"marker": ".", "markersize": 4.0, "markeredgecolor": "0.35"},
        **(box_kwargs or {}),
    }
    axes.boxplot(samples, **options)
    if is_dotted:
        _draw_dots(axes, samples, horizontal)
    learners, values = (axes.yaxis, axes.xaxis) if horizontal else (axes.xaxis, axes.yaxis)
    name_categories(learners, scores, _LONGEST_BESIDE if horizontal else LONGEST)
    limits = (-0.6, len(samples) - 0.4)
    if horizontal:
        axes.set_ylim(limits[::-1])  # the first one on top
    else:
        axes.set_xlim(limits)
    values.set_label_text(label)
    values.grid(visible=True, color="0.9", linewidth=0.8)
    axes.set_axisbelow(True)
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

"""Drawing of the scores of several learners."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from boostr.exceptions import InvalidParameterError
from boostr.plotting._style import BLUE, VERMILION, name_categories, open_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["plot_comparison"]

_MOST_DOTTED = 60  # scores of a learner up to which each is a dot


def plot_comparison(
    scores: Mapping[str, ArrayLike],
    *,
    label: str = "Score",
    show_points: bool = True,
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
    places = np.arange(len(samples))
    axes: Axes = open_axes(ax, "plot_comparison", (1.6 + 1.1 * max(len(samples), 3), 4.0))
    is_dotted = show_points and max(map(len, samples)) <= _MOST_DOTTED
    options: dict[str, Any] = {
        "positions": places,
        "widths": 0.55,
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
        for place, sample in zip(places, samples, strict=True):
            # Spread by rank, not at random, so that the same scores give the same picture.
            shift = np.linspace(-0.16, 0.16, len(sample)) if len(sample) > 1 else [0.0]
            dots: dict[str, Any] = {
                "color": "black",
                "s": 9.0,
                "alpha": 0.6,
                "linewidths": 0.0,
            }
            axes.scatter(place + np.asarray(shift), sample, zorder=2.5, **dots)
    name_categories(axes.xaxis, scores)
    axes.set_xlim(-0.6, len(samples) - 0.4)
    axes.set_ylabel(label)
    axes.grid(axis="y", color="0.9", linewidth=0.8)
    axes.set_axisbelow(True)
    return axes

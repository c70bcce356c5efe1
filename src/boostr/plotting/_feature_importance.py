"""Drawing of the importance of static features."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from boostr.exceptions import InvalidParameterError
from boostr.inspection import FeatureImportance
from boostr.plotting._style import BLUE, open_axes, shorten

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["plot_importance"]

_LABELS = {
    "importance": "Share of the gain of all splits",
    "gain": "Gain of all splits",
    "n_splits": "Number of splits",
}


def plot_importance(
    result: FeatureImportance,
    *,
    measure: Literal["importance", "gain", "n_splits"] = "importance",
    n_most: int = 20,
    ax: Axes | None = None,
    bar_kwargs: Mapping[str, Any] | None = None,
) -> Axes:
    """Draw how much static features matter, the largest on top.

    Parameters
    ----------
    result : FeatureImportance
        Result of `boostr.inspection.feature_importance`.
    measure : {"importance", "gain", "n_splits"}, default="importance"
        What the bars show: shares of the gain, the gain itself, or the number of splits.
    n_most : int, default=20
        How many bars are drawn at most.
    ax : matplotlib Axes, default=None
        Where to draw; a new figure by default.
    bar_kwargs : mapping, default=None
        Options of the bars, see `matplotlib.axes.Axes.barh`.

    Returns
    -------
    matplotlib Axes
        Where the bars were drawn.

    See Also
    --------
    boostr.inspection.feature_importance : Computes what is drawn.
    plot_sensor_importance : The same for sensors.

    Examples
    --------
    >>> from boostr import BoostR
    >>> from boostr.inspection import feature_importance
    >>> from boostr.plotting import plot_importance
    >>> from boostr.simulate import dataset_a
    >>> train = dataset_a(n=150, random_state=1)
    >>> model = BoostR(n_estimators=10, validation=None).fit(train.X, train.y)
    >>> ax = plot_importance(feature_importance(model))
    >>> len(ax.patches), ax.get_xlabel()
    (2, 'Share of the gain of all splits')
    """
    if measure not in _LABELS:
        raise InvalidParameterError(
            f"`measure` must be 'importance', 'gain' or 'n_splits', but it is {measure!r}."
        )
    values = {
        "importance": result.importances,
        "gain": result.gains,
        "n_splits": result.n_splits,
    }[measure]
    order = np.argsort(-values, kind="stable")[:n_most]
    axes: Axes = open_axes(ax, "plot_importance", (6.4, 1.2 + 0.3 * len(order)))
    places = np.arange(len(order))
    axes.barh(places, values[order], **{"color": BLUE, **(bar_kwargs or {})})
    axes.set_yticks(places, [shorten(result.features[place]) for place in order])
    axes.invert_yaxis()
    axes.locator_params(axis="x", nbins=6)
    axes.set_xlabel(_LABELS[measure])
    return axes

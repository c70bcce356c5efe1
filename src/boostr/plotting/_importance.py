"""Drawing of the importance of static features and sensors."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from boostr._checks.parameters import check_choice
from boostr._typing import FloatArray
from boostr.exceptions import InvalidParameterError
from boostr.inspection import FeatureImportance, PermutationImportance, SensorImportance
from boostr.plotting._draw import draw_bars
from boostr.plotting.style import name_rate

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["plot_importance", "plot_permutation_importance", "plot_sensor_importance"]

Measure = Literal["norm", "loss", "zero_share", "feature"]


def plot_sensor_importance(
    importance: SensorImportance,
    *,
    measure: Measure = "norm",
    n_most: int = 20,
    ax: Axes | None = None,
    bar_kwargs: Mapping[str, Any] | None = None,
) -> Axes:
    """Draw how much sensors, or static features, matter, the largest on top.

    Parameters
    ----------
    importance : SensorImportance
        Result of `boostr.inspection.sensor_importance`.
    measure : {"norm", "loss", "zero_share", "feature"}, default="norm"
        What the bars show: the spread of the rate that a sensor adds, how much worse the
        model gets without it (with standard errors where they are known), the share of
        leaves in which it has no effect, or the importance of static features.
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
    boostr.inspection.sensor_importance : Computes what is drawn.

    Examples
    --------
    >>> from boostr import BoostR
    >>> from boostr.inspection import sensor_importance
    >>> from boostr.plotting import plot_sensor_importance
    >>> from boostr.simulate import wells
    >>> train = wells(n=100, random_state=1)
    >>> model = BoostR(n_estimators=5, validation=None, random_state=0)
    >>> importance = sensor_importance(model.fit(train.X, train.y, train.Z), train.X)
    >>> ax = plot_sensor_importance(importance)
    >>> len(ax.patches)
    3
    """
    names, values, errors = _choose(importance, measure)
    return draw_bars(
        ax,
        "plot_sensor_importance",
        names,
        values,
        errors=errors,
        label=_describe(importance, measure, has_errors=errors is not None),
        n_most=n_most,
        bar_kwargs=bar_kwargs,
    )


def _choose(
    importance: SensorImportance, measure: str
) -> tuple[tuple[str, ...], FloatArray, FloatArray | None]:
    """Return names, lengths of bars, and standard errors where they are known."""
    check_choice(measure, ("norm", "loss", "zero_share", "feature"), "measure")
    if measure == "norm":
        return importance.sensors, importance.norms, None
    if measure == "zero_share":
        return importance.sensors, importance.zero_shares, None
    if measure == "feature":
        return importance.features, importance.feature_importances, None
    if importance.measure is None:
        raise InvalidParameterError(
            "Losses without a sensor need individuals or validation, but there were "
            "neither.\n\nHint: sensor_importance(model, X, y, Z) computes them."
        )
    errors = None if np.isnan(importance.errors).any() else importance.errors
    return importance.sensors, importance.losses, errors


def _describe(importance: SensorImportance, measure: str, *, has_errors: bool) -> str:
    if measure == "norm":
        return f"Spread of the rate added ({name_rate(importance.time_unit)})"
    if measure == "zero_share":
        return "Share of leaves without effect"
    if measure == "feature":
        return "Share of the gain of all splits"
    is_likelihood = importance.measure == "log-likelihood"
    rise = "Drop of log-likelihood" if is_likelihood else "Rise of held-out loss"
    error = " ± standard error" if has_errors else ""
    return f"{rise} without it, per individual{error}"


_MEASURES = {
    "importance": ("importances", "Share of the gain of all splits"),
    "gain": ("gains", "Gain of all splits"),
    "n_splits": ("n_splits", "Number of splits"),
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
    check_choice(measure, tuple(_MEASURES), "measure")
    attribute, label = _MEASURES[measure]
    return draw_bars(
        ax,
        "plot_importance",
        result.features,
        getattr(result, attribute),
        label=label,
        n_most=n_most,
        bar_kwargs=bar_kwargs,
    )


def plot_permutation_importance(
    result: PermutationImportance,
    *,
    n_most: int = 20,
    ax: Axes | None = None,
    bar_kwargs: Mapping[str, Any] | None = None,
) -> Axes:
    """Draw how much the loss rises when features are shuffled, the largest on top.

    Parameters
    ----------
    result : PermutationImportance
        Result of `boostr.inspection.permutation_importance`.
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
    boostr.inspection.permutation_importance : Computes what is drawn.
    plot_importance : Gain of the splits in training.

    Examples
    --------
    >>> from boostr import BoostR
    >>> from boostr.inspection import permutation_importance
    >>> from boostr.plotting import plot_permutation_importance
    >>> from boostr.simulate import dataset_a
    >>> train, test = dataset_a(n=150, random_state=1), dataset_a(n=90, random_state=2)
    >>> model = BoostR(n_estimators=10, validation=None).fit(train.X, train.y)
    >>> ax = plot_permutation_importance(permutation_importance(model, test.X, test.y))
    >>> len(ax.patches)
    2
    """
    return draw_bars(
        ax,
        "plot_permutation_importance",
        result.features,
        result.importances,
        errors=result.errors,
        label="Rise of the loss if shuffled ± standard error",
        n_most=n_most,
        bar_kwargs=bar_kwargs,
    )

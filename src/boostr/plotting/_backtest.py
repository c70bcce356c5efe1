"""Drawing of forecasts at past dates beside what came."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import narwhals as nw
import numpy as np

from boostr._checks.parameters import check_choice
from boostr._typing import AnyArray, FloatArray
from boostr.data.times import name_unit
from boostr.plotting._draw import draw_grid
from boostr.plotting.style import (
    CYCLE,
    GREY,
    name_categories,
    open_axes,
    place_beside,
    shorten,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["plot_backtest"]

_MEASURES = {
    "deviance": "Poisson deviance per individual",
    "mae": "Mean absolute error",
    "concordance": "Concordance",
    "capture": "Share of the events in the tenth most at risk",
    "coverage": "Share of individuals inside their intervals",
}
_MARKERS = "osD^vP*"
_GAP = 0.9  # inches between the panels
_SPREAD = 0.5  # of the way to the next date, that candidates of a date take together


def plot_backtest(
    result: Any, *, measure: str = "deviance", ax: Axes | None = None
) -> Axes:
    """Draw expected over observed totals of all dates, and a measure of all forecasts.

    On the left, each candidate has a marker per date at its expected total over the total
    that came: 1 is right, and bars are the intervals of the total. On the right is the
    measure, date by date; the legend has its mean.

    Parameters
    ----------
    result : Backtest
        Result of `boostr.backtest`.
    measure : {"deviance", "mae", "concordance", "capture", "coverage"}, default="deviance"
        What is drawn on the right.
    ax : matplotlib Axes, default=None
        Where to draw; a new figure by default.

    Returns
    -------
    matplotlib Axes
        Where the two panels were drawn; they are its ``child_axes``.

    See Also
    --------
    plot_comparison : Box plots of scores.

    Examples
    --------
    >>> from boostr import backtest
    >>> from boostr.baselines import HomogeneousPoisson
    >>> from boostr.plotting import plot_backtest
    >>> from boostr.simulate import dataset_a
    >>> fleet = dataset_a(n=100, random_state=1)
    >>> model = HomogeneousPoisson()
    >>> result = backtest(model, fleet.X, fleet.y, as_of=[40, 60], horizon=20)
    >>> ax = plot_backtest(result)
    >>> [panel.get_ylabel() for panel in ax.child_axes]
    ['Expected over observed events', 'Poisson deviance per individual']
    """
    check_choice(measure, tuple(_MEASURES), "measure")
    axes: Axes = open_axes(ax, "plot_backtest", (10.0, 4.4))
    totals, scores = place_beside(axes, 2, _GAP)
    frame = nw.from_native(result.table, eager_only=True)
    names = np.array([str(name) for name in frame["candidate"].to_list()])
    labels = list(dict.fromkeys(map(_label, frame["date"].to_list())))
    place = np.array([labels.index(_label(date)) for date in frame["date"].to_list()])
    candidates = list(result.candidates)
    shifts = _SPREAD * (np.arange(len(candidates)) + 0.5) / len(candidates) - _SPREAD / 2
    for number, (candidate, shift) in enumerate(zip(candidates, shifts, strict=True)):
        own = names == candidate
        look = {
            "color": CYCLE[number % len(CYCLE)],
            "marker": _MARKERS[number % len(_MARKERS)],
            "markersize": 5.0,
        }
        _draw_totals(totals, place[own] + shift, _columns(frame, own), look)
        values = np.asarray(frame[measure].to_numpy(), dtype=np.float64)[own]
        known = values[np.isfinite(values)]
        mean = f" ({known.mean():.3g})" if known.size else ""
        name = shorten(candidate) + mean
        order = np.argsort(place[own])
        scores.plot(place[own][order], values[order], label=name, linewidth=1.2, **look)
    _finish(totals, scores, labels, measure, result)
    return axes


def _label(date: Any) -> str:
    """Return a date without its time of day if that is midnight, a number as it is."""
    if hasattr(date, "isoformat"):
        return str(date.isoformat()).replace("T00:00:00", "")
    return shorten(date)


def _columns(frame: Any, own: AnyArray) -> dict[str, FloatArray]:
    names = ("observed", "expected", "lower", "upper")
    return {
        name: np.asarray(frame[name].to_numpy(), dtype=np.float64)[own] for name in names
    }


def _draw_totals(
    panel: Axes, places: FloatArray, columns: dict[str, FloatArray], look: dict[str, Any]
) -> None:
    """Draw totals over what came, with their intervals."""
    observed = np.where(columns["observed"] > 0.0, columns["observed"], np.nan)
    ratio, lower, upper = (
        columns[name] / observed for name in ("expected", "lower", "upper")
    )
    margins = np.vstack([ratio - lower, upper - ratio])
    margins = np.where(np.isnan(margins), 0.0, np.maximum(margins, 0.0))
    panel.errorbar(places, ratio, margins, linestyle="", capsize=2.5, **look)


def _finish(totals: Any, scores: Any, labels: list[str], measure: str, result: Any) -> None:
    totals.axhline(1.0, color=GREY, linestyle="--", linewidth=1.2, zorder=1.5)
    totals.set_ylim(bottom=0.0)
    totals.set_ylabel("Expected over observed events")
    scores.set_ylabel(_MEASURES[measure])
    unit = name_unit(result.time_unit)
    ahead = f"{result.horizon:g}" + ("" if unit is None else f" {unit}")
    for panel in (totals, scores):
        name_categories(panel.xaxis, labels)
        panel.set_xlim(-0.6, len(labels) - 0.4)
        panel.set_xlabel(f"Forecast as of, {ahead} ahead")
        draw_grid(panel, "y")
    scores.legend(title="candidate (mean)", fontsize="small", title_fontsize="small")

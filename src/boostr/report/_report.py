"""The report on a fleet, for people who act on it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import boostr
from boostr.data import RecurrentEvents, SharedSensors, Trajectories
from boostr.inspection._model import find_unused_plan, warn_of_unused
from boostr.io._atomic import check_output, write_atomically
from boostr.report._content import collect
from boostr.report._page import render
from boostr.tuning import Backtest

__all__ = ["fleet_report"]


def fleet_report(  # noqa: PLR0913 - all but the first four are by name
    model: Any,
    X: Any,
    y: RecurrentEvents,
    Z: Trajectories | SharedSensors | None = None,
    *,
    path: str | os.PathLike[str] = "report.html",
    horizon: float | None = None,
    future: Trajectories | SharedSensors | None = None,
    level: float = 0.9,
    title: str = "Fleet report",
    max_individuals: int = 10_000,
    backtest: Backtest | None = None,
) -> Path:
    """Write a page on a fleet: who is at risk, why, and how good the model is.

    One HTML file that opens in any browser without a network. Its plots are interactive;
    its table can be searched and sorted, and a click on a row shows the individual's curve,
    interval, sensors and reasons.

    Parameters
    ----------
    model : BoostR
        A fitted model.
    X : array-like or DataFrame of shape (n, p), or Panel
        Static features of the individuals.
    y : RecurrentEvents
        Their histories, up to the present of each.
    Z : Trajectories or SharedSensors, default=None
        Their sensors, for a model that was fitted with them.
    path : str or path, default="report.html"
        The file; one that is there is replaced, and it is never written in part.
    horizon : float, default=None
        Length of the time ahead; by default as long as the longest follow-up of training.
    future : Trajectories or SharedSensors, default=None
        What the sensors will show; by default their last values hold.
    level : float, default=0.9
        Probability of the intervals.
    title : str, default="Fleet report"
        Title of the page.
    max_individuals : int, default=10000
        How many individuals the table holds, those with the highest risk. Totals, plots and
        quality are always those of all.
    backtest : Backtest, default=None
        Forecasts at past dates, to be shown beside the quality of the model;
        `boostr.backtest` makes it.

    Returns
    -------
    Path
        The file.

    See Also
    --------
    boostr.BoostR.forecast : The table of risks as a DataFrame.
    boostr.inspection.explain : The reasons.

    Notes
    -----
    How good the model is, is measured by out-of-fold predictions if the individuals are
    those of training, and the page says which it is. Forecasts with own history are tested
    on the last part of the follow-up, from what was known before it.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from boostr import BoostR
    >>> from boostr.report import fleet_report
    >>> from boostr.simulate import dataset_a
    >>> fleet = dataset_a(n=100, random_state=1)
    >>> model = BoostR(n_estimators=20, random_state=0).fit(fleet.X, fleet.y)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "fleet.html"
    ...     fleet_report(model, fleet.X, fleet.y, path=path, horizon=20).name
    'fleet.html'
    """
    target = Path(path)
    check_output(target, "The report")
    warn_of_unused(find_unused_plan(model, future), "sensor")
    content = collect(
        model,
        X,
        y,
        Z,
        horizon=horizon,
        future=future,
        level=level,
        max_individuals=max_individuals,
        backtest=backtest,
    )
    page = render(content, title, boostr.__version__)
    # Names may hold halves of characters, which no encoding has: a question mark each.
    write_atomically(target, page.encode("utf-8", errors="replace"))
    return target

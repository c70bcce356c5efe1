"""The terminal hazard: the same learning problem with terminal events as the events."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from boostr._frailty.forecast_law import TerminalTie
from boostr._frailty.law import cut_windows
from boostr._frailty.weighted_exposure import cut_at_events, measure_exposure
from boostr._training.fit import fit_model
from boostr._training.fitted import Fitted
from boostr._training.fold_curves import FoldCurves
from boostr._training.frailty import TrainingCurves, find_cell, sum_pieces
from boostr._training.inputs import TrainingData, check_training_data
from boostr._training.run import Hooks
from boostr._training.settings import Settings
from boostr._training.streamed import is_scanned
from boostr._typing import FloatArray
from boostr.data import RecurrentEvents, ScannedEvents
from boostr.data.clip import Observed
from boostr.data.events.terminal import as_terminal_events
from boostr.data.flat import owners_of

__all__ = ["add_terminal", "fit_terminal", "terminal_settings"]

_POWERS = (-1.0, -0.5, 0.25, 0.5, 0.75, 1.0, 1.5, 2.0)  # of frailties in hazards
_WORTH = 2.0  # log-likelihood that a tie must gain


def terminal_settings(settings: Settings) -> Settings:
    """Return the settings of the terminal hazard for those of the rate of events.

    Terminal events happen where observation ends, which a cumulative loss does not see;
    forecasts from earlier dates are those of the events. What orders rates need not order
    hazards.
    """
    return replace(settings, loss="intensity", n_origins=0, monotonic_cst=None)


def fit_terminal(
    settings: Settings,
    fitted: Fitted,
    table: Any,
    y: RecurrentEvents | ScannedEvents,
    sensors: Any,
    sample_weight: ArrayLike | None,
    hooks: Hooks,
    earlier: Fitted | None = None,
) -> Fitted:
    """Return the model with the terminal hazard, if there are terminal events."""
    deaths = _find_deaths(y)
    if deaths is None:
        return fitted
    hazard = fit_model(
        terminal_settings(settings),
        table,
        deaths,
        sensors,
        sample_weight,
        hooks.within("terminal"),
        None if earlier is None else earlier.terminal,
    )
    follows_events = sensors is None and fitted.sensor_layout is not None
    if follows_events or is_scanned(y, sensors):  # the tie needs all data in memory
        return replace(fitted, terminal=hazard)
    data = check_training_data(table, fitted.encoder, y, sensors, sample_weight)
    return add_terminal(fitted, hazard, data)


def add_terminal(fitted: Fitted, hazard: Fitted, data: TrainingData) -> Fitted:
    """Return the model with a terminal hazard, and with the tie of both in its law."""
    law = replace(fitted.forecast_law, tie=_fit_tie(fitted, hazard, data))
    return replace(fitted.with_law(law), terminal=hazard)


def _find_deaths(
    y: RecurrentEvents | ScannedEvents,
) -> RecurrentEvents | ScannedEvents | None:
    """Return histories of terminal events alone; None if there are none."""
    if isinstance(y, ScannedEvents):
        deaths = y.as_terminal_events() if y.has_terminal else None
        return None if deaths is None or not deaths.n_events.any() else deaths
    if not isinstance(y, RecurrentEvents) or y.is_terminal is None:
        return None
    return as_terminal_events(y) if y.is_terminal.any() else None


def _fit_tie(fitted: Fitted, hazard: Fitted, data: TrainingData) -> TerminalTie:
    """Find the power of frailties, as known so far, that makes deaths the most likely.

    Hazards are multiplied by ``level * frailty ** power``, where the level keeps their sum
    over the living at the end.
    """
    seen = _take_known(fitted, hazard, data)
    law, events, weights = fitted.forecast_law, seen.data.events, seen.data.weights
    observed = Observed.of(events)
    pieces = cut_windows(*observed[:3], find_cell(events))
    pieces = cut_at_events(pieces, observed.event_owner, observed.times)
    expect = seen.curves.expect
    histories = sum_pieces(expect, observed, events.start, pieces, seen.costs)
    known = measure_exposure(histories, law.frailty)
    frailty = 1.0 + law.frailty.persistence * (known.factors - 1.0)
    theta = hazard.out_of_fold_coefficients
    if theta is not None:
        theta = theta[seen.data.is_used]
    curves = FoldCurves(hazard.trees, seen.data.features, seen.data.sensors, theta)
    owner = owners_of(known.offsets)
    rises = np.maximum(curves.expect(owner, known.start, known.stop), 0.0)
    is_last = np.diff(owner, append=-1) != 0
    assert events.is_terminal is not None  # noqa: S101 - there are some
    died = weights * events.is_terminal
    # Hazards where follow-up ends, of those who live on.
    lengths = np.maximum(known.stop - known.start, np.finfo(float).tiny)[is_last]
    ahead = (weights - died)[owner[is_last]] * rises[is_last] / lengths
    last = frailty[is_last]
    return _choose_tie(weights[owner] * rises, frailty, died[owner[is_last]], last, ahead)


def _take_known(fitted: Fitted, hazard: Fitted, data: TrainingData) -> TrainingCurves:
    """Return a subsample of those with out-of-fold coefficients of both models."""
    theta = fitted.out_of_fold_coefficients
    other = hazard.out_of_fold_coefficients
    if theta is None or other is None:
        return TrainingCurves.of(fitted.trees, data, None, fitted.forecast_law.paced)
    theta = theta[data.is_used].copy()
    theta[np.isnan(other[data.is_used][:, 0])] = np.nan
    return TrainingCurves.of(fitted.trees, data, theta, fitted.forecast_law.paced)


def _choose_tie(
    rises: FloatArray,
    frailty: FloatArray,
    died: FloatArray,
    last: FloatArray,
    ahead: FloatArray,
) -> TerminalTie:
    """Return the tie of highest likelihood, none unless it is clearly better.

    ``rises`` are of hazards and ``frailty`` in pieces of time; ``died`` and ``last`` are
    weights of the dead and frailties at the end, of individuals. ``ahead`` are the hazards
    of the living at the end, whose sum a tie keeps: that frail ones have died is in them.
    """
    total = float(died.sum())
    if not (total > 0.0 and rises.sum() > 0.0):
        return TerminalTie()

    def judge(power: float) -> float:
        gained = power * float(died @ np.log(last))
        return gained - total * float(np.log(rises @ frailty**power))

    best = max(_POWERS, key=judge)
    if judge(best) < judge(0.0) + _WORTH:
        return TerminalTie()
    if not ahead.sum() > 0.0:
        ahead, last = rises, frailty
    return TerminalTie(best, float(ahead.sum() / (ahead @ last**best)))

"""Share of the events among the individuals with the highest predictions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from boostr._checks.numbers import check_weights
from boostr._checks.parameters import check_choice
from boostr._typing import FloatArray
from boostr.data import RecurrentEvents, check_target
from boostr.exceptions import InvalidEventsError
from boostr.metrics._checks import check_values
from boostr.metrics._observation import count_events

__all__ = ["CaptureCurve", "capture_curve"]


@dataclass(frozen=True, slots=True, eq=False)
class CaptureCurve:
    """Share of the events that the individuals with the highest predictions have.

    Made by `capture_curve`. Between its points the curve is straight, as if individuals
    with equal predictions were taken in parts.

    Parameters
    ----------
    share : (k,) float64 array
        Share of individuals, or of follow-up, from 0 to 1, highest predictions first.
    captured : (k,) float64 array
        Share of the events that these have, from 0 to 1.
    ideal_share, ideal_captured : (j,) float64 array
        The same if individuals were ordered by what was observed: no prediction is higher.
    area : float
        Area under the curve; 0.5 for a constant prediction.
    ideal_area : float
        Area under the ideal curve.
    n_events : float
        Number (or cost) of events, with weights.
    per : {"individual", "follow_up"}
        What `share` is a share of.

    See Also
    --------
    capture_curve : Computes it.

    Examples
    --------
    >>> from boostr.data import RecurrentEvents
    >>> from boostr.metrics import capture_curve
    >>> y = RecurrentEvents.from_lists([[], [1.0, 2.0], [3.0], []], end=4.0)
    >>> curve = capture_curve(y, [0.5, 2.0, 1.0, 0.5])
    >>> curve.at(0.25), curve.gain
    (0.6666666666666666, 1.0)
    """

    share: FloatArray
    captured: FloatArray
    ideal_share: FloatArray
    ideal_captured: FloatArray
    area: float
    ideal_area: float
    n_events: float
    per: str

    @property
    def gain(self) -> float:
        """Area above the diagonal as a share of the ideal one; 1 at best, 0 for chance."""
        possible = self.ideal_area - 0.5
        return (self.area - 0.5) / possible if possible > 0.0 else 0.0

    def at(self, share: float) -> float:
        """Return the share of the events of individuals with the highest predictions.

        Parameters
        ----------
        share : float
            How many of the individuals (or how much of the follow-up), in [0, 1].

        Returns
        -------
        float
            Share of the events.

        Examples
        --------
        >>> from boostr.data import RecurrentEvents
        >>> from boostr.metrics import capture_curve
        >>> y = RecurrentEvents.from_lists([[], [1.0, 2.0], [3.0], []], end=4.0)
        >>> capture_curve(y, [0.5, 2.0, 1.0, 0.5]).at(0.5)
        1.0
        """
        return float(np.interp(share, self.share, self.captured))


def capture_curve(
    y: RecurrentEvents,
    predicted: ArrayLike,
    *,
    per: Literal["individual", "follow_up"] = "individual",
    sample_weight: ArrayLike | None = None,
) -> CaptureCurve:
    r"""Return the share of the events of individuals with the highest predictions.

    "The top tenth has seven tenths of the events" is the point (0.1, 0.7) of the curve

    .. math::

        s(c) = \frac{\sum_{p_i \ge c} w_i u_i}{\sum_i w_i u_i}, \qquad
        g(c) = \frac{\sum_{p_i \ge c} w_i N_i}{\sum_i w_i N_i},

    with :math:`N_i` events observed, the predictions :math:`p_i`, and :math:`u_i` = 1, or
    the time observed.

    Parameters
    ----------
    y : RecurrentEvents
        Event histories. Where events have costs, these are captured.
    predicted : array-like of shape (n,)
        Predictions; only their order counts. Expected counts by a common time, not by the
        own end of follow-up.
    per : {"individual", "follow_up"}, default="individual"
        What the curve runs over. Shares of individuals are what one can act on; shares of
        follow-up are fair where those with many events leave early.
    sample_weight : array-like of shape (n,), default=None
        Weights of individuals.

    Returns
    -------
    CaptureCurve
        The curve, the ideal one, and their areas.

    Raises
    ------
    InvalidEventsError
        If there are no events.

    See Also
    --------
    event_concordance : Says the same as the area, at each moment.
    scorer : Makes a scorer from the area.

    Notes
    -----
    Individuals with equal predictions enter together, along a straight line, so that their
    order in the data does not matter. Where all are observed equally long, the area is the
    probability that the owner of a random event is predicted above a random individual.

    References
    ----------
    Tasche, D. (2006). Validation of internal rating systems and PD estimates.
    arXiv:physics/0606071 (cumulative accuracy profile).

    Examples
    --------
    >>> from boostr.data import RecurrentEvents
    >>> from boostr.metrics import capture_curve
    >>> y = RecurrentEvents.from_lists([[], [1.0, 2.0], [3.0], []], end=4.0)
    >>> curve = capture_curve(y, [0.5, 2.0, 1.0, 0.5])
    >>> curve.share, curve.captured.round(2)
    (array([0.  , 0.25, 0.5 , 1.  ]), array([0.  , 0.67, 1.  , 1.  ]))
    """
    events = check_target(y)
    n = len(events)
    scores = check_values(predicted, n, "predicted")
    weight = check_weights(sample_weight, n)
    check_choice(per, ("individual", "follow_up"), "per")
    unit = weight if per == "individual" else weight * events.follow_up
    counts = count_events(events, np.full(n, -np.inf), np.full(n, np.inf))
    weighted = weight * counts
    if not weighted.any():
        raise InvalidEventsError(
            "There must be events to capture, but there are none.\n\n"
            "Hint: in cross-validation use fewer folds."
        )
    # By density, what was observed, no other order can be above.
    density = np.divide(weighted, unit, out=np.zeros(n), where=unit > 0.0)
    share, captured = _curve(scores, unit, weighted)
    ideal_share, ideal_captured = _curve(density, unit, weighted)
    return CaptureCurve(
        share=share,
        captured=captured,
        ideal_share=ideal_share,
        ideal_captured=ideal_captured,
        area=_area(share, captured),
        ideal_area=_area(ideal_share, ideal_captured),
        n_events=float(weighted.sum()),
        per=per,
    )


def _curve(
    scores: FloatArray, unit: FloatArray, events: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return shares of units and events by descending score, ties together."""
    place = np.unique(-scores, return_inverse=True)[1]
    sums = [np.cumsum(np.bincount(place, values)) for values in (unit, events)]
    share, captured = (np.concatenate([[0.0], own / own[-1]]) for own in sums)
    return share, captured


def _area(share: FloatArray, captured: FloatArray) -> float:
    return float(0.5 * np.diff(share) @ (captured[1:] + captured[:-1]))

"""Treatment that wears off with the number of events: the paper's Appendix B."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import gammainc, gammaincc

from boostr._checks.parameters import check_count, check_times
from boostr._typing import AnyArray, BoolArray, FloatArray
from boostr.data import RecurrentEvents
from boostr.exceptions import InvalidParameterError
from boostr.simulate._simulation import (
    Simulation,
    check_features,
    numbered_names,
)

__all__ = ["kelly"]

BASE_RATE = float(np.exp(-3.76))  # events a day without treatment
TREATED_RATE = BASE_RATE * float(np.exp(-1.0))  # while treatment is effective
FOREVER = 4  # treatment effective for four events stays effective after them
N_NODES = 64  # of the quadrature over the random effect


@dataclass(frozen=True, slots=True, eq=False)
class KellyTruth:
    """Expected number of events of the uncensored process.

    Treatment that is effective for the first ``m`` events makes the rate ``a`` until
    the ``m``-th event, at ``T``, and ``b`` after it. Given the random effect, the
    expected number of events by ``t`` is therefore

    ``b * t - (b - a) * E[min(T, t)]`` with ``T ~ Gamma(m, a)``,

    and ``E[min(T, t)]`` is a pair of incomplete gamma functions. The random effect is
    integrated by Gauss-Hermite quadrature.
    """

    sigma: float
    features: FloatArray  # (n, 3)

    def __call__(self, times: ArrayLike, X: ArrayLike | None = None) -> FloatArray:
        """Give the cumulative intensity, one row per individual, one column per time."""
        features = self.features if X is None else check_features(X, 3)
        grid = check_times(times)
        nodes, weights = np.polynomial.hermite_e.hermegauss(N_NODES)
        frailty = np.exp(self.sigma * nodes)
        weights = weights / weights.sum()
        curves = np.array(
            [
                _expected_events(grid, frailty, n_effective) @ weights
                for n_effective in range(FOREVER + 1)
            ]
        )
        chosen: FloatArray = curves[_n_effective(features)]
        return chosen


def kelly(
    n: int = 1000,
    sigma: float = 0.1,
    random_state: int | np.random.Generator | None = 0,
    *,
    end: float = 120.0,
    max_events: int | None = 4,
    treated_share: float = 0.5,
) -> Simulation:
    r"""Simulate a trial whose treatment is effective for the first events only.

    Between its :math:`(k-1)`-th and :math:`k`-th event, subject ``i`` has the rate per
    day

    .. math::

        \log \lambda_{ik} = -3.76 + \beta_k x_{i3} + v_i, \quad v_i \sim N(0, \sigma^2),

    where :math:`x_{i3}` is 1 for the treated and 0 for the others. Treatment is
    effective, :math:`\beta_k = -1`, for the first event where :math:`x_{i1}, x_{i2} <
    0.5`; for two events where :math:`x_{i1} < 0.5 \le x_{i2}`; for three where
    :math:`x_{i2} < 0.5 \le x_{i1}`; and always where both are at least 0.5; otherwise
    :math:`\beta_k = 0`. Later events are like the fourth. Follow-up stops at `end` or
    with the event number `max_events`, whichever comes first; ``complete`` has all
    events up to ``2 * end``. The truth is the mean of the uncensored process.

    Parameters
    ----------
    n : int, default=1000
        Number of subjects.
    sigma : float, default=0.1
        Standard deviation of the random effect, at least 0.
    random_state : int, Generator or None, default=0
        Seed of the random numbers; None draws a fresh one.
    end : float, default=120.0
        Last day of follow-up.
    max_events : int or None, default=4
        Follow-up of a subject stops with this event; None never stops early.
    treated_share : float, default=0.5
        Share of subjects that are treated, in [0, 1]; rounded to whole subjects.

    Returns
    -------
    Simulation
        Features, event histories and their truth.

    See Also
    --------
    dataset_a : A simpler law without early stops.

    References
    ----------
    Liu, X. and Pan, R. Boost-R: Gradient Boosted Trees for Recurrence Data. Journal of
    Quality Technology. Appendix B.

    Kelly, P. J. and Lim, L. L.-Y. (2000). Survival analysis for recurrent event data: an
    application to childhood infectious diseases. Statistics in Medicine 19, 13-33.

    Examples
    --------
    >>> from boostr.simulate import kelly
    >>> simulation = kelly(n=200, random_state=1)
    >>> int(simulation.X[:, 2].sum()), int(simulation.y.n_events.max())
    (100, 4)
    >>> simulation.truth(120.0, X=[[0.2, 0.2, 0.0], [0.9, 0.9, 1.0]]).ravel().round(2)
    array([2.81, 1.03])
    """
    check_count(n, "n")
    _check_trial(sigma, end, max_events, treated_share)
    rng = np.random.default_rng(random_state)
    treated = rng.permutation(n) < round(treated_share * n)
    features = np.column_stack([rng.random((n, 2)), treated])
    frailty = np.exp(sigma * rng.standard_normal(n))
    times, owner = _draw_events(features, frailty, 2.0 * end, rng)
    return Simulation(
        X=features,
        y=_observe(times, owner, np.full(n, end), max_events),
        truth=KellyTruth(sigma, features),
        horizon=float(end),
        feature_names=(*numbered_names(2), "treated"),
        complete=_observe(times, owner, np.full(n, 2.0 * end), None),
    )


def _n_effective(features: FloatArray) -> AnyArray:
    """Count the events for which treatment is effective; 0 for the untreated."""
    upper = features >= 0.5
    return np.where(upper[:, 2], 1 + 2 * upper[:, 0] + upper[:, 1], 0)


def _expected_events(
    times: FloatArray, frailty: FloatArray, n_effective: int
) -> FloatArray:
    """Give the expected number of events, one row per time, one column per frailty."""
    if n_effective in {0, FOREVER}:
        constant = BASE_RATE if n_effective == 0 else TREATED_RATE
        return np.multiply.outer(times, constant * frailty)
    rate = TREATED_RATE * frailty
    scaled = np.multiply.outer(times, rate)
    effective_time = times[:, np.newaxis] * gammaincc(n_effective, scaled)
    effective_time += n_effective / rate * gammainc(n_effective + 1, scaled)
    lost_rate = (BASE_RATE - TREATED_RATE) * frailty
    expected: FloatArray = (
        np.multiply.outer(times, BASE_RATE * frailty) - lost_rate * effective_time
    )
    return expected


def _draw_events(
    features: FloatArray, frailty: FloatArray, end: float, rng: np.random.Generator
) -> tuple[FloatArray, AnyArray]:
    """Draw the next event of every subject until all are past the end; sort by subject."""
    n_effective = _n_effective(features)
    clock = np.zeros(len(features))
    alive = np.arange(len(features))
    times, owners = [], []
    n_past = 0
    while alive.size:
        helped = (n_effective[alive] > n_past) | (n_effective[alive] == FOREVER)
        rate = np.where(helped, TREATED_RATE, BASE_RATE) * frailty[alive]
        clock[alive] += rng.exponential(1.0 / rate)
        alive = alive[clock[alive] <= end]
        times.append(clock[alive])
        owners.append(alive)
        n_past += 1
    owner = np.concatenate(owners)
    # Rounds come in the order of time, so a stable sort keeps it within subjects.
    order = np.argsort(owner, kind="stable")
    return np.concatenate(times)[order], owner[order]


def _observe(
    times: FloatArray, owner: AnyArray, end: FloatArray, max_events: int | None
) -> RecurrentEvents:
    """Keep what is seen before the end of follow-up and the last event that counts."""
    number = np.arange(owner.size) - np.searchsorted(owner, owner)
    seen: BoolArray = times <= end[owner]
    if max_events is not None:
        seen &= number < max_events
        stopped = seen & (number == max_events - 1)
        end[owner[stopped]] = times[stopped]
    offsets = np.searchsorted(owner[seen], np.arange(end.size + 1))
    return RecurrentEvents.from_flat(
        times[seen], offsets.astype(np.int64), start=np.zeros(end.size), end=end
    )


def _check_trial(
    sigma: float, end: float, max_events: int | None, treated_share: float
) -> None:
    """Refuse a trial that cannot be."""
    rules = {
        "`sigma` must be a number of at least 0": 0.0 <= sigma < np.inf,
        "`end` must be a positive number": 0.0 < end < np.inf,
        "`max_events` must be at least 1 or None": max_events is None or max_events >= 1,
        "`treated_share` must lie in [0, 1]": 0.0 <= treated_share <= 1.0,
    }
    for rule, holds in rules.items():
        if not holds:
            raise InvalidParameterError(
                f"{rule}, but the trial has sigma={sigma!r}, end={end!r}, "
                f"max_events={max_events!r}, treated_share={treated_share!r}.\n\n"
                "Hint: the defaults are those of the paper."
            )

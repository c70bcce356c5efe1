"""Patients with relapses who may die, by features and by a frailty of their own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from boostr._checks.parameters import check_count, check_times
from boostr._typing import FloatArray
from boostr.data import RecurrentEvents
from boostr.data.clip import clip
from boostr.data.flat import offsets_of
from boostr.simulate._simulation import (
    Seed,
    Simulation,
    check_end,
    check_features,
    numbered_names,
)

__all__ = ["patients"]

_N_FEATURES = 5
_VARIANCE = 0.5  # of frailties
_LONGER = 2.0  # times the horizon that complete histories are observed


@dataclass(frozen=True, slots=True, eq=False)
class _PatientTruth:
    """Curves of patients whose rate and hazard are multiplied by one gamma frailty."""

    features: FloatArray  # (n, p)
    of: Literal["mean", "survival"]

    def __call__(self, times: ArrayLike, X: ArrayLike | None = None) -> FloatArray:
        """Give the mean number of events, or the chance to be alive, (n, m)."""
        features = self.features if X is None else check_features(X, 3)
        rate, hazard = _find_rates(features)
        growth = 1.0 + _VARIANCE * np.multiply.outer(hazard, check_times(times))
        alive: FloatArray = growth ** (-1.0 / _VARIANCE)
        return alive if self.of == "survival" else (rate / hazard)[:, None] * (1.0 - alive)


def _find_rates(features: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the rates of relapses and of death for a frailty of one."""
    x1, x2, x3 = features[:, :3].T
    rate = (0.02 + 0.12 * x1) * np.where(x2 > 0.5, 2.0, 1.0)
    return rate, 0.0012 * np.exp(2.5 * x3) * np.where(x2 > 0.5, 3.0, 1.0)


def patients(
    n: int = 200,
    random_state: Seed = 0,
    *,
    end: float | tuple[float, float] = (50.0, 100.0),
) -> Simulation:
    r"""Simulate relapses of patients of whom about 40 % die under observation.

    Five features are uniform on the unit interval, two of them useless. Relapses and death
    of a patient have the rates

    .. math::

        \lambda_i = \xi_i\, (0.02 + 0.12\, x_{i1})\, 2^{[x_{i2} > 0.5]}, \qquad
        h_i = \xi_i\, 0.0012\, e^{2.5 x_{i3}}\, 3^{[x_{i2} > 0.5]}

    with a gamma frailty :math:`\xi_i` of mean 1 and variance 0.5: those who relapse often
    die early.

    Parameters
    ----------
    n : int, default=200
        Number of patients.
    random_state : int, Generator or None, default=0
        Seed of the random numbers; None draws a fresh one.
    end : float or (float, float), default=(50.0, 100.0)
        End of follow-up of those who are alive then, or the bounds between which the ends
        are uniformly staggered.

    Returns
    -------
    Simulation
        Features and event histories with terminal events. ``truth`` is the mean number of
        relapses, where the dead have none, and ``survival`` the chance to be alive;
        ``complete`` has the same patients, observed for twice as long without staggered
        ends.

    Notes
    -----
    With the variance ``v`` of frailties, ``S(t) = (1 + v h t)^(-1 / v)`` is the chance to
    be alive, and the mean number is ``1 - S(t)`` times the ratio of both rates.

    Examples
    --------
    >>> from boostr.simulate import patients
    >>> simulation = patients(n=2000, random_state=1)
    >>> round(float(simulation.y.is_terminal.mean()), 1)
    0.4
    >>> simulation.survival([0.0, 100.0], X=[[0.5, 0.2, 0.0, 0.0, 0.0]]).round(2)
    array([[1.  , 0.89]])
    """
    check_count(n, "n")
    low, high = check_end(end)
    rng = np.random.default_rng(random_state)
    features = rng.uniform(size=(n, _N_FEATURES))
    frailty = rng.gamma(1.0 / _VARIANCE, _VARIANCE, n)
    rate, hazard = _find_rates(features)
    longest = _LONGER * high
    death = rng.exponential(1.0 / (frailty * hazard))
    last = np.minimum(death, longest)
    counts = rng.poisson(frailty * rate * last)
    owner = np.repeat(np.arange(n), counts)
    times = rng.uniform(size=len(owner)) * last[owner]
    complete = RecurrentEvents.from_flat(
        times, offsets_of(counts), end=last, terminal=death <= longest
    )
    observed, _ = clip(complete, np.full(n, -np.inf), rng.uniform(low, high, n))
    return Simulation(
        X=features,
        y=observed,
        truth=_PatientTruth(features, "mean"),
        horizon=high,
        feature_names=numbered_names(_N_FEATURES),
        complete=complete,
        survival=_PatientTruth(features, "survival"),
    )

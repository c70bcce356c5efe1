"""Poisson processes of the paper's data sets A to D, drawn by exact inversion."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from boostr._checks.parameters import check_count, check_times
from boostr._typing import FloatArray, OffsetArray
from boostr.data import RecurrentEvents
from boostr.simulate._simulation import (
    End,
    Seed,
    Simulation,
    check_end,
    check_features,
    numbered_names,
)

__all__ = ["dataset_a", "dataset_b", "dataset_c", "dataset_d"]


@dataclass(frozen=True, slots=True, eq=False)
class PowerLaw:
    """Cumulative intensity ``scale(x) * t ** exponent``.

    A process with this law that has ``k`` events by ``end`` has them at
    ``end * u ** (1 / exponent)`` with ``k`` independent uniform ``u``.
    """

    scale: Callable[[FloatArray], FloatArray]
    exponent: float


@dataclass(frozen=True, slots=True, eq=False)
class PowerLawTruth:
    """The true curves of the individuals that were simulated from a power law."""

    law: PowerLaw
    features: FloatArray  # (n, p)

    def __call__(self, times: ArrayLike, X: ArrayLike | None = None) -> FloatArray:
        """Give the cumulative intensity, one row per individual, one column per time."""
        features = self.features if X is None else check_features(X, 2)
        powers = check_times(times) ** self.law.exponent
        return np.multiply.outer(self.law.scale(features), powers)


def dataset_a(
    n: int = 200, random_state: Seed = 0, *, end: float | tuple[float, float] = 100.0
) -> Simulation:
    r"""Simulate DATASET A: constant rates in quadrants of the feature space.

    Two features are uniform on the unit interval and events follow a homogeneous
    Poisson process,

    .. math::

        \lambda_i = \begin{cases}
        0.01 & \text{if } x_{i1} \le 0.5 \text{ and } x_{i2} \le 0.5 \\
        0.10 & \text{if } x_{i1} > 0.5 \text{ and } x_{i2} > 0.5 \\
        0.05 & \text{otherwise.}
        \end{cases}

    Parameters
    ----------
    n : int, default=200
        Number of individuals.
    random_state : int, Generator or None, default=0
        Seed of the random numbers; None draws a fresh one.
    end : float or (float, float), default=100.0
        End of follow-up of all individuals, or the bounds between which the ends are
        uniformly staggered.

    Returns
    -------
    Simulation
        Features, event histories and their truth.

    See Also
    --------
    dataset_b : The same with eight useless features.

    Notes
    -----
    In the authors' own copy of this data set the ends of follow-up are staggered between
    171 and 228 with median 201; ``end=(171.0, 228.0)`` draws such ends.

    References
    ----------
    Liu, X. and Pan, R. Boost-R: Gradient Boosted Trees for Recurrence Data. Journal of
    Quality Technology.

    Examples
    --------
    >>> from boostr.simulate import dataset_a
    >>> simulation = dataset_a(n=500, random_state=1)
    >>> simulation.X.shape, len(simulation.y)
    ((500, 2), 500)
    >>> simulation.truth(100.0, X=[[0.2, 0.2], [0.2, 0.8], [0.8, 0.8]]).ravel()
    array([ 1.,  5., 10.])
    """
    return _simulate(n, random_state, end, PowerLaw(_quadrant_rates, 1.0))


def dataset_b(
    n: int = 200, random_state: Seed = 0, *, end: float | tuple[float, float] = 100.0
) -> Simulation:
    r"""Simulate DATASET B: DATASET A with eight features that do nothing.

    Events and the features ``x1`` and ``x2`` are those of `dataset_a` with the same
    `random_state`; ``x3`` to ``x10`` are uniform on the unit interval and independent
    of everything,

    .. math::

        \lambda_i = \begin{cases}
        0.01 & \text{if } x_{i1} \le 0.5 \text{ and } x_{i2} \le 0.5 \\
        0.10 & \text{if } x_{i1} > 0.5 \text{ and } x_{i2} > 0.5 \\
        0.05 & \text{otherwise.}
        \end{cases}

    Parameters
    ----------
    n : int, default=200
        Number of individuals.
    random_state : int, Generator or None, default=0
        Seed of the random numbers; None draws a fresh one.
    end : float or (float, float), default=100.0
        End of follow-up of all individuals, or the bounds between which the ends are
        uniformly staggered.

    Returns
    -------
    Simulation
        Features, event histories and their truth.

    See Also
    --------
    dataset_a : The same without the useless features.

    References
    ----------
    Liu, X. and Pan, R. Boost-R: Gradient Boosted Trees for Recurrence Data. Journal of
    Quality Technology.

    Examples
    --------
    >>> from boostr.simulate import dataset_a, dataset_b
    >>> simulation = dataset_b(n=50, random_state=1)
    >>> simulation.X.shape
    (50, 10)
    >>> bool((simulation.y.times == dataset_a(n=50, random_state=1).y.times).all())
    True
    """
    return _simulate(n, random_state, end, PowerLaw(_quadrant_rates, 1.0), n_noise=8)


def dataset_c(
    n: int = 1000, random_state: Seed = 0, *, end: float | tuple[float, float] = 50.0
) -> Simulation:
    r"""Simulate DATASET C: falling rates in rings of the feature space.

    Two features are uniform on the unit interval and events follow a Poisson process
    with intensity

    .. math::

        \lambda_i(t) = c_i t^{-0.5}, \quad
        c_i = \begin{cases}
        1.5 & \text{if } d_i \le 0.04 \\
        1 & \text{if } 0.04 < d_i \le 0.16 \\
        0.5 & \text{otherwise,}
        \end{cases}

    where :math:`d_i = (x_{i1} - 0.5)^2 + (x_{i2} - 0.5)^2`. The cumulative intensity is
    :math:`2 c_i \sqrt{t}`.

    Parameters
    ----------
    n : int, default=1000
        Number of individuals.
    random_state : int, Generator or None, default=0
        Seed of the random numbers; None draws a fresh one.
    end : float or (float, float), default=50.0
        End of follow-up of all individuals, or the bounds between which the ends are
        uniformly staggered.

    Returns
    -------
    Simulation
        Features, event histories and their truth.

    See Also
    --------
    dataset_d : Rates that rise with time and vary smoothly with the features.

    References
    ----------
    Liu, X. and Pan, R. Boost-R: Gradient Boosted Trees for Recurrence Data. Journal of
    Quality Technology.

    Examples
    --------
    >>> from boostr.simulate import dataset_c
    >>> simulation = dataset_c(n=50, random_state=1)
    >>> simulation.truth(25.0, X=[[0.5, 0.5], [0.5, 0.8], [0.0, 0.0]]).ravel()
    array([15., 10.,  5.])
    """
    return _simulate(n, random_state, end, PowerLaw(_ring_scales, 0.5))


def dataset_d(
    n: int = 1000, random_state: Seed = 0, *, end: float | tuple[float, float] = 100.0
) -> Simulation:
    r"""Simulate DATASET D: rising rates that vary smoothly with the features.

    Two features are uniform on the unit interval and events follow a Poisson process
    with intensity

    .. math::

        \lambda_i(t) = 0.01 t^{0.5}
        \exp\left(0.5 (x_{i1} - 0.5)^2 + 2 (x_{i2} - 0.5)^2\right).

    Parameters
    ----------
    n : int, default=1000
        Number of individuals.
    random_state : int, Generator or None, default=0
        Seed of the random numbers; None draws a fresh one.
    end : float or (float, float), default=100.0
        End of follow-up of all individuals, or the bounds between which the ends are
        uniformly staggered.

    Returns
    -------
    Simulation
        Features, event histories and their truth.

    See Also
    --------
    dataset_c : Rates that fall with time and jump with the features.

    References
    ----------
    Liu, X. and Pan, R. Boost-R: Gradient Boosted Trees for Recurrence Data. Journal of
    Quality Technology.

    Examples
    --------
    >>> from boostr.simulate import dataset_d
    >>> simulation = dataset_d(n=50, random_state=1)
    >>> simulation.truth(100.0, X=[[0.5, 0.5], [0.5, 1.0]]).ravel().round(2)
    array([ 6.67, 10.99])
    """
    return _simulate(n, random_state, end, PowerLaw(_smooth_scales, 1.5))


def _quadrant_rates(features: FloatArray) -> FloatArray:
    n_high = np.count_nonzero(features[:, :2] > 0.5, axis=1)
    rates: FloatArray = np.array([0.01, 0.05, 0.10])[n_high]
    return rates


def _ring_scales(features: FloatArray) -> FloatArray:
    squared_distance = ((features[:, :2] - 0.5) ** 2).sum(axis=1)
    ring = np.searchsorted([0.04, 0.16], squared_distance, side="left")
    scales: FloatArray = np.array([3.0, 2.0, 1.0])[ring]  # 2 c
    return scales


def _smooth_scales(features: FloatArray) -> FloatArray:
    weights = np.array([0.5, 2.0])
    scales: FloatArray = 0.02 / 3.0 * np.exp((features[:, :2] - 0.5) ** 2 @ weights)
    return scales


def _simulate(
    n: int, random_state: Seed, end: End, law: PowerLaw, n_noise: int = 0
) -> Simulation:
    """Draw features, ends and events in this order, and useless features last.

    The order lets data sets with the same seed share what they have in common.
    """
    rng = np.random.default_rng(random_state)
    check_count(n, "n")
    low, high = check_end(end)
    features = rng.random((n, 2))
    ends = np.full(n, high) if low == high else rng.uniform(low, high, n)
    times, offsets = _draw_events(law, features, ends, rng)
    features = np.hstack([features, rng.random((n, n_noise))])
    return Simulation(
        X=features,
        y=RecurrentEvents.from_flat(times, offsets, start=np.zeros(n), end=ends),
        truth=PowerLawTruth(law, features),
        horizon=high,
        feature_names=numbered_names(features.shape[1]),
    )


def _draw_events(
    law: PowerLaw, features: FloatArray, ends: FloatArray, rng: np.random.Generator
) -> tuple[FloatArray, OffsetArray]:
    """Draw event times, sorted within individuals, and the offsets of individuals."""
    counts = rng.poisson(law.scale(features) * ends**law.exponent)
    owner = np.repeat(np.arange(ends.size), counts)
    # 1 - random() is in (0, 1]: an event at time 0 would lie before the window.
    uniform = 1.0 - rng.random(owner.size)
    times = ends[owner] * uniform ** (1.0 / law.exponent)
    offsets = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    return times[np.lexsort((times, owner))], offsets

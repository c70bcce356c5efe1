"""A fleet whose sensors drive its failures, differently from region to region."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from numbers import Integral
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import erf, expit

from boostr._checks.parameters import check_count, check_times
from boostr._typing import BoolArray, FloatArray, OffsetArray, PositionArray
from boostr.data import RecurrentEvents, Trajectories
from boostr.exceptions import InvalidFeaturesError, InvalidParameterError
from boostr.simulate._simulation import (
    Seed,
    Simulation,
    check_end,
    check_features,
    numbered_names,
)

__all__ = ["wells"]

CLOSE = 1e-3  # sensor values nearer than this are averaged over by quadrature


@dataclass(frozen=True, slots=True, eq=False)
class Effect:
    """What a sensor adds to the rate, with 1 its height, and an antiderivative of it."""

    value: Callable[[FloatArray], FloatArray]
    integral: Callable[[FloatArray], FloatArray]

    def mean(self, first: FloatArray, last: FloatArray) -> FloatArray:
        """Average over all sensor values between the first and the last.

        The difference of the integrals loses digits where the two are close. There,
        Gauss quadrature with three nodes is exact to rounding.
        """
        step = last - first
        is_close = np.abs(step) < CLOSE
        mean: FloatArray = self.integral(last) - self.integral(first)
        mean /= np.where(is_close, 1.0, step)
        nodes, weights = np.polynomial.legendre.leggauss(3)
        middle, half = 0.5 * (first + last)[is_close], 0.5 * step[is_close]
        mean[is_close] = 0.5 * sum(
            weight * self.value(middle + node * half)
            for node, weight in zip(nodes, weights, strict=True)
        )
        return mean


@dataclass(frozen=True, slots=True, eq=False)
class LinearPaths:
    """Sensors between their samples: linear, and constant after the last one.

    The arrays hold sample after sample, individual after individual. A time of an
    individual is looked up among its samples in two steps: its rank among all sample
    times, and then the place of owner and rank among those of the samples.
    """

    times: FloatArray  # (n_samples,)
    values: FloatArray  # (n_sensors, n_samples)
    owner: PositionArray  # (n_samples,)
    first: PositionArray  # (n_samples,) where the samples of the owner begin
    gaps: FloatArray  # (n_samples,) time to the owner's next sample, 0 for the last
    sorted_times: FloatArray  # (n_samples,) of all individuals together
    keys: PositionArray  # (n_samples,) increasing

    @classmethod
    def from_samples(
        cls, times: FloatArray, offsets: OffsetArray, values: FloatArray
    ) -> LinearPaths:
        """Prepare the samples for looking them up."""
        counts = np.diff(offsets)
        owner = np.repeat(np.arange(counts.size), counts)
        gaps = np.diff(times, append=times[-1])
        gaps[offsets[1:] - 1] = 0.0
        sorted_times = np.sort(times)
        keys = _keys(owner, times, sorted_times)
        first = np.repeat(offsets[:-1], counts)
        return cls(times, values, owner, first, gaps, sorted_times, keys)

    def latest(self, owner: PositionArray, times: FloatArray) -> PositionArray:
        """Find the last sample of each owner that is not after the time."""
        wanted = _keys(owner, times, self.sorted_times)
        return np.searchsorted(self.keys, wanted, side="right") - 1

    def at(self, sensor: int, sample: PositionArray, times: FloatArray) -> FloatArray:
        """Read a sensor at times between the given samples and the next ones."""
        values = self.values[sensor]
        slopes = np.zeros_like(values)
        np.divide(np.diff(values, append=0.0), self.gaps, slopes, where=self.gaps > 0.0)
        read: FloatArray = values[sample] + slopes[sample] * (times - self.times[sample])
        return read

    def integrate(
        self, effect: Effect, sensor: int, sample: PositionArray, times: FloatArray
    ) -> FloatArray:
        """Integrate an effect along a sensor, from time 0 to the given times."""
        values = self.values[sensor]
        pieces = self.gaps * effect.mean(values, np.append(values[1:], values[-1]))
        before = np.cumsum(pieces) - pieces
        elapsed = times - self.times[sample]
        now = effect.mean(values[sample], self.at(sensor, sample, times))
        total: FloatArray = before[sample] - before[self.first[sample]] + elapsed * now
        return total


def _keys(
    owner: PositionArray, times: FloatArray, sorted_times: FloatArray
) -> PositionArray:
    """Turn owner and time into whole numbers that stand in their common order.

    Times between the same two samples get the same number. A float that holds owner
    and time together would round.
    """
    rank = np.searchsorted(sorted_times, times, side="right")
    return owner * (sorted_times.size + 1) + rank


BASE_RATE = 0.005  # events a day without any sensor
EFFECT_RATE = 0.1  # events a day at the height of an effect
MAX_RATE = BASE_RATE + 2.0 * EFFECT_RATE  # no region has more than two effects
FEATURE_NAMES = ("longitude", "latitude", *numbered_names(8)[2:])
LAST_SAMPLE = 100.0  # sensors are sampled from day 0 to here
N_SAMPLES = (30, 80)  # fewest and most samples of an individual
PERIOD = 50.0  # days from one season to the next
MEMORY = 5.0  # days after which noise is correlated by 1 / e
NOISE = 0.1  # standard deviation of the noise
PIECE = 0.5  # longest piece, in days, on which a line is taken for constant


THRESHOLD = Effect(
    value=lambda z: expit(20.0 * (z - 0.6)),
    integral=lambda z: np.logaddexp(0.0, 20.0 * (z - 0.6)) / 20.0,
)
DECREASING = Effect(
    value=lambda z: np.exp(-3.0 * z), integral=lambda z: np.exp(-3.0 * z) / -3.0
)
BUMP = Effect(
    value=lambda z: np.exp(-0.5 * ((z - 0.5) / 0.15) ** 2),
    integral=lambda z: 0.15 * np.sqrt(np.pi / 2.0) * erf((z - 0.5) / 0.15 / np.sqrt(2.0)),
)
U_SHAPE = Effect(
    value=lambda z: (2.0 * z - 1.0) ** 2, integral=lambda z: (2.0 * z - 1.0) ** 3 / 6.0
)
LINEAR = Effect(value=lambda z: 1.0 * z, integral=lambda z: 0.5 * z**2)

LAW = (  # region, sensor counted from 0, effect
    (0, 0, THRESHOLD),
    (1, 1, DECREASING),
    (1, 0, BUMP),
    (2, 2, U_SHAPE),
    (3, 1, LINEAR),
    (3, 2, THRESHOLD),
)


@dataclass(frozen=True, slots=True, eq=False)
class WellsTruth:
    """The true curves of the simulated individuals, along their own sensors.

    Sensors are piecewise linear, so the integral of an effect over a piece is the
    length of the piece times a difference of antiderivatives: curves are exact up to
    rounding. Other features ``X`` have a row for each of the simulated individuals, and
    answer what they would have met elsewhere with the same sensors.
    """

    features: FloatArray  # (n, p)
    paths: LinearPaths

    def __call__(self, times: ArrayLike, X: ArrayLike | None = None) -> FloatArray:
        """Give the cumulative intensity, one row per individual, one column per time."""
        return self.totals(*self._cross(times, X))

    def intensity(self, times: ArrayLike, X: ArrayLike | None = None) -> FloatArray:
        """Give the events per day, one row per individual, one column per time."""
        return self.rates(*self._cross(times, X))

    def region(self, X: ArrayLike | None = None) -> PositionArray:
        """Give the region of every individual, from 0 to 3."""
        features = self.features if X is None else check_features(X, 2)
        east = features[:, 0] > 0.45
        north = features[:, 1] > np.where(east, 0.35, 0.6)
        return 2 * east.astype(np.intp) + north

    def effect(self, sensor: int, z: ArrayLike, X: ArrayLike | None = None) -> FloatArray:
        """Give what a sensor adds to the events per day where its value is ``z``.

        Sensors are counted from 0. One row per individual, one column per value.
        """
        n_sensors = len(self.paths.values)
        if sensor not in range(n_sensors):
            raise InvalidParameterError(
                f"`sensor` must be a whole number from 0 to {n_sensors - 1}, but it is "
                f"{sensor!r}.\n\nHint: sensors are counted from 0, in the order of their "
                "names."
            )
        region = self.region(X)
        values = np.atleast_1d(np.asarray(z, dtype=np.float64))
        added = np.zeros((region.size, values.size))
        for where, acting, effect in self._law():
            if acting == sensor:
                added[region == where] += EFFECT_RATE * effect.value(values)
        return added

    def totals(
        self, owner: PositionArray, times: FloatArray, region: PositionArray
    ) -> FloatArray:
        """Give the expected events of the owners, in these regions, by their times."""
        sample = self.paths.latest(owner, times)
        total: FloatArray = BASE_RATE * times
        for where, sensor, effect in self._law():
            met: BoolArray = region == where
            total[met] += EFFECT_RATE * self.paths.integrate(
                effect, sensor, sample[met], times[met]
            )
        return total

    def rates(
        self, owner: PositionArray, times: FloatArray, region: PositionArray
    ) -> FloatArray:
        """Give the events per day of the owners, in these regions, at their times."""
        sample = self.paths.latest(owner, times)
        rate = np.full(times.shape, BASE_RATE)
        for where, sensor, effect in self._law():
            met: BoolArray = region == where
            values = self.paths.at(sensor, sample[met], times[met])
            rate[met] += EFFECT_RATE * effect.value(values)
        return rate

    def _law(self) -> list[tuple[int, int, Effect]]:
        """List the effects of the sensors that there are."""
        return [term for term in LAW if term[1] < len(self.paths.values)]

    def _cross(
        self, times: ArrayLike, X: ArrayLike | None
    ) -> tuple[PositionArray, FloatArray, PositionArray]:
        """Pair every individual with every time: owners, times, regions."""
        region = self.region(X)
        if region.size != len(self.features):
            raise InvalidFeaturesError(
                "The truth follows the sensors of the simulated individuals, so `X` must "
                f"have {len(self.features)} rows, but it has {region.size}.\n\n"
                "Hint: pass the features of all individuals, changed as you like."
            )
        shape = (region.size, check_times(times).size)
        return (
            np.broadcast_to(np.arange(region.size)[:, np.newaxis], shape),
            np.broadcast_to(check_times(times), shape),
            np.broadcast_to(region[:, np.newaxis], shape),
        )


def wells(
    n: int = 2000,
    n_sensors: int = 3,
    random_state: Seed = 0,
    *,
    end: float | tuple[float, float] = (20.0, 100.0),
    interpolation: Literal["last", "linear"] = "linear",
) -> Simulation:
    r"""Simulate a fleet of wells with sensors, like the paper's case study.

    Eight static features are uniform on the unit interval. Only the first two matter,
    the coordinates, which make four rectangular regions: a well lies in the east if
    :math:`x_{i1} > 0.45`; it lies in the north if :math:`x_{i2} > 0.35` in the east and
    :math:`x_{i2} > 0.6` in the west. Events follow a Poisson process whose intensity
    per day depends on the sensors :math:`z_{i1}(t), z_{i2}(t), z_{i3}(t)`,

    .. math::

        \lambda_i(t) = 0.005 + 0.1 \begin{cases}
        \text{threshold}(z_{i1}) & \text{in the south-west, region 0} \\
        \text{decreasing}(z_{i2}) + \text{bump}(z_{i1})
            & \text{in the north-west, region 1} \\
        \text{u}(z_{i3}) & \text{in the south-east, region 2} \\
        z_{i2} + \text{threshold}(z_{i3}) & \text{in the north-east, region 3,}
        \end{cases}

    where

    .. math::

        \text{threshold}(z) &= 1 / (1 + e^{-20 (z - 0.6)}), &
        \text{decreasing}(z) &= e^{-3 z}, \\
        \text{bump}(z) &= e^{-((z - 0.5) / 0.15)^2 / 2}, &
        \text{u}(z) &= (2 z - 1)^2.

    Every well has its own 30 to 80 sample times, one at day 0 and the others uniform on
    100 days. The samples of sensor ``j`` are

    .. math::

        z_{ij}(t) = a_{ij} + b_{ij} \sin(2 \pi (t / 50 + \phi_{ij}))
        + \varepsilon_{ij}(t)

    cut off at 0 and 1, with a level :math:`a_{ij}` uniform on [0.2, 0.8], a seasonal
    swing :math:`b_{ij}` uniform on [0.05, 0.25], a phase :math:`\phi_{ij}` uniform on
    [0, 1], and normal noise with standard deviation 0.1 and correlation
    :math:`e^{-|s - t| / 5}` between the days ``s`` and ``t``. Between the samples,
    sensors are linear; after the last one they keep its value.

    Parameters
    ----------
    n : int, default=2000
        Number of wells.
    n_sensors : int, default=3
        Number of sensors, at least 1. Sensors beyond the third do nothing and change
        nothing else; with fewer than three, the effects of the missing ones are missing.
    random_state : int, Generator or None, default=0
        Seed of the random numbers; None draws a fresh one.
    end : float or (float, float), default=(20.0, 100.0)
        End of follow-up of all individuals, or the bounds between which the ends are
        uniformly staggered.
    interpolation : {"linear", "last"}, default="linear"
        How the trajectories ``Z`` are made of the samples: "linear" cuts the lines into
        pieces of at most half a day, each with the value at its middle; "last" holds
        every sample until the next. Events follow the lines in either case.

    Returns
    -------
    Simulation
        Features, sensors, event histories and their truth. Besides ``truth(times,
        X=None)``, the cumulative intensity along the simulated sensors, there are
        ``truth.intensity(times, X=None)``, ``truth.region(X=None)`` and
        ``truth.effect(sensor, z, X=None)``, the events per day that a sensor, counted
        from 0, adds at value ``z``. Features `X` other than the simulated ones have as
        many rows: the same sensors elsewhere.

    See Also
    --------
    dataset_b : Useless static features without sensors.

    Notes
    -----
    Events are drawn by thinning: candidates come with the rate 0.205, which no intensity
    exceeds, and stay with probability :math:`\lambda_i(t) / 0.205`. That is exact. So is
    the cumulative intensity, up to rounding, because every effect has an antiderivative
    and the sensors are piecewise linear.

    References
    ----------
    Liu, X. and Pan, R. Boost-R: Gradient Boosted Trees for Recurrence Data. Journal of
    Quality Technology.

    Examples
    --------
    >>> from boostr.simulate import wells
    >>> simulation = wells(n=4, random_state=1)
    >>> simulation.feature_names[:3], simulation.Z.names
    (('longitude', 'latitude', 'x3'), ('sensor1', 'sensor2', 'sensor3'))
    >>> corners = [[0.2, 0.2], [0.2, 0.8], [0.8, 0.2], [0.8, 0.8]]
    >>> simulation.truth.region(corners)
    array([0, 1, 2, 3])
    >>> simulation.truth.effect(2, [0.0, 0.6, 1.0], corners).round(3)
    array([[0.   , 0.   , 0.   ],
           [0.   , 0.   , 0.   ],
           [0.1  , 0.004, 0.1  ],
           [0.   , 0.05 , 0.1  ]])
    """
    check_count(n, "n")
    n_sensors = _check_n_sensors(n_sensors)
    low, high = check_end(end)
    rng = np.random.default_rng(random_state)
    features = rng.random((n, len(FEATURE_NAMES)))
    ends = np.full(n, high) if low == high else rng.uniform(low, high, n)
    # Candidates before sensors, and sensors one by one: further ones change nothing.
    owner, candidates, marks = _draw_candidates(ends, rng)
    times, offsets = _draw_sample_times(n, rng)
    values = np.array([_draw_sensor(times, offsets, rng) for _ in range(n_sensors)])
    truth = WellsTruth(features, LinearPaths.from_samples(times, offsets, values))
    kept = marks * MAX_RATE < truth.rates(owner, candidates, truth.region()[owner])
    event_offsets = np.searchsorted(owner[kept], np.arange(n + 1)).astype(np.int64)
    return Simulation(
        X=features,
        y=RecurrentEvents.from_flat(
            candidates[kept], event_offsets, start=np.zeros(n), end=ends
        ),
        truth=truth,
        horizon=high,
        feature_names=FEATURE_NAMES,
        Z=Trajectories.from_flat(
            times,
            offsets,
            values,
            [f"sensor{number}" for number in range(1, n_sensors + 1)],
            interpolation=interpolation,
            step=PIECE if interpolation == "linear" else None,
        ),
    )


def _draw_candidates(
    ends: FloatArray, rng: np.random.Generator
) -> tuple[PositionArray, FloatArray, FloatArray]:
    """Draw owners, times and uniform marks of a process with the largest rate."""
    owner = np.repeat(np.arange(ends.size), rng.poisson(MAX_RATE * ends))
    # 1 - random() is in (0, 1]: an event at time 0 would lie before the window.
    times = ends[owner] * (1.0 - rng.random(owner.size))
    return owner, times[np.lexsort((times, owner))], rng.random(owner.size)


def _draw_sample_times(n: int, rng: np.random.Generator) -> tuple[FloatArray, OffsetArray]:
    """Draw when the sensors are read, sorted within individuals, and the offsets."""
    counts = rng.integers(N_SAMPLES[0], N_SAMPLES[1] + 1, n)
    offsets = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    times = LAST_SAMPLE * rng.random(offsets[-1])
    times = times[np.lexsort((times, np.repeat(np.arange(n), counts)))]
    times[offsets[:-1]] = 0.0
    return times, offsets


def _draw_sensor(
    times: FloatArray, offsets: OffsetArray, rng: np.random.Generator
) -> FloatArray:
    """Draw the samples of one sensor: a level, a season and noise with a memory."""
    counts = np.diff(offsets)
    level, swing, phase = rng.uniform(
        [[0.2], [0.05], [0.0]], [[0.8], [0.25], [1.0]], (3, counts.size)
    )
    noise = NOISE * rng.standard_normal(times.size)
    for place in range(1, counts.max()):
        now = offsets[:-1][counts > place] + place
        kept = np.exp((times[now - 1] - times[now]) / MEMORY)
        noise[now] = kept * noise[now - 1] + np.sqrt(1.0 - kept**2) * noise[now]
    seasons = np.sin(2.0 * np.pi * (times / PERIOD + np.repeat(phase, counts)))
    sensor = np.repeat(level, counts) + np.repeat(swing, counts) * seasons + noise
    return np.clip(sensor, 0.0, 1.0)


def _check_n_sensors(n_sensors: int) -> int:
    """Return the number of sensors, or say why it cannot be."""
    if isinstance(n_sensors, bool) or not isinstance(n_sensors, Integral) or n_sensors < 1:
        raise InvalidParameterError(
            "`n_sensors` must be a whole number of at least 1, but it is "
            f"{n_sensors!r}.\n\nHint: three sensors matter; more of them do nothing."
        )
    return int(n_sensors)

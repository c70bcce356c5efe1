"""Effects of sensors, and their integrals along piecewise linear paths."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from boostr._typing import FloatArray, OffsetArray, PositionArray

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

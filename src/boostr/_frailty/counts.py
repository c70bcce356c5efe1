"""Negative binomial counts, their intervals, and waiting times."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import scipy
from scipy.optimize.elementwise import find_root

from boostr._kernels.counts import grow_intervals, mix_counts, score_counts
from boostr._typing import BoolArray, FloatArray, PositionArray

__all__ = [
    "Counts",
    "MixedCounts",
    "SharedCounts",
    "conformal_level",
    "find_times",
    "needed_exposure",
]

_WIDE = 2000.0  # standard deviation from which a count is taken as continuous
_MOST_DISPERSED = 1e6  # almost surely zero, whatever the mean
_LEAST_DISPERSED = 1e-6  # below which counts are as good as Poisson ones
_ROUNDING = 1e-9  # by which levels of the same count may differ


@dataclass(frozen=True, slots=True, eq=False)
class Counts:
    """Counts ``N | u ~ Poisson(u * m)`` with gamma frailties: negative binomial ones.

    The variance is ``mean + dispersion * mean ** 2``; no dispersion is Poisson.
    """

    mean: FloatArray  # (n,)
    dispersion: FloatArray  # (n,)

    def exceed(self, k: int | FloatArray) -> FloatArray:
        """Return the probability of at least ``k`` events, ``k`` above zero."""
        spread = self.mean * self.dispersion
        is_poisson = self.dispersion < 1e-9
        shape = 1.0 / np.where(is_poisson, 1.0, self.dispersion)
        mixed = scipy.special.betainc(k, shape, spread / (1.0 + spread))
        plain = scipy.special.gammainc(k, self.mean)
        return np.asarray(np.where(is_poisson, plain, mixed))

    def log_likelihood(self, counts: FloatArray) -> FloatArray:
        """Return the log-probabilities of counts, up to what depends on these alone."""
        spread = self.mean * self.dispersion
        shape = 1.0 / np.maximum(self.dispersion, _LEAST_DISPERSED)
        ways = scipy.special.gammaln(counts + shape) - scipy.special.gammaln(shape)
        mixed = ways - counts * np.log(shape + self.mean) - shape * np.log1p(spread)
        plain = counts * np.log(self.mean) - self.mean
        is_poisson = self.dispersion < _LEAST_DISPERSED
        return np.asarray(np.where(is_poisson, plain, counts * np.log(self.mean) + mixed))

    def interval(self, level: float) -> tuple[FloatArray, FloatArray]:
        """Return the shortest intervals with a probability as near as can be to a level."""
        lower, upper = np.empty(len(self.mean)), np.empty(len(self.mean))
        wide = self._wide
        narrow = ~wide
        low, high = np.empty(narrow.sum()), np.empty(narrow.sum())
        grow_intervals(self.mean[narrow], self._capped[narrow], level, low, high)
        lower[narrow], upper[narrow] = low, high
        shape, scale = self._smooth(wide)
        for bound, share in ((lower, 0.5 - 0.5 * level), (upper, 0.5 + 0.5 * level)):
            bound[wide] = np.rint(scipy.special.gammaincinv(shape, share) * scale)
        return lower, upper

    def score(self, counts: FloatArray) -> FloatArray:
        """Return for each count the lowest level whose interval holds it."""
        out = np.empty(len(self.mean))
        wide = self._wide
        narrow = ~wide
        found = np.empty(narrow.sum())
        whole = np.rint(counts)
        score_counts(self.mean[narrow], self._capped[narrow], whole[narrow], found)
        out[narrow] = found
        shape, scale = self._smooth(wide)
        # A rounded bound takes up a count as soon as it is nearer than one half.
        below = scipy.special.gammainc(shape, np.maximum(whole[wide] - 0.5, 0.0) / scale)
        above = scipy.special.gammainc(shape, (whole[wide] + 0.5) / scale)
        needed = np.maximum(np.maximum(2.0 * below - 1.0, 1.0 - 2.0 * above), 0.0)
        out[wide] = np.minimum(needed + _ROUNDING, 1.0)
        return out

    @property
    def _capped(self) -> FloatArray:
        return np.minimum(self.dispersion, _MOST_DISPERSED)

    @property
    def _variance(self) -> FloatArray:
        return self.mean + self._capped * self.mean**2

    @property
    def _wide(self) -> BoolArray:
        return np.asarray(self._variance > _WIDE**2)

    def _smooth(self, rows: BoolArray) -> tuple[FloatArray, FloatArray]:
        """Return shape and scale of gamma variables with the same two moments."""
        scale = self._variance[rows] / self.mean[rows]
        return self.mean[rows] / scale, scale


_MOST_MIXED = 500.0  # mean of a count up to which the parts of a mixture are looked at


@dataclass(frozen=True, slots=True, eq=False)
class MixedCounts:
    """Counts that end early with some probability: mixtures of negative binomial ones.

    With the chance ``weights[i, k]`` only ``shares[i, k]`` of the mean count is expected.
    """

    whole: Counts
    shares: FloatArray  # (n, n_parts)
    weights: FloatArray  # (n, n_parts) sum to 1

    @property
    def mean(self) -> FloatArray:
        """Means of the counts."""
        return self.whole.mean * np.sum(self.weights * self.shares, axis=1)

    @property
    def dispersion(self) -> FloatArray:
        """What variances have over those of Poisson counts, over squared means."""
        first = np.sum(self.weights * self.shares, axis=1)
        second = np.sum(self.weights * self.shares**2, axis=1)
        square = first**2  # 0 as well where the first moment is next to nothing
        ratio = np.divide(second, square, out=np.ones(len(first)), where=square > 0.0)
        return np.asarray((1.0 + self.whole.dispersion) * ratio - 1.0)

    def exceed(self, k: int) -> FloatArray:
        """Return the probability of at least ``k`` events, ``k`` above zero."""
        total = np.zeros(len(self.whole.mean))
        for share, weight in zip(self.shares.T, self.weights.T, strict=True):
            total += weight * Counts(share * self.whole.mean, self.whole.dispersion).exceed(
                k
            )
        return total

    def interval(self, level: float) -> tuple[FloatArray, FloatArray]:
        """Return the shortest intervals with a probability as near as can be to a level."""
        lower, upper = Counts(self.mean, self.dispersion).interval(level)
        some = self.whole.mean <= _MOST_MIXED
        low, high = np.empty(some.sum()), np.empty(some.sum())
        mix_counts(
            self.whole.mean[some],
            self.whole._capped[some],
            np.ascontiguousarray(self.shares[some]),
            np.ascontiguousarray(self.weights[some]),
            level,
            low,
            high,
        )
        lower[some], upper[some] = low, high
        return lower, upper


_MOVES = np.linspace(-4.0, 4.0, 129)  # of the common level, in standard deviations
_CHANCES = np.exp(-0.5 * _MOVES**2) / np.exp(-0.5 * _MOVES**2).sum()
_PRECISION = 1e-4  # to which bounds of large totals are found


@dataclass(frozen=True, slots=True, eq=False)
class SharedCounts:
    """Counts whose levels err by log-normal factors, such as totals of whole fleets."""

    counts: Counts  # at the levels that are expected
    spread: FloatArray  # (n,) standard deviations of the logarithms of the factors

    @property
    def mean(self) -> FloatArray:
        """Means of the counts at the levels that are expected."""
        return self.counts.mean

    def exceed(self, k: FloatArray) -> FloatArray:
        """Return the probability of at least ``k`` events, one number for each count."""
        mean = self.counts.mean[:, None] * np.exp(self.spread[:, None] * _MOVES)
        dispersion = np.broadcast_to(self.counts.dispersion[:, None], mean.shape)
        chance = Counts(mean, dispersion).exceed(np.maximum(k, 1.0)[:, None])
        return np.asarray(np.where(k > 0.0, chance @ _CHANCES, 1.0))

    def interval(self, level: float) -> tuple[FloatArray, FloatArray]:
        """Return intervals with as much probability below them as above, or nearly so."""
        outside = 0.5 - 0.5 * level
        return self._find_quantile(outside), self._find_quantile(1.0 - outside)

    def _find_quantile(self, share: float) -> FloatArray:
        """Return the smallest numbers that counts do not exceed with a probability."""
        low, high = np.full(len(self.mean), -1.0), np.ceil(self.mean)
        while True:
            is_short = self.exceed(high + 1.0) > 1.0 - share
            if not is_short.any():
                break
            low, high = (
                np.where(is_short, high, low),
                np.where(is_short, 2.0 * high + 1, high),
            )
        while np.any(high - low > 1.0 + _PRECISION * high):
            middle = np.floor(0.5 * (low + high))
            is_short = self.exceed(middle + 1.0) > 1.0 - share
            low, high = np.where(is_short, middle, low), np.where(is_short, high, middle)
        return high


def conformal_level(scores: FloatArray, level: float) -> float | None:
    """Return the level that covers a new count with a given probability.

    ``scores`` are those of n other counts, exchangeable with the new one: its score is no
    higher than the ``ceil((n + 1) * level)``-th of theirs with that probability at least.
    Scores that are equal but for rounding count as equal. None if there are too few of
    them for that.
    """
    place = int(np.ceil((len(scores) + 1) * level - 1e-9))
    if place > len(scores):
        return None
    return min(float(np.sort(scores)[place - 1]) + _ROUNDING, 1.0)


ReadCurves = Callable[[PositionArray, FloatArray], FloatArray]

_MAX_ROUNDS = 200
# Of the time from start to stop, or of what is missing at its ends.
_TOLERANCES = {"xatol": 1e-9, "xrtol": 0.0, "fatol": 0.0, "frtol": 1e-9}


def needed_exposure(
    share: float, frailty: FloatArray, dispersion: FloatArray
) -> FloatArray:
    """Return the cumulative intensity by which a share of first events has happened.

    With a gamma frailty of the given mean and relative variance, no event has happened at
    ``m`` with probability ``(1 + frailty * dispersion * m) ** (-1 / dispersion)``.
    """
    wait = -np.log1p(-share)
    is_poisson = dispersion < 1e-9
    safe = np.where(is_poisson, 1.0, dispersion)
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        mixed = np.expm1(wait * safe) / safe
        return np.asarray(np.where(is_poisson, wait, mixed) / frailty)


def find_times(
    read: ReadCurves,
    rows: PositionArray,
    targets: FloatArray,
    start: FloatArray,
    stop: FloatArray,
) -> FloatArray:
    """Return when curves reach their targets; infinity where they do not by the stop.

    ``read(rows, times)`` gives the values of non-decreasing curves.
    """
    result = np.full(len(rows), np.inf)
    is_reached = np.isfinite(targets) & (read(rows, stop) >= targets)
    is_past = read(rows, start) >= targets
    at_once = is_reached & is_past
    result[at_once] = start[at_once]
    sought = np.flatnonzero(is_reached & ~is_past)
    if not sought.size:
        return result

    def find_excess(share: FloatArray, place: PositionArray) -> FloatArray:
        place = place.astype(np.int64)
        times = start[place] + share * (stop - start)[place]
        return read(rows[place], times) - targets[place]

    found = find_root(
        find_excess,
        (np.zeros(sought.size), np.ones(sought.size)),
        args=(sought,),
        tolerances=_TOLERANCES,
        maxiter=_MAX_ROUNDS,
    )
    result[sought] = start[sought] + found.x * (stop - start)[sought]
    return result

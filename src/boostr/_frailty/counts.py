"""Negative binomial counts, their intervals, and waiting times."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import scipy

from boostr._kernels.counts import grow_intervals, score_counts
from boostr._typing import BoolArray, FloatArray, PositionArray

__all__ = ["Counts", "conformal_level", "find_times", "needed_exposure"]

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

    def exceed(self, k: int) -> FloatArray:
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
_TOLERANCE = 1e-9  # of the time from start to stop, or of the rise up to the target


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

    ``read(rows, times)`` gives the values of non-decreasing curves. All brackets shrink
    together: by a secant with halved weights (the Illinois rule), and by halving them
    where that is slow.
    """
    result = np.full(len(rows), np.inf)
    low, high = start.astype(np.float64), stop.astype(np.float64)
    below = read(rows, low) - targets
    above = read(rows, high) - targets
    active = np.flatnonzero(np.isfinite(targets) & (above >= 0.0))
    at_once = active[below[active] >= 0.0]
    result[at_once] = low[at_once]
    active = active[below[active] < 0.0]
    close = _TOLERANCE * np.abs(below)
    rose = np.zeros(len(rows), dtype=np.bool_)  # whether the lower edge moved last
    width = high - low
    for index in range(_MAX_ROUNDS):
        if not active.size:
            break
        share = below[active] / (below[active] - above[active])
        if index % 3 == 2:  # a flat piece makes a secant crawl
            is_slow = (high - low)[active] > 0.5 * width[active]
            share[is_slow] = 0.5
            width[active] = (high - low)[active]
        middle = low[active] + share * (high[active] - low[active])
        error = read(rows[active], middle) - targets[active]
        rises = error < 0.0
        up, down = active[rises], active[~rises]
        above[up] *= np.where(rose[up], 0.5, 1.0)
        below[down] *= np.where(rose[down], 1.0, 0.5)
        low[up], below[up] = middle[rises], error[rises]
        high[down], above[down] = middle[~rises], error[~rises]
        rose[active] = rises
        is_done = high[active] - low[active] <= _TOLERANCE * (stop - start)[active]
        is_done |= np.abs(error) <= close[active]
        result[active[is_done]] = middle[is_done]
        active = active[~is_done]
    result[active] = high[active]
    return result

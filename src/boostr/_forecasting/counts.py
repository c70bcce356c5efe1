"""Negative binomial counts: probabilities and intervals."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy  # its parts load when they are used, which keeps `import boostr` light

from boostr._kernels.counts import grow_intervals, score_counts
from boostr._typing import BoolArray, FloatArray

__all__ = ["Counts", "conformal_level"]

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

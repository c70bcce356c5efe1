"""Gamma frailties: how much more often than predicted an individual has events.

Individual ``i`` has the rate ``u_i(t) * lambda_i(t)``, where ``lambda_i`` is what the model
predicts. Its frailty starts as a gamma variable with mean 1 and variance ``p``. After ``n``
events where the model expected ``L`` it is gamma again, with mean ``(1 + p n) / (1 + p L)``
and relative variance ``p / (1 + p n)``. Where frailties drift, what is known of them fades:
events, expectations and the prior count half after every half-life (the discounted filter
of Smith and Miller, 1986), so that the mean stays and the variance grows in between.

All of it is sequential, and holds as well where observation stops because of the events.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy  # its parts load when they are used, which keeps `import boostr` light

from boostr._typing import AnyArray, FloatArray, OffsetArray, PositionArray

__all__ = [
    "LEAST_FADE",
    "N_CELLS",
    "Frailties",
    "FrailtyLaw",
    "Histories",
    "Pieces",
    "cut_windows",
    "fit_frailty",
    "log_likelihood",
    "sum_by_owner",
]

N_CELLS = 64  # of the time axis, in which fading is counted when it is fitted
_CELLS_OF_HALF_LIFE = 8
_MOST_PIECES = 32 * _CELLS_OF_HALF_LIFE  # of a window: 2**-32 is left of what came before
_LEAST_CELL = 2.0**-40  # of the time axis: cells are counted in whole numbers
_LEAST_HALF_LIFE = 1e-100  # so that rates of fading times ages are finite
LEAST_FADE = 2.0**-10  # of the prior: nothing is forgotten altogether
_LEAST_VARIANCE = 1e-8  # as good as none
_VARIANCES = (1e-4, 1e2)  # where the variance is looked for
_HALF_LIVES = (4.0, 4.0 * N_CELLS)  # where the half-life is looked for, in cells
_USUAL_VARIANCE = 5.0  # mean of a prior that only data of a few events notice
_WORTH = 3.0  # log-likelihood that fading must gain
_INSIDE = 1.05  # times the least variance or half-life that is looked for


@dataclass(frozen=True, slots=True)
class FrailtyLaw:
    """Variance of frailties, and the time after which what is known of one counts half."""

    variance: float
    half_life: float = np.inf

    @property
    def fading(self) -> float:
        """Rate at which knowledge fades."""
        return float(np.log(2.0) / max(self.half_life, _LEAST_HALF_LIFE))

    def spread(self, length: FloatArray) -> FloatArray:
        """Return the factor by which frailties are less known over a time ahead than now.

        While means stay, frailties drift as fast as knowledge fades: after a time ``s`` the
        variance is ``1 + fading * s`` times that now, until nothing more is forgotten.
        Frailties at two times have the variance at the earlier one in common: this is the
        average over all pairs of times, that after a third of a time not too long.
        """
        end = -np.log(LEAST_FADE)  # of drifts, in units of 1 / fading
        passed = self.fading * length
        share = end / np.maximum(passed, end)  # of the time ahead
        shared = np.minimum(passed, end) * (1.0 - share + share**2 / 3.0)
        return np.asarray(1.0 + shared)

    @property
    def cell(self) -> float:
        """Length of pieces in which histories must be counted."""
        return self.half_life / _CELLS_OF_HALF_LIFE


@dataclass(frozen=True, slots=True, eq=False)
class Pieces:
    """Pieces of the time under observation."""

    owner: PositionArray  # (k,)
    start: FloatArray  # (k,)
    stop: FloatArray  # (k,)


@dataclass(frozen=True, slots=True, eq=False)
class Histories:
    """What individuals did, and what was expected of them, up to some time."""

    entry: FloatArray  # (n,)
    pieces: Pieces
    expected: FloatArray  # (k,) in every piece
    event_owner: OffsetArray  # (m,)
    event_times: FloatArray  # (m,)
    event_weights: FloatArray  # (m,)

    def __len__(self) -> int:
        return len(self.entry)


@dataclass(frozen=True, slots=True, eq=False)
class Frailties:
    """Gamma distributions: means, and variances over squared means (0: known exactly)."""

    mean: FloatArray  # (n,)
    dispersion: FloatArray  # (n,)

    @classmethod
    def prior(cls, variance: FloatArray) -> Frailties:
        """Return the frailties of individuals without a history."""
        return cls(np.ones(len(variance)), variance)

    @classmethod
    def posterior(
        cls, histories: Histories, now: FloatArray, variance: FloatArray, fading: float
    ) -> Frailties:
        """Return what is known at a time, after histories up to it."""
        n, pieces = len(histories), histories.pieces
        prior = _fade(fading, now - histories.entry)
        middle = 0.5 * (pieces.start + pieces.stop)
        kept = np.exp(-fading * np.maximum(now[pieces.owner] - middle, 0.0))
        expected = sum_by_owner(pieces.owner, kept * histories.expected, n)
        owner = histories.event_owner
        kept = np.exp(-fading * np.maximum(now[owner] - histories.event_times, 0.0))
        events = sum_by_owner(owner, kept * histories.event_weights, n)
        return cls(*_update(prior, events, expected, variance))

    def widen(self, factor: FloatArray) -> Frailties:
        """Return frailties that are known less well, by factors of variances."""
        return Frailties(self.mean, self.dispersion * factor)

    def take(self, rows: PositionArray) -> Frailties:
        """Return the frailties of some individuals."""
        return Frailties(self.mean[rows], self.dispersion[rows])

    def draw(self, rng: np.random.Generator) -> FloatArray:
        """Draw one frailty each."""
        is_known = self.dispersion < _LEAST_VARIANCE
        shape = 1.0 / np.where(is_known, 1.0, self.dispersion)
        return np.asarray(
            self.mean * np.where(is_known, 1.0, rng.gamma(shape, 1.0 / shape))
        )


def sum_by_owner(owner: AnyArray, values: FloatArray, n: int) -> FloatArray:
    """Return the sum of the values of each of ``n`` owners."""
    return np.bincount(owner, values, n).astype(np.float64)


def cut_windows(
    owner: PositionArray, start: FloatArray, stop: FloatArray, cell: float
) -> Pieces:
    """Cut windows where multiples of a length lie in them; not at all if it is infinite.

    No window is cut into more than ``_MOST_PIECES``, however short they are: what lies
    before the last ones is one piece, of which nothing is left when the window ends.
    """
    if not np.isfinite(cell):
        return Pieces(owner, start, stop)
    cell = max(cell, _LEAST_CELL * float(stop.max(initial=0.0)))
    last = np.ceil(stop / cell).astype(np.int64)
    first = np.maximum(np.floor(start / cell).astype(np.int64), last - _MOST_PIECES)
    counts = np.maximum(last - first, 1)
    window = np.repeat(np.arange(len(owner)), counts)
    place = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
    begin = (first[window] + place) * cell
    is_first = place == 0
    return Pieces(
        owner[window],
        np.where(is_first, start[window], np.maximum(begin, start[window])),
        np.minimum(begin + cell, stop[window]),
    )


def fit_frailty(
    histories: Histories, cell: float, model_variance: FloatArray, weights: FloatArray
) -> FrailtyLaw:
    """Find variance and half-life by maximum likelihood, from pieces cut by `cell`.

    ``model_variance`` is the relative variance of each prediction itself: it comes on top
    of the variance that is sought, so that the errors of the model do not count as
    frailty where they are known. Frailties are taken as permanent unless fading explains
    the histories clearly better.
    """
    whole = _Table.make(histories, np.inf)
    variance, best = _fit_variance(whole, model_variance, weights)
    if variance == 0.0:
        return FrailtyLaw(variance)
    table = _Table.make(histories, cell)

    def read(point: FloatArray) -> FrailtyLaw:
        bounds = np.log([_VARIANCES, _HALF_LIVES])
        found, n_cells = np.exp(np.clip(point, bounds[:, 0], bounds[:, 1]))
        return FrailtyLaw(float(found), cell * float(n_cells))

    def loss(point: FloatArray) -> float:
        law = read(point)
        return _loss(table, law.variance, model_variance, weights, law.fading)

    starts = [
        np.array([np.log(share * variance), np.log(half_life)])
        for share in (1.0, 0.7)
        for half_life in (N_CELLS / 8, N_CELLS / 2)
    ]
    losses = [loss(start) for start in starts]
    if min(losses) > -best:  # permanent frailties explain more: the usual case
        return FrailtyLaw(variance)
    found = scipy.optimize.minimize(
        loss,
        starts[int(np.argmin(losses))],
        method="Nelder-Mead",
        options={"xatol": 0.02, "fatol": 0.05, "maxiter": 40},
    )
    law = read(found.x)
    # At the edge of the ranges knowledge is lost at once, and the last few events tell all:
    # that explains bursts, and would let every forecast go on as the last burst did.
    is_at_edge = (
        law.variance < _INSIDE * _VARIANCES[0]
        or law.half_life < _INSIDE * cell * _HALF_LIVES[0]
    )
    return FrailtyLaw(variance) if is_at_edge or -found.fun < best + _WORTH else law


def log_likelihood(
    histories: Histories,
    cell: float,
    law: FrailtyLaw,
    model_variance: FloatArray,
    weights: FloatArray,
) -> float:
    """Return what `fit_frailty` makes as large as it can, for a law."""
    table = _Table.make(histories, cell if np.isfinite(law.half_life) else np.inf)
    return -_loss(table, law.variance, model_variance, weights, law.fading)


@dataclass(frozen=True, slots=True, eq=False)
class _Table:
    """Histories on a grid of cells: rows are individuals, columns cells."""

    middle: FloatArray  # (n, m) of the cells, but not before the entry
    entry: FloatArray  # (n, 1)
    expected: FloatArray  # (n, m)
    events: FloatArray  # (n, m)
    event_cell: PositionArray  # (k,) in the flattened table
    event_times: FloatArray  # (k,)
    event_weights: FloatArray  # (k,)

    @classmethod
    def make(cls, histories: Histories, cell: float) -> _Table:
        """Put pieces, which lie within cells, and events on the grid."""
        n, pieces = len(histories), histories.pieces
        column = _columns(0.5 * (pieces.start + pieces.stop), cell)
        first, last = int(column.min()), int(column.max())
        event_column = np.clip(_columns(histories.event_times, cell), first, last)
        m = last - first + 1
        place = pieces.owner * m + column - first
        event_cell = histories.event_owner * m + event_column - first
        centres = np.zeros(1) if m == 1 else (first + np.arange(m) + 0.5) * cell
        return cls(
            np.maximum(centres, histories.entry[:, None]),
            histories.entry[:, None],
            sum_by_owner(place, histories.expected, n * m).reshape(n, m),
            sum_by_owner(event_cell, histories.event_weights, n * m).reshape(n, m),
            event_cell,
            histories.event_times,
            histories.event_weights,
        )

    def log_likelihood(self, variance: FloatArray, fading: float) -> FloatArray:
        """Return that of every individual, up to what no frailty changes.

        In every cell the count is negative binomial, given all that went before.
        """
        variance = np.maximum(variance, _LEAST_VARIANCE)[:, None]
        latest = self.middle.max()
        growth = np.exp(fading * (self.middle - latest))
        marks = np.exp(fading * (self.event_times - latest)) * self.event_weights
        events = sum_by_owner(self.event_cell, marks, growth.size).reshape(growth.shape)
        prior = _fade(fading, self.middle - self.entry)
        seen = _sum_before(events) / growth
        exposed = _sum_before(self.expected * growth) / growth
        mean, dispersion = _update(prior, seen, exposed, variance)
        return _log_step(self.expected, self.events, mean, dispersion).sum(axis=1)


def _fit_variance(
    table: _Table, model_variance: FloatArray, weights: FloatArray
) -> tuple[float, float]:
    """Return the variance of permanent frailties and the log-likelihood; 0 is allowed."""

    def loss(log_variance: float) -> float:
        return _loss(table, float(np.exp(log_variance)), model_variance, weights)

    none = _loss(table, 0.0, model_variance, weights)
    found = scipy.optimize.minimize_scalar(
        loss, bounds=np.log(_VARIANCES), method="bounded", options={"xatol": 1e-4}
    )
    if found.fun >= none:
        return 0.0, -none
    return float(np.exp(found.x)), -float(found.fun)


def _loss(
    table: _Table,
    variance: float,
    model_variance: FloatArray,
    weights: FloatArray,
    fading: float = 0.0,
) -> float:
    """Return minus the log-likelihood, with a weak prior for data of a few events."""
    log_likelihood = table.log_likelihood(variance + model_variance, fading)
    return variance / _USUAL_VARIANCE - float(weights @ log_likelihood)


def _columns(times: FloatArray, cell: float) -> PositionArray:
    """Return the cell of every time; an event at a border belongs to the one before."""
    if not np.isfinite(cell):
        return np.zeros(len(times), dtype=np.intp)
    return np.ceil(times / cell).astype(np.intp) - 1


def _fade(fading: float, age: FloatArray) -> FloatArray:
    """Return what is left of the prior."""
    return np.asarray(np.maximum(np.exp(-fading * np.maximum(age, 0.0)), LEAST_FADE))


def _update(
    prior: FloatArray, events: FloatArray, expected: FloatArray, variance: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return mean and relative variance after events where some were expected."""
    known = prior + variance * events
    return known / (prior + variance * expected), variance / known


def _sum_before(values: FloatArray) -> FloatArray:
    """Return the sums of all earlier columns."""
    return np.asarray(np.cumsum(values, axis=1) - values)


def _log_step(
    expected: FloatArray, events: FloatArray, mean: FloatArray, dispersion: FloatArray
) -> FloatArray:
    """Return log-probabilities of counts, up to what no frailty changes."""
    spread = np.log1p(expected * mean * dispersion)
    result = -spread / dispersion
    some = events > 0.0
    count, shape = events[some], 1.0 / dispersion[some]
    ways = scipy.special.gammaln(count + shape) - scipy.special.gammaln(shape)
    result[some] += ways + count * (np.log(mean[some] / shape) - spread[some])
    return np.asarray(result)

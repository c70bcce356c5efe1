"""Frailties: how much more often than predicted an individual has events.

Individual ``i`` has the rate ``u_i lambda_i(t)``, where ``lambda_i`` is what the model
predicts. After ``n`` events where ``m`` were expected, the mean of its frailty is
``xi = (1 + v n) / (1 + v m)``, as for gamma variables with mean 1 and variance ``v``;
events and expectations count half after every half-life. Ahead the frailty is
``1 + rho (xi - 1)``. Variance, half-life and ``rho`` are those by which the last part of
training histories is the most likely, predicted from what came before.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice

import numpy as np
import scipy  # its parts load when they are used, which keeps `import boostr` light

from boostr._frailty.own_pace import OwnPace, ReadCurves
from boostr._frailty.renewal import CLEAR, Recent, Renewal, RenewalCells
from boostr._typing import AnyArray, FloatArray, OffsetArray, PositionArray
from boostr.data.flat import offsets_of

__all__ = [
    "LEAST_FADE",
    "N_CELLS",
    "Ahead",
    "Frailties",
    "FrailtyLaw",
    "Histories",
    "Pieces",
    "SeenNumbers",
    "add_renewal",
    "cut_windows",
    "fit_law",
    "log_likelihood",
    "log_step",
    "sum_by_owner",
]

N_CELLS = 64  # of the time axis, in which fading is counted when it is fitted
_CELLS_OF_HALF_LIFE = 8
_MOST_PIECES = 32 * _CELLS_OF_HALF_LIFE  # of a window: 2**-32 is left of what came before
_LEAST_CELL = 2.0**-40  # of the time axis: cells are counted in whole numbers
_LEAST_HALF_LIFE = 1e-100  # so that rates of fading times ages are finite
LEAST_FADE = 2.0**-10  # of the prior: nothing is forgotten altogether
_LEAST_VARIANCE = 1e-8  # as good as none
_LITTLE_VARIANCE = 1e-3  # of frailties that hardly matter
_LEAST_MEAN = 1e-12  # of a number of events
_VARIANCES = (1e-4, 1e2)  # where the variance is looked for
_NEAR = 2.0  # logarithm of the factor by which that of a similar problem may differ
_MOVE = 0.03  # from point to point of a parabola that tells where it is
_MOST_PARABOLAS = 5
_USUAL_VARIANCE = 5.0  # mean of a prior that only data of a few events notice
_N_HALF_LIVES = 5  # that are finite: a half of the time axis, a quarter, and so on
_AHEAD_VARIANCES = (0.03, 0.06, 0.12, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0)
_PERSISTENCES = (0.0, 0.25, 0.5, 0.75, 1.0)
_WORTH = 2.0  # log-likelihood that another law than that of permanent frailties must gain
_LEAST_AHEAD = 10.0  # events from which laws are judged
_SCALES = (0.0, 0.25, 0.5, 1.0, 2.0, 4.0)  # of what is not known of frailties
_EXTRAS = (0.0, 0.02, 0.05, 0.1, 0.2, 0.4, 0.8, 1.6)  # what nothing tells of them
_WORTH_OF_SPREAD = 1.0
_RECENT_SHARE = 0.1  # of the time axis, for which renewal changes no total


@dataclass(frozen=True, slots=True)
class FrailtyLaw:
    """How histories tell frailties, and how frailties go on ahead."""

    variance: float
    half_life: float = np.inf  # time after which what is known counts half
    persistence: float = 1.0  # rho: share of a difference from 1 that goes on
    scale: float = 1.0  # factor of the variance that a history leaves
    extra: float = 0.0  # relative variance ahead that no history tells
    judged_over: float = np.inf  # length of the time ahead that it was judged by
    drifts: bool = False  # the law of the first model files: the prior fades as well
    renewal: Renewal | None = None  # None: events tell of frailties alone

    @property
    def fading(self) -> float:
        """Rate at which knowledge fades."""
        return float(np.log(2.0) / max(self.half_life, _LEAST_HALF_LIFE))

    @property
    def least_prior(self) -> float:
        """What is left of the prior at least: all of it, unless it fades as well."""
        return LEAST_FADE if self.drifts else 1.0

    @property
    def uses_history(self) -> bool:
        """Whether histories tell anything of the time after them."""
        return self.drifts or self.variance > 0.0 or self.renewal is not None

    def without_history(self, model_variance: FloatArray) -> Frailties:
        """Return the frailties of individuals without a history."""
        if self.drifts:
            return Frailties.prior(self.variance + model_variance)
        spread = self.scale * self.variance + self.extra
        return Frailties.prior(np.full(len(model_variance), spread))

    def posterior(
        self, histories: Histories, now: FloatArray, model_variance: FloatArray
    ) -> Frailties:
        """Return what histories up to a time tell of the time after it.

        ``model_variance`` is the relative variance of predictions, which matters to the
        law of the first model files alone: others have it in their own variances.
        """
        if self.drifts:
            variance = self.variance + model_variance
            return Frailties.posterior(histories, now, variance, self.fading)
        return self.judge(*histories.discount(now, self.fading))

    def renew(
        self, histories: Histories, now: FloatArray, read: ReadCurves
    ) -> OwnPace | None:
        """Return how recent events change rates after a time; None if they do not.

        ``read`` returns the values of curves of individuals, each at a time.
        """
        if self.renewal is None:
            return None
        known, fading = (
            self.judge(*histories.discount(now, self.fading)),
            self.renewal.fading,
        )
        events, expected = histories.discount(now, fading)
        length = np.maximum(now - histories.entry, 0.0)
        if fading > 0.0:
            length = -np.expm1(-fading * length) / fading
        recent = Recent(now, length, events, expected, known.mean)
        return self.renewal.look_ahead(recent, read)

    def judge(self, events: FloatArray, expected: FloatArray) -> Frailties:
        """Return what is known after events where some were expected."""
        found = self.find_means(events, expected)
        left = self.scale * self.variance / (1.0 + self.variance * events) + self.extra
        return Frailties(found, left).persist(self.persistence)

    def find_means(self, events: FloatArray, expected: FloatArray) -> FloatArray:
        """Return the means of frailties after events where some were expected."""
        return (1.0 + self.variance * events) / (1.0 + self.variance * expected)

    def ahead(self, frailties: Frailties, length: FloatArray) -> Frailties:
        """Return frailties, as known now, over a time ahead.

        What fades is less known over a longer time than the law was judged by.
        """
        if self.drifts:
            return frailties.widen(self.spread(length))
        if np.isinf(self.judged_over):
            return frailties
        judged = float(self.spread(np.array(self.judged_over)))
        return frailties.widen(np.maximum(self.spread(length) / judged, 1.0))

    def spread(self, length: FloatArray) -> FloatArray:
        """Return the factor by which drifting frailties are less known ahead than now.

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
        renewed = np.inf if self.renewal is None else self.renewal.half_life
        return min(self.half_life, renewed) / _CELLS_OF_HALF_LIFE


@dataclass(frozen=True, slots=True, eq=False)
class Pieces:
    """Pieces of the time under observation."""

    owner: PositionArray  # (k,)
    start: FloatArray  # (k,)
    stop: FloatArray  # (k,)

    def after(self, time: float) -> Pieces:
        """Return what lies after a time."""
        late = self.stop > time
        start = np.maximum(self.start[late], time)
        return Pieces(self.owner[late], start, self.stop[late])


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

    def discount(self, now: FloatArray, fading: float) -> tuple[FloatArray, FloatArray]:
        """Return events and expectations of all, as they count at a time."""
        return next(self.discount_faster(now, fading))

    def discount_faster(
        self, now: FloatArray, fading: float
    ) -> Iterator[tuple[FloatArray, FloatArray]]:
        """Yield what `discount` returns, then the same at twice the rate, and so on."""
        n, pieces, owner = len(self), self.pieces, self.event_owner
        if fading == 0.0:  # all count in full
            events = sum_by_owner(owner, self.event_weights, n)
            yield events, sum_by_owner(pieces.owner, self.expected, n)
        middle = 0.5 * (pieces.start + pieces.stop)
        kept = np.exp(-fading * np.maximum(now[pieces.owner] - middle, 0.0))
        kept_events = np.exp(-fading * np.maximum(now[owner] - self.event_times, 0.0))
        while True:
            expected = sum_by_owner(pieces.owner, kept * self.expected, n)
            yield sum_by_owner(owner, kept_events * self.event_weights, n), expected
            kept, kept_events = kept**2, kept_events**2


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
        """Return what is known of drifting frailties at a time, after histories."""
        prior = _fade(fading, now - histories.entry)
        events, expected = histories.discount(now, fading)
        return cls(*_update(prior, events, expected, variance))

    def persist(self, share: float) -> Frailties:
        """Return frailties of which a share of the difference from 1 goes on."""
        return Frailties(1.0 + share * (self.mean - 1.0), self.dispersion)

    def widen(self, factor: FloatArray) -> Frailties:
        """Return frailties that are known less well, by factors of variances."""
        return Frailties(self.mean, self.dispersion * factor)

    def scaled(self, factor: float | FloatArray) -> Frailties:
        """Return frailties with means multiplied by one factor, or one each."""
        return Frailties(factor * self.mean, self.dispersion)

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
    offsets = offsets_of(counts)
    number = np.repeat(first - offsets[:-1], counts) + np.arange(offsets[-1])
    begin, end = number * cell, np.empty(len(number))
    # Where pieces meet these are the same, and none begins before its window.
    begin[offsets[:-1]] = start
    begin = np.maximum(begin, np.repeat(start, counts))
    end[:-1] = begin[1:]
    end[offsets[1:] - 1] = np.minimum((number[offsets[1:] - 1] + 1) * cell, stop)
    return Pieces(np.repeat(owner, counts), begin, end)


@dataclass(frozen=True, eq=False)
class Ahead:
    """The last part of training histories, and what came before it."""

    histories: Histories  # up to the last part
    now: FloatArray  # (n,) where it begins
    expected: FloatArray  # (n,) events in it, for a frailty of 1
    seen: FloatArray  # (n,)
    weights: FloatArray  # (n,)
    length: float  # of the last part, on average

    @cached_property
    def _with_events(self) -> tuple[PositionArray, FloatArray, FloatArray, FloatArray]:
        """Individuals with events, their weighted events, and expected ones.

        Those are of individuals with events, and weighted of all.
        """
        some, exposed = np.flatnonzero(self.seen), self.weights * self.expected
        return some, (self.weights * self.seen)[some], self.expected[some], exposed

    def log_likelihood(self, frailties: Frailties) -> float:
        """Return that of the last part, at the level that explains the most.

        Counts are negative binomial, or Poisson where frailties are known exactly.
        """
        if not frailties.dispersion.any():
            return float(self.judge_known(frailties.mean, np.ones(1))[0])
        mean = np.maximum(self.expected * frailties.mean, _LEAST_MEAN)
        mean *= (self.weights @ self.seen) / (self.weights @ mean)
        dispersion = np.maximum(frailties.dispersion, _LEAST_VARIANCE)
        steps = log_step(mean, self.seen, np.ones(len(mean)), dispersion)
        return float(self.weights @ (steps + self.seen * np.log(mean)))

    def judge_known(self, mean: FloatArray, shares: FloatArray) -> FloatArray:
        """Return log-likelihoods for frailties known exactly, by the share that goes on.

        Counts are Poisson: only those who have events need a logarithm.
        """
        some, weighted, expected, exposed = self._with_events
        excess = mean - 1.0
        totals = np.maximum(exposed.sum() + shares * (exposed @ excess), _LEAST_MEAN)
        means = expected * (1.0 + shares[:, None] * excess[some])
        log_means = np.log(np.maximum(means, _LEAST_MEAN)) @ weighted
        total = weighted.sum()
        return np.asarray(log_means + total * (np.log(total / totals) - 1.0))


def fit_law(ahead: Ahead, variance: float, span: float) -> FrailtyLaw:
    """Find the law by which the last part of histories is the most likely.

    ``variance`` is that of permanent frailties, and ``span`` the length of the time axis.
    Frailties are permanent unless another law is clearly better.
    """
    plain = FrailtyLaw(variance)
    if float(ahead.weights @ ahead.seen) < _LEAST_AHEAD:
        return plain
    best = plain
    # Without persistence variance and half-life do not matter: one law stands for all.
    forgetful = FrailtyLaw(_AHEAD_VARIANCES[0])
    half_lives = (np.inf, *(span / 2**place for place in range(1, _N_HALF_LIVES + 1)))
    first = FrailtyLaw(0.0, half_lives[1]).fading
    discounted = (
        ahead.histories.discount(ahead.now, 0.0),
        *islice(ahead.histories.discount_faster(ahead.now, first), _N_HALF_LIVES),
    )
    most = ahead.judge_known(plain.judge(*discounted[0]).mean, np.ones(1))[0] + _WORTH
    for half_life, sums in zip(half_lives, discounted, strict=True):
        for one in (*_AHEAD_VARIANCES, variance):
            law = FrailtyLaw(one, half_life)
            shares = np.array(_PERSISTENCES if law == forgetful else _PERSISTENCES[1:])
            found = ahead.judge_known(law.find_means(*sums), shares)
            place = int(np.argmax(found))
            if found[place] > most:
                best, most = replace(law, persistence=float(shares[place])), found[place]
    return _fit_spread(ahead, best)


def _fit_spread(ahead: Ahead, law: FrailtyLaw) -> FrailtyLaw:
    """Find how far counts ahead spread around what histories tell."""
    if np.isfinite(law.half_life):
        law = replace(law, judged_over=ahead.length)
    sums = ahead.histories.discount(ahead.now, law.fading)
    best, most = law, ahead.log_likelihood(law.judge(*sums)) + _WORTH_OF_SPREAD
    # Without variance a history leaves none, whatever the scale.
    for scale in _SCALES if law.variance > 0.0 else _SCALES[:1]:
        before = -np.inf
        for extra in _EXTRAS:
            wider = replace(law, scale=scale, extra=extra)
            found = ahead.log_likelihood(wider.judge(*sums))
            if found > most:
                best, most = wider, found
            if found < before:  # it rises up to one extra, and falls from there
                break
            before = found
    return best


def add_renewal(
    law: FrailtyLaw,
    histories: Histories,
    cell: float,
    weights: FloatArray,
    end: FloatArray,
    span: float,
) -> FrailtyLaw:
    """Return the law with the renewal by events that histories up to an end show, if any.

    ``span`` is the length of the time axis. Events are forgotten sooner than frailties,
    which could not be told from renewal otherwise.
    """
    if float(weights[histories.event_owner] @ histories.event_weights) < _LEAST_AHEAD:
        return law
    table = _Table.make(histories, cell)
    frailty: FloatArray = np.ones(1)
    if law.variance > 0.0:
        frailty = table.judge(law, np.full(1, law.variance))[0]
        frailty = 1.0 + law.persistence * (frailty - 1.0)
    expected = frailty * table.expected
    expected *= (weights * table.events).sum() / max(
        (weights * expected).sum(), _LEAST_MEAN
    )
    is_recent = end - table.middle <= _RECENT_SHARE * span
    cells = RenewalCells(table.events, expected, weights, is_recent.astype(np.float64))
    best, clearest = law, CLEAR
    for half_life in (np.inf, *(span / 2**place for place in range(1, _N_HALF_LIVES + 1))):
        if law.variance > 0.0 and half_life >= law.half_life:
            continue
        seen, before = table.sum_before(np.log(2.0) / half_life)
        score = cells.score(seen, frailty * before)
        if score > clearest:
            renewal = cells.fit(half_life, seen, frailty * before)
            if renewal is not None:
                best, clearest = replace(law, renewal=renewal), score
    return best


def log_likelihood(
    histories: Histories,
    cell: float,
    law: FrailtyLaw,
    model_variance: FloatArray,
    weights: FloatArray,
) -> float:
    """Return that of whole histories, cell by cell, given all that went before."""
    table = _Table.make(histories, cell if np.isfinite(law.half_life) else np.inf)
    variance = law.variance + (model_variance if law.drifts else 0.0)
    one_each = np.broadcast_to(variance, model_variance.shape)
    return float(weights @ table.log_likelihood(one_each, law))


@dataclass(frozen=True, slots=True, eq=False)
class _Table:
    """Histories on a grid: rows are cells, columns individuals."""

    middle: FloatArray  # (m, n) of the cells, but not before the entry
    entry: FloatArray  # (n,)
    expected: FloatArray  # (m, n)
    events: FloatArray  # (m, n)
    event_cell: PositionArray  # (k,) in the flattened table
    event_times: FloatArray  # (k,)
    event_weights: FloatArray  # (k,)

    @classmethod
    def make(cls, histories: Histories, cell: float) -> _Table:
        """Put pieces, which lie within cells, and events on the grid."""
        n, pieces = len(histories), histories.pieces
        row = _find_cells(0.5 * (pieces.start + pieces.stop), cell)
        first, last = int(row.min()), int(row.max())
        event_row = np.clip(_find_cells(histories.event_times, cell), first, last)
        m = last - first + 1
        place = (row - first) * n + pieces.owner
        event_cell = (event_row - first) * n + histories.event_owner
        centres = np.zeros(1) if m == 1 else (first + np.arange(m) + 0.5) * cell
        return cls(
            np.maximum(centres[:, None], histories.entry),
            histories.entry,
            sum_by_owner(place, histories.expected, n * m).reshape(m, n),
            sum_by_owner(event_cell, histories.event_weights, n * m).reshape(m, n),
            event_cell,
            histories.event_times,
            histories.event_weights,
        )

    def sum_before(self, fading: float) -> tuple[FloatArray, FloatArray]:
        """Return events and expectations before every cell, as they count there."""
        latest = self.middle.max()
        growth = np.exp(fading * (self.middle - latest))
        marks = np.exp(fading * (self.event_times - latest)) * self.event_weights
        events = sum_by_owner(self.event_cell, marks, growth.size).reshape(growth.shape)
        return _sum_before(events) / growth, _sum_before(self.expected * growth) / growth

    def judge(self, law: FrailtyLaw, variance: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return means and dispersions of frailties, as known before every cell."""
        prior = np.maximum(_fade(law.fading, self.middle - self.entry), law.least_prior)
        return _update(prior, *self.sum_before(law.fading), variance)

    def log_likelihood(self, variance: FloatArray, law: FrailtyLaw) -> FloatArray:
        """Return that of every individual, up to what no frailty changes.

        In every cell the count is negative binomial, given all that went before.
        """
        mean, dispersion = self.judge(law, np.maximum(variance, _LEAST_VARIANCE))
        return log_step(self.expected, self.events, mean, dispersion).sum(axis=0)


@dataclass(frozen=True, slots=True, eq=False)
class SeenNumbers:
    """Numbers of events of individuals with permanent frailties."""

    weights: FloatArray  # (n,)
    weighted: FloatArray  # (n,) numbers times weights
    distinct: FloatArray  # numbers, each once: few, as gamma functions take long
    amounts: FloatArray  # weights of all who have them

    @classmethod
    def of(cls, seen: FloatArray, weights: FloatArray | None = None) -> SeenNumbers:
        """Return the numbers of individuals, who count once without weights."""
        weights = np.ones(len(seen)) if weights is None else weights
        distinct, place = np.unique(seen, return_inverse=True)
        amounts = sum_by_owner(place, weights, len(distinct))
        return cls(weights, weights * seen, distinct, amounts)

    def fit_variance(self, expected: FloatArray, near: float | None = None) -> float:
        """Return the variance of frailties by maximum likelihood; 0 is allowed.

        ``near`` is that of a similar problem: it is looked for around it first, and is 0 if
        the likelihood falls from there.
        """
        total = float(self.weighted.sum())

        def loss(variance: float) -> float:
            """Return the same as `log_step` gives for frailties of one."""
            shape = 1.0 / variance
            ways = scipy.special.gammaln(self.distinct + shape)
            ways -= scipy.special.gammaln(shape)
            spread = (self.weighted + shape * self.weights) @ np.log1p(expected * variance)
            gained = self.amounts @ ways + total * np.log(variance) - spread
            return float(variance / _USUAL_VARIANCE - gained)

        def log_loss(log_variance: float) -> float:
            return loss(float(np.exp(log_variance)))

        without = float(self.weights @ expected)  # the loss if there is no variance
        if near is not None:
            # The loss falls from 0 on towards the variance that is looked for.
            little = min(_LITTLE_VARIANCE, 0.5 * near) if near > 0.0 else _LITTLE_VARIANCE
            if loss(little) >= without:
                return 0.0
        found = _find_minimum_near(log_loss, float(np.log(near))) if near else None
        if found is None:
            found = scipy.optimize.minimize_scalar(
                log_loss,
                bounds=np.log(_VARIANCES),
                method="bounded",
                options={"xatol": 1e-3},
            ).x
        return 0.0 if log_loss(found) >= without else float(np.exp(found))


def _find_minimum_near(function: Callable[[float], float], near: float) -> float | None:
    """Return where a smooth function is lowest, by parabolas; None if that is not near."""
    place = near
    for _ in range(_MOST_PARABOLAS):
        before, here, after = (function(place + move) for move in (-_MOVE, 0.0, _MOVE))
        bend = before - 2.0 * here + after
        step = 0.5 * _MOVE * (before - after) / bend if bend > 0.0 else np.inf
        if abs(place + step - near) > _NEAR:
            return None
        place += step
        if abs(step) < _MOVE:
            return place
    return None


def _find_cells(times: FloatArray, cell: float) -> PositionArray:
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
    """Return the sums of all earlier rows."""
    sums = np.zeros(values.shape)
    # Row by row, since these are long: faster than `numpy.cumsum`.
    for value, before, after in zip(values[:-1], sums[:-1], sums[1:], strict=True):
        np.add(value, before, out=after)
    return sums


def log_step(
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

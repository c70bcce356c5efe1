"""Individuals that have more events, or costs, than all others together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from boostr._checks.numbers import first_few, warn_user
from boostr._typing import AnyArray, FloatArray
from boostr.data import RecurrentEvents
from boostr.data.events.exposure import exposed_windows
from boostr.exceptions import DataWarning

__all__ = ["Leverage"]

_MOST_NAMED = 3  # individuals that may outweigh all others together
_MOST_SHARE = 0.1  # of all individuals that these may be, if they are several
_TIMES_ALL = 2.0  # by how much they must raise the average
_TIMES_NEXT = 30.0  # how many times as much as the next one they must have, each
_TIMES_NEXT_OF_FEW = 1000.0  # the same over the number of individuals, if these are few


@dataclass(frozen=True, slots=True, eq=False)
class Leverage:
    """Events or costs of some individuals: of those with the most, and of the others.

    The others are summed apart, since small numbers get lost in a sum with large ones.
    """

    n: int
    has_costs: bool
    amount: float  # of the others, by their weights
    time: float  # of these under observation, by weights and exposures
    ids: tuple[Any, ...]  # of those with the most
    amounts: FloatArray  # of these, the largest first
    times: FloatArray
    numbers: FloatArray  # of their events

    @classmethod
    def of(cls, events: RecurrentEvents, weights: FloatArray) -> Leverage:
        """Look at individuals."""
        n, windows = len(events), exposed_windows(events)
        with np.errstate(over="ignore"):  # which is refused elsewhere
            amounts = weights * np.bincount(events.event_owner, events.costs, n)
            length = windows.factor * (windows.stop - windows.start)
            times = weights * np.bincount(windows.owner, length, n)
            return cls._rank(
                n,
                events.has_costs,
                (0.0, 0.0),
                events.ids,
                (amounts, times, events.n_events.astype(np.float64)),
            )

    @classmethod
    def _rank(
        cls,
        n: int,
        has_costs: bool,
        rest: tuple[float, float],
        ids: AnyArray,
        each: tuple[FloatArray, FloatArray, FloatArray],
    ) -> Leverage:
        """Keep those with the most, one more than are named, and sum up the others."""
        order = np.argsort(-each[0], kind="stable")
        first, others = order[: _MOST_NAMED + 1], order[_MOST_NAMED + 1 :]
        amount, time = (
            before + float(values[others].sum())
            for before, values in zip(rest, each[:2], strict=True)
        )
        top = (values[first] for values in each)
        return cls(n, has_costs, amount, time, tuple(ids[first].tolist()), *top)

    def join(self, other: Leverage) -> Leverage:
        """Return that of both groups of individuals."""
        ids = np.empty(len(self.ids) + len(other.ids), dtype=object)
        ids[:] = (*self.ids, *other.ids)
        return Leverage._rank(
            self.n + other.n,
            self.has_costs,
            (self.amount + other.amount, self.time + other.time),
            ids,
            (
                np.concatenate([self.amounts, other.amounts]),
                np.concatenate([self.times, other.times]),
                np.concatenate([self.numbers, other.numbers]),
            ),
        )

    def warn(self) -> None:
        """Warn of individuals that outweigh all others together."""
        for n_first in range(1, min(len(self.ids), _MOST_NAMED + 1)):
            is_few = n_first == 1 or n_first <= _MOST_SHARE * self.n
            if is_few and self._outweigh(n_first):
                self._name(n_first)
                return

    def _rates(self, n_first: int) -> tuple[float, float]:
        """Return the rate of all but the first few, and of all."""
        amount = self.amount + float(self.amounts[n_first:].sum())
        time = self.time + float(self.times[n_first:].sum())
        own, own_time = self.amounts[:n_first].sum(), self.times[:n_first].sum()
        return amount / time, float((amount + own) / (time + own_time))

    def _outweigh(self, n_first: int) -> bool:
        """Tell whether the first few have far more than the others, and than their time."""
        amounts, times = self.amounts[:n_first], self.times[:n_first]
        rate, raised = self._rates(n_first)
        # Where the others have nothing, it takes many events to be beyond chance.
        single = (amounts / np.maximum(self.numbers[:n_first], 1.0)).max()
        following = self.amounts[n_first] or single
        least = max(_TIMES_NEXT, _TIMES_NEXT_OF_FEW / self.n) * following
        is_raised = raised > _TIMES_ALL * rate
        return bool(is_raised and (amounts - rate * times).min() > least)

    def _name(self, n_first: int) -> None:
        """Say who it is, what it does and what can be done."""
        what = "costs" if self.has_costs else "events"
        own = float(self.amounts[:n_first].sum())
        total = own + self.amount + float(self.amounts[n_first:].sum())
        rate, raised = self._rates(n_first)
        ratio = "infinitely" if rate == 0.0 else f"{raised / rate:,.4g}"
        warn_user(
            f"{own:,.6g} of {total:,.6g} {what} ({own / total:.2%}) are those of {n_first} "
            f"of {self.n:,} individuals (ids {first_few(self.ids[:n_first])}). They make "
            f"the average rate {ratio} times as high, and with it the predictions of all "
            "others. Check these histories; leave the individuals out, give them a smaller "
            "`sample_weight`, or fit a model of their own to them.",
            DataWarning,
        )

"""Individuals with more events, or costs, than all others together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from boostr._typing import FloatArray
from boostr._validation import first_few, warn_user
from boostr.data import RecurrentEvents
from boostr.data._exposure import exposed_windows
from boostr.exceptions import DataWarning

__all__ = ["Leverage"]

_MOST_NAMED = 3  # individuals that may outweigh all others together
_MOST_SHARE = 0.1  # of all individuals that these may be, if they are several
_TIMES_ALL = 2.0  # by how much they must raise the average
_TIMES_NEXT = 30.0  # how many times as much as the next one they must have, each
_TIMES_NEXT_OF_FEW = 1000.0  # the same over the number of individuals, if these are few


@dataclass(frozen=True, slots=True, eq=False)
class Leverage:
    """Total of the events or costs, and the individuals with the most."""

    n: int
    amount: float  # of all, by their weights
    time: float  # under observation, by weights and exposures
    has_costs: bool
    ids: tuple[Any, ...]  # of those with the most
    amounts: FloatArray  # of these, the largest first
    times: FloatArray
    numbers: FloatArray  # of their events

    @classmethod
    def of(cls, events: RecurrentEvents, weights: FloatArray) -> Leverage:
        """Return the leverage of some individuals."""
        n, windows = len(events), exposed_windows(events)
        with np.errstate(over="ignore"):  # which is refused elsewhere
            amounts = weights * np.bincount(events.event_owner, events.costs, n)
            length = windows.factor * (windows.stop - windows.start)
            times = weights * np.bincount(windows.owner, length, n)
            amount, time = float(amounts.sum()), float(times.sum())
        first = _find_largest(amounts)
        return cls(
            n,
            amount,
            time,
            events.has_costs,
            tuple(events.ids[first].tolist()),
            amounts[first],
            times[first],
            events.n_events[first].astype(np.float64),
        )

    def join(self, other: Leverage) -> Leverage:
        """Return the leverage of both groups of individuals."""
        amounts = np.concatenate([self.amounts, other.amounts])
        first = _find_largest(amounts)
        ids = (*self.ids, *other.ids)
        return Leverage(
            self.n + other.n,
            self.amount + other.amount,
            self.time + other.time,
            self.has_costs,
            tuple(ids[place] for place in first),
            amounts[first],
            np.concatenate([self.times, other.times])[first],
            np.concatenate([self.numbers, other.numbers])[first],
        )

    def warn(self) -> None:
        """Warn of individuals that outweigh all others together."""
        for n_first in range(1, min(len(self.ids), _MOST_NAMED + 1)):
            is_few = n_first == 1 or n_first <= _MOST_SHARE * self.n
            if is_few and self._outweigh(n_first):
                self._name(n_first)
                return

    def _outweigh(self, n_first: int) -> bool:
        """Return whether the first few raise the average rate and far exceed the next."""
        amounts, times = self.amounts[:n_first], self.times[:n_first]
        rest, time = self.amount - amounts.sum(), self.time - times.sum()
        rate = rest / time
        # Where the others have nothing, it takes many events to be beyond chance.
        single = (amounts / np.maximum(self.numbers[:n_first], 1.0)).max()
        following = self.amounts[n_first] or single
        least = max(_TIMES_NEXT, _TIMES_NEXT_OF_FEW / self.n) * following
        is_raised = self.amount / self.time > _TIMES_ALL * rate
        return bool(is_raised and (amounts - rate * times).min() > least)

    def _name(self, n_first: int) -> None:
        """Warn with ids, share of the total and what to do."""
        what = "costs" if self.has_costs else "events"
        own = float(self.amounts[:n_first].sum())
        rate = (self.amount - own) / (self.time - self.times[:n_first].sum())
        ratio = "infinitely" if rate == 0.0 else f"{self.amount / self.time / rate:,.4g}"
        warn_user(
            f"{own:,.6g} of {self.amount:,.6g} {what} ({own / self.amount:.2%}) are those "
            f"of {n_first} of {self.n:,} individuals (ids {first_few(self.ids[:n_first])})."
            f" They make the average rate {ratio} times as high, and with it the "
            "predictions of all others. Check these histories; leave the individuals out, "
            "give them a smaller `sample_weight`, or fit a model of their own to them.",
            DataWarning,
        )


def _find_largest(amounts: FloatArray) -> Any:
    """Return the positions of the largest values, one more than are named."""
    return np.argsort(-amounts, kind="stable")[: _MOST_NAMED + 1]

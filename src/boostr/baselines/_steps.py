"""Mean cumulative functions of many groups at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from boostr._typing import AnyArray, FloatArray, OffsetArray
from boostr.basis import CalendarClock, Clock, OperationalClock
from boostr.data import RecurrentEvents, RiskTable

__all__ = ["GroupSteps", "StepFamily", "TimeGrid", "pool_clock"]

_N_CELLS = 4  # of time, in each of which a group's rate is that of all, times a number


def pool_clock(events: RecurrentEvents, weights: FloatArray) -> Clock:
    """Return the clock of the average individual, with speed zero without events."""
    clock = OperationalClock.from_events(events, weights)
    return clock if isinstance(clock, OperationalClock) else CalendarClock(speed=0.0)


@dataclass(frozen=True, slots=True, eq=False)
class TimeGrid:
    """Distinct event times, and the cells over which step functions have rates."""

    times: FloatArray  # (m,)
    clock: Clock
    knots: FloatArray  # (n_cells + 1,)
    clock_at_knots: FloatArray  # (n_cells + 1,)
    is_smooth: bool  # whether functions are drawn through their values at the knots

    @classmethod
    def from_events(
        cls, table: RiskTable, events: RecurrentEvents, clock: Clock, *, smooth: bool
    ) -> TimeGrid:
        """Return cells in which the average individual has equally many events."""
        first, last = float(events.window_start.min()), float(events.window_stop.max())
        mean = np.cumsum(table.totals(table.cost) / table.at_risk())
        inner = np.empty(0)
        if mean.size and mean[-1] > 0.0:
            shares = mean[-1] * np.arange(1, _N_CELLS) / _N_CELLS
            inner = table.times[np.searchsorted(mean, shares)]
        inner = inner[(inner > first) & (inner < last)]
        knots = np.unique(np.concatenate([[first], inner, [last]]))
        return cls(table.times, clock, knots, clock.read(knots), smooth)


@dataclass(frozen=True, slots=True, eq=False)
class GroupSteps:
    """Steps of several groups: their event times and heights."""

    group: OffsetArray  # (n_steps,) ascending
    time_index: OffsetArray  # (n_steps,) ascending within a group
    height: FloatArray  # (n_steps,)

    @classmethod
    def from_members(
        cls, table: RiskTable, group: OffsetArray, member: AnyArray, weight: FloatArray
    ) -> GroupSteps:
        """Estimate the mean cumulative function of every group.

        Individual ``member[k]`` counts ``weight[k]`` times in ``group[k]``; the table's
        own weights are not used.
        """
        n, stride = len(table.weight), table.times.size + 2
        events, owner = _gather(table.event_owner, member, n)
        windows, window_owner = _gather(table.window_owner, member, n)
        key, place = np.unique(
            group[owner] * stride + table.event_index[events], return_inverse=True
        )
        jump = np.bincount(place, weight[owner] * table.cost[events], key.size)
        begin = group[window_owner] * stride
        exposed = weight[window_owner] * table.exposure[windows]
        at_risk = _count_until(begin + table.enter[windows], exposed, key)
        at_risk -= _count_until(begin + table.leave[windows], exposed, key)
        rises = np.cumsum(jump / at_risk)
        own_group = key // stride
        is_first = np.diff(own_group, prepend=-1) > 0
        before = np.concatenate([[0.0], rises[:-1]])[is_first]
        height = rises - before[np.cumsum(is_first) - 1]
        return cls(own_group, key % stride, height)


@dataclass(frozen=True, slots=True, eq=False)
class StepFamily:
    """Right-continuous step functions of many groups."""

    grid: TimeGrid
    keys: OffsetArray  # (n_steps,) group and event time in one number, ascending
    heights: FloatArray  # (n_steps + 1,) with a zero in front

    @classmethod
    def from_parts(cls, grid: TimeGrid, parts: Sequence[GroupSteps]) -> StepFamily:
        """Return the steps of all parts; groups of later parts have higher numbers."""
        stride = grid.times.size + 2
        keys = [part.group * stride + part.time_index for part in parts]
        heights = [np.zeros(1), *(part.height for part in parts)]
        return cls(grid, np.concatenate(keys), np.concatenate(heights))

    def read(self, which: AnyArray, times: FloatArray) -> FloatArray:
        """Return values of functions at times, which are broadcast."""
        if not self.grid.is_smooth:
            return self._step(which, times)
        rise, before, cell = self._rise(which, times)
        at_knots = self.grid.clock_at_knots
        length = at_knots[cell + 1] - at_knots[cell]
        gone = self.grid.clock.read(times) - at_knots[cell]
        share = np.divide(gone, length, out=np.zeros_like(gone), where=length > 0.0)
        return np.asarray(before + np.clip(share, 0.0, 1.0) * rise)

    def rate(self, which: AnyArray, times: FloatArray) -> FloatArray:
        """Return slopes: the rise over the cell, in proportion to the clock's speed."""
        rise, _, cell = self._rise(which, times)
        at_knots, knots = self.grid.clock_at_knots, self.grid.knots
        length = at_knots[cell + 1] - at_knots[cell]
        is_known = (length > 0.0) & (times >= knots[0]) & (times <= knots[-1])
        speed = self.grid.clock.rate(times)
        pace = np.divide(speed, length, out=np.zeros_like(speed), where=is_known)
        return np.asarray(rise * pace)

    def _rise(
        self, which: AnyArray, times: FloatArray
    ) -> tuple[FloatArray, FloatArray, AnyArray]:
        """Return the rise over the cell of each time, the value before it, and the cell."""
        knots = self.grid.knots
        cell = np.clip(np.searchsorted(knots, times, side="left") - 1, 0, knots.size - 2)
        before = self._step(which, knots[cell])
        return self._step(which, knots[cell + 1]) - before, before, cell

    def _step(self, which: AnyArray, times: FloatArray) -> FloatArray:
        stride = self.grid.times.size + 2
        begin = np.asarray(which, dtype=np.int64) * stride
        until = begin + np.searchsorted(self.grid.times, times, side="right")
        place = np.searchsorted(self.keys, until, side="left")
        # The step before that place may belong to the group before.
        padded = np.concatenate([[-1], self.keys])
        return np.where(padded[place] >= begin, self.heights[place], 0.0)


def _gather(owner: OffsetArray, member: AnyArray, n: int) -> tuple[OffsetArray, AnyArray]:
    """Return the entries of members, and the member of each entry."""
    order = np.argsort(owner, kind="stable")
    counts = np.bincount(owner, minlength=n)
    begins = np.cumsum(counts) - counts
    n_own = counts[member]
    position = np.repeat(np.arange(len(member)), n_own)
    shift = np.repeat(begins[member] - (np.cumsum(n_own) - n_own), n_own)
    entries: OffsetArray = order[np.arange(position.size) + shift]
    return entries, position


def _count_until(keys: AnyArray, weight: FloatArray, until: OffsetArray) -> FloatArray:
    """Return the sum of weights of keys up to and including given keys."""
    order = np.argsort(keys, kind="stable")
    total = np.concatenate([[0.0], np.cumsum(weight[order])])
    return np.asarray(total[np.searchsorted(keys[order], until, side="right")])

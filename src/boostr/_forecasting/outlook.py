"""Individuals at the present: their histories, and expected events from now on."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from boostr._checks.numbers import check_ids_match, first_few
from boostr._checks.parameters import check_spread
from boostr._frailty.counts import Counts, MixedCounts, find_times, needed_exposure
from boostr._frailty.forecast_law import Costs, ForecastLaw
from boostr._frailty.law import Frailties, Histories
from boostr._training.event_sensors import HistorySensors, call_sensors
from boostr._training.fitted import Fitted
from boostr._training.fold_curves import Expect, FoldCurves
from boostr._training.frailty import relative_variance, sum_histories
from boostr._training.sensors import SensorLayout, split_panel, spread_shared
from boostr._training.surviving import sum_survived
from boostr._typing import AnyArray, BoolArray, FloatArray, PositionArray
from boostr.data import RecurrentEvents, SharedSensors, Trajectories, check_target
from boostr.data.clip import Observed, clip, clip_sensors, read_times
from boostr.data.events.exposure import Exposure
from boostr.data.events.read_exposure import read_new_exposure
from boostr.data.features import check_rows
from boostr.data.times import as_moments, find_origins
from boostr.exceptions import InvalidParameterError, InvalidSensorsError

__all__ = ["Deaths", "Outlook", "Present", "make_outlook"]

_N_CELLS = 32  # of the time ahead, in which individuals may die
_N_STEPS = 128  # of the time in which next events are looked for
_FIRST_STEP = 1e-6  # of that time


@dataclass(frozen=True, slots=True, eq=False)
class Present:
    """Individuals, their histories, and the time from which each is forecast."""

    table: Any  # of static features
    target: RecurrentEvents | None  # as given
    events: RecurrentEvents  # up to now; some have none
    rows: PositionArray  # of the individuals with a history
    entry: FloatArray  # (n,)
    now: FloatArray  # (n,)
    sensors: Trajectories | HistorySensors | None  # up to now, and as planned
    exposure: Exposure | None = None  # of all, None for 1 each

    def __len__(self) -> int:
        return len(self.now)

    @property
    def is_dead(self) -> BoolArray:
        """Whether individuals have had their terminal event."""
        dead = np.zeros(len(self), dtype=np.bool_)
        if self.events.is_terminal is not None:
            dead[self.rows] = self.events.is_terminal
        return dead

    @property
    def ids(self) -> AnyArray:
        """Labels of the individuals: ids of the histories, an index, or positions."""
        if self.target is not None:
            return self.target.ids
        index = getattr(self.table, "index", None)  # of a table from pandas
        if index is None or callable(index):
            return np.arange(len(self))
        return np.asarray(index)

    @classmethod
    def read(
        cls,
        X: Any,
        y: RecurrentEvents | None,
        Z: Any,
        future: Trajectories | SharedSensors | None,
        now: Any,
        exposure: Any = None,
        *,
        layout: SensorLayout | None = None,
        reach: FloatArray | float = 0.0,
    ) -> Present:
        """Return the present; histories, features and sensors must match.

        Shared sensors follow the layout of training up to some time after now.
        """
        follows = callable(Z)
        y = y if exposure is None or y is None else check_target(y).with_exposure(exposure)
        is_later = follows or isinstance(Z, SharedSensors)
        table, sensors = split_panel(X, None if is_later else Z, y)
        n = len(table)
        if y is None:
            times = check_spread(0.0 if now is None else now, n, "now")
            empty = RecurrentEvents.from_flat([], np.zeros(n + 1, int), end=1.0)
            known, rows = clip(empty, np.full(n, -np.inf), np.zeros(n))
            entry = times
        else:
            events = check_rows(y, n)
            check_ids_match(table, events)
            times = events.end if now is None else _read_now(events, now)
            known, rows = clip(events, np.full(n, -np.inf), times)
            entry = np.minimum(events.start, times)
        if isinstance(Z, SharedSensors):
            Z = spread_shared(Z, y, n, layout, until=times + reach)
            table, sensors = split_panel(table, Z, y)
        if not follows:
            plan = spread_shared(future, y, n, layout, start=times, until=np.inf)
            Z = _plan(sensors, plan, times)
        amounts = read_new_exposure(exposure, n, table) if y is None else y.exposure
        return cls(table, y, known, rows, entry, times, Z, amounts)


def _read_now(events: RecurrentEvents, now: Any) -> FloatArray:
    """Return the present of every individual, which must have begun by then."""
    times = read_times(events, now, "now")
    wrong = ~((times >= events.start) & np.isfinite(times))
    if wrong.any():
        raise InvalidParameterError(
            "`now` must be finite and not before the start of follow-up, but it is not for "
            f"{wrong.sum()} of {len(events)} individuals (ids "
            f"{first_few(events.ids[wrong])}).\n\nHint: leave out those who start later, "
            f"which is {_name_late(events, now)}; the last of all starts at "
            f"{_name_last(as_moments(events, slice(None), events.start))}."
        )
    return times


def _name_last(starts: AnyArray) -> str:
    """Return the latest of times or dates in words."""
    last = starts.max()
    return f"{last:g}" if starts.dtype.kind == "f" else np.datetime_as_string(last, "auto")


def _name_late(events: RecurrentEvents, now: Any) -> str:
    """Return the expression for those who start after a time."""
    if find_origins(events) is None or np.asarray(now).dtype.kind in "fiu":
        return "y.start > now"
    if events.origins is not None:
        return "y.origins > numpy.datetime64(now)"
    unit = f"numpy.timedelta64(1, {events.time_unit!r})"
    return f"y.start > (numpy.datetime64(now) - y.origin) / {unit}"


def _plan(
    sensors: Trajectories | None, future: Trajectories | None, now: FloatArray
) -> Trajectories | None:
    """Return sensors up to now, followed by the planned or the last values."""
    if sensors is None:
        if future is not None:
            raise InvalidSensorsError(
                "A planned future of sensors needs their past, but there are no sensors."
                "\n\nHint: forecast(X, y, horizon, Z=Z, future=future)."
            )
        return None
    return clip_sensors(sensors, now, future)


@dataclass(frozen=True, slots=True, eq=False)
class Deaths:
    """When individuals may die, and the share of events expected by then.

    The last part is that of those who live to the end.
    """

    shares: FloatArray  # (n, n_parts)
    weights: FloatArray  # (n, n_parts)

    @property
    def chance(self) -> FloatArray:
        """Chance of a terminal event in the time ahead; 0 of those who had it."""
        return np.asarray(self.weights[:, :-1].sum(axis=1))

    @property
    def mean_share(self) -> FloatArray:
        """Share of the events of a full life that are expected."""
        return np.asarray(np.sum(self.weights * self.shares, axis=1))

    def mix(self, counts: Counts) -> MixedCounts:
        """Return counts that end with death."""
        return MixedCounts(counts, self.shares, self.weights)


@dataclass(frozen=True, eq=False)  # without slots, so that histories are summed once
class Outlook:
    """Curves of individuals, their presents and histories."""

    curves: FoldCurves
    present: Present
    law: ForecastLaw
    costs: Costs
    reach: FloatArray  # (n,) up to when next events are looked for
    own_history: bool
    hazard: FoldCurves | None = None  # of terminal events
    parts: tuple[Outlook, ...] = ()  # one per kind of events; expected numbers are sums
    hazard_factor: FloatArray | None = None  # (n,) by frailties of all kinds together

    @property
    def now(self) -> FloatArray:
        """Present of every individual."""
        return self.present.now

    @property
    def rows(self) -> PositionArray:
        """All individuals."""
        return np.arange(len(self.now))

    def expect(self, stop: FloatArray) -> FloatArray:
        """Return the expected number of events from now on, for an average frailty."""
        return np.maximum(self.ahead.expect(self.rows, self.now, stop), 0.0)

    def expect_by_fold(self, stop: FloatArray) -> FloatArray:
        """Return the expected numbers by the models of the folds, (n_folds, n)."""
        return self.curves.expect_by_fold(self.rows, self.now, stop)

    @cached_property
    def ahead(self) -> FoldCurves:
        """Curves after now, as recent events of the individuals change them."""
        frailty, curves = self.law.frailty, self.curves
        if frailty.renewal is None:
            return curves
        return curves.at_own_pace(frailty.renew(self.histories(), self.now, curves.read))

    def histories(self, expect: Expect | None = None) -> Histories:
        """Return observed and expected events of individuals so far.

        ``expect`` gives the expected numbers of another model.
        """
        return self._own_histories if expect is None else self._sum_histories(expect)

    @cached_property
    def _own_histories(self) -> Histories:
        return self._sum_histories(self.curves.expect)

    def _sum_histories(self, expect: Expect) -> Histories:
        present, cell = self.present, self.law.frailty.cell
        known = Observed.of(present.events, present.rows)
        return sum_histories(expect, known, present.entry, cell, self.costs)

    def frailties(
        self, stop: FloatArray, *, histories: Histories | None = None
    ) -> Frailties:
        """Return the posterior of frailties for the time up to a stop.

        Histories do not depend on the stop: pass them when several stops are needed. With
        kinds, means are scaled such that numbers are the sums of those of the kinds.
        """
        known = self._posterior(stop, histories)
        if not self.parts:
            return known
        own = self.expect_ahead(stop, known)
        total = np.sum([part.expect_ahead(stop) for part in self.parts], axis=0)
        ratio = np.divide(total, own, out=np.ones_like(own), where=own > 0.0)
        return known.scaled(ratio)

    def own_factor(self, stop: FloatArray, frailties: Frailties) -> FloatArray:
        """Return what histories multiply predictions up to a stop by, without the level."""
        factor = frailties.mean / self.law.level
        if self.ahead is self.curves:
            return factor
        plain = self.curves.expect(self.rows, self.now, stop)
        some = plain > 0.0
        return factor * np.divide(
            self.expect(stop), plain, out=np.ones_like(plain), where=some
        )

    def expect_ahead(
        self, stop: FloatArray, frailties: Frailties | None = None
    ) -> FloatArray:
        """Return the expected events up to a stop, deaths and own history included."""
        frailties = self.frailties(stop) if frailties is None else frailties
        expected = self.expect(stop)
        deaths = self.expect_deaths(frailties, stop, expected)
        alive = 1.0 if deaths is None else deaths.mean_share
        return np.asarray(expected * frailties.mean * alive)

    def _posterior(self, stop: FloatArray, histories: Histories | None) -> Frailties:
        """Return frailties by the model of these events alone."""
        frailty, variance = self.law.frailty, np.zeros(len(self.now))
        if frailty.drifts:
            variance = relative_variance(self.curves, self.expect_by_fold(stop))
        if not self.own_history:
            return frailty.without_history(variance)
        histories = self.histories() if histories is None else histories
        known = frailty.posterior(histories, self.now, variance)
        return known.scaled(self.law.level)  # which is common to all

    def shared_variance(
        self, stop: FloatArray, expected: FloatArray, rows: PositionArray
    ) -> float:
        """Return the variance of a total due to errors that all individuals share.

        In squared units of cost.
        """
        if self.law.shock is not None:
            errors = np.sqrt(self.law.shock.variance(stop - self.now)) * expected
            return float(errors[rows].sum() / self.costs.unit) ** 2

        def totals(models: list[Expect]) -> FloatArray:
            return np.array(
                [
                    float(
                        expect(self.rows, self.now, stop)[rows]
                        @ self.frailties(stop, histories=self.histories(expect)).mean[rows]
                    )
                    for expect in models
                ]
            )

        curves = self.curves
        variance = curves.shared_variance(
            totals(curves.by_fold()), totals(curves.by_clock())
        )
        return variance / self.costs.unit**2

    def expect_deaths(
        self, frailties: Frailties, stop: FloatArray, expected: FloatArray
    ) -> Deaths | None:
        """Return when individuals may die; None if nobody is dead or may die.

        ``expected`` are the events up to the stop, for an average frailty.
        """
        dead = self.present.is_dead
        if self.hazard is None:
            alive = (~dead).astype(np.float64)[:, None]
            return Deaths(alive, np.ones_like(alive)) if dead.any() else None
        steps = np.linspace(0.0, 1.0, _N_CELLS + 1)
        events, hazard = self._look_along(frailties, stop, steps)
        middle = np.hstack([0.5 * (events[:, 1:] + events[:, :-1]), events[:, -1:]])
        last = expected[:, None]
        shares = np.divide(middle, last, out=np.zeros_like(middle), where=last > 0.0)
        survival = np.exp(-hazard)
        weights = np.hstack([-np.diff(survival, axis=1), survival[:, -1:]])
        shares[dead], weights[dead], weights[dead, -1] = 0.0, 0.0, 1.0
        return Deaths(shares, weights)

    def _look_along(
        self, frailties: Frailties, stop: FloatArray, steps: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Return events, for an average frailty, and hazards from now on, (n, k).

        Hazards are tied to frailties; ``steps`` are shares of the time up to the stop.
        """
        assert self.hazard is not None  # noqa: S101 - asked by the caller
        times = self.now[:, None] + (stop - self.now)[:, None] * steps
        rows = np.repeat(self.rows, len(steps))
        factor = self.hazard_factor
        if factor is None:
            factor = self.law.tie.factor(frailties.mean / self.law.level)
        curves = [
            each.read(rows, times.ravel()).reshape(times.shape)
            for each in (self.ahead, self.hazard)
        ]
        events, hazard = (
            np.maximum.accumulate(each - each[:, :1], axis=1) for each in curves
        )
        return events, factor[:, None] * hazard

    def draw_ends(
        self,
        frailty: FloatArray,
        rows: PositionArray,
        stop: FloatArray,
        rng: np.random.Generator,
    ) -> FloatArray:
        """Return when drawn lives end, infinity if not by the stop, minus if they have."""
        ends = np.full(len(rows), np.inf)
        if self.hazard is not None:
            factor = self.law.tie.factor(frailty / self.law.level)
            if self.hazard_factor is not None:
                factor = self.hazard_factor[rows]
            with np.errstate(over="ignore", divide="ignore"):
                waits = rng.exponential(size=len(rows)) / factor
            start = self.now[rows]
            targets = self.hazard.read(rows, start) + waits
            ends = find_times(self.hazard.read, rows, targets, start, stop[rows])
        ends[self.present.is_dead[rows]] = -np.inf
        return ends

    def drift(self, frailties: Frailties, stop: FloatArray) -> Frailties:
        """Return what the frailties known now imply for the time from now to a stop."""
        return self.law.frailty.ahead(frailties, stop - self.now)

    def count(self, expected: FloatArray, frailties: Frailties, stop: FloatArray) -> Counts:
        """Return counts of events, or of units of cost, from now to a time.

        ``expected`` is for an average frailty; ``frailties`` are as known now.
        """
        ahead = self.drift(frailties, stop)
        return Counts(expected * ahead.mean / self.costs.unit, ahead.dispersion)

    def count_drawn(
        self, occurring: Counts, frailties: Frailties, stop: FloatArray
    ) -> Counts:
        """Return the same counts where those of events come from simulated futures."""
        drifted = self.drift(frailties, stop).dispersion - frailties.dispersion
        ratio = self.costs.mean / self.costs.unit
        return Counts(occurring.mean * ratio, occurring.dispersion + drifted)

    def look_ahead(
        self, frailties: Frailties, stop: FloatArray
    ) -> tuple[Counts | MixedCounts, Counts | MixedCounts, Deaths | None]:
        """Return counts of events and of units of cost up to a stop, and deaths."""
        expected = self.expect(stop)
        occurring = self.occur(expected, frailties)
        counts = self.count(expected, frailties, stop)
        deaths = self.expect_deaths(frailties, stop, expected)
        if deaths is None:
            return occurring, counts, None
        return deaths.mix(occurring), deaths.mix(counts), deaths

    def occur(self, expected: FloatArray, frailties: Frailties) -> Counts:
        """Return counts of events, regardless of cost, for frailties as known now.

        Used for the chance of any event: first events come before frailties drift far,
        and without drift the chance never falls as the horizon grows.
        """
        return Counts(expected * frailties.mean / self.costs.mean, frailties.dispersion)

    def exceed(
        self, k: int, occurring: Counts | MixedCounts, stop: FloatArray
    ) -> FloatArray:
        """Return the chance of at least ``k`` events up to a stop.

        With kinds it is never below that of ``k`` events of one kind, which rests on
        frailties of its own.
        """
        chance = occurring.exceed(k)
        for part in self.parts:
            own = part.look_ahead(part.frailties(stop), stop)[0]
            chance = np.maximum(chance, own.exceed(k))
        return chance

    def wait(self, share: float, frailties: Frailties, stop: FloatArray) -> FloatArray:
        """Return the time until the next event has happened with probability ``share``.

        Infinite if it may never happen. With kinds it is never later than the next event
        of one kind. Frailties are those for the time up to the stop.
        """
        waits = self._wait(share, frailties)
        for part in self.parts:
            waits = np.minimum(waits, part._wait(share, part.frailties(stop)))
        return waits

    def _wait(self, share: float, frailties: Frailties) -> FloatArray:
        """Return the same by the model of these events alone."""
        if self.hazard is not None:
            return self._wait_alive(share, frailties)
        needed = needed_exposure(share, frailties.mean, frailties.dispersion)
        base = self.ahead.read(self.rows, self.now)
        targets = base + needed * self.costs.mean
        last = np.maximum(self.now, self.reach)
        stop = self._bracket(targets, last)
        times = find_times(self.ahead.read, self.rows, targets, self.now, stop)
        return np.where(self.present.is_dead, np.inf, times - self.now)

    def _wait_alive(self, share: float, frailties: Frailties) -> FloatArray:
        """Return the same where individuals may die before the event."""
        last = np.maximum(self.now, self.reach)
        steps = np.append(0.0, np.geomspace(_FIRST_STEP, 1.0, _N_STEPS))
        events, hazard = self._look_along(frailties, last, steps)
        chances = [self.occur(column, frailties).exceed(1) for column in events.T]
        happened = sum_survived(np.stack(chances, axis=1), hazard)
        place = np.sum(happened < share, axis=1)  # of the first step that is late enough
        waits = np.full(len(place), np.inf)
        found = np.flatnonzero((place <= _N_STEPS) & ~self.present.is_dead)
        after = place[found]
        begin, end = happened[found, after - 1], happened[found, after]
        part = (share - begin) / (end - begin)
        shares = steps[after - 1] + part * (steps[after] - steps[after - 1])
        waits[found] = shares * (last - self.now)[found]
        return waits

    def _bracket(self, targets: FloatArray, last: FloatArray) -> FloatArray:
        """Return times by which the targets are reached, the last time if they are not."""
        stop = np.minimum(self.now + 1e-3 * (last - self.now), last)
        stop = np.where(stop > self.now, stop, last)  # steps too short to be steps
        while True:
            short = np.flatnonzero(
                (self.ahead.read(self.rows, stop) < targets) & (stop < last)
            )
            if not short.size:
                return stop
            longer = self.now[short] + 4.0 * (stop[short] - self.now[short])
            stop[short] = np.minimum(longer, last[short])


def make_outlook(
    model: Fitted,
    present: Present,
    stop: FloatArray,
    *,
    own_history: bool,
    theta: FloatArray | None = None,
) -> Outlook:
    """Return the curves of individuals up to a time, with their histories."""
    outlook = _look(model, present, stop, own_history=own_history, theta=theta)
    if not model.kind_labels or theta is not None:
        return outlook
    factor = None
    if outlook.hazard is not None:
        known = outlook.frailties(stop)
        factor = outlook.law.tie.factor(known.mean / outlook.law.level)
    parts = []
    for kind in model.kind_labels:
        events = present.events
        if own_history and present.target is not None:
            events = model.select_events(events, kind)
        own = replace(present, events=events)
        part = _look(model.of_kind(kind), own, stop, own_history=own_history)
        parts.append(replace(part, hazard_factor=factor))
    return replace(outlook, parts=tuple(parts), hazard_factor=factor)


def _look(
    model: Fitted,
    present: Present,
    stop: FloatArray,
    *,
    own_history: bool,
    theta: FloatArray | None = None,
) -> Outlook:
    """Return the curves of individuals by one model."""
    sensors = present.sensors
    reach = np.full(len(present), model.ensemble.reach)
    if callable(sensors):
        sensors = call_sensors(sensors, present.events, present.rows, len(present), stop)
        reach = stop  # what the sensors show later has not been asked for
    elif sensors is not None and sensors._known_ahead():
        reach = np.maximum(stop, present.now + model.span)  # as far as they are known
    features, used = model.read_features(present.table), model.read_sensors(sensors)
    law = model.forecast_law
    if not own_history or present.target is None:
        law = law.of_strangers()
    offsets = None
    if law.paced is not None and law.paced.second is not None:
        offsets = law.paced.second.place(present.target, present.entry, present.now)
    curves = FoldCurves(
        model.trees, features, used, theta, law.paced, present.exposure, offsets
    )
    hazard = None
    if model.terminal is not None:
        layout = model.terminal.sensor_layout
        used = None if layout is None or used is None else layout.apply(used)
        hazard = FoldCurves(model.terminal.trees, features, used)
    return Outlook(curves, present, law, model.costs, reach, own_history, hazard)

"""Event histories simulated from a fitted model."""

from __future__ import annotations

import warnings

import numpy as np

from boostr._checks.numbers import first_few
from boostr._forecasting.outlook import Outlook, Present
from boostr._frailty.counts import Counts, find_times
from boostr._frailty.law import Frailties
from boostr._training.event_sensors import HistorySensors, call_sensors
from boostr._training.fitted import Fitted
from boostr._training.run import show_share
from boostr._typing import AnyArray, BoolArray, FloatArray, OffsetArray, PositionArray
from boostr.data import RecurrentEvents
from boostr.data.flat import offsets_of

__all__ = ["count_paths", "draw_histories"]

_BLOCK = 20_000  # histories with sensors of their own that are drawn together
_MANY_EVENTS = 10_000  # of one history: its own events drive it ever faster


def draw_histories(
    model: Fitted,
    outlook: Outlook,
    present: Present,
    stop: FloatArray,
    n_paths: int,
    rng: np.random.Generator,
) -> RecurrentEvents:
    """Simulate ``n_paths`` futures per individual, from now to a time."""
    rows = np.repeat(outlook.rows, n_paths)
    frailties = outlook.drift(outlook.frailties(stop), stop)
    drawn = frailties.take(rows).draw(rng)
    ends, is_terminal = _draw_ends(outlook, stop, rows, drawn, rng)
    if callable(present.sensors):
        times, offsets, _ = _draw_in_turn(model, outlook, present, ends, rows, drawn, rng)
    else:
        times, offsets = _draw_at_once(outlook, ends, rows, drawn, rng)
    # The dead are observed without events, for no history has no time at all.
    owner_now, owner_stop = present.now[rows], np.where(is_terminal, ends, stop[rows])
    costs = np.full(len(times), outlook.costs.mean)
    drawn_events = RecurrentEvents.from_flat(
        times, offsets, start=owner_now, end=owner_stop, costs=costs
    )
    if outlook.hazard is not None:
        drawn_events = drawn_events.with_terminal(is_terminal)
    known = present.target
    exposure = None if present.exposure is None else present.exposure[rows]
    if known is None:
        has_costs = model.has_costs
        return drawn_events._with(ids=rows, has_costs=has_costs, exposure=exposure)
    return drawn_events._with(
        ids=known.ids[rows],
        has_ids=known.has_ids,
        id_name=known.id_name,
        time_unit=known.time_unit,
        origin=known.origin,
        origins=None if known.origins is None else known.origins[rows],
        has_costs=known.has_costs,
        exposure=exposure,
    )


def _draw_ends(
    outlook: Outlook,
    stop: FloatArray,
    rows: PositionArray,
    frailty: FloatArray,
    rng: np.random.Generator,
) -> tuple[FloatArray, BoolArray]:
    """Return until when each path may have events, and whether it ends by death there."""
    deaths = outlook.draw_ends(frailty, rows, stop, rng)
    start = outlook.now[rows]
    ends = np.maximum(np.minimum(deaths, stop[rows]), start)
    return ends, np.isfinite(deaths) & (ends > start)


def count_paths(
    model: Fitted,
    outlook: Outlook,
    present: Present,
    stop: FloatArray,
    frailties: Frailties,
    n_paths: int,
    rng: np.random.Generator,
) -> Counts:
    """Return counts of events from now to a time, from simulated futures.

    The mean is frailty times expected events, so it has no simulation error unless events
    change the sensors. Dispersions are those of the simulated numbers.
    """
    rows = np.repeat(outlook.rows, n_paths)
    drawn = frailties.take(rows).draw(rng)
    ends, _ = _draw_ends(outlook, stop, rows, drawn, rng)
    _, offsets, exposure = _draw_in_turn(model, outlook, present, ends, rows, drawn, rng)
    exposure, drawn = exposure.reshape(-1, n_paths), drawn.reshape(-1, n_paths)
    if n_paths == 1:
        expected = (drawn * exposure)[:, 0]
    else:
        shift = drawn - drawn.mean(axis=1, keepdims=True)
        together = (shift * exposure).sum(axis=1) / (n_paths - 1)
        expected = np.maximum(frailties.mean * exposure.mean(axis=1) + together, 0.0)
    counts = np.diff(offsets).reshape(-1, n_paths)
    mean = counts.mean(axis=1)
    excess = np.maximum(counts.var(axis=1) - mean, 0.0)
    # Where nothing ever happened, frailties are all that is known of the variance.
    dispersion = np.divide(
        excess, mean**2, out=frailties.dispersion.copy(), where=mean > 0.0
    )
    return Counts(expected, dispersion)


def _warn_of_many_events(counts: OffsetArray, ids: AnyArray) -> None:
    """Warn of histories whose simulation stopped before the end."""
    is_cut = counts >= _MANY_EVENTS
    if is_cut.any():
        warnings.warn(
            f"{is_cut.sum()} of {len(counts)} drawn histories were cut off after "
            f"{_MANY_EVENTS} events, because events drive the sensors to ever more events "
            f"(ids {first_few(np.unique(ids[is_cut]))}). Their forecasts are too low; ask "
            "for a shorter horizon, or leave out the sensors that do so.",
            RuntimeWarning,
            stacklevel=5,
        )


def _draw_at_once(
    outlook: Outlook,
    stop: FloatArray,
    rows: PositionArray,
    frailty: FloatArray,
    rng: np.random.Generator,
) -> tuple[FloatArray, OffsetArray]:
    """Simulate numbers of events, then times by inverting the curves.

    ``stop`` has one time per path.
    """
    expected = np.maximum(outlook.ahead.expect(rows, outlook.now[rows], stop), 0.0)
    counts = rng.poisson(frailty * expected / outlook.costs.mean)
    owner, path = np.repeat(rows, counts), np.repeat(np.arange(len(rows)), counts)
    base = outlook.ahead.read(owner, outlook.now[owner])
    targets = base + rng.uniform(size=len(owner)) * expected[path]
    times = find_times(outlook.ahead.read, owner, targets, outlook.now[owner], stop[path])
    # A curve that rounding has ended just before its last value.
    times = np.where(np.isfinite(times), times, stop[path])
    return times[np.lexsort((times, path))], offsets_of(counts)


def _draw_in_turn(
    model: Fitted,
    outlook: Outlook,
    present: Present,
    stop: FloatArray,
    rows: PositionArray,
    frailty: FloatArray,
    rng: np.random.Generator,
) -> tuple[FloatArray, OffsetArray, FloatArray]:
    """Simulate event after event, with sensors computed from the earlier ones.

    ``stop`` has one time per path. Returns times and offsets of the events, and the
    exposure of every path.
    """
    blocks = []
    with show_share(len(rows), "futures", is_shown=model.settings.verbose > 0) as report:
        for begin in range(0, len(rows), _BLOCK):
            block = rows[begin : begin + _BLOCK]
            turns = _Turns(model, outlook, present, stop[begin : begin + _BLOCK], block)
            blocks.append(turns.run(frailty[begin : begin + _BLOCK], rng))
            report(len(block))
    times, counts, exposure = (np.concatenate(parts) for parts in zip(*blocks, strict=True))
    _warn_of_many_events(counts, present.ids[rows])
    return times, offsets_of(counts), exposure


class _Turns:
    """Histories that each get their next event in turn, until all are past the end."""

    def __init__(
        self,
        model: Fitted,
        outlook: Outlook,
        present: Present,
        stop: FloatArray,
        rows: PositionArray,
    ) -> None:
        self._model = model
        self._curves = outlook.curves
        self._rows = rows
        self._mean_cost = outlook.costs.mean
        self._sensors: HistorySensors = present.sensors  # type: ignore[assignment]
        # Every path is an individual of its own.
        self._events = present.events[rows]._with(
            ids=np.arange(len(rows)), has_ids=True, event_kind=None, kinds=None
        )
        self._last = present.now[rows].copy()
        self._stop = stop

    def run(
        self, frailty: FloatArray, rng: np.random.Generator
    ) -> tuple[FloatArray, OffsetArray, FloatArray]:
        """Return the events of all paths, path after path, with their counts and exposures.

        An exposure is the number of events expected with a frailty of 1.
        """
        going = np.arange(len(frailty))
        events = self._events
        found = [(going[:0], np.empty(0))]
        exposure = np.zeros(len(frailty))
        while going.size and len(found) <= _MANY_EVENTS:
            with np.errstate(over="ignore", divide="ignore"):  # some wait for ever
                waits = rng.exponential(size=len(going)) / frailty[going]
            times, rise = self._find_next(going, events, waits)
            exposure[going] += rise
            kept = np.flatnonzero(np.isfinite(times))
            going, times = going[kept], times[kept]
            found.append((going, times))
            self._last[going] = times
            events = _append(events[kept], times, self._mean_cost)
        owner = np.concatenate([who for who, _ in found])
        times = np.concatenate([when for _, when in found])
        order = np.lexsort((times, owner))
        return times[order], np.bincount(owner, minlength=len(frailty)), exposure

    def _find_next(
        self, going: PositionArray, events: RecurrentEvents, waits: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Return the next event of each path, and the rise of the exposure up to it.

        Infinity if it is past the end; the exposure then rises up to the end.
        """
        rows = np.arange(len(going))
        stop = self._stop[going]
        made = call_sensors(self._sensors, events, rows, len(going), stop)
        layout = self._model.sensor_layout
        used = made if layout is None else layout.apply(made)
        read = self._curves.take(self._rows[going], used).read
        start = self._last[going]
        begin = read(rows, start)
        most = np.maximum(read(rows, stop) - begin, 0.0) / self._mean_cost
        with np.errstate(over="ignore"):
            targets = begin + waits * self._mean_cost
        times = find_times(read, rows, targets, start, stop)
        return times, np.where(np.isfinite(times), np.minimum(waits, most), most)


def _append(events: RecurrentEvents, times: FloatArray, cost: float) -> RecurrentEvents:
    """Add one event to the end of every history, which then ends there."""
    offsets = events.event_offsets + np.arange(len(times) + 1)
    last = offsets[1:] - 1
    is_old = np.ones(offsets[-1], dtype=np.bool_)
    is_old[last] = False
    joined, costs = np.empty(len(is_old)), np.full(len(is_old), cost)
    joined[is_old], joined[last] = events.times, times
    costs[is_old] = events.costs
    stops = events.window_stop.copy()
    stops[events.window_offsets[1:] - 1] = np.maximum(events.end, times)
    return events._with(times=joined, costs=costs, event_offsets=offsets, window_stop=stops)
